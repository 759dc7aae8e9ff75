-- How one question is shown. Guarantees: `done` is called once and never after `close`; nothing is left behind. Must not know: which
-- questions wait.
local answer = require('atomic.answer')
local choose = require('atomic.choose')
local render = require('atomic.render')

local M = {}

local function shown(dialog)
  return vim.tbl_extend('force', dialog, { title = render.one_line(dialog.title or '') })
end

---Shows a question. `done` gets an answer, or nil and then what had been written.
---@param dialog table
---@param done fun(value?: table, written?: string)
---@return fun() close
function M.show(dialog, done)
  local it = shown(dialog)
  local function entered(text, written, refused)
    if refused then
      return done({ cancelled = true })
    end
    done(text and { value = text } or nil, written)
  end
  if dialog.method == 'confirm' then
    return choose.open({ 'Yes', 'No' }, it, function(index)
      done(index and { confirmed = index == 1 } or nil)
    end)
  elseif dialog.method == 'select' or dialog.method == 'oauth_select' then
    return choose.open(dialog.options or {}, it, function(index)
      done(index and { index = index - 1 } or nil)
    end)
  elseif dialog.secret then
    return require('atomic.secret').open(it, entered)
  elseif dialog.method == 'editor' then
    return answer.buffer(it, entered)
  end
  if dialog.message and dialog.message ~= '' then
    it.title = it.title .. ' ' .. render.one_line(dialog.message)
  end
  return answer.line(it, entered)
end

return M
