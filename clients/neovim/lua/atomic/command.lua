-- `:Atomic`. Guarantees: what is no subcommand is a prompt, and with a bang everything is; names complete from the generated table.
-- Must not know: how anything is done.
local M = {}

local function atomic()
  return require('atomic')
end

local function failed(err)
  vim.notify(err, vim.log.levels.ERROR, { title = 'atomic' })
end

---Asks for one of the items that a reading command gives.
local function pick(command, list, prompt, label, take)
  atomic().execute(command, {}, function(err, data)
    if err then
      return failed(err)
    end
    local items = type(data) == 'table' and data[list] or {}
    if #items == 0 then
      return vim.notify('There is nothing to choose from.', vim.log.levels.WARN, { title = 'atomic' })
    end
    vim.ui.select(items, { prompt = prompt, format_item = label, kind = 'atomic' }, function(item)
      if item then
        take(item)
      end
    end)
  end)
end

local function line(text)
  return require('atomic.render').one_line(tostring(text or ''))
end

---How many words a subcommand takes: 0, 1, or any.
---@class atomic.Subcommand
---@field words 0|1|'any'
---@field run fun(rest: string)

---@type table<string, atomic.Subcommand>
M.subcommands = {
  open = { words = 0, run = function() atomic().open() end },
  close = { words = 0, run = function() atomic().close() end },
  toggle = { words = 0, run = function() atomic().toggle() end },
  stop = { words = 0, run = function() atomic().stop() end },
  new = { words = 0, run = function() atomic().new() end },
  next = { words = 0, run = function() atomic().next() end },
  refuse = { words = 0, run = function() require('atomic.dialogs').refuse() end },
  restart = { words = 0, run = function() atomic().intent('restart_agent') end },
  clone = { words = 0, run = function() atomic().intent('clone') end },
  compact = { words = 0, run = function() atomic().intent('compact') end },
  queue = { words = 0, run = function() atomic().intent('clear_queue', nil, {
    settled = function(fact)
      local data = type(fact.data) == 'table' and fact.data or {}
      local texts = vim.list_extend(vim.list_slice(data.steering or {}), data.followUp or {})
      if #texts > 0 then
        require('atomic.prompt').give_back(table.concat(texts, '\n\n'))
      elseif fact.error then
        failed(fact.error)
      end
    end,
  }) end },
  model = {
    words = 1,
    run = function(rest)
      if rest ~= '' then
        return atomic().execute('atomic.setModel', { rest })
      end
      pick('atomic.getAvailableModels', 'models', 'Model', function(model)
        return ('%s (%s)'):format(line(model.name or model.id), line(model.provider))
      end, function(model)
        atomic().intent('set_model', { provider = model.provider, modelId = model.id })
      end)
    end,
  },
  thinking = {
    words = 1,
    run = function(rest)
      if rest ~= '' then
        return atomic().intent('set_thinking_level', { level = rest })
      end
      pick('atomic.getAvailableThinkingLevels', 'levels', 'Thinking', line, function(level)
        atomic().intent('set_thinking_level', { level = level })
      end)
    end,
  },
  cycle = { words = 0, run = function() atomic().intent('cycle_model') end },
  steer = { words = 'any', run = function(rest) atomic().prompt(rest, { behavior = 'steer' }) end },
  follow = { words = 'any', run = function(rest) atomic().prompt(rest, { behavior = 'follow_up' }) end },
  name = { words = 'any', run = function(rest) atomic().intent('set_session_name', { name = rest }) end },
  resume = {
    words = 0,
    run = function()
      pick('atomic.listSessions', 'sessions', 'Session', function(session)
        return line(session.name or session.summary or session.firstMessage or session.path)
      end, function(session)
        atomic().intent('switch_session', { sessionPath = session.path })
      end)
    end,
  },
  fork = {
    words = 0,
    run = function()
      pick('atomic.getForkMessages', 'messages', 'Fork before', function(message)
        return line(message.text)
      end, function(message)
        atomic().intent('fork', { entryId = message.entryId }, {
          settled = function(fact)
            local text = type(fact.data) == 'table' and fact.data.text
            if fact.outcome == 'done' and text then
              require('atomic.prompt').give_back(text)
            elseif fact.error then
              failed(fact.error)
            end
          end,
        })
      end)
    end,
  },
}

