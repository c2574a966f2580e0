-- lgt/similar.lua - the name that was probably meant.

-- How many letters are to be changed, added, left out, or swapped with their neighbour.
local function distance(a, b)
  local before, row = {}, {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local next_row = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local least = math.min(row[j] + 1, next_row[j - 1] + 1, row[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        least = math.min(least, before[j - 2] + 1)
      end
      next_row[j] = least
    end
    before, row = row, next_row
  end
  return row[#b]
end

-- The key of these tables that is most like a name, with at most two differences (short names: one); of several the
-- first one in order, so that all ranks say the same.
---@param name string
---@param ... table
---@return string?
---@return integer? differences
return function(name, ...)
  local most = #name < 5 and 1 or 2
  local best, least
  for _, candidates in ipairs { ... } do
    for candidate in pairs(candidates) do
      if type(candidate) == "string" and math.abs(#candidate - #name) <= most then
        local d = distance(name, candidate)
        if d <= most and d < #name and (not least or d < least or (d == least and candidate < best)) then
          best, least = candidate, d
        end
      end
    end
  end
  return best, least
end
