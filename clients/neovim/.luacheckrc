std = 'luajit'
globals = { 'vim' }
max_line_length = 140
exclude_files = { '**/lua/atomic/commands.lua', '**/lua/atomic/schema.lua' }
