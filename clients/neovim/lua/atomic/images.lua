-- Images of a prompt. Guarantees: a mark in the text stands for each, and an image whose mark is gone is not sent; what is no image is
-- refused with a sentence; no shell. Must not know: the prompt's buffer.
local M = {}

---@class atomic.Image
---@field data string Base64.
---@field mimeType string
---@field mark string

local images = {} ---@type atomic.Image[]
local count = 0
local largest = 20 * 1024 * 1024

local kinds = {
  { '\137PNG\r\n\26\n', 'image/png' },
  { '\255\216\255', 'image/jpeg' },
  { 'GIF8', 'image/gif' },
}

---@param bytes string
---@return string? MIME type
function M.kind(bytes)
  for _, each in ipairs(kinds) do
    if vim.startswith(bytes, each[1]) then
      return each[2]
    end
  end
  return bytes:sub(1, 4) == 'RIFF' and bytes:sub(9, 12) == 'WEBP' and 'image/webp' or nil
end

---@return integer
function M.count()
  return #images
end

---Takes an image. Gives its mark, or nil and why not.
---@param bytes string
---@param name string
---@return string? mark
---@return string? err
function M.add(bytes, name)
  local kind = M.kind(bytes)
  if not kind then
    return nil, name .. ' is no image that models take: PNG, JPEG, GIF or WebP is needed.'
  elseif #bytes > largest then
    return nil, ('%s is too large (%d MB): at most 20 MB.'):format(name, math.ceil(#bytes / 1024 / 1024))
  end
  count = count + 1
  local mark = ('[image %d: %s]'):format(count, name)
  table.insert(images, { data = vim.base64.encode(bytes), mimeType = kind, mark = mark })
  return mark
end

---Reads an image file.
---@param path string
---@return string? mark
---@return string? err
function M.from_file(path)
  local full = vim.fs.normalize(vim.fn.fnamemodify(path, ':p'))
  local stat = vim.uv.fs_stat(full)
  if not stat or stat.type ~= 'file' then
    return nil, ('There is no file %s.'):format(path)
  elseif stat.size > largest then
    return nil, ('%s is too large (%d MB): at most 20 MB.'):format(path, math.ceil(stat.size / 1024 / 1024))
  end
  local file, err = io.open(full, 'rb')
  if not file then
    return nil, ('%s cannot be read: %s.'):format(path, err)
  end
  local bytes = file:read('*a')
  file:close()
  return M.add(bytes, vim.fs.basename(full))
end

---Programs that give the clipboard's image, by what they need.
local function programs()
  return {
    { 'wl-paste', '--no-newline', '--type', 'image/png', when = vim.env.WAYLAND_DISPLAY ~= nil },
    { 'xclip', '-selection', 'clipboard', '-target', 'image/png', '-out', when = vim.env.DISPLAY ~= nil },
    { 'pngpaste', '-', when = vim.fn.has('mac') == 1 },
  }
end

---The program that is used for the clipboard, if there is one.
---@return string[]?
function M.program()
  for _, each in ipairs(programs()) do
    if each.when and vim.fn.executable(each[1]) == 1 then
      return vim.list_slice(each)
    end
  end
end

---Takes the clipboard's image.
---@param done fun(mark?: string, err?: string)
function M.from_clipboard(done)
  local program = M.program()
  if not program then
    return done(
      nil,
      'No program gives the image in the clipboard: install wl-paste, xclip or pngpaste, or :Atomic image {file}.'
    )
  end
  local ok, err = pcall(
    vim.system,
    program,
    { timeout = 10000 },
    vim.schedule_wrap(function(result)
      if result.code ~= 0 or not result.stdout or result.stdout == '' then
        return done(nil, 'There is no image in the clipboard.')
      end
      done(M.add(result.stdout, 'clipboard.png'))
    end)
  )
  if not ok then
    done(nil, tostring(err))
  end
end

---The images whose marks are in a text, ready to be sent.
---@param text string
---@return {type: 'image', data: string, mimeType: string}[]
function M.of(text)
  local found = {}
  for _, image in ipairs(images) do
    if text:find(image.mark, 1, true) then
      table.insert(found, { type = 'image', data = image.data, mimeType = image.mimeType })
    end
  end
  return found
end

---Forgets the images of a text that was taken.
---@param text string
function M.forget(text)
  images = vim.tbl_filter(function(image)
    return not text:find(image.mark, 1, true)
  end, images)
end

return M
