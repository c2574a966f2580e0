-- array/io/words.lua - lists of strings as one string, for processes that talk to each other.

local words = {}

-- Numbers, booleans and nil become strings.
---@return string
function words.pack(list)
  local parts = {}
  for i = 1, #list do
    local word = list[i]
    if type(word) == "number" then word = ("%.17g"):format(word) end
    word = tostring(word)
    parts[i] = #word .. ":" .. word
  end
  return table.concat(parts)
end

-- The list of such a string, whatever it is; of another string, what can be made out.
---@param text string
---@return string[]
function words.unpack(text)
  local list, at = {}, 1
  while true do
    local length, colon = text:match("^(%d+)():", at)
    if not length then return list end
    local last = colon + tonumber(length)
    list[#list + 1] = text:sub(colon + 1, last)
    at = last + 1
  end
end

return words
