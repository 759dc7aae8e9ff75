-- A buffer of our own in a window below: lists, trees, data. Guarantees: one of each name; `q` closes it; it is gone with its window.
-- Must not know: what is listed.
local M = {}

---@class atomic.List
---@field buffer integer
---@field window integer
---@field set fun(lines: string[])
---@field close fun()

---@param name string
---@param options {title: string, lines: string[], buftype?: string, filetype?: string, actions?: table<string, fun()>, where?: string}
---@return atomic.List
function M.open(name, options)
  local full = 'atomic://' .. name
  local old = vim.fn.bufnr('^' .. full .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, full)
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden = options.buftype or 'nofile', 'wipe'
  local writable = options.buftype == 'acwrite'
  local function set(lines)
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
    vim.bo[buffer].modifiable, vim.bo[buffer].modified = writable, false
  end
  set(options.lines)
  vim.bo[buffer].filetype = options.filetype or ('atomic-' .. name)
  local height = math.max(5, math.min(#options.lines, math.floor(vim.o.lines * 0.5)))
  local window = vim.api.nvim_open_win(buffer, true, { split = 'below', win = 0, height = height })
  require('atomic.layout').set(window, {
    winbar = ' ' .. options.title:gsub('%%', '%%%%'),
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    wrap = false,
    cursorline = not writable,
  })
  local function close()
    if vim.api.nvim_buf_is_valid(buffer) then
      vim.api.nvim_buf_delete(buffer, { force = true })
    end
  end
  local actions = vim.tbl_extend('force', { close_list = not writable and close or nil }, options.actions or {})
  require('atomic.config').map(buffer, { 'lists', options.where }, actions)
  return { buffer = buffer, window = window, set = set, close = close }
end

return M
