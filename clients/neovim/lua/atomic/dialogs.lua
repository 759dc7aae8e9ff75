-- Questions of the agent. Guarantees: never takes the focus by itself, one is opened only when the person asks for the next; one that
-- was settled elsewhere is closed; a dismissal leaves it open; a secret is not echoed. Must not know: how answers travel.
local session = require('atomic.session')

local M = {}

local waiting = {} ---@type table[]
local shown ---@type {id: string, close: fun()}?
local told = {} ---@type table<string, true>

---How many questions wait.
---@return integer
function M.count()
  return #waiting
end

local function close_shown()
  local it = shown
  shown = nil
  if it then
    it.close()
  end
end

local function answer(dialog, value)
  if not vim.iter(waiting):any(function(other)
    return other.id == dialog.id
  end) then
    vim.notify('That question was settled already.', vim.log.levels.INFO, { title = 'atomic' })
    return
  end
  session.intent('answer', vim.tbl_extend('force', value, { dialog = dialog.id }), {
    settled = function(fact)
      if fact.outcome ~= 'done' then
        vim.notify(fact.error or 'The answer was not taken.', vim.log.levels.ERROR, { title = 'atomic' })
      end
    end,
    accepted = function(err)
      if err then
        vim.notify(err, vim.log.levels.ERROR, { title = 'atomic' })
      elseif M.is_local(dialog) then
        M.settled(dialog.id)
      end
    end,
  })
end

---A question of the language server itself, which comes of what the person just did.
---@param dialog table
---@return boolean
function M.is_local(dialog)
  return vim.startswith(dialog.id, 'local-')
end

local function show(dialog)
  local ui = require('atomic.question')
  local function done(value)
    if shown and shown.id == dialog.id then
      shown = nil
    end
    if value then
      answer(dialog, value)
    elseif M.is_local(dialog) then
      answer(dialog, { cancelled = true })
    end
  end
  local close
  if dialog.method == 'select' or dialog.method == 'oauth_select' or dialog.method == 'confirm' then
    close = ui.choose(dialog, done)
  elseif dialog.secret then
    close = ui.secret(dialog, done)
  elseif dialog.method == 'editor' then
    close = ui.edit(dialog, done)
  else
    close = ui.line(dialog, done)
  end
  if close then
    shown = { id = dialog.id, close = close }
  end
end

---Opens the oldest question that waits, or the one after that which is shown.
function M.next()
  if #waiting == 0 then
    vim.notify('No question waits.', vim.log.levels.INFO, { title = 'atomic' })
    return
  end
  local index = 1
  for position, dialog in ipairs(waiting) do
    if shown and dialog.id == shown.id then
      index = position % #waiting + 1
    end
  end
  close_shown()
  show(waiting[index])
end

---Refuses the question that is shown, or the oldest.
function M.refuse()
  for _, dialog in ipairs(waiting) do
    if not shown or dialog.id == shown.id then
      close_shown()
      return answer(dialog, { cancelled = true })
    end
  end
end

---A question is over.
---@param id string
function M.settled(id)
  waiting = vim.tbl_filter(function(dialog)
    return dialog.id ~= id
  end, waiting)
  told[id] = nil
  if shown and shown.id == id then
    close_shown()
  end
  require('atomic.chat').refresh()
end

local function tell(dialog)
  if told[dialog.id] then
    return
  end
  told[dialog.id] = true
  vim.api.nvim_exec_autocmds('User', { pattern = 'AtomicDialog', data = dialog, modeline = false })
  if require('atomic.config').get().notify and not M.is_local(dialog) then
    local title = require('atomic.render').one_line(dialog.title or '')
    vim.notify('Atomic asks: ' .. title .. ' (:Atomic next)', vim.log.levels.WARN, { title = 'atomic' })
  end
end

---A question that came as a request.
---@param dialog table
function M.add(dialog)
  for _, other in ipairs(waiting) do
    if other.id == dialog.id then
      return
    end
  end
  table.insert(waiting, dialog)
  tell(dialog)
  require('atomic.chat').refresh()
  if M.is_local(dialog) then
    close_shown()
    show(dialog)
  end
end

---The questions that are open at the agent.
---@param snapshot table
function M.update(snapshot)
  local open = {}
  for _, dialog in ipairs(snapshot.dialogs) do
    open[dialog.id] = true
  end
  for _, dialog in ipairs(vim.list_slice(waiting)) do
    if not open[dialog.id] and not M.is_local(dialog) then
      M.settled(dialog.id)
    end
  end
  for _, dialog in ipairs(snapshot.dialogs) do
    M.add(dialog)
  end
end

return M
