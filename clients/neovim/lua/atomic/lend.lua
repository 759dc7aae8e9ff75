-- Buffers that the language server knows for a while only. Guarantees: what is mentioned in a prompt is sent as it is in Neovim, saved or
-- not, without the server being attached to the person's code. Must not know: prompts.
local server = require('atomic.server')

local M = {}

local most = 5 * 1024 * 1024

local function text_of(buffer)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local ending = vim.bo[buffer].fileformat == 'dos' and '\r\n' or '\n'
  return table.concat(lines, ending) .. (vim.bo[buffer].endofline and ending or '')
end

---Opens what has unsaved changes in the server; gives what closes it there.
---@return fun()
function M.unsaved()
  local opened = {} ---@type string[]
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buffer)
    local ours = vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' and vim.bo[buffer].modified
    if ours and name ~= '' and vim.api.nvim_buf_get_offset(buffer, vim.api.nvim_buf_line_count(buffer)) <= most then
      local uri = vim.uri_from_fname(name)
      local document = { uri = uri, languageId = vim.bo[buffer].filetype, version = 0, text = text_of(buffer) }
      if server.notify('textDocument/didOpen', { textDocument = document }) then
        table.insert(opened, uri)
      end
    end
  end
  return function()
    for _, uri in ipairs(opened) do
      server.notify('textDocument/didClose', { textDocument = { uri = uri } })
    end
    opened = {}
  end
end

return M
