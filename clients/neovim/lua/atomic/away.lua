-- Whoever is not looking is told. Guarantees: the end of a run is told once, where its chat is not seen, and never to the one who
-- stopped it; the desktop hears of it, and of questions, only where that is wanted. Must not know: how facts come, how the chat looks.
local config = require('atomic.config')
local render = require('atomic.render')
local session = require('atomic.session')
local tell = require('atomic.tell')

local M = {}

local focused = true -- A terminal that does not say so has it.
local busy = {} ---@type table<string, boolean> By session, as seen last.

local group = vim.api.nvim_create_augroup('atomic-away', {})
for event, has in pairs({ FocusGained = true, FocusLost = false }) do
  vim.api.nvim_create_autocmd(event, {
    group = group,
    callback = function()
      focused = has
    end,
  })
end

---The desktop, by the terminal: most that can show notifications take this.
local function to_terminal(text)
  local sequence = ('\27]9;%s\7'):format(text)
  if vim.env.TMUX then
    sequence = ('\27Ptmux;%s\27\\'):format((sequence:gsub('\27', '\27\27')))
  end
  if vim.api.nvim_ui_send then
    vim.api.nvim_ui_send(sequence)
  elseif vim.iter(vim.api.nvim_list_uis()):any(function(ui)
    return ui.stdout_tty
  end) then
    io.stdout:write(sequence)
    io.stdout:flush()
  end
end

---Tells the desktop, if that is wanted.
---@param text string
function M.desktop(text)
  local wanted = config.get().desktop
  text = render.cut(render.one_line(text), 200)
  if type(wanted) == 'function' then
    local ok, err = pcall(wanted, text)
    if not ok then
      tell.error('atomic: `desktop` failed: ' .. tostring(err))
    end
  elseif wanted and not focused then
    to_terminal(text)
  end
end

local function say(text, level)
  if config.get().notify then
    tell[level](text)
  end
  M.desktop(text)
end

---A run of the session that is shown is over.
---@param fact table
function M.settled(fact)
  local outcome = fact.outcome or {}
  local chat = require('atomic.chat')
  if fact.aborted or outcome.stopReason == 'aborted' or (chat.is_seen() and focused) then
    return
  end
  local failed = outcome.stopReason == 'error'
  local why = failed and (outcome.errorMessage or '') or (chat.last_answer() or ''):sub(1, 400)
  local text = (failed and 'Atomic failed: ' or 'Atomic is done: ') .. render.cut(render.one_line(why), 100)
  if chat.is_seen() then
    M.desktop(text)
  else
    say(text, failed and 'warn' or 'info')
  end
end

---Runs of sessions that are not shown, as the list of sessions tells of them.
function M.update()
  for _, tab in ipairs(session.tabs) do
    if busy[tab.session] and not tab.busy and not tab.current and tab.dialogs == 0 then
      say(('Atomic is done in %s (:Atomic tabs)'):format(render.one_line(tab.name)), 'info')
    end
    busy[tab.session] = tab.busy
  end
end

return M
