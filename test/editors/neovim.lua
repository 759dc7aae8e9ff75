-- The part of the Neovim driver (test/support/neovim.ts) that runs inside Neovim. Guarantees that all that a language server
-- sends and all that Neovim asks its user is told over the channel, and that Neovim's own handlers still run. Must not know
-- what is tested. Loaded with --cmd, before the user's configuration, which so may replace vim.ui and handlers.
local M = { asked = {} }
_G.atomic_test = M

local untold = {}

-- JSON and not msgpack, because JSON keeps apart null and absent, list and object.
local function tell(kind, data)
  local ok, text = pcall(vim.json.encode, { kind = kind, data = data == nil and vim.NIL or data })
  if not ok then
    text = vim.json.encode({ kind = kind, data = { unreadable = tostring(text) } })
  end
  if M.channel then
    pcall(vim.rpcnotify, M.channel, 'atomic_test', text)
  else
    table.insert(untold, text)
  end
end
M.tell = tell

function M.connect(channel)
  M.channel = channel
  for _, text in ipairs(untold) do
    vim.rpcnotify(channel, 'atomic_test', text)
  end
  untold = {}
end

for _, method in ipairs({
  '$/progress',
  'client/registerCapability',
  'client/unregisterCapability',
  'window/logMessage',
  'window/showDocument',
  'window/showMessage',
  'window/showMessageRequest',
  'window/workDoneProgress/create',
  'workspace/applyEdit',
  'workspace/configuration',
}) do
  local own = vim.lsp.handlers[method]
  if own then
    vim.lsp.handlers[method] = function(err, params, ctx, config)
      tell(method, params)
      return own(err, params, ctx, config)
    end
  end
end

vim.api.nvim_create_autocmd('LspAttach', {
  callback = function(event)
    tell('attach', { client = event.data.client_id, file = vim.api.nvim_buf_get_name(event.buf) })
  end,
})
vim.api.nvim_create_autocmd('LspDetach', {
  callback = function(event)
    tell('detach', { client = event.data.client_id, file = vim.api.nvim_buf_get_name(event.buf) })
  end,
})

local notify = vim.notify
function vim.notify(message, level, options)
  tell('notify', { message = tostring(message), level = level })
  return notify(message, level, options)
end

-- The dialogs of Neovim, answered by the test instead of a person; they do not block, as those of dialog plugins do not.
function M.take_dialogs()
  function vim.ui.select(items, options, on_choice)
    table.insert(M.asked, function(index)
      on_choice(items[index], index)
    end)
    local titles = vim.tbl_map(options.format_item or tostring, items)
    tell('select', { id = #M.asked, prompt = options.prompt, kind = options.kind, items = titles })
  end
  function vim.ui.input(options, on_confirm)
    table.insert(M.asked, on_confirm)
    tell('input', { id = #M.asked, prompt = options.prompt, default = options.default })
  end
end

-- ANSWER is the number of an item, a text, or absent for a dismissal.
function M.answer(id, answer)
  local callback = assert(M.asked[id], 'no such question')
  M.asked[id] = false
  vim.schedule(function()
    callback(answer)
  end)
end

-- Starts the server as the guide for Neovim 0.10 does it: for every file with a file type.
function M.start_server(server)
  local function start()
    return vim.lsp.start({
      name = server.name,
      cmd = server.cmd,
      cmd_env = server.env,
      init_options = server.initializationOptions,
      root_dir = server.root or vim.fs.root(0, '.git'),
      on_init = function(client)
        tell('initialized', { client = client.id, capabilities = client.server_capabilities })
      end,
      on_exit = function(code, signal, client)
        tell('exit', { client = client, code = code, signal = signal })
      end,
    })
  end
  vim.api.nvim_create_autocmd('FileType', {
    callback = function(event)
      if vim.bo[event.buf].buftype == '' then
        start()
      end
    end,
  })
  return start()
end

-- Tells the outcome of a request as the event 'response' with the number of the request.
function M.request(id, client_id, method, params)
  local client = client_id and vim.lsp.get_client_by_id(client_id) or vim.lsp.get_clients()[1]
  assert(client, 'no language server runs')
  client.request(method, params, function(err, result)
    tell('response', { id = id, error = err, result = result == nil and vim.NIL or result })
    -- By its number: with 0, 0.10 does not tell of pending changes first.
  end, vim.api.nvim_get_current_buf())
end

-- Tells the value of a condition as the event 'condition' once it is neither nil nor false. Neovim goes on meanwhile.
function M.await(id, code)
  local condition = assert(loadstring('return ' .. code) or loadstring(code))
  local timer = assert(vim.uv.new_timer())
  local function stop(data)
    if not timer:is_closing() then
      timer:close()
      tell('condition', data)
    end
  end
  -- No event stands for any change of any state; this clock is Neovim's own and costs the test nothing.
  timer:start(
    0,
    10,
    vim.schedule_wrap(function()
      local ok, value = pcall(condition)
      if not ok then
        stop({ id = id, error = tostring(value) })
      elseif value then
        stop({ id = id, value = value })
      end
    end)
  )
end
