-- Markdown of the transcript, highlighted by tree-sitter where it is seen. Guarantees: a piece of text is parsed once when it is complete
-- and at most some times a second while it grows, never all of a long session, and not for longer at a time than a person notices.
-- Must not know: what entries say.
local M = {}

-- Neovim's own highlighter parses all of a buffer anew at each change, which takes a second where an answer is long.
local space = vim.api.nvim_create_namespace('atomic-paint')
local shortest, longest = 60, 1000 -- Milliseconds between two looks.
local share = 24 -- Looks take one part in so many of the time.
local budget = 4 -- Milliseconds at a time.
local breath = 8 -- Milliseconds between two parts of one look.
local least, most = 512, 1536 -- Bytes of a piece: it ends at a blank line, or anywhere.

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

local queries = {} ---@type table<string, vim.treesitter.Query|false>
local scratch ---@type integer?
local parser ---@type vim.treesitter.LanguageTree?
local until_ = 0

---Lets others do something when the time is up.
local function rest()
  if vim.uv.hrtime() > until_ then
    coroutine.yield()
  end
end

---A query, kept here: Neovim's own memory of them is emptied with the garbage, and one takes longer than a look to read.
---@param language string
---@return vim.treesitter.Query?
local function query_of(language)
  if queries[language] == nil then
    queries[language] = vim.treesitter.query.get(language, 'highlights') or false
    rest()
  end
  return queries[language] or nil
end

---@class atomic.Mark
---@field row integer Within the lines.
---@field column integer
---@field options vim.api.keyset.set_extmark

---The parser, with the text that it is to parse in a buffer of its own: a new one would read its queries again, too.
---@param lines string[]
---@return vim.treesitter.LanguageTree
---@return integer source
local function parser_of(lines)
  if not scratch or not vim.api.nvim_buf_is_loaded(scratch) then
    scratch = vim.api.nvim_create_buf(false, true)
    vim.bo[scratch].undolevels = -1
    parser = nil
  end
  parser = parser or vim.treesitter.get_parser(scratch, 'markdown')
  vim.api.nvim_buf_set_lines(scratch, 0, -1, true, lines)
  return parser, scratch
end

---The highlights of some lines.
---@param lines string[]
---@return atomic.Mark[]
local function marks_of(lines)
  local tree_of, text = parser_of(lines)
  tree_of:parse(true)
  rest()
  local trees, found = {}, {}
  tree_of:for_each_tree(function(tree, language)
    table.insert(trees, { tree, language:lang() })
  end)
  for _, each in ipairs(trees) do
    local name = each[2]
    local query = query_of(name)
    if query then
      for id, node, metadata in query:iter_captures(each[1]:root(), text, 0, -1) do
        local capture = query.captures[id]
        if not vim.startswith(capture, '_') and not capture:find('spell') then
          local own = metadata[id] or {}
          local range = vim.treesitter.get_range(node, text, metadata[id])
          table.insert(found, {
            row = range[1],
            column = range[2],
            options = {
              end_row = range[4],
              end_col = range[5],
              hl_group = capture ~= 'conceal' and ('@%s.%s'):format(capture, name) or nil,
              conceal = own.conceal or metadata.conceal,
              priority = tonumber(own.priority or metadata.priority) or 100,
              strict = false,
            },
          })
        end
        rest()
      end
    end
  end
  return found
end

---@param entry atomic.Entry
---@param pieces atomic.Piece[]
---@param index integer
local function paint(entry, pieces, index)
  local piece, after = pieces[index], pieces[index + 1]
  local to = after and after.from or entry.count
  local lines = vim.api.nvim_buf_get_lines(buffer, entry.row + piece.from, entry.row + to, false)
  local seen = ('%d %d'):format(#lines, #(lines[#lines] or ''))
  if piece.seen == seen then
    return
  end
  piece.seen = seen
  local skip = piece.fence and 1 or 0
  if piece.fence then
    table.insert(lines, 1, piece.fence)
  end
  local marks = marks_of(lines)
  -- Meanwhile the entry may have gone elsewhere, or have other lines.
  if not entry.cuts or entry.cuts.pieces ~= pieces then
    return
  end
  local first = entry.row + piece.from
  vim.api.nvim_buf_clear_namespace(buffer, space, first, first + #lines - skip)
  for _, mark in ipairs(marks) do
    if mark.row >= skip then
      mark.options.end_row = mark.options.end_row + first - skip
      pcall(vim.api.nvim_buf_set_extmark, buffer, space, mark.row + first - skip, mark.column, mark.options)
    end
  end
  rest()
end

local painted = { text = true, user = true, tool = true, head = true }

---Paints what is seen.
local function look()
  if not parser then
    -- What is read once is read when the chat is opened, not within an answer.
    marks_of({ '`a`' })
  end
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    for _, entry in ipairs(visible(info.topline - 1, info.botline - 1)) do
      local pieces = painted[entry.kind] and cut(entry) or {}
      for index, piece in ipairs(pieces) do
        local from = entry.row + piece.from
        local to = pieces[index + 1] and entry.row + pieces[index + 1].from or entry.row + entry.count
        if from < info.botline and to > info.topline - 1 and entry.cuts and entry.cuts.pieces == pieces then
          paint(entry, pieces, index)
        end
      end
    end
  end
end

local looking ---@type thread?
local again = false -- Something changed while we look.
local cost = 0

---Does a part of a look.
local function go_on()
  if not buffer or not vim.api.nvim_buf_is_valid(buffer) then
    looking = nil
    return
  end
  if not looking then
    looking, again, cost = coroutine.create(look), false, 0
  end
  local begun = vim.uv.hrtime()
  until_ = begun + budget * 1e6
  local ok, err = coroutine.resume(looking)
  cost = cost + (vim.uv.hrtime() - begun) / 1e6
  if ok and coroutine.status(looking) == 'suspended' then
    return timer:start(breath, 0, vim.schedule_wrap(go_on))
  end
  looking = nil
  pause = math.floor(math.max(shortest, math.min(longest, cost * share)))
  if not ok then
    error(err, 0)
  elseif again then
    M.later()
  end
end

---Has the visible text painted, in a moment.
function M.later()
  again = looking ~= nil
  if timer and buffer and not looking and not timer:is_active() then
    timer:start(pause, 0, vim.schedule_wrap(go_on))
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