local function row_of(word)
  for _, row in ipairs(require('atomic.commands')) do
    if row.name == word or row.id == word or row.id == 'atomic.' .. word then
      return row
    end
  end
end

---A row by a word that cannot be the first of a sentence, or that stands alone.
local function named(word, rest)
  local row = row_of(word)
  if row and (rest == '' or word:find('[_%u.]')) and row.name ~= 'prompt' then
    return row
  end
end

---Lines of a buffer as a piece of a prompt, with the place they are from.
---@param buffer integer
---@param from integer From 1.
---@param to integer
---@return string
function M.context(buffer, from, to)
  local lines = vim.api.nvim_buf_get_lines(buffer, from - 1, to, false)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':.')
  local fence = '```'
  for _, text in ipairs(lines) do
    local ticks = text:match('^%s*(`+)')
    if ticks and #ticks >= #fence then
      fence = ticks .. '`'
    end
  end
  local head = name ~= '' and ('`%s:%d-%d`%s'):format(name, from, to, vim.bo[buffer].modified and ' (unsaved)' or '') or ''
  return ('%s\n%s%s\n%s\n%s'):format(head, fence, vim.bo[buffer].filetype, table.concat(lines, '\n'), fence)
end

local function ask_about(text, from, to)
  local context = M.context(0, from, to)
  if text ~= '' then
    return atomic().prompt(text .. '\n\n' .. context)
  end
  require('atomic.prompt').give_back('\n\n' .. context)
  atomic().open()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
end

---@param args vim.api.keyset.create_user_command.command_args
function M.run(args)
  local text = vim.trim(args.args)
  if args.range > 0 then
    return ask_about(text, args.line1, args.line2)
  end
  if text == '' then
    return atomic().open()
  end
  if not args.bang then
    local word, rest = text:match('^(%S+)%s*(.*)$')
    local sub = M.subcommands[word]
    if sub then
      local count = #vim.split(rest, '%s+', { trimempty = true })
      if (sub.words == 'any' and rest ~= '') or (type(sub.words) == 'number' and count <= sub.words) then
        return sub.run(rest)
      end
    end
    local row = named(word, rest)
    if row then
      return M.execute(row, rest)
    end
  end
  atomic().prompt(text)
end

---@param row table A row of the generated table.
---@param rest string Its main parameter, or an object as JSON.
function M.execute(row, rest)
  local arguments = {}
  if rest ~= '' then
    local ok, object = pcall(vim.json.decode, rest)
    arguments = { ok and type(object) == 'table' and object or rest }
  end
  atomic().execute(row.id, arguments, function(err, data)
    if err then
      failed(err)
    elseif row.kind == 'read' then
      M.show(row, data)
    end
  end)
end

---Data in a window of its own.
function M.show(row, data)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, vim.split(vim.inspect(data), '\n', { plain = true }))
  vim.bo[buffer].filetype, vim.bo[buffer].modifiable = 'lua', false
  local window = vim.api.nvim_open_win(buffer, true, { split = 'below', win = 0 })
  vim.wo[window][0].winbar = (row.title:gsub('%%', '%%%%'))
  vim.keymap.set('n', 'q', vim.cmd.close, { buffer = buffer })
end

---@param lead string
---@param typed string
---@return string[]
function M.complete(lead, typed)
  local before = typed:sub(1, #typed - #lead):gsub('^.-Atomic!?', '')
  if before:find('%S') then
    local levels = vim.trim(before) == 'thinking' and { 'off', 'minimal', 'low', 'medium', 'high', 'xhigh' } or {}
    return vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, levels)
  end
  local names = vim.tbl_keys(M.subcommands)
  for _, row in ipairs(require('atomic.commands')) do
    if not M.subcommands[row.name] then
      table.insert(names, row.name)
    end
  end
  table.sort(names)
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names)
end

---For an operator: `g@` with the lines of the motion.
---@return string
function M.operator()
  vim.go.operatorfunc = "v:lua.require'atomic.command'.operated"
  return 'g@'
end

function M.operated()
  ask_about('', vim.api.nvim_buf_get_mark(0, '[')[1], vim.api.nvim_buf_get_mark(0, ']')[1])
end

return M
