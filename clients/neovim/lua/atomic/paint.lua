-- Markdown of the transcript, highlighted by tree-sitter where it is seen. Guarantees: a piece of text is parsed once when it is complete
-- and at most some times a second while it grows, never all of a long session, and not for longer at a time than a person notices.
-- Must not know: what entries say.
local M = {}

-- Neovim's own highlighter parses all of a buffer anew at each change, which takes a second where an answer is long.
local space = vim.api.nvim_create_namespace('atomic-paint')
local shortest, longest = 60, 1000 -- Milliseconds between two looks.
local share = 12 -- Looks take one part in so many of the time.
local budget = 5 -- Milliseconds of one look.
local least, most = 1024, 6144 -- Bytes of a piece: it ends at a blank line, or anywhere.

local pause = shortest
local timer ---@type uv.uv_timer_t?
local buffer ---@type integer?
local visible ---@type fun(first: integer, last: integer): atomic.Entry[]

---@class atomic.Piece
---@field from integer First line within the entry, from 0.
---@field fence? string The line that opened the code that it begins in.
---@field seen? string What it was when it was painted.

---Cuts an entry into pieces, as far as that has not been done.
---@param entry atomic.Entry
local function cut(entry)
  local cuts = entry.cuts
  if not cuts then
    cuts = { pieces = { { from = 0 } }, at = 0, size = 0 }
    entry.cuts = cuts
  end
  -- The last line may still grow.
  local upto = entry.count - 1
  if cuts.at >= upto then
    return cuts.pieces
  end
  for index, line in ipairs(vim.api.nvim_buf_get_lines(buffer, entry.row + cuts.at, entry.row + upto, false)) do
    local ticks = line:match('^%s*(```+)') or line:match('^%s*(~~~+)')
    if ticks and not cuts.fence then
      cuts.fence, cuts.ticks = line, ticks
    elseif ticks and vim.startswith(ticks, cuts.ticks) and line:match('^%s*[`~]+%s*$') then
      cuts.fence = nil
    end
    cuts.size = cuts.size + #line + 1
    local blank = not cuts.fence and cuts.size >= least and line:find('^%s*$')
    if blank or cuts.size >= most then
      table.insert(cuts.pieces, { from = cuts.at + index, fence = cuts.fence })
      cuts.size = 0
    end
  end
  cuts.at = upto
  return cuts.pieces
end

---Puts the highlights of a text into the buffer.
---@param text string
---@param row integer Where its first line is.
---@param skip integer Lines at its beginning that are not in the buffer.
local function highlight(text, row, skip)
  local parser = vim.treesitter.get_string_parser(text, 'markdown')
  parser:parse(true)
  parser:for_each_tree(function(tree, language)
    local name = language:lang()
    local query = vim.treesitter.query.get(name, 'highlights')
    if not query then
      return
    end
    for id, node, metadata in query:iter_captures(tree:root(), text, 0, -1) do
      local capture = query.captures[id]
      local own = metadata[id] or {}
      local range = vim.treesitter.get_range(node, text, metadata[id])
      if range[1] >= skip and not vim.startswith(capture, '_') and not capture:find('spell') then
        pcall(vim.api.nvim_buf_set_extmark, buffer, space, row + range[1] - skip, range[2], {
          end_row = row + range[4] - skip,
          end_col = range[5],
          hl_group = capture ~= 'conceal' and ('@%s.%s'):format(capture, name) or nil,
          conceal = own.conceal or metadata.conceal,
          priority = tonumber(own.priority or metadata.priority) or 100,
          strict = false,
        })
      end
    end
  end)
end

---@param entry atomic.Entry
---@param pieces atomic.Piece[]
---@param index integer
---@return boolean whether there was something to do
local function paint(entry, pieces, index)
  local piece, after = pieces[index], pieces[index + 1]
  local to = after and after.from or entry.count
  local lines = vim.api.nvim_buf_get_lines(buffer, entry.row + piece.from, entry.row + to, false)
  local seen = ('%d %d'):format(#lines, #(lines[#lines] or ''))
  if piece.seen == seen then
    return false
  end
  piece.seen = seen
  vim.api.nvim_buf_clear_namespace(buffer, space, entry.row + piece.from, entry.row + to)
  if piece.fence then
    table.insert(lines, 1, piece.fence)
  end
  highlight(table.concat(lines, '\n') .. '\n', entry.row + piece.from, piece.fence and 1 or 0)
  return true
end

local painted = { text = true, user = true, tool = true, head = true }

---Paints what is seen; false when time was up before all was done.
local function look()
  local until_ = vim.uv.hrtime() + budget * 1e6
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    for _, entry in ipairs(visible(info.topline - 1, info.botline - 1)) do
      local pieces = painted[entry.kind] and cut(entry) or {}
      for index, piece in ipairs(pieces) do
        local from = entry.row + piece.from
        local to = pieces[index + 1] and entry.row + pieces[index + 1].from or entry.row + entry.count
        if from < info.botline and to > info.topline - 1 and paint(entry, pieces, index) then
          if vim.uv.hrtime() > until_ then
            return false
          end
        end
      end
    end
  end
  return true
end

---Has the visible text painted, in a moment.
function M.later()
  if timer and buffer and not timer:is_active() then
    timer:start(
      pause,
      0,
      vim.schedule_wrap(function()
        if not buffer or not vim.api.nvim_buf_is_valid(buffer) then
          return
        end
        local begun = vim.uv.hrtime()
        local done = look()
        local cost = (vim.uv.hrtime() - begun) / 1e6
        pause = math.floor(math.max(shortest, math.min(longest, cost * share)))
        if not done then
          M.later()
        end
      end)
    )
  end
end

---An entry's lines are others now.
---@param entry atomic.Entry
function M.forget(entry)
  entry.cuts = nil
end

---Paints this buffer from now on. Gives whether it can.
---@param into integer
---@param entries fun(first: integer, last: integer): atomic.Entry[] Those between two lines, from 0.
---@return boolean
function M.begin(into, entries)
  if not pcall(vim.treesitter.language.add, 'markdown') or not vim.treesitter.query.get('markdown', 'highlights') then
    return false
  end
  buffer, visible = into, entries
  timer = timer or vim.uv.new_timer()
  local group = vim.api.nvim_create_augroup('atomic-paint', {})
  vim.api.nvim_create_autocmd('WinScrolled', {
    group = group,
    callback = function()
      if buffer and #vim.fn.win_findbuf(buffer) > 0 then
        M.later()
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufWinEnter', { group = group, buffer = into, callback = M.later })
  return true
end

return M
