-- What a session is doing. Guarantees: pure. Must not know: how it is shown.

---What the session is doing, in one word for a person.
---@param s table
---@return 'idle'|'waiting'|'thinking'|'writing'|'tool'|'compacting'|'retrying'
return function(s)
  if s.compaction then
    return 'compacting'
  elseif s.retry and not s.message then
    return 'retrying'
  elseif not s.run then
    return 'idle'
  end
  for _, tool in pairs(s.tools) do
    if tool.status == 'running' then
      return 'tool'
    end
  end
  if not s.message then
    return 'waiting'
  end
  local last = s.message.blocks[#s.message.blocks]
  return last and last.kind == 'thinking' and 'thinking' or 'writing'
end
