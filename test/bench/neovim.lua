-- The part of the benchmark (neovim.mjs) that runs inside Neovim. Guarantees: both sides show the same text at the same rate in the same
-- kind of window; the timer's text has no highlighting. Must not know: how the plugin draws.
local M = {}
_G.atomic_bench = M

local piece_rate = 60

local function cpu()
  local usage = vim.uv.getrusage()
  local function seconds(time)
    return time.sec + time.usec / 1e6
  end
  return seconds(usage.utime) + seconds(usage.stime)
end

---Measures until `stop` is called: the longest time in which nothing else could be done, by the clock and by the processor, which other
---programs do not lengthen; and the processor time of all.
local function measure()
  local longest, busiest, last, last_cpu = 0, 0, vim.uv.hrtime(), cpu()
  local timer = assert(vim.uv.new_timer())
  local gaps = {}
  timer:start(1, 1, function()
    local now, now_cpu = vim.uv.hrtime(), cpu()
    local gap, busy = (now - last) / 1e6 - 1, (now_cpu - last_cpu) * 1e3
    last, last_cpu = now, now_cpu
    if busy > 1 then
      table.insert(gaps, busy)
    end
    longest, busiest = math.max(longest, gap), math.max(busiest, busy)
  end)
  local begun = cpu()
  return function()
    timer:stop()
    timer:close()
    table.sort(gaps)
    local many = gaps[math.max(1, math.floor(#gaps * 0.99))] or 0
    return { longest = longest, busiest = busiest, often = many, cpu = cpu() - begun }
  end
end

---The plugin, with a run of the agent.
function M.bridge(done)
  local stop, off
  off = require('atomic').on('agent_settled', function()
    off()
    vim.schedule(function()
      local result = stop()
      result.text = vim.api.nvim_buf_get_lines(vim.fn.bufnr('atomic://chat'), 0, -1, false)
      done(result)
    end)
  end)
  require('atomic').open()
  require('atomic.session').ensure(function(err)
    assert(not err, err)
    -- The agent is started before the clock runs.
    require('atomic').execute('atomic.getState', {}, function()
      stop = measure()
      require('atomic').prompt('go')
    end)
  end)
end

---The same text by a timer, plain, in a window of the same size.
function M.here(text, seconds, done)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].undolevels = -1
  local window =
    vim.api.nvim_open_win(buffer, false, { split = 'right', win = -1, width = math.floor(vim.o.columns * 0.4) })
  vim.wo[window].wrap, vim.wo[window].linebreak, vim.wo[window].conceallevel = true, true, 2
  local stop = measure()
  local begun, at = vim.uv.hrtime(), 0
  local timer = assert(vim.uv.new_timer())
  timer:start(
    0,
    math.floor(1000 / piece_rate),
    vim.schedule_wrap(function()
      local due = math.min(#text, math.floor((vim.uv.hrtime() - begun) / 1e9 / seconds * #text))
      -- Not within a character.
      while due < #text and text:byte(due + 1) >= 0x80 and text:byte(due + 1) < 0xC0 do
        due = due + 1
      end
      if due > at then
        local row = vim.api.nvim_buf_line_count(buffer) - 1
        local column = #vim.api.nvim_buf_get_lines(buffer, row, row + 1, true)[1]
        vim.api.nvim_buf_set_text(
          buffer,
          row,
          column,
          row,
          column,
          vim.split(text:sub(at + 1, due), '\n', { plain = true })
        )
        vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer), 0 })
        at = due
      end
      if at >= #text and not timer:is_closing() then
        timer:close()
        vim.schedule(function()
          local result = stop()
          vim.api.nvim_win_close(window, true)
          done(result)
        end)
      end
    end)
  )
end

---@param repetitions integer
---@param seconds number
---@param file string Where the result goes.
function M.run(repetitions, seconds, file)
  local runs = {}
  local function again()
    if #runs == repetitions then
      vim.fn.writefile({ vim.json.encode(runs) }, file)
      return vim.cmd('qall!')
    end
    M.bridge(function(bridge)
      local lines = bridge.text
      bridge.text = nil
      require('atomic').close()
      require('atomic').intent('new_session', nil, { settled = function() end })
      local from = 1
      for index, line in ipairs(lines) do
        from = line == '## Atomic' and index + 2 or from
      end
      local text = table.concat(vim.list_slice(lines, from), '\n')
      M.here(text, seconds, function(own)
        table.insert(runs, { bridge = bridge, here = own, characters = vim.fn.strchars(text) })
        again()
      end)
    end)
  end
  again()
end

return M
