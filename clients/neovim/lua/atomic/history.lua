-- What was written, over restarts: prompts that were sent and the draft, for each folder. Guarantees: readable by the person alone; a
-- file that cannot be written costs the memory and nothing else; two Neovims in one folder add to one history, and a draft belongs to
-- one of them. Must not know: buffers.
local M = {}

local loaded = {} ---@type table<string, string[]> By folder.

local function most()
  return require('atomic.config').get().history
end

local function root()
  local folder = require('atomic.session').root()
  return vim.uv.fs_realpath(folder) or folder
end

---Where things of the session's folder lie.
---@return {history: string, draft: string}
local function places()
  local state = vim.fn.stdpath('state') --[[@as string]]
  local folder = vim.fs.joinpath(state, 'atomic', vim.fn.sha256(root()):sub(1, 16))
  return { history = folder .. '/history', draft = folder .. '/draft' }
end

local function read(path)
  local file = io.open(path, 'rb')
  if not file then
    return nil
  end
  local text = file:read('*a')
  file:close()
  return text
end

---Writes a file in the state folder, whole or at its end.
local function write(path, text, flags)
  pcall(vim.fn.mkdir, vim.fs.dirname(path), 'p', tonumber('700', 8))
  local fd = vim.uv.fs_open(path, flags, tonumber('600', 8))
  if fd then
    vim.uv.fs_write(fd, text, flags == 'a' and -1 or 0)
    vim.uv.fs_close(fd)
  end
end

local function load()
  local key = root()
  if loaded[key] then
    return loaded[key]
  end
  local entries = {} ---@type string[]
  local limit = most()
  local text = limit > 0 and read(places().history) or ''
  for line in text:gmatch('[^\n]+') do
    local ok, entry = pcall(vim.json.decode, line)
    if ok and type(entry) == 'string' then
      table.insert(entries, entry)
    end
  end
  if #entries > 2 * limit and limit > 0 then
    entries = vim.list_slice(entries, #entries - limit + 1)
    write(places().history, table.concat(vim.tbl_map(vim.json.encode, entries), '\n') .. '\n', 'w')
  end
  loaded[key] = entries
  return entries
end

---Prompts that were sent, oldest first.
---@return string[]
function M.all()
  return load()
end

---@param text string
function M.add(text)
  local list = load()
  if list[#list] == text then
    return
  end
  table.insert(list, text)
  if #list > math.max(200, most()) then
    table.remove(list, 1)
  end
  if most() > 0 then
    write(places().history, vim.json.encode(text) .. '\n', 'a')
  end
end

---The draft of an earlier Neovim, which is ours from now on.
---@return string?
function M.take_draft()
  local text = most() > 0 and read(places().draft) or nil
  if text then
    vim.uv.fs_unlink(places().draft)
  end
  return text
end

---@param text string Empty for none.
function M.keep_draft(text)
  if most() <= 0 then
    return
  elseif text == '' then
    vim.uv.fs_unlink(places().draft)
  else
    write(places().draft, text, 'w')
  end
end

return M
