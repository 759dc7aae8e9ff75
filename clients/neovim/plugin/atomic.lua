-- The command and the maps. Guarantees: nothing else is loaded before the first use.
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

for _, name in ipairs({ 'open', 'toggle', 'stop', 'next', 'new', 'changes', 'fix' }) do
  vim.keymap.set('n', '<Plug>(atomic-' .. name .. ')', function()
    require('atomic')[name]()
  end, { desc = 'Atomic: ' .. name })
end
vim.keymap.set('x', '<Plug>(atomic-ask)', function()
  require('atomic.command').selected()
end, { desc = 'Atomic: ask about the selection' })
vim.keymap.set('n', '<Plug>(atomic-ask)', function()
  return require('atomic.command').operator()
end, { expr = true, desc = 'Atomic: ask about a motion' })
