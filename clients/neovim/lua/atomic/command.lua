-- `:Atomic`. Guarantees: what is no subcommand is a prompt, and with a bang everything is; names complete from the generated tables.
-- Must not know: how anything is done.
local context = require('atomic.context')
local schema = require('atomic.schema')
local tell = require('atomic.tell')

local M = {}

local words = {} ---@type table<string, 0|1|'any'>
for _, each in ipairs(schema.subcommands) do
  words[each.name] = each.words
end

local function atomic()
  return require('atomic')
end

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

---Writes a prompt about code, or sends one.
---@param text string
---@param code string
function M.ask(text, code)
  if text ~= '' then
    return atomic().prompt(text .. '\n\n' .. code)
  end
  require('atomic.prompt').give_back('\n\n' .. code)
  atomic().open()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
end

---The subcommand that a text is, if it is one.
---@param text string
---@return string? name
---@return string? rest
function M.subcommand(text)
  local word, rest = text:match('^(%S+)%s*(.*)$')
  local wanted = words[word]
  if not wanted then
    return nil
  end
  local count = #vim.split(rest, '%s+', { trimempty = true })
  local bare = wanted == 'any'
    and (rest ~= '' or vim.tbl_contains({ 'image', 'fix', 'export', 'compact', 'tabnew' }, word))
  if bare or (type(wanted) == 'number' and count <= wanted) then
    return word, rest
  end
end

---@param args vim.api.keyset.create_user_command.command_args
function M.run(args)
  local text = vim.trim(args.args)
  local name, rest = M.subcommand(text)
  if name == 'fix' then
    return require('atomic.verbs').fix(rest, args)
  elseif args.range > 0 then
    return M.ask(text, context.code(0, args.line1, args.line2))
  elseif text == '' then
    return atomic().open()
  elseif args.bang then
    return atomic().prompt(text)
  elseif name then
    return require('atomic.verbs')[name](rest, args)
  end
  local word, more = text:match('^(%S+)%s*(.*)$')
  local row = named(word, more)
  if row then
    return M.execute(row, more)
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
    if not tell.failed(err) and row.kind == 'read' then
      require('atomic.list').open('data', {
        title = row.title,
        lines = vim.split(vim.inspect(data), '\n', { plain = true }),
        filetype = 'lua',
      })
    end
  end)
end

local arguments = { thinking = 'levels', model = 'models', attach = 'sessions' }

---@param lead string
---@param typed string
---@return string[]
function M.complete(lead, typed)
  local before = vim.trim((typed:sub(1, #typed - #lead):gsub('^.-Atomic!?', '')))
  local names = {}
  if before == '' then
    names = vim.tbl_keys(words)
    for _, row in ipairs(require('atomic.commands')) do
      if not words[row.name] then
        table.insert(names, row.name)
      end
    end
    table.sort(names)
  elseif before == 'image' or before == 'export' then
    return vim.fn.getcompletion(lead, 'file')
  elseif arguments[before] then
    names = require('atomic.cache').names(arguments[before])
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names)
end

---For an operator: `g@` with what the motion covers.
---@return string
function M.operator()
  vim.go.operatorfunc = "v:lua.require'atomic.command'.operated"
  return 'g@'
end

local kinds = { line = 'V', char = 'v', block = '\22' }

---@param kind 'line'|'char'|'block'
function M.operated(kind)
  M.ask('', context.region(vim.fn.getpos("'["), vim.fn.getpos("']"), kinds[kind] or 'V'))
end

---About the selection, in visual mode.
function M.selected()
  local kind = vim.fn.mode()
  local first, last = vim.fn.getpos('v'), vim.fn.getpos('.')
  local code = context.region(first, last, kind)
  vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  M.ask('', code)
end

return M
