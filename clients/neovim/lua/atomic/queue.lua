-- What is queued, as text to edit. Guarantees: what the agent took meanwhile is not sent again, what others queued meanwhile stays, and
-- what could not be put back is in the prompt. Must not know: how prompts are written.
local session = require('atomic.session')
local tell = require('atomic.tell')

local M = {}

local heads = { { 'steering', 'steer', '# Steering' }, { 'followUp', 'follow_up', '# After the run' } }
local rule = '---'

---The queue as lines: texts of each kind under a heading, with rules between them.
---@param queue {steering: string[], followUp: string[]}
---@return string[]
function M.lines(queue)
  local lines = {}
  for _, head in ipairs(heads) do
    table.insert(lines, head[3])
    for index, text in ipairs(queue[head[1]] or {}) do
      if index > 1 then
        table.insert(lines, rule)
      end
      vim.list_extend(lines, vim.split(text, '\n', { plain = true }))
    end
    table.insert(lines, '')
  end
  lines[#lines] = nil
  return lines
end

---The queue that lines say.
---@param lines string[]
---@return {command: string, text: string}[]
function M.parse(lines)
  local found, command, piece = {}, 'steer', {}
  local function finish()
    local text = vim.trim(table.concat(piece, '\n'))
    piece = {}
    if text ~= '' then
      table.insert(found, { command = command, text = text })
    end
  end
  for _, line in ipairs(lines) do
    local head = vim.iter(heads):find(function(each)
      return each[3] == vim.trim(line)
    end)
    if head then
      finish()
      command = head[2]
    elseif vim.trim(line) == rule then
      finish()
    else
      table.insert(piece, line)
    end
  end
  finish()
  return found
end

local function flat(queue)
  local found = {}
  for _, head in ipairs(heads) do
    for _, text in ipairs(queue[head[1]] or {}) do
      table.insert(found, { command = head[2], text = text })
    end
  end
  return found
end

local function take_out(list, text)
  for index, each in ipairs(list) do
    if each.text == text then
      return table.remove(list, index)
    end
  end
end

---What to queue anew: what was edited, without what the agent took in the meantime, and what came to it in the meantime.
---@param before table The queue as it was shown.
---@param returned table The queue that was taken back.
---@param edited {command: string, text: string}[]
---@return {command: string, text: string}[]
function M.merged(before, returned, edited)
  local back, taken = flat(returned), {}
  for _, each in ipairs(flat(before)) do
    if not take_out(back, each.text) then
      table.insert(taken, each)
    end
  end
  local wanted = vim.tbl_filter(function(each)
    return not take_out(taken, each.text)
  end, edited)
  return vim.list_extend(wanted, back)
end

local function put_back(wanted)
  local each = table.remove(wanted, 1)
  if not each then
    return
  end
  session.intent(each.command, { message = each.text }, {
    accepted = function(err)
      if err then
        require('atomic.prompt').give_back(each.text)
        tell.error(err)
      end
      put_back(wanted)
    end,
    settled = function(fact)
      if fact.outcome ~= 'done' then
        require('atomic.prompt').give_back(each.text)
        tell.error(fact.error or 'A queued text was not taken: it is in the prompt.')
      end
    end,
  })
end

---Takes the queue back; `done` gets it.
---@param done fun(queue: {steering: string[], followUp: string[]})
function M.take_back(done)
  session.intent('clear_queue', nil, {
    settled = tell.unless_done(function(data)
      done({ steering = data.steering or {}, followUp = data.followUp or {} })
    end),
  })
end

---Takes the queue back into the prompt.
function M.to_prompt()
  M.take_back(function(queue)
    local texts = vim.tbl_map(function(each)
      return each.text
    end, flat(queue))
    if #texts > 0 then
      require('atomic.prompt').give_back(table.concat(texts, '\n\n'))
    end
  end)
end

---Opens the queue in a buffer; writing it puts it back.
function M.open()
  local before = vim.deepcopy(session.snapshot.queue)
  if #flat(before) == 0 then
    return tell.info('Nothing is queued.')
  end
  local list = require('atomic.list').open('queue', {
    title = 'Queue (:w puts it back)',
    lines = M.lines(before),
    buftype = 'acwrite',
    filetype = 'markdown',
  })
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = list.buffer,
    callback = function()
      local edited = M.parse(vim.api.nvim_buf_get_lines(list.buffer, 0, -1, false))
      vim.bo[list.buffer].modified = false
      M.take_back(function(returned)
        put_back(M.merged(before, returned, edited))
      end)
      vim.schedule(list.close)
    end,
  })
end

return M
