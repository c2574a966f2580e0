-- What an index means: parsing and resolving, without arrays.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local slice = require "array.index.slice"
slice.bind(require("lgt").raise)

-- Steps as text: "axis:first+count*step", "axis@offset", "axis*" for a new one.
local function text(steps)
  local words = {}
  for i, s in ipairs(steps) do
    if s.kind == "range" then
      words[i] = ("%d:%d+%d*%d"):format(s.axis, s.first, s.count, s.step)
    elseif s.kind == "at" then
      words[i] = ("%d@%d"):format(s.axis, s.first)
    else
      words[i] = s.axis .. "*"
    end
  end
  return table.concat(words, " ")
end

local function string_index(key, ...) return text(slice.resolve(slice.parse_string(key), { ... })) end
local function never() return nil end
local function table_index(key, ...)
  return text(slice.resolve(slice.parse_table(key, select("#", ...), never), { ... }))
end

check.case("strings", function()
  check.equal(string_index(":", 5), "")
  check.equal(string_index("2:4", 5), "1:1+3*1")
  check.equal(string_index("2:-2", 5), "1:1+3*1")
  check.equal(string_index(":-2", 5), "1:0+4*1")
  check.equal(string_index("3:", 5), "1:2+3*1")
  check.equal(string_index("::2", 5), "1:0+3*2")
  check.equal(string_index("::-1", 5), "1:4+5*-1")
  check.equal(string_index("4:2:-1", 5), "1:3+3*-1")
  check.equal(string_index("-1:-3:-2", 5), "1:4+2*-2")
  check.equal(string_index(" 2 , : ", 5, 5), "1@1")
  check.equal(string_index("end", 5), "1@4")
  check.equal(string_index("2:end", 5), "1:1+4*1")
  check.equal(string_index("..., 2", 5, 6, 7), "3@1")
  check.equal(string_index("1, ..., 2", 5, 6, 7), "1@0 2@1")
  check.equal(string_index("*, :", 5), "1*")
  check.equal(string_index(":, *, 2", 5, 6), "2* 3@1")
  check.equal(string_index("2", 5, 6), "1@1")
end)

check.case("bounds", function()
  check.equal(string_index("2:99", 5), "1:1+4*1")
  check.equal(string_index("-99:2", 5), "1:0+2*1")
  check.equal(string_index("3:2", 5), "1:0+0*1")
  check.equal(string_index("1:0", 5), "1:0+0*1")
  check.equal(string_index("2:-2", 2), "1:0+0*1")
  check.equal(string_index("99:3:-1", 5), "1:4+3*-1")
  check.refuses("0 was given", function() string_index("0", 5) end)
  check.refuses("outside its extent of 5", function() string_index("6", 5) end)
  check.refuses("outside its extent of 5", function() string_index("-6", 5) end)
  check.refuses("cannot begin at 0", function() string_index("0:3", 5) end)
  check.refuses("step of a range is 0", function() string_index("1:3:0", 5) end)
end)

check.case("tables", function()
  check.equal(table_index({ 2, 3 }, 5, 6), "1@1 1@2")
  check.equal(table_index({ { 2, 4 }, {} }, 5, 6), "1:1+3*1")
  check.equal(table_index({ {}, { 1, -1, step = 2 } }, 5, 6), "2:0+3*2")
  check.equal(table_index({ "2:", -1 }, 5, 6), "1:1+4*1 2@5")
  check.equal(table_index({ "...", 1 }, 5, 6, 7), "3@0")
  check.equal(table_index({ {}, "*", {} }, 5, 6), "2*")
end)

check.case("mistakes in tables", function()
  check.refuses("1 entry for an array of 2 dimensions", function() table_index({ 1 }, 5, 6) end)
  check.refuses("as in {{2, 4}, \"...\"}", function() table_index({ { 2, 4 } }, 5, 6) end)
  check.refuses("write {{2, 5}}", function() table_index({ 2, 5 }, 9) end)
  check.refuses("entry 1 is nil", function() table_index({ nil, 2 }, 5, 6) end)
  check.refuses("np.array", function() table_index({ { 1, 2, 3 } }, 5) end)
  check.refuses("np.array", function() table_index({ { 1, 2, stp = 2 } }, 5) end)
  check.refuses("np.array", function() table_index({ { 1 } }, 5) end)
  check.refuses("unknown field", function() table_index({ 1, 2, foo = 1 }, 5, 6) end)
  check.refuses("entry 1 is a boolean", function() table_index({ true }, 5) end)
  check.refuses("not one", function() table_index({ "1, 2" }, 5) end)
end)

check.case("mistakes in strings", function()
  check.refuses("is no position", function() string_index("a", 5) end)
  check.refuses("is no position", function() string_index("1.5", 5) end)
  check.refuses("too many colons", function() string_index("1:2:3:4", 5) end)
  check.equal(string_index("*, 3, *, *, *, *, ...", 5, 6), "1@2 1* 2* 3* 4* 5*")
  check.refuses("3 entries for an array of 2 dimensions", function() string_index("1, 2, 3", 5, 6) end)
  check.refuses("appears twice", function() string_index("..., ...", 5, 6) end)
  check.refuses("a part is empty", function() string_index("1,", 5, 6) end)
end)

check.case("attributes are no indices", function()
  for _, key in ipairs { "2:3", ":, *", "...", "end", "2:end", "::-1", "-1" } do
    check.that(slice.looks_like_index(key), key)
  end
  for _, key in ipairs { "shap", "x", "mean", "dtype", "ended" } do check.that(not slice.looks_like_index(key), key) end
end)

check.done()
