-- The command and the maps. Guarantees: nothing else is loaded before the first use, of Neovim's own modules neither.
if vim.g.loaded_atomic == 1 then
  return
end
vim.g.loaded_atomic = 1

vim.api.nvim_create_user_command('Atomic', function(args)
  require('atomic.command').run(args)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Talk with the Atomic coding agent',
  complete = function(lead, line)
    return require('atomic.command').complete(lead, line)
  end,
})

local function map(mode, name, lua, options)
  options = vim.tbl_extend('force', { noremap = true, desc = 'Atomic: ' .. name }, options or {})
  vim.api.nvim_set_keymap(mode, '<Plug>(atomic-' .. name .. ')', lua, options)
end

for _, name in ipairs({ 'open', 'toggle', 'stop', 'next', 'new', 'changes', 'fix' }) do
  map('n', name, ("<Cmd>lua require('atomic').%s()<CR>"):format(name))
end
map('x', 'ask', "<Cmd>lua require('atomic.command').selected()<CR>")
map('n', 'ask', "v:lua.require'atomic.command'.operator()", { expr = true })
