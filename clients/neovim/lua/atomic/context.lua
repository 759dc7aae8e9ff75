-- Code as a piece of a prompt: a selection, diagnostics. Guarantees: the place is named, what is not saved is said to be so, and a fence
-- is longer than any in the code. Must not know: sessions.
local M = {}

---@param buffer integer
---@return string path, relative to the folder, empty without a name
local function name_of(buffer)
  return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':.')
end

local function fenced(lines, language)
  local fence = '```'
  for _, text in ipairs(lines) do
    local ticks = text:match('^%s*(`+)')
    if ticks and #ticks >= #fence then
      fence = ticks .. '`'
    end
  end
  return ('%s%s\n%s\n%s'):format(fence, language, table.concat(lines, '\n'), fence)
end

---Lines of a buffer, or a part of them.
---@param buffer integer
---@param from integer First line, from 1.
---@param to integer Last line.
---@param lines? string[] Only these parts of the lines.
---@return string
function M.code(buffer, from, to, lines)
  local name = name_of(buffer)
  local unsaved = vim.bo[buffer].modified and ' (unsaved)' or ''
  local head = name ~= '' and ('`%s:%d-%d`%s\n'):format(name, from, to, unsaved) or ''
  lines = lines or vim.api.nvim_buf_get_lines(buffer, from - 1, to, false)
  return head .. fenced(lines, vim.bo[buffer].filetype)
end

---Code between two marks.
---@param first integer[] As of `getpos()`.
---@param last integer[]
---@param kind 'v'|'V'|'\22'
---@return string
function M.region(first, last, kind)
  local from, to = math.min(first[2], last[2]), math.max(first[2], last[2])
  if kind == 'V' then
    return M.code(0, from, to)
  end
  return M.code(0, from, to, vim.fn.getregion(first, last, { type = kind }))
end

local severities = { 'error', 'warning', 'information', 'hint' }

---@param diagnostic vim.Diagnostic
local function described(diagnostic)
  local source = { diagnostic.source, diagnostic.code and tostring(diagnostic.code) }
  local said = #source > 0 and (' (%s)'):format(table.concat(source, ' ')) or ''
  local message = vim.trim(diagnostic.message):gsub('%s*\n%s*', ' ')
  local place = ('%s:%d:%d'):format(name_of(diagnostic.bufnr), diagnostic.lnum + 1, diagnostic.col + 1)
  return ('- `%s` %s: %s%s'):format(place, severities[diagnostic.severity] or 'error', message, said)
end

local most = 200

---Diagnostics as a list, of whatever source. Nil when there is none.
---@param buffer? integer Nil for all buffers.
---@param from? integer First line, from 1.
---@param to? integer
---@return string?
function M.diagnostics(buffer, from, to)
  local found = vim.tbl_filter(function(diagnostic)
    local last = diagnostic.end_lnum or diagnostic.lnum
    return not from or (last + 1 >= from and diagnostic.lnum + 1 <= to)
  end, vim.diagnostic.get(buffer))
  table.sort(found, function(a, b)
    if a.bufnr ~= b.bufnr then
      return a.bufnr < b.bufnr
    elseif a.lnum ~= b.lnum then
      return a.lnum < b.lnum
    end
    return a.col < b.col
  end)
  local lines = vim.tbl_map(described, vim.list_slice(found, 1, most))
  if #found > most then
    table.insert(lines, ('- … and %d more'):format(#found - most))
  end
  return #lines > 0 and table.concat(lines, '\n') or nil
end

return M
