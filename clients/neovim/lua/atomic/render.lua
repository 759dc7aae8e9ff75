-- How things look as lines. Guarantees: pure; no line has a line break; the agent's escapes and control characters are gone.
-- Must not know: buffers.
local M = {}

local shown_lines = 200

---@param text string
---@return string
function M.clean(text)
  if not text:find('[%z\1-\8\11-\31\127]') then
    return text
  end
  local cleaned = text:gsub('\27%[[0-9;:?<=>]*[ -/]*[@-~]', ''):gsub('\27%][^\7\27]*[\7]?', '')
  return (cleaned:gsub('\r\n', '\n'):gsub('[%z\1-\8\11-\31\127]', ''))
end

---@param text string
---@return string[]
function M.lines(text)
  return vim.split(M.clean(text), '\n', { plain = true })
end

---@param text string
---@return string
function M.one_line(text)
  return vim.trim((M.clean(text):gsub('%s+', ' ')))
end

---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  if vim.fn.strchars(text) <= width then
    return text
  end
  return vim.fn.strcharpart(text, 0, width - 1) .. '…'
end

---@param content any
---@return string
function M.user_text(content)
  if type(content) == 'string' then
    return content
  end
  local parts = {}
  for _, block in ipairs(type(content) == 'table' and content or {}) do
    table.insert(parts, block.type == 'image' and '(an image)' or block.text or '')
  end
  return table.concat(parts, '\n')
end

local function argument(args)
  for _, key in ipairs({ 'command', 'path', 'file_path', 'pattern', 'query', 'url' }) do
    if type(args[key]) == 'string' then
      return args[key]
    end
  end
  return next(args) and vim.json.encode(args) or ''
end

local marks = { asked = '…', running = '⚙', done = '✓', failed = '✗' }

local function result_text(tool)
  local result = tool.result
  local text = type(result) == 'table' and require('atomic.fold').content_text(result.content) or ''
  return text ~= '' and text or tool.output or ''
end

---A tool call: its head, and the tail of what it put out; a change of a file as a diff.
---@param tool table
---@return string[] lines
---@return integer? first Which of them is the first of a diff.
function M.tool(tool)
  local time = tool.durationMs and (' · %.1f s'):format(tool.durationMs / 1000) or ''
  local what = M.cut(M.one_line(argument(tool.args or {})), 160)
  local head = ('%s %s %s'):format(marks[tool.status] or '·', tool.toolName, what)
  local lines = { vim.trim(head) .. time }
  local details = type(tool.result) == 'table' and tool.result.details
  local diff = type(details) == 'table' and type(details.diff) == 'string' and details.diff or nil
  local text = diff or result_text(tool)
  if text == '' then
    return lines
  end
  local body = M.lines((text:gsub('\n+$', '')))
  local fence = '```'
  for _, line in ipairs(body) do
    local ticks = line:match('^%s*(`+)')
    if ticks and #ticks >= #fence then
      fence = ticks .. '`'
    end
  end
  table.insert(lines, fence .. (diff and 'diff' or 'text'))
  if #body > shown_lines then
    table.insert(lines, ('… %d lines before'):format(#body - shown_lines))
    body = vim.list_slice(body, #body - shown_lines + 1)
  end
  local first = diff and #lines + 1 or nil
  vim.list_extend(lines, body)
  table.insert(lines, fence)
  return lines, first
end

---How many lines a diff adds and removes.
---@param lines string[]
---@return string
local function counted(lines)
  local added, removed = 0, 0
  for _, line in ipairs(lines) do
    added = added + (line:sub(1, 1) == '+' and 1 or 0)
    removed = removed + (line:sub(1, 1) == '-' and 1 or 0)
  end
  return ('+%d −%d'):format(added, removed)
end

---One line for a closed fold.
---@param kind string
---@param lines string[]
---@param width integer Columns that there are.
---@return string
function M.fold(kind, lines, width)
  local last = ''
  for index = #lines, 2, -1 do
    if lines[index]:find('%S') and not lines[index]:find('^%s*```') then
      last = vim.trim(lines[index])
      break
    end
  end
  if kind == 'tool' and lines[2] and lines[2]:find('^```+diff$') then
    last = counted(lines)
  end
  local head = kind == 'thinking' and (lines[1] ~= '' and lines[1] or lines[2] or ''):gsub('%*', '') or lines[1]
  local count = (' · %d lines · '):format(#lines - 1)
  -- The newest line is what a person looks for: it gets half of the room at least.
  local room = math.max(20, width - vim.fn.strdisplaywidth(count) - 2)
  local shown = M.cut(last, math.max(math.floor(room / 2), room - vim.fn.strdisplaywidth(head)))
  return '▸ ' .. M.cut(head, math.max(8, room - vim.fn.strdisplaywidth(shown))) .. count .. shown
end

---What a step of a login says, in one line.
---@param fact table
---@return string
function M.login(fact)
  local said = {}
  for _, key in ipairs({ 'message', 'instructions', 'userCode', 'verificationUri', 'url' }) do
    if type(fact[key]) == 'string' and fact[key] ~= '' then
      table.insert(said, M.one_line(fact[key]))
    end
  end
  return #said > 0 and 'Login: ' .. table.concat(said, ' ') or ''
end

---A number of tokens for a person.
---@param count number
---@return string
function M.tokens(count)
  if count >= 1e6 then
    return ('%.1fM'):format(count / 1e6)
  elseif count >= 1000 then
    return ('%.1fk'):format(count / 1000)
  end
  return tostring(math.floor(count))
end

return M
