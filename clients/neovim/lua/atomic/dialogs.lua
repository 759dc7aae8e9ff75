-- Questions of the agent. Guarantees: never takes the focus by itself, one is opened only when the person asks for the next; one that
-- was settled elsewhere is closed; a dismissal leaves it open, with what was written. Must not know: how a question looks.
local session = require('atomic.session')
local tell = require('atomic.tell')

local M = {}

local waiting = {} ---@type table[]
local shown ---@type {id: string, close: fun(): string?}?
local told = {} ---@type table<string, table> Those that the person was told of.
local seen = {} ---@type table<string, true> Those that a snapshot had.
local answering = {} ---@type table<string, true> Those whose answer is on its way.
local over = {} ---@type table<string, true> Those that are settled, for what comes too late.
local counts = {} ---@type table<string, integer> Open questions by session, as told last.
local wanted ---@type string? Session whose question is to be opened once it is there.
local drafts = {} ---@type table<string, string> What was written of an answer.

---How many questions wait.
---@return integer
function M.count()
  return #waiting
end

local function close_shown()
  local it = shown
  shown = nil
  if it then
    local written = it.close()
    drafts[it.id] = type(written) == 'string' and written or drafts[it.id]
  end
end

---A question of the language server itself, which comes of what the person just did.
---@param dialog table
---@return boolean
function M.is_local(dialog)
  return vim.startswith(dialog.id, 'local-')
end

local function forget(id)
  waiting = vim.tbl_filter(function(dialog)
    return dialog.id ~= id
  end, waiting)
  if shown and shown.id == id then
    close_shown()
  end
  seen[id], drafts[id] = nil, nil
  require('atomic.chat').refresh()
end

---How a question ended that the person knows of and that somebody else settled.
local function tell_end(dialog, fact)
  if fact.by and fact.by.id == session.origin then
    return
  end
  local title = require('atomic.render').one_line(dialog.title or '')
  if fact.by then
    tell.info(('Answered in %s: %s'):format(fact.by.name, title))
  elseif fact.outcome == 'expired' then
    tell.warn('The agent went on without an answer, because its time was up: ' .. title)
  end
end

local function add(dialog)
  local known = vim.iter(waiting):any(function(other)
    return other.id == dialog.id
  end)
  if not known and not answering[dialog.id] then
    table.insert(waiting, dialog)
    require('atomic.chat').refresh()
  end
end

local function answer(dialog, value)
  if over[dialog.id] then
    return tell.info('That question was settled already.')
  end
  -- It waits no longer, unless the answer is not taken.
  answering[dialog.id] = true
  forget(dialog.id)
  local function failed(sentence)
    answering[dialog.id] = nil
    tell.error(sentence or 'The answer was not taken.')
    if not over[dialog.id] then
      add(dialog)
    end
  end
  session.intent('answer', vim.tbl_extend('force', value, { dialog = dialog.id }), {
    accepted = function(err)
      if err then
        failed(err)
      elseif M.is_local(dialog) then
        M.settled(dialog.id)
      end
    end,
    settled = function(fact)
      if fact.outcome ~= 'done' then
        failed(fact.error)
      end
    end,
  })
end

local function show(dialog)
  local it = dialog
  if drafts[dialog.id] then
    it = vim.tbl_extend('force', dialog, { prefill = drafts[dialog.id] })
  end
  told[dialog.id] = told[dialog.id] or dialog
  local done = false
  local close = require('atomic.question').show(it, function(value, written)
    done = true
    if shown and shown.id == dialog.id then
      shown = nil
    end
    drafts[dialog.id] = not value and not dialog.secret and written or nil
    if value then
      answer(dialog, value)
    elseif M.is_local(dialog) then
      answer(dialog, { cancelled = true })
    end
  end)
  if not done then
    shown = { id = dialog.id, close = close }
  end
end

---Opens the oldest question that waits, or the one after that which is shown.
function M.next()
  if #waiting == 0 then
    return M.elsewhere()
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

---Goes to another session where a question waits, and opens it there.
function M.elsewhere()
  local tab = vim.iter(session.tabs):find(function(each)
    return not each.current and each.dialogs > 0
  end)
  if not tab then
    return tell.info('No question waits.')
  end
  wanted = tab.session
  session.execute('atomic.attachSession', { { session = tab.session } })
end

---Tells of questions in sessions that are not shown.
local function look_elsewhere()
  for _, tab in ipairs(session.tabs) do
    local before = counts[tab.session] or 0
    counts[tab.session] = tab.dialogs
    if not tab.current and tab.dialogs > before and require('atomic.config').get().notify then
      local text = ('Atomic asks in %s (:Atomic next)'):format(require('atomic.render').one_line(tab.name))
      tell.warn(text)
      require('atomic.away').desktop(text)
    end
  end
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
---@param fact? table How, where the agent's.
function M.settled(id, fact)
  if fact and told[id] then
    tell_end(told[id], fact)
  end
  over[id], told[id], answering[id] = true, nil, nil
  forget(id)
end

---Whoever led to a question is asked first; everybody else knows of it, and is told when it is offered to all.
local function is_ours(dialog)
  return dialog.offered or not dialog.origin or dialog.origin.id == session.origin
end

local function announce(dialog)
  if told[dialog.id] or answering[dialog.id] or not is_ours(dialog) then
    return
  end
  told[dialog.id] = dialog
  vim.api.nvim_exec_autocmds('User', { pattern = 'AtomicDialog', data = dialog, modeline = false })
  if require('atomic.config').get().notify and not M.is_local(dialog) then
    local title = require('atomic.render').one_line(dialog.title or '')
    tell.warn('Atomic asks: ' .. title .. ' (:Atomic next)')
  end
  if not M.is_local(dialog) then
    require('atomic.away').desktop('Atomic asks: ' .. (dialog.title or ''))
  end
end

---A question that came as a request: it is for whoever is here.
---@param dialog table
function M.add(dialog)
  if over[dialog.id] then
    return
  end
  add(dialog)
  announce(dialog)
  if M.is_local(dialog) then
    close_shown()
    show(dialog)
  end
end

---The questions that are open at the agent.
---@param snapshot table
---@param whole boolean Whether it is of another journal, or of another session.
function M.update(snapshot, whole)
  local open = {}
  for _, dialog in ipairs(snapshot.dialogs) do
    open[dialog.id], seen[dialog.id] = true, true
  end
  for _, dialog in ipairs(vim.list_slice(waiting)) do
    -- One that came as a request may be ahead of the facts.
    if not open[dialog.id] and not M.is_local(dialog) and (whole or seen[dialog.id]) then
      forget(dialog.id)
    end
  end
  for _, dialog in ipairs(snapshot.dialogs) do
    add(dialog)
    announce(dialog)
  end
  look_elsewhere()
  if wanted and wanted == session.id then
    wanted = nil
    if #waiting > 0 then
      M.next()
    end
  end
end

return M
