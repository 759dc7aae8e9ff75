-- What others may call. Guarantees: everything else is loaded at its first use; callbacks run in the main loop.
local M = {}

local started = false
local opening = false

local user_events = {
  agent_start = 'AtomicStarted',
  agent_settled = 'AtomicSettled',
  message_end = 'AtomicMessage',
  file_touched = 'AtomicFile',
  dialog_settled = 'AtomicDialogSettled',
  session_replaced = 'AtomicSession',
}

---@type table<string, fun(fact: table)[]>
local handlers = {}

local function tell()
  return require('atomic.tell')
end

local function call(name, fact)
  for _, handler in ipairs(vim.list_slice(handlers[name] or {})) do
    local ok, err = pcall(handler, fact)
    if not ok then
      tell().error('atomic: ' .. tostring(err))
    end
  end
end

---What the autocommand of a fact gets: plain values alone, as Neovim copies them; whole messages are in `state()` and `on`.
local function small(fact)
  local function plain(value)
    return type(value) ~= 'table' and (type(value) ~= 'string' or #value < 4096)
  end
  local data = {}
  for key, value in pairs(fact) do
    if plain(value) then
      data[key] = value
    elseif type(value) == 'table' and not vim.islist(value) then
      local inner = {}
      for name, part in pairs(value) do
        inner[name] = plain(part) and part or nil
      end
      data[key] = inner
    end
  end
  return data
end

local function announce(pattern, data)
  vim.api.nvim_exec_autocmds('User', { pattern = pattern, data = data, modeline = false })
end

---What a fact of the extension UI asks for, besides its line in the transcript.
local function asked_for(fact)
  if fact.method == 'set_editor_text' then
    require('atomic.prompt').set(tostring(fact.text or ''))
  elseif fact.method == 'notify' and (fact.notifyType == 'error' or not require('atomic.chat').is_open()) then
    local levels = { error = 'error', warning = 'warn' }
    tell()[levels[fact.notifyType] or 'info'](tostring(fact.message or ''))
  end
end

local function took(fact)
  if fact.type == 'queue_returned' and fact.origin and fact.origin.id == require('atomic.session').origin then
    require('atomic.prompt').give_back(table.concat(fact.texts, '\n\n'))
  elseif fact.type == 'extension_ui_request' then
    asked_for(fact)
  end
  if fact.type == 'agent_settled' then
    require('atomic.away').settled(fact)
  elseif fact.type == 'dialog_settled' then
    require('atomic.dialogs').settled(fact.id, fact)
  end
  if user_events[fact.type] then
    announce(user_events[fact.type], small(fact))
  end
  call(fact.type, fact)
  call('*', fact)
end

local function started_with()
  if started then
    return
  end
  started = true
  local session, fold = require('atomic.session'), require('atomic.fold')
  local phase = 'idle'
  session.on_question(function(dialog)
    require('atomic.dialogs').add(dialog)
  end)
  session.listen(function(batch, snapshot)
    local transcript = require('atomic.transcript')
    if batch.reset then
      transcript.redraw(snapshot)
      require('atomic.prompt').serve()
    else
      transcript.show(batch.facts, snapshot)
    end
    require('atomic.dialogs').update(snapshot, batch.reset)
    require('atomic.away').update()
    local now = fold.phase(snapshot)
    if now ~= phase then
      phase = now
      announce('AtomicPhase', { phase = now })
      -- A statusline may show it, also where the chat is closed.
      vim.cmd('redrawstatus!')
    end
    vim.iter(batch.facts):each(took)
    require('atomic.files').take(batch.facts, snapshot)
    require('atomic.chat').refresh()
  end)
end

local function lazily(module, name)
  return function(...)
    started_with()
    return require(module)[name](...)
  end
end

---Configures the plugin; `vim.g.atomic` does the same. See |atomic-config|.
---@param options? table
function M.setup(options)
  require('atomic.config').set(options)
end

---Calls back when the session is that of the folder where the person is: of the repository of the current buffer, if it is a file.
local function at_folder(done)
  local session = require('atomic.session')
  local file = vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) ~= ''
  local folder = file and vim.fs.root(0, '.git')
  session.ensure(function(err)
    local root = folder and vim.uv.fs_realpath(folder)
    local now = vim.uv.fs_realpath(session.root())
    local inside = not root
      or not now
      or vim.startswith(root .. '/', now .. '/')
      or vim.startswith(now .. '/', root .. '/')
    if err or inside then
      return done(err)
    end
    session.go(folder, done)
  end)
