-- array/index/runs.lua - vectors in runs, one for each domain, whose elements go where data says.

local core = require "array.core"
local native = require "array.core.native"


local runs = {}

-- Launch on vectors in runs, with the marks behind them, which say how many runs there are, and what all have whole.
function runs.launch(variant, privileges, marks, vectors, numbers, whole)
  local aligned, words, arrays = {}, {}, { unpack(vectors) }
  for i = 1, #vectors do aligned[i], words[i] = i - 1 .. ".0", ("scale(%d.0)"):format(i - 1) end
  aligned[#aligned + 1] = #vectors .. ".0"
  arrays[#arrays + 1], arrays[#arrays + 2] = marks, whole
  native.launch(variant, privileges, ("align(%s) %s"):format(table.concat(aligned, ","), table.concat(words, " ")),
    arrays, numbers)
end

-- A vector of n elements that has of each run of another one those from cuts[j, r] to cuts[j + 1, r] in its run j.
function runs.shuffle(from, marks, cuts, n)
  local domains, result = core.size_of(marks), native.new(core.dtype_of(from), { n })
  runs.launch("shuffle", "wrrr", marks, { result, from },
    { math.ceil(n / domains), math.ceil(core.size_of(from) / domains) }, cuts)
  return result
end

return runs
