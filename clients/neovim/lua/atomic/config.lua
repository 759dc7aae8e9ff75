-- The configuration: defaults and checks, from the schema. Guarantees: a wrong key or type is one sentence that names it, and the rest
-- holds. Must not know: what a setting is for.
local schema = require('atomic.schema')

local M = {}

local settings, keys = {}, {} ---@type table<string, table>, table<string, atomic.Key>
for _, setting in ipairs(schema.settings) do
  settings[setting.name] = setting
end
for _, key in ipairs(schema.keys) do
  keys[key.name] = key
end

local given ---@type table?
local current ---@type atomic.Config?

local function is_words(value)
  return type(value) == 'table'
    and vim.islist(value)
    and vim.iter(value):all(function(word)
      return type(word) == 'string'
    end)
end

local kinds = {
  ['string[]'] = {
    'a list of strings that is not empty',
    function(value)
      return is_words(value) and #value > 0
    end,
  },
  table = {
    'a table',
    function(value)
      return type(value) == 'table'
    end,
  },
  keys = {
    'a table',
    function(value)
      return type(value) == 'table'
    end,
  },
  string = {
    'a string',
    function(value)
      return type(value) == 'string'
    end,
  },
  number = {
    'a number above 0',
    function(value)
      return type(value) == 'number' and value > 0
    end,
  },
  integer = {
    'a whole number from 0',
    function(value)
      return type(value) == 'number' and value >= 0 and value == math.floor(value)
    end,
  },
  ['boolean|function'] = {
    'true, false or a function',
    function(value)
      return type(value) == 'boolean' or vim.is_callable(value)
    end,
  },
  boolean = {
    'true or false',
    function(value)
      return type(value) == 'boolean'
    end,
  },
}

local function key_problems(value, found)
  for name, key in pairs(value) do
    if not keys[name] then
      table.insert(found, ('atomic has no key `keys.%s`: see :help atomic-keys.'):format(tostring(name)))
    elseif key ~= false and type(key) ~= 'string' and not is_words(key) then
      table.insert(found, ('atomic: `keys.%s` must be a key, a list of keys, or false.'):format(name))
    end
  end
end

---What is wrong with a configuration.
---@param options any
---@return string[] sentences
function M.problems(options)
  if type(options) ~= 'table' then
    return { 'The configuration of atomic must be a table, and is a ' .. type(options) .. '.' }
  end
  local found = {}
  for name, value in pairs(options) do
    local setting = settings[name]
    if not setting then
      table.insert(found, ('atomic has no setting `%s`: see :help atomic-config.'):format(tostring(name)))
    elseif setting.choices and not vim.tbl_contains(setting.choices, value) then
      table.insert(found, ('atomic: `%s` must be one of %s.'):format(name, table.concat(setting.choices, ', ')))
    elseif not kinds[setting.type][2](value) then
      table.insert(found, ('atomic: `%s` must be %s.'):format(name, kinds[setting.type][1]))
    elseif setting.type == 'keys' then
      key_problems(value, found)
    end
  end
  table.sort(found)
  return found
end

local function without_faults(options)
  if type(options) ~= 'table' then
    return {}
  end
  local right = {}
  for name, value in pairs(options) do
    if name == 'keys' and type(value) == 'table' then
      right.keys = {}
      for key, own in pairs(value) do
        if #M.problems({ keys = { [key] = own } }) == 0 then
          right.keys[key] = own
        end
      end
    elseif #M.problems({ [name] = value }) == 0 then
      right[name] = value
    end
  end
  return right
end

---What the person gave, right or wrong: what `setup` got goes over `vim.g.atomic`, which a plugin manager that calls `setup` by itself
---must not undo.
---@return any
function M.given()
  local global = vim.g.atomic
  if given == nil or type(given) ~= 'table' or type(global) ~= 'table' then
    return given == nil and (global or {}) or given
  end
  local both = vim.tbl_extend('force', global, given)
  if type(global.keys) == 'table' and type(given.keys) == 'table' then
    both.keys = vim.tbl_extend('force', global.keys, given.keys)
  end
  return both
end

---Takes a configuration; the parts that are wrong are left out and told.
---@param options? table
function M.set(options)
  given, current = options, nil
  M.get()
end

---@return atomic.Config
function M.get()
  if current then
    return current
  end
  local options = M.given()
  local problems = M.problems(options)
  if #problems > 0 then
    require('atomic.tell').error(table.concat(problems, ' '))
    options = without_faults(options)
  end
  current = {}
  for name, setting in pairs(settings) do
    current[name] = vim.deepcopy(options[name] == nil and setting.default or options[name])
  end
  for name, key in pairs(keys) do
    if current.keys[name] == nil then
      current.keys[name] = key.key
    end
  end
  return current
end

---Maps the keys of a buffer: those of the schema for some places, where there is an action.
---@param buffer integer
---@param places string[] `where` of the schema.
---@param actions table<string, fun()>
function M.map(buffer, places, actions)
  local wanted = M.get().keys
  for _, key in ipairs(schema.keys) do
    local action = vim.tbl_contains(places, key.where) and actions[key.name]
    local own = wanted[key.name]
    for _, lhs in ipairs(action and (type(own) == 'table' and own or { own or nil }) or {}) do
      vim.keymap.set(vim.split(key.modes, ''), lhs, action, {
        buffer = buffer,
        nowait = true,
        desc = 'Atomic: ' .. key.doc,
      })
    end
  end
end

return M
