-- Files and the windows of a person's own. Guarantees: nothing is shown in the chat's windows; text that is not saved is never thrown
-- away. Must not know: sessions.
local M = {}

---Whether a window shows a file or something like it, and nothing of ours.
---@param window integer
---@return boolean
local function is_own(window)
  local buffer = vim.api.nvim_win_get_buf(window)
  return vim.api.nvim_win_get_config(window).relative == ''
    and vim.bo[buffer].buftype == ''
    and not vim.wo[window].previewwindow
    and not vim.startswith(vim.api.nvim_buf_get_name(buffer), 'atomic://')
end

---A window of the tab for a file: the one before this, else any; nil when there is none.
---@param avoid? integer
---@return integer?
function M.window(avoid)
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  local candidates = { before }
  vim.list_extend(candidates, vim.api.nvim_tabpage_list_wins(0))
  for _, window in ipairs(candidates) do
    if window ~= 0 and window ~= avoid and vim.api.nvim_win_is_valid(window) and is_own(window) then
      return window
    end
  end
end

---Opens a file with the focus, beside what is ours.
---@param path string
---@param line? integer From 1.
---@param column? integer From 1.
function M.open(path, line, column)
  local window = is_own(vim.api.nvim_get_current_win()) and vim.api.nvim_get_current_win() or M.window()
  if window then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd('topleft vnew')
  end
  vim.cmd.edit({ path, magic = { file = false, bar = false } })
  if line then
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(line, last)), math.max(0, (column or 1) - 1) })
    vim.cmd('normal! zvzz')
  end
end

---Shows a file without the focus, in a window where nobody is.
---@param path string
---@param line? integer From 1.
function M.show(path, line)
  local window = M.window(vim.api.nvim_get_current_win())
  if not window then
    return
  end
  local buffer = vim.fn.bufadd(path)
  vim.fn.bufload(buffer)
  vim.bo[buffer].buflisted = true
  local now = vim.api.nvim_win_get_buf(window)
  if now ~= buffer then
    if vim.bo[now].modified and not vim.o.hidden then
      return
    end
    vim.api.nvim_win_set_buf(window, buffer)
  end
  if line then
    vim.api.nvim_win_set_cursor(window, { math.max(1, math.min(line, vim.api.nvim_buf_line_count(buffer))), 0 })
    vim.api.nvim_win_call(window, function()
      vim.cmd('normal! zvzz')
    end)
  end
end

---A path and a place in it, from text as people and compilers write it.
---@param text string
---@return string path
---@return integer? line
---@return integer? column
function M.parse(text)
  local cleaned = vim.trim(text):gsub('^[`\'"(<%[]+', ''):gsub('[`\'")>%],;]+$', ''):gsub('^@', '')
  for _, pattern in ipairs({ '^(.-):(%d+):(%d+)', '^(.-):(%d+)', '^(.-)#L(%d+)', '^(.-)%((%d+)' }) do
    local path, line, column = cleaned:match(pattern)
    if path and path ~= '' then
      return path, tonumber(line), tonumber(column)
    end
  end
  return (cleaned:gsub('[.:]+$', ''))
end

---What a cursor is on: what stands in backquotes around it, else the word.
---@param line string
---@param column integer Bytes before the cursor.
---@return string
function M.under(line, column)
  local from = 1
  while true do
    local first, last, inside = line:find('`([^`]+)`', from)
    if not first then
      break
    elseif column + 1 >= first and column + 1 <= last then
      return inside
    end
    from = last + 1
  end
  local before = line:sub(1, column + 1):match('%S*$') or ''
  local after = line:sub(column + 2):match('^%S*') or ''
  return before .. after
end

---The file that a text names, as it is on disk.
---@param text string
---@param root string Folder of relative names.
---@return {path: string, line?: integer, column?: integer}?
function M.find(text, root)
  local path, line, column = M.parse(text)
  for _, each in ipairs({ path, vim.trim(text) }) do
    local name = each:gsub('^~', vim.env.HOME or '~')
    local full = vim.startswith(name, '/') and name or root .. '/' .. name
    if name ~= '' and vim.uv.fs_stat(full) then
      return { path = vim.fs.normalize(full), line = line, column = column }
    end
  end
end

---The loaded buffer of a file.
---@param path string
---@return integer?
function M.buffer(path)
  local real = vim.uv.fs_realpath(path) or path
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buffer)
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' and name ~= '' then
      if name == path or (vim.uv.fs_realpath(name) or name) == real then
        return buffer
      end
    end
  end
end

return M
