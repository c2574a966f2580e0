-- mutate.lua - bytes of a file, changed at random: what the fuzzers of readers have in common.
--
--   local mutated = require "mutate"(others, more)      others: texts whose ends some get
--                                                      more: further functions of a text and a place in it
--   mutated(text)

local random = math.random

local TELLING = { "0", "9", "-", ",", "(", ")", "'", "\0", "\255", "\127", "PK\1\2", "PK\5\6", "9999999999", "\n" }

return function(others, more)
  local mutations = {
    function(text, at) return text:sub(1, at - 1) .. string.char(random(0, 255)) .. text:sub(at + 1) end,
    function(text, at) -- one bit
      return text:sub(1, at - 1) .. string.char(bit.bxor(text:byte(at), 2 ^ random(0, 7))) .. text:sub(at + 1)
    end,
    function(text, at) return text:sub(1, at - 1) .. TELLING[random(#TELLING)] .. text:sub(at + random(0, 3)) end,
    function(text, at) return text:sub(1, at) end,
    function(text, at) return text:sub(1, at) .. text:sub(at + random(1, 16)) end,
    function(text, at) return text:sub(1, at) .. text:sub(at - random(0, 16)) end,
    function(text, at) return text:sub(1, at) .. others[random(#others)]:sub(at + 1) end,
    function(text, at) -- a number somewhere becomes another one
      return text:sub(1, at) .. text:sub(at + 1):gsub("%d", tostring(random(0, 9)), random(1, 3))
    end,
  }
  for _, f in ipairs(more or {}) do mutations[#mutations + 1] = f end
  return function(text)
    for _ = 1, random(1, 4) do
      if #text == 0 then return text end
      text = mutations[random(#mutations)](text, random(#text))
    end
    return text
  end
end
