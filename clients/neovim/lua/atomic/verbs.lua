-- What the subcommands of `:Atomic` do. Guarantees: one for each in the schema. Must not know: how they are typed.
local render = require('atomic.render')
local tell = require('atomic.tell')

local function atomic()
  return require('atomic')
end

local function line(text)
  return render.one_line(tostring(text or ''))
end

---Lets the person choose one of what a reading command gives.
local function pick(command, list, title, label, take)
  atomic().execute(command, {}, function(err, data)
    if tell.failed(err) then
      return
    end
    local items = type(data) == 'table' and data[list] or {}
    if #items == 0 then
      return tell.warn('There is nothing to choose from.')
    end
    require('atomic.choose').among(items, title, label, take)
  end)
end

local function intent(command)
  return function()
    atomic().intent(command)
  end
end

---A row of the command table, with its main parameter; without one the server asks.
local function execute(id)
  return function(rest)
    atomic().execute(id, rest ~= '' and { rest } or {}, tell.failed)
  end
end

local function session_label(session)
  local name = line(session.name or session.summary or session.firstMessage or session.path)
  local when = type(session.modified) == 'string' and session.modified:sub(1, 16):gsub('T', ' ') or nil
  local count = tonumber(session.messageCount)
  local more = { when, count and ('%d messages'):format(count) }
  return #more > 0 and ('%s (%s)'):format(render.cut(name, 80), table.concat(more, ', ')) or name
end

---A command after which another session may be current.
local function moving(id)
  return function(rest)
    atomic().open(false)
    atomic().execute(id, rest ~= '' and { rest } or {}, tell.failed)
  end
end

local function fork(message)
  atomic().intent('fork', { entryId = message.entryId }, {
    settled = tell.unless_done(function(data)
      if type(data.text) == 'string' then
        require('atomic.prompt').give_back(data.text)
      end
    end),
  })
end

---@type table<string, fun(rest: string, args: vim.api.keyset.create_user_command.command_args)>
return {
  open = function()
    atomic().open()
  end,
  close = function()
    atomic().close()
  end,
  toggle = function()
    atomic().toggle()
  end,
  stop = function()
    atomic().stop()
  end,
  steer = function(rest)
    atomic().prompt(rest, { behavior = 'steer' })
  end,
  follow = function(rest)
    atomic().prompt(rest, { behavior = 'follow_up' })
  end,
  shell = function(rest)
    atomic().open(false)
    atomic().intent('bash', { command = rest })
  end,
  queue = function()
    require('atomic.queue').open()
  end,
  unqueue = function()
    require('atomic.queue').to_prompt()
  end,
  image = function(rest)
    atomic().open(false)
    require('atomic.prompt').image(rest)
  end,
  fix = function(rest, args)
    atomic().fix({
      text = rest ~= '' and rest or nil,
      all = args.bang,
      range = args.range > 0 and { args.line1, args.line2 } or nil,
    })
  end,
  next = function()
    atomic().next()
  end,
  refuse = function()
    require('atomic.dialogs').refuse()
  end,
  model = function(rest)
    if rest ~= '' then
      return execute('atomic.setModel')(rest)
    end
    pick('atomic.getAvailableModels', 'models', 'Model', function(model)
      return ('%s (%s)'):format(line(model.name or model.id), line(model.provider))
    end, function(model)
      atomic().intent('set_model', { provider = model.provider, modelId = model.id })
    end)
  end,
  cycle = intent('cycle_model'),
  thinking = function(rest)
    if rest ~= '' then
      return atomic().intent('set_thinking_level', { level = rest })
    end
    pick('atomic.getAvailableThinkingLevels', 'levels', 'Thinking', line, function(level)
      atomic().intent('set_thinking_level', { level = level })
    end)
  end,
  login = execute('atomic.loginProvider'),
  logout = execute('atomic.logoutProvider'),
  key = function(rest)
    if rest == '' then
      return tell.warn('Name the provider: :Atomic key openai')
    end
    require('atomic.secret').open({ title = 'API key of ' .. rest }, function(key)
      if key then
        atomic().intent('save_provider_credential', {
          provider = rest,
          credential = { type = 'api_key', key = key },
        }, {
          settled = tell.unless_done(function()
            tell.info('The key of ' .. rest .. ' is saved.')
          end),
        })
      end
    end)
  end,
  new = function()
    atomic().new()
  end,
  resume = function()
    pick('atomic.listSessions', 'sessions', 'Session', session_label, function(session)
      atomic().intent('switch_session', { sessionPath = session.path })
    end)
  end,
  fork = function()
    pick('atomic.getForkMessages', 'messages', 'Fork before', function(message)
      return line(message.text)
    end, fork)
  end,
  retry = function()
    atomic().execute('atomic.getForkMessages', {}, function(err, data)
      local messages = type(data) == 'table' and data.messages or {}
      local last = messages[#messages]
      if tell.failed(err) then
        return
      elseif not last then
        return tell.warn('There is no prompt to ask again.')
      end
      atomic().intent('fork', { entryId = last.entryId }, {
        settled = tell.unless_done(function(forked)
          atomic().prompt(type(forked.text) == 'string' and forked.text or last.text)
        end),
      })
    end)
  end,
  clone = intent('clone'),
  tree = function()
    require('atomic.tree').open()
  end,
  name = function(rest)
    atomic().intent('set_session_name', { name = rest })
  end,
  export = function(rest)
    local path = rest ~= '' and vim.fn.fnamemodify(rest, ':p') or nil
    atomic().intent('export_html', { outputPath = path }, {
      settled = tell.unless_done(function(data)
        tell.info('Written to ' .. tostring(data.path or path or 'a file of the agent’s'))
      end),
    })
  end,
  compact = function(rest)
    atomic().intent('compact', { customInstructions = rest ~= '' and rest or nil })
  end,
  tabs = moving('atomic.sessions'),
  tabnew = moving('atomic.newTab'),
  tabclose = moving('atomic.closeTab'),
  attach = moving('atomic.attachSession'),
  changes = function()
    require('atomic.changes').open()
  end,
  watch = function()
    require('atomic.files').toggle_follow()
  end,
  restart = intent('restart_agent'),
}
