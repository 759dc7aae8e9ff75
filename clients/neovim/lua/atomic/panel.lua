-- What stands above and below the prompt: what is queued, and widgets of extensions. Guarantees: a window is there only while it has
-- something to say and the chat is open; it never has the focus. Must not know: how the chat is laid out.
local render = require('atomic.render')

local M = {}

local most = 8
local space = vim.api.nvim_create_namespace('atomic-panel')
local panels = { above = {}, below = {} } ---@type table<string, {buffer?: integer, window?: integer, lines?: string[]}>

local function queue_lines(queue)
  local lines = {}
  for _, each in ipairs({ { 'steering', '↪' }, { 'followUp', '»' } }) do
    for _, text in ipairs(queue[each[1]]) do
      table.insert(lines, ('%s %s'):format(each[2], render.cut(render.one_line(text), 200)))
    end
  end
  return lines
end

local function widget_lines(widgets, below)
  local lines = {}
  for _, key in ipairs(vim.fn.sort(vim.tbl_keys(widgets))) do
    local widget = widgets[key]
    if (widget.placement == 'belowEditor') == below then
      for _, line in ipairs(widget.lines) do
        vim.list_extend(lines, render.lines(tostring(line)))
      end
    end
  end
  return lines
end

---The lines of both places.
---@param snapshot table
---@return {above: string[], below: string[]} lines
---@return integer queued How many of those above are of the queue.
function M.lines(snapshot)
  local queued = queue_lines(snapshot.queue)
  local above = vim.list_extend(vim.list_slice(queued), widget_lines(snapshot.widgets, false))
  return { above = above, below = widget_lines(snapshot.widgets, true) }, #queued
end

local function close(panel)
  if panel.window and vim.api.nvim_win_is_valid(panel.window) then
    pcall(vim.api.nvim_win_close, panel.window, true)
  end
  panel.window, panel.lines = nil, nil
end

local function open(name, panel, prompt, height)
  if not panel.buffer or not vim.api.nvim_buf_is_valid(panel.buffer) then
    panel.buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(panel.buffer, 'atomic://' .. name)
    vim.bo[panel.buffer].bufhidden = 'hide'
  end
  local equal = vim.o.equalalways
  vim.o.equalalways = false
  if vim.api.nvim_win_get_config(prompt).relative == '' then
    panel.window = vim.api.nvim_open_win(panel.buffer, false, { split = name, win = prompt, height = height })
  else
    panel.window = vim.api.nvim_open_win(panel.buffer, false, {
      relative = 'win',
      win = prompt,
      anchor = name == 'above' and 'SW' or 'NW',
      row = name == 'above' and -1 or vim.api.nvim_win_get_height(prompt) + 1,
      col = 0,
      width = vim.api.nvim_win_get_width(prompt),
      height = height,
      focusable = false,
      style = 'minimal',
      zindex = 60,
    })
  end
  vim.o.equalalways = equal
  for option, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    wrap = false,
    winfixheight = true,
    cursorline = false,
    winbar = '',
  }) do
    vim.wo[panel.window][0][option] = value
  end
end

---Shows what there is around the prompt's window.
---@param snapshot table
---@param prompt integer Window.
function M.update(snapshot, prompt)
  local queue = snapshot.queue
  local nothing = next(snapshot.widgets) == nil and #queue.steering + #queue.followUp == 0
  if nothing and not panels.above.window and not panels.below.window then
    return
  end
  local all, queued = M.lines(snapshot)
  for name, panel in pairs(panels) do
    local lines = vim.list_slice(all[name], 1, most)
    if #all[name] > most then
      lines[most] = ('… %d more'):format(#all[name] - most + 1)
    end
    local there = panel.window and vim.api.nvim_win_is_valid(panel.window)
    if #lines == 0 then
      close(panel)
    elseif not there or not vim.deep_equal(lines, panel.lines) then
      if not there then
        open(name, panel, prompt, #lines)
      end
      panel.lines = lines
      vim.bo[panel.buffer].modifiable = true
      vim.api.nvim_buf_set_lines(panel.buffer, 0, -1, true, lines)
      vim.bo[panel.buffer].modifiable = false
      vim.api.nvim_buf_clear_namespace(panel.buffer, space, 0, -1)
      for index in ipairs(lines) do
        local group = name == 'above' and index <= queued and 'AtomicQueue' or 'AtomicWidget'
        vim.api.nvim_buf_set_extmark(panel.buffer, space, index - 1, 0, { line_hl_group = group })
      end
      vim.api.nvim_win_set_height(panel.window, #lines)
    end
  end
end

function M.close()
  for _, panel in pairs(panels) do
    close(panel)
  end
end

---Windows that are there.
---@return integer[]
function M.windows()
  local found = {}
  for _, panel in pairs(panels) do
    if panel.window and vim.api.nvim_win_is_valid(panel.window) then
      table.insert(found, panel.window)
    end
  end
  return found
end

return M
