-- Sentences for the person. Guarantees: one line, which fits where Neovim shows it by itself, so that nobody has to press a key to go
-- on. Must not know: what happened.
local render = require('atomic.render')

local M = {}

---Whether a function of Neovim's is its own and not that of a plugin, which may be a table that can be called.
---@param fn function|table
---@param file string End of the source file's name.
---@return boolean
function M.own(fn, file)
  return type(fn) == 'function' and vim.endswith(debug.getinfo(fn, 'S').source, file)
end

local function say(text, level)
  local line = render.one_line(tostring(text))
  if M.own(vim.notify, 'vim/_editor.lua') then
    line = render.cut(line, math.max(20, vim.o.columns * math.max(1, vim.o.cmdheight) - 12))
  end
  vim.notify(line, level, { title = 'atomic' })
end

---@param text string
function M.info(text)
  say(text, vim.log.levels.INFO)
end

---@param text string
function M.warn(text)
  say(text, vim.log.levels.WARN)
end

---Told a moment later, since Neovim's own notification is an error of the command that it is told in.
---@param text string
function M.error(text)
  vim.schedule(function()
    say(text, vim.log.levels.ERROR)
  end)
end

---For requests: tells an error, and says whether there was one.
---@param err? string
---@return boolean
function M.failed(err)
  if err then
    M.error(err)
  end
  return err ~= nil
end

---For `settled` of an intent: tells when it was not done, else calls `done` with its data.
---@param done? fun(data: table)
---@return fun(fact: table)
function M.unless_done(done)
  return function(fact)
    if fact.outcome ~= 'done' then
      M.error(fact.error or 'That was not done.')
    elseif done then
      done(type(fact.data) == 'table' and fact.data or {})
    end
  end
end

return M