end

---Opens the chat and attaches to the session. `focus` false leaves the cursor where it is.
---@param focus? boolean
function M.open(focus)
  started_with()
  if not opening then
    opening = true
    at_folder(function(err)
      opening = false
      tell().failed(err)
    end)
  end
  require('atomic.chat').open(focus)
end

function M.toggle()
  if package.loaded['atomic.chat'] and require('atomic.chat').is_open() then
    require('atomic.chat').close()
  else
    M.open()
  end
end

---Closes the chat; the session goes on.
M.close = lazily('atomic.chat', 'close')

---Sends a prompt and shows the chat.
---@param text string
---@param options? {behavior?: 'prompt'|'steer'|'follow_up', open?: boolean}
function M.prompt(text, options)
  options = options or {}
  started_with()
  at_folder(function()
    -- Where the session cannot be had the prompt says so, and keeps the text.
    require('atomic.prompt').deliver(options.behavior or 'prompt', text)
  end)
  if options.open ~= false then
    require('atomic.chat').open(false)
  end
end

---Sends any intent of docs/commands.md. Gives its id.
M.intent = lazily('atomic.session', 'intent')

---Executes any command of docs/commands.md and calls back with its answer.
M.execute = lazily('atomic.session', 'execute')

---Stops what the agent does; queued texts come back to the prompt.
function M.stop()
  M.intent('abort')
end

---Begins a new conversation.
function M.new()
  M.intent('new_session')
end

---Opens the next question that waits.
M.next = lazily('atomic.dialogs', 'next')

---Lists what the agent changed in files.
M.changes = lazily('atomic.changes', 'open')

---Asks to fix diagnostics, of whatever source: those of the current buffer, of a range of it, or of all buffers.
---@param options? {text?: string, all?: boolean, range?: integer[]}
function M.fix(options)
  options = options or {}
  local range = options.range or {}
  local found = require('atomic.context').diagnostics(not options.all and 0 or nil, range[1], range[2])
  if not found then
    return tell().info('There is no diagnostic to fix.')
  end
  M.prompt((options.text or 'Fix these diagnostics.') .. '\n\n' .. found)
end

---Goes to another session, by its name. `done` is called with a sentence where that is not possible.
---@param name string
---@param done? fun(err?: string)
function M.attach(name, done)
  M.execute('atomic.attachSession', { { session = name } }, done)
end

---What is known of the session: the snapshot of docs/protocol.md and `phase`, `waiting`. A copy, but for what is in flight.
---@return table
function M.state()
  local s = require('atomic.session').snapshot
  return vim.tbl_extend('force', s, {
    phase = require('atomic.fold').phase(s),
    waiting = require('atomic.dialogs').count(),
  })
end

---Calls back for every fact of a type of docs/protocol.md, or for all with `*`.
---@param event string
---@param fn fun(fact: table)
---@return fun() off
function M.on(event, fn)
  started_with()
  handlers[event] = handlers[event] or {}
  local list = handlers[event]
  table.insert(list, fn)
  return function()
    for index, other in ipairs(list) do
      if other == fn then
        table.remove(list, index)
        return
      end
    end
  end
end

---A component for a statusline.
---@return string
function M.statusline()
  return require('atomic.winbar').statusline()
end

return M
