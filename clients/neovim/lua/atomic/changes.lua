-- What the agent changed in files: a list with diffs, taken back or accepted by file and by hunk. Guarantees: a buffer with unsaved
-- changes is never overwritten; the list is read again after every act. Must not know: how the original of a file is kept.
local files = require('atomic.files')
local places = require('atomic.places')
local session = require('atomic.session')
local tell = require('atomic.tell')

local M = {}

local space = vim.api.nvim_create_namespace('atomic-changes')
local list ---@type atomic.List?
local rows = {} ---@type {file: table, hunk?: integer, line?: integer}[] What each line of the list is of.

local groups = { ['+'] = 'AtomicAdded', ['-'] = 'AtomicRemoved', ['@'] = 'AtomicHunk' }

local function is_open()
  return list ~= nil and vim.api.nvim_buf_is_valid(list.buffer)
end

---The list as lines, and what each of them is of.
---@param changed table[] As `list_changes` gives them.
---@param root string
---@return string[] lines
---@return table[] rows
function M.lines(changed, root)
  local lines, of = {}, {}
  local function add(text, row)
    -- A carriage return is part of a line here; it would be shown as one.
    table.insert(lines, (text:gsub('[\r\n]', '')))
    table.insert(of, row)
  end
  for _, file in ipairs(changed) do
    local name = vim.startswith(file.path, root .. '/') and file.path:sub(#root + 2) or file.path
    add(
      ('%s  +%d −%d (%s)'):format(name, file.added or 0, file.removed or 0, file.status),
      { file = file, head = true }
    )
    if file.note then
      add('  ' .. file.note, { file = file })
    end
    for index, hunk in ipairs(file.hunks or {}) do
      local row = { file = file, hunk = index - 1, line = math.max(1, hunk.newStart) }
      add(hunk.header .. (hunk.mixed and ' also changed by somebody else' or ''), row)
      local line = row.line
      for _, text in ipairs(hunk.lines) do
        add(text, { file = file, hunk = index - 1, line = line })
        line = line + (text:find('^[+ ]') and 1 or 0)
      end
    end
  end
  if #lines == 0 then
    add('The agent has changed no file in this session.', {})
  end
  return lines, of
end

local function draw(changed)
  if not is_open() then
    return
  end
  local lines
  lines, rows = M.lines(changed, session.root())
  list.set(lines)
  vim.api.nvim_buf_clear_namespace(list.buffer, space, 0, -1)
  for index, line in ipairs(lines) do
    local group = rows[index].head and 'AtomicFile' or groups[line:sub(1, 1)]
    if group and rows[index].file then
      vim.api.nvim_buf_set_extmark(list.buffer, space, index - 1, 0, { line_hl_group = group })
    end
  end
end

---Reads the list again, if it is open.
function M.refresh()
  if is_open() then
    session.execute('atomic.listChanges', {}, function(err, data)
      if not tell.failed(err) then
        draw(data.files or {})
      end
    end)
  end
end

local function here()
  local row = rows[vim.fn.line('.')]
  if not row or not row.file then
    tell.warn('There is no file here.')
    return nil
  end
  return row
end

---Carries out a command about a file, then looks at buffer and list again.
local function act(command, params, file)
  local buffer = places.buffer(file.path)
  if command == 'revert_file' and buffer and vim.bo[buffer].modified then
    local name = vim.fn.fnamemodify(file.path, ':~:.')
    return tell.error(('%s has unsaved changes: save or undo them first.'):format(name))
  end
  session.intent(command, params, {
    settled = tell.unless_done(function()
      if buffer and vim.api.nvim_buf_is_valid(buffer) and vim.uv.fs_stat(file.path) then
        files.load(buffer)
      end
      M.refresh()
    end),
  })
end

---The lines of a file before the agent, from its lines now.
---@param now string[]
---@param hunks table[]
---@return string[]
function M.before(now, hunks)
  local lines = vim.list_slice(now)
  for index = #hunks, 1, -1 do
    local hunk = hunks[index]
    local at = hunk.newLines > 0 and hunk.newStart or hunk.newStart + 1
    for _ = 1, hunk.newLines do
      table.remove(lines, at)
    end
    for _, text in ipairs(hunk.lines) do
      if text:find('^[- ]') then
        table.insert(lines, at, (text:sub(2):gsub('\r$', '')))
        at = at + 1
      end
    end
  end
  return lines
end

---Compares a file with what it was, in a tab of its own.
---@param file table
function M.diff(file)
  if not vim.uv.fs_stat(file.path) then
    return tell.warn('The file is not there any more; R brings it back.')
  end
  vim.cmd.tabedit({ file.path, magic = { file = false, bar = false } })
  local now, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  local before = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(
    before,
    0,
    -1,
    true,
    M.before(vim.api.nvim_buf_get_lines(now, 0, -1, false), file.hunks or {})
  )
  vim.bo[before].bufhidden, vim.bo[before].modifiable = 'wipe', false
  vim.bo[before].filetype = vim.bo[now].filetype
  local left = vim.api.nvim_open_win(before, false, { split = 'left', win = window })
  for _, each in ipairs({ left, window }) do
    vim.api.nvim_win_call(each, vim.cmd.diffthis)
  end
  vim.wo[left][0].winbar = ' before the agent (q closes)'
  vim.keymap.set('n', 'q', vim.cmd.tabclose, { buffer = before, desc = 'Atomic: close the comparison' })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = before,
    once = true,
    callback = vim.schedule_wrap(function()
      if vim.api.nvim_win_is_valid(window) then
        vim.api.nvim_win_call(window, vim.cmd.diffoff)
      end
    end),
  })
end

local function step(by)
  return function()
    local line = vim.fn.line('.') + by
    while rows[line] and not rows[line].head do
      line = line + by
    end
    if rows[line] then
      vim.api.nvim_win_set_cursor(0, { line, 0 })
    end
  end
end

---A function for the file under the cursor.
local function on(action)
  return function()
    local row = here()
    if row then
      action(row)
    end
  end
end

---Opens the list.
function M.open()
  session.execute('atomic.listChanges', {}, function(err, data)
    if tell.failed(err) then
      return
    end
    require('atomic.transcript').links()
    local lines = M.lines(data.files or {}, session.root())
    list = require('atomic.list').open('changes', {
      title = 'Changes: r takes the hunk back, R the file, a accepts, d compares',
      lines = lines,
      where = 'changes',
      actions = {
        next_file = step(1),
        previous_file = step(-1),
        open_change = on(function(row)
          places.open(row.file.path, row.line)
        end),
        diff_change = on(function(row)
          M.diff(row.file)
        end),
        revert_hunk = on(function(row)
          if not row.hunk then
            return tell.warn('There is no hunk here; R takes all of the file back.')
          end
          local header = row.file.hunks[row.hunk + 1].header
          act('revert_file', { path = row.file.path, hunk = row.hunk, header = header }, row.file)
        end),
        revert_file = on(function(row)
          act('revert_file', { path = row.file.path }, row.file)
        end),
        accept_file = on(function(row)
          act('accept_changes', { path = row.file.path }, row.file)
        end),
      },
    })
    draw(data.files or {})
  end)
end

return M
