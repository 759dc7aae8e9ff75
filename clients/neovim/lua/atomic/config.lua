-- The configuration: one schema, from which defaults and checks come. Guarantees: a wrong key or type is one sentence that names
-- it. Must not know: what a setting is for.
local M = {}

---@class atomic.Config
---@field cmd string[] The language server.
---@field settings table Settings of the server: `agent`, `start`, `whileBusy`, `session`, `hub`.
---@field layout 'right'|'left'|'below'|'tab'|'float' Where the chat opens.
---@field width number Columns of the chat, or a share of the screen below 1.
---@field height number Lines of the chat when below, or a share of the screen below 1.
---@field prompt_height integer Lines of the prompt window.
---@field notify boolean Tell of waiting questions by `vim.notify`.
---@field reload boolean Reload clean buffers whose file the agent wrote.
---@field dialogs 'auto'|'float'|'vim.ui' Who shows questions; auto: a float unless `vim.ui` was replaced.
---@field keys table<string, string|string[]|false> Keys of the chat's own buffers.

---@type atomic.Config
local defaults = {
  cmd = { 'atomic-lsp', '--stdio' },
  settings = {},
  layout = 'right',
  width = 0.4,
  height = 0.4,
  prompt_height = 6,
  notify = true,
  reload = true,
  dialogs = 'auto',
  keys = {
    send = '<C-s>',
    send_normal = '<CR>',
    steer = '<M-s>',
    follow_up = '<M-CR>',
    older = '<M-p>',
    newer = '<M-n>',
    stop = '<C-c>',
    close = 'q',
    next_turn = ']]',
    previous_turn = '[[',
    to_prompt = 'i',
    answer = 'ga',
    copy_answer = 'gy',
    copy_block = 'gY',
    next_question = 'gn',
  },
}

local choices = {
  layout = { 'right', 'left', 'below', 'tab', 'float' },
  dialogs = { 'auto', 'float', 'vim.ui' },
}

local given ---@type table?
local current ---@type atomic.Config?

---What is wrong with a configuration.
---@param options table
---@return string[] sentences
function M.problems(options)
  local found = {}
  if type(options) ~= 'table' then
    return { 'The configuration of atomic must be a table, and is a ' .. type(options) .. '.' }
  end
  for key, value in pairs(options) do
    local default = defaults[key]
    if default == nil then
      table.insert(found, ('atomic has no setting `%s`: see :help atomic-config.'):format(key))
    elseif type(value) ~= type(default) then
      table.insert(found, ('atomic: `%s` must be a %s, and is a %s.'):format(key, type(default), type(value)))
    elseif choices[key] and not vim.tbl_contains(choices[key], value) then
      table.insert(found, ('atomic: `%s` must be one of %s.'):format(key, table.concat(choices[key], ', ')))
    elseif key == 'keys' then
      for name in pairs(value) do
        if defaults.keys[name] == nil then
          table.insert(found, ('atomic has no key `keys.%s`: see :help atomic-keys.'):format(name))
        end
      end
    end
  end
  table.sort(found)
  return found
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
  local options = given or vim.g.atomic or {}
  local problems = M.problems(options)
  if #problems > 0 then
    vim.notify(table.concat(problems, '\n'), vim.log.levels.ERROR, { title = 'atomic' })
    local right = {}
    for key, value in pairs(type(options) == 'table' and options or {}) do
      if #M.problems({ [key] = value }) == 0 then
        right[key] = value
      end
    end
    options = right
  end
  current = vim.tbl_deep_extend('force', defaults, options)
  -- A list is replaced, not merged item by item.
  current.cmd = options.cmd or defaults.cmd
  return current
end

return M
