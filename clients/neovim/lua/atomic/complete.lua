-- Completion in the prompt as one types. Guarantees: the language server says what there is; nothing is done where a completion plugin
-- does it, and nothing waits. Must not know: what can be completed.
local server = require('atomic.server')

local M = {}

local patience = 8
local asked = 0
local opening = false
local last ---@type string? What was before the cursor when the server was asked.
local more = false -- There are items that the server did not send.
local options ---@type string? The person's 'completeopt', while ours holds.
local plugins = { 'cmp', 'blink.cmp', 'mini.completion', 'coq', 'care' }

---Whether somebody else completes here.
local function elsewhere(buffer)
  if not require('atomic.config').get().complete or vim.b[buffer].completion == false then
    return true
  end
  return vim.iter(plugins):any(function(name)
    return package.loaded[name] ~= nil
  end)
end

---What a server's item is for `complete()`.
---@param item table LSP CompletionItem.
---@return table
local function entry(item)
  local documentation = item.documentation
  return {
    word = item.textEdit and item.textEdit.newText or item.insertText or item.label,
    abbr = item.label,
    menu = item.detail or '',
    info = type(documentation) == 'table' and documentation.value or documentation or '',
    dup = 1,
    icase = 1,
    user_data = { nvim = { lsp = { completion_item = item } } },
  }
end

---Where the text that an item replaces begins, in bytes.
local function start_of(item, line, otherwise)
  local range = item.textEdit and (item.textEdit.range or item.textEdit.insert)
  if not range then
    return otherwise
  end
  return vim.str_byteindex(line, math.min(range.start.character, vim.fn.strutf16len(line)), true)
end

local function shown(buffer, items, column)
  local line = vim.api.nvim_get_current_line()
  if #items == 0 or vim.api.nvim_get_current_buf() ~= buffer or vim.fn.mode():sub(1, 1) ~= 'i' then
    return
  end
  local before = line:sub(1, column)
  local from = start_of(items[1], line, column - #(before:match('%S*$') or ''))
  if not options then
    options = vim.o.completeopt
    vim.o.completeopt = 'menuone,noinsert,noselect'
  end
  -- A menu that is there already ends when the next one begins.
  opening = true
  pcall(vim.fn.complete, from + 1, vim.tbl_map(entry, items))
  opening = false
end

---The menu is gone.
function M.done()
  if options and not opening then
    vim.o.completeopt, options, last = options, nil, nil
  end
end

---Asks for completions at the cursor if what is before it calls for them.
---@param buffer integer
---@param tried? integer How often that was in vain.
function M.look(buffer, tried)
  if (vim.fn.pumvisible() == 1 and not more) or not server.offers('completionProvider') or elsewhere(buffer) then
    return
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local before = vim.api.nvim_get_current_line():sub(1, column)
  local command = row == 1 and before:find('^/')
  if before == last or (not command and not before:find('@%S*$')) then
    return
  end
  last = before
  asked = asked + 1
  local mine = asked
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = { line = row - 1, character = vim.fn.strutf16len(before) },
  }
  server.request('textDocument/completion', params, function(err, result)
    local now = vim.api.nvim_win_get_cursor(0)
    if err or mine ~= asked or now[1] ~= row or now[2] ~= column then
      return
    end
    local items = type(result) == 'table' and (result.items or result) or {}
    more = type(result) == 'table' and result.isIncomplete == true
    if #items == 0 and command and (tried or 0) < patience then
      -- An agent that is just being started has not said its commands yet.
      vim.defer_fn(function()
        if vim.api.nvim_get_current_buf() == buffer and vim.fn.mode():sub(1, 1) == 'i' and last == before then
          last = nil
          M.look(buffer, (tried or 0) + 1)
        end
      end, 600)
    end
    shown(buffer, items, column)
  end)
end

return M
