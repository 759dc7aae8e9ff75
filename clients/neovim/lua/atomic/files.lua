-- What becomes of buffers when the agent writes files. Guarantees: a buffer without changes of its own is loaded again, with its undo; one
-- with changes is left alone, and the person is told which; the focus stays. Must not know: the chat.
local places = require('atomic.places')
local tell = require('atomic.tell')

local M = {}

local following ---@type boolean?

local function name_of(path)
  return vim.fn.fnamemodify(path, ':~:.')
end

---Makes what follows a change of its own in the undo of a buffer.
local function apart(buffer)
  if vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_call(buffer, function()
      vim.go.undolevels = vim.go.undolevels
    end)
  end
end

---Loads a buffer again from its file.
---@param buffer integer
function M.load(buffer)
  local undo = vim.go.undoreload
  local auto = vim.api.nvim_buf_call(buffer, function()
    return vim.api.nvim_get_option_value('autoread', { scope = 'local' })
  end)
  -- All of it is kept in the undo, however long the file is; and Neovim has nothing to ask.
  vim.go.undoreload = -1
  vim.bo[buffer].autoread = true
  apart(buffer)
  pcall(vim.cmd, 'silent! checktime ' .. buffer)
  apart(buffer)
  vim.go.undoreload = undo
  if vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_call(buffer, function()
      vim.api.nvim_set_option_value('autoread', auto, { scope = 'local' })
    end)
  end
end

---A file was written.
---@param path string
function M.written(path)
  local buffer = places.buffer(path)
  if not buffer then
    return
  elseif vim.bo[buffer].modified then
    local sentence =
      'The agent wrote %s, and your buffer has unsaved changes: it was left alone (:DiffOrig, :edit!, :write!).'
    tell.warn(sentence:format(name_of(path)))
  elseif not vim.uv.fs_stat(path) then
    tell.warn(('The agent removed %s; your buffer still has its text.'):format(name_of(path)))
  else
    M.load(buffer)
  end
end

---Whether what the agent writes is shown.
---@return boolean
function M.is_following()
  if following == nil then
    return require('atomic.config').get().follow
  end
  return following
end

function M.toggle_follow()
  following = not M.is_following()
  tell.info(
    following and 'What the agent writes is shown as it goes.' or 'What the agent writes is not shown any more.'
  )
end

---Where a tool's change begins, as far as the agent says.
local function line_of(tool)
  local details = tool and type(tool.result) == 'table' and tool.result.details
  if type(details) ~= 'table' then
    return nil
  end
  if tonumber(details.firstChangedLine) then
    return tonumber(details.firstChangedLine)
  end
  local diff = type(details.diff) == 'string' and details.diff or ''
  return tonumber(('\n' .. diff):match('\n[+-]%s*(%d+)'))
end

---Does what facts ask for.
---@param facts table[]
---@param snapshot table
function M.take(facts, snapshot)
  for _, fact in ipairs(facts) do
    if fact.type == 'file_touched' then
      if require('atomic.config').get().reload then
        M.written(fact.path)
      end
      if M.is_following() and vim.uv.fs_stat(fact.path) then
        places.show(fact.path, line_of(snapshot.tools[fact.toolCallId]))
      end
    end
  end
end

return M
