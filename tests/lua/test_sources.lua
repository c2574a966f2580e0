-- What comments above definitions say, as help, completion and the reference read them.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local sources = require "lgt.sources"

local function said(list)
  local words = {}
  for i, x in ipairs(list) do words[i] = (x.name and x.name .. " " or "") .. x.type .. "|" .. x.text end
  return words
end

-- Text,
-- in two lines.
---@param a lgt_array[] of any shape
---@param f fun(x: number, ...): integer?, any what is called
---@param options {first: integer?, second: table<string, lgt_array>,
---  third: (number|string)[]}? first: 1, in a text that goes
---  on
---@return {x: lgt_array, y: any} result x [n, m], integer count
local function documented(a, f, options) return a, f, options end

---@return lgt_array (n, m), number, of which
---@return fun(x: lgt_array): lgt_array, boolean
local function results() end

---@return lgt_array int64, of the shape of values; 1 to #a + 1, lgt_array[] edges, table<string, number>? more
local function several() end

---@param a lgt_array
---@param b {x: number
---@param c number}?
local function broken(a, b, c) return a, b, c end

---@param a
local function nameless(a) return a end

check.case("parameters and results", function()
  local doc = sources.of_function(documented)
  check.equal(doc.text, { "Text,", "in two lines." })
  check.equal(said(doc.params), { "a lgt_array[]|of any shape", "f fun(x: number, ...): integer?, any|what is called",
    "options {first: integer?, second: table<string, lgt_array>, third: (number|string)[]}?|" ..
      "first: 1, in a text that goes on" })
  check.equal(said(doc.returns), { "{x: lgt_array, y: any}|result x [n, m]", "integer|count" })
  check.that(not doc.wrong)
end)

check.case("several results in a line", function()
  check.equal(said(sources.of_function(results).returns),
    { "lgt_array|(n, m)", "number|, of which", "fun(x: lgt_array): lgt_array, boolean|" })
  check.equal(said(sources.of_function(several).returns),
    { "lgt_array|int64, of the shape of values; 1 to #a + 1", "lgt_array[]|edges", "table<string, number>?|more" })
end)

check.case("types that are none", function()
  check.that(sources.of_function(broken).wrong)
  check.that(sources.of_function(nameless).wrong)
end)

-- The first one may go without, for it is an array nearly everywhere; and so may "...".
check.case("annotations name the parameters there are, and all of them", function()
  for name, entry in pairs(sources.index()) do
    local there, place, last = {}, 0, 0
    for parameter in (entry.parameters or ""):gmatch("[%w_.]+") do
      if parameter ~= "..." then place = place + 1 end
      there[parameter] = parameter == "..." and place + 1 or place
    end
    for _, p in ipairs(entry.parameters and entry.params or {}) do
      local at = there[p.name:match("^[^?]+")]
      check.that(at and at > last, ("%s: annotation of %s"):format(name, p.name))
      check.that(at == last + 1 or last == 0 and at == 2, ("%s: none before %s"):format(name, p.name))
      last = at
    end
    check.that(last == 0 or last >= place, ("%s: none for the last parameters"):format(name))
  end
end)

check.case("methods of HDF5 files are documented", function()
  local index, count = sources.index(), 0
  for line in io.lines(arg[0]:match("^(.*)tests/") .. "lib/array/io/hdf5.lua") do
    local name = line:match("^function File:(%a[%w_]*)%(")
    if name then
      count = count + 1
      local entry = index["file:" .. name]
      check.that(entry and #entry.text > 0, name)
      check.that(entry.parameters == "" or #entry.params > 0, name .. ": parameters")
    end
  end
  check.that(count >= 8, ("only %d methods were found"):format(count))
end)

check.done()
