-- No public function drops options that it does not know: each is called with arguments that it takes, found by trying,
-- and an unknown option behind them, once where its own options stand and once behind its last argument.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"
local sparse, solvers = require "sparse", require "solvers"

local here = arg[0]:match("[^/]*$") .. ":" -- Lua shortens long paths, from the left

local matrix = np.array { { 9, 1, 0, 2 }, { 1, 8, 1, 0 }, { 0, 1, 7, 1 }, { 2, 0, 1, 9 } } + 0.5
local vector, places = np.array { 1.5, 2.5, 0.5, 3.5 }, np.array({ 1, 3, 2, 4 }, { dtype = "int64" })
local csr = sparse.csr_array(matrix)

-- What is tried for each argument; the last one is nothing.
local candidates = {
  function() return matrix:copy() end, function() return vector:copy() end, function() return places:copy() end,
  function() return 2 end, function() return { matrix, matrix } end, function() return { 2, 2 } end,
  function() return vector:gt(1) end, function() return csr end, function() return function(x) return x end end,
  function() return "float64" end, function() end,
}
local NOTHING = #candidates

local function words(text)
  local set = {}
  for word in text:gmatch("%S+") do set[word] = true end
  return set
end

-- Files, and what changes the session; questions that anything may be asked; what takes no arguments but operands;
-- what is for the library itself.
local exempt = words [[
  np.load np.save np.savez np.savez_compressed np.savetxt np.loadtxt np.genfromtxt np.fromfile np.hdf5 np.fromstring
  np.printoptions np.set_printoptions np.extend np.frombuffer np.from_dlpack np.frompointer np.fuse np.random.seed
  np.random.set_state np.random.get_state np.get_printoptions np.random.default_rng sparse.save_npz sparse.load_npz
  sparse.mmread sparse.mmwrite np.isarray np.iterable np.iscomplexobj np.isrealobj np.isscalar sparse.issparse
  sparse.isspmatrix np.einsum np.einsum_path solvers.triangular]]

-- Called with these, since trying does not find them.
local calls = {
  ["np.nanquantile"] = { vector, 0.5 }, ["np.quantile"] = { vector, 0.5 }, ["np.kaiser"] = { 5, 2 },
  ["np.random.multinomial"] = { 3, { 0.5, 0.5 } }, ["np.put_along_axis"] = { vector:copy(), places, 1, 1 },
  ["np.unpackbits"] = { np.ones(3, { dtype = "uint8" }) }, ["sparse.bmat"] = { { { csr, csr } } },
  ["np.choose"] = { np.array { 1, 2 }:astype("int64"), { vector["1:2"], 2 } },
  ["np.random.Generator"] = { np.random.Philox(1) },
  ["solvers.multigrid"] = { csr, {} }, ["solvers.spsolve_triangular"] = { sparse.eye(4):tocsr(), vector },
}

local sources = require "lgt.sources"

-- The annotations of a public function.
local function doc_of(f) return sources.index()[f.name] or sources.of_function(f.call) or { params = {} } end

local function public_functions()
  local groups = { np = np, ["np.linalg"] = np.linalg, ["np.fft"] = np.fft, ["np.random"] = np.random, sparse = sparse,
    solvers = solvers }
  for name in pairs(sources.index()) do -- what waits for its first use is loaded
    local group, key = name:match("^(.*)%.([%w_]+)$")
    if groups[group] then assert(groups[group][key] ~= nil, name) end
  end
  for name in pairs(words "lsqr eigsh solve_ivp spsolve multigrid ilu0") do assert(solvers[name]) end
  local found, seen = {}, {}
  for group, functions in pairs(groups) do
    for key, f in pairs(functions) do
      local name = group .. "." .. key
      if type(f) == "function" and not seen[f] and not exempt[name] and not name:find("^sparse.isspmatrix_") then
        seen[f] = true
        found[#found + 1] = { name = name, call = f, info = debug.getinfo(f, "u") }
      end
    end
  end
  table.sort(found, function(f, g) return f.name < g.name end)
  return found
end

local function arguments_of(choice, n)
  local list = {}
  for i = 1, n do list[i] = candidates[choice[i]]() end
  return list
end

-- Which candidates a function takes as its n arguments.
local function choose(f, n)
  local choice = {}
  local function try(i)
    if i > n then return (pcall(f.call, unpack(arguments_of(choice, n), 1, n))) end
    for k = 1, NOTHING - 1 do
      choice[i] = k
      if try(i + 1) then return true end
    end
  end
  return try(1) and choice or nil
end

local chosen = {} -- by function: what was found, which takes thousands of calls

-- The least number of arguments with which it can be called, and these.
local function least_call(f)
  if calls[f.name] then return #calls[f.name], calls[f.name] end
  for n = 0, chosen[f.call] and -1 or 3 do
    if n > f.info.nparams and not f.info.isvararg then break end
    chosen[f.call] = choose(f, n)
    if chosen[f.call] then break end
  end
  local choice = chosen[f.call]
  if choice then return #choice, arguments_of(choice, #choice) end
end

-- What lgt --check thinks that f takes must be all that f says it takes.
local accepted = require "lgt.accepted"
local followed = {}

local function why_unknown(f, message)
  local names = accepted(f.call)
  local list = message:match("unknown option nosuch; it takes ([%w_, ]+)$")
  if not names or not list then return end
  followed[f.name] = true
  for name in list:gmatch("[%w_]+") do
    if not names[name] and list ~= "none here" then
      return ("%s: lgt --check does not know the option %s"):format(f.name, name)
    end
  end
  if names.nosuch then return f.name .. ": lgt --check knows any option" end
end

-- Why f does not refuse an unknown option behind n arguments.
local function why_taken(f, list, n)
  list[n + 1] = { nosuch = 1 }
  local ok, message = pcall(f.call, unpack(list, 1, n + 1))
  list[n + 1] = nil
  if ok then return ("%s drops an option behind %d arguments"):format(f.name, n) end
  if not tostring(message):find(here, 1, true) then return ("%s: %s"):format(f.name, message) end
  return why_unknown(f, tostring(message))
end

check.case("options that are not known are refused", function()
  local complaints, count = {}, 0
  local function judge(why) complaints[#complaints + 1] = why end
  for _, f in ipairs(public_functions()) do
    local n, list = least_call(f)
    if not n then
      judge(f.name .. ": no arguments were found with which it works: name some in `calls`")
    else
      count = count + 1
      judge(why_taken(f, list, n))
      local last = f.info.nparams > 0 and debug.getlocal(f.call, f.info.nparams)
      local full = f.info.nparams - (last == "surplus" and 1 or 0)
      if last ~= "options" and last ~= "others" and not f.info.isvararg and full > n and
        pcall(f.call, unpack(list, 1, full)) then
        judge(why_taken(f, list, full))
      end
    end
  end
  pcall(lgt.fence)
  check.that(#complaints == 0, table.concat(complaints, "\n"))
  check.that(count > 300, ("only %d functions were found"):format(count))
  local n = 0
  for _ in pairs(followed) do n = n + 1 end
  check.that(n > 150, ("the options of only %d functions were found in their sources"):format(n))
end)

local ffi = require "ffi"
local wrong = {
  { '"text"', "text" }, { "{}", {} }, { "function", function() end }, { "0/0", 0 / 0 }, { "1/0", 1 / 0 }, { "-7", -7 },
  { "1e18", 1e18 }, { "1e300", 1e300 }, { "0", 0 }, { "1.5", 1.5 }, { "true", true }, { "false", false },
  { "{a = 1}", { a = 1 } }, { '{1, "x"}', { 1, "x" } }, { "{{1, 2}, {3}}", { { 1, 2 }, { 3 } } },
  { "{-1, 2}", { -1, 2 } }, { "zeros(3, 0)", np.zeros(3, 0) }, { "zeros(2, 3, 4)", np.zeros(2, 3, 4) },
  { "array(3)", np.array(3) }, { "csr", csr }, { "bools", vector:gt(1) }, { "complex", vector:astype("complex128") },
  { "int[3]", ffi.new("int[3]") }, { "-5LL", -5LL }, { "NaN inside", np.array { 0 / 0, 1, 2, 3 } },
  { "io.stdout", io.stdout }, { "array(0)", np.array(0) }, { "array(1)", np.array(1) }, { "1LL", 1LL },
}

-- The options that f says it takes, when it is given one that it does not.
local function options_of(f, list, n)
  list[n + 1] = { nosuch = 1 }
  local _, message = pcall(f.call, unpack(list, 1, n + 1))
  list[n + 1] = nil
  return tostring(message):match("it takes ([%w_, ]+)") or ""
end

-- What is wrong with how f answers to a value of an option; nil: nothing.
local function why_badly_answered(f, list, n, option, value)
  local ok, message = pcall(function()
    local result = f.call(unpack(list, 1, n + 1))
    pcall(lgt.fence) -- of what failed to be computed, whoever looks at it is told
    return np.isarray(result) and tostring(result)
  end)
  if ok then return nil end
  message = tostring(message)
  local ours = message:find(here, 1, true)
  for _, luas in ipairs { "attempt to", "bad argument", "cannot convert", "invalid option" } do
    ours = ours and not message:find(luas, 1, true)
  end
  if not ours then return ("%s {%s = %s}: %s"):format(f.name, option, value, message) end
end

check.case("wrong values of options are refused in words, at the line that gave them", function()
  local complaints, count = {}, 0
  for _, f in ipairs(public_functions()) do
    local n, list = least_call(f)
    for option in (n and options_of(f, list, n) or ""):gmatch("[%w_]+") do
      for _, value in ipairs(wrong) do
        count = count + 1
        list[n + 1] = { [option] = value[2] }
        complaints[#complaints + 1] = why_badly_answered(f, list, n, option, value[1])
      end
      list[n + 1] = nil
    end
  end
  check.that(#complaints == 0, table.concat(complaints, "\n"))
  check.that(count > 10000, ("only %d calls were made"):format(count))
end)

local function in_words(x)
  if sparse.issparse(x) then x = x:toarray() end
  if np.isarray(x) then return x.dtype .. " " .. tostring(x) end
  if type(x) ~= "table" then return type(x) == "function" and "function" or tostring(x) end
  local entries = {}
  for i = 1, #x do entries[i] = in_words(x[i]) end
  return "{" .. table.concat(entries, ", ") .. "}"
end

-- Did a call succeed, and what it gave, as text.
local function outcome(f, list, n)
  np.random.seed(1)
  local function called(...)
    local texts = {}
    for i = 1, select("#", ...) do texts[i] = in_words((select(i, ...))) end
    return table.concat(texts, " ")
  end
  local results = { pcall(function() return called(f.call(unpack(list, 1, n))) end) }
  pcall(lgt.fence)
  return results[1], tostring(results[2])
end

-- The arguments of a function that are true or false, and their places: 0 for those among its options.
local function flags_of(doc)
  local found = {}
  for i, p in ipairs(doc.params) do
    local outside = p.type:gsub("%b{}", "")
    if outside:find("boolean[?|]") and not outside:find("lgt_array") then found[p.name] = i end
    for name in p.type:gmatch("([%w_]+): boolean[?|]") do found[name] = 0 end
  end
  return found
end

check.case("where true or false is expected 0 is refused: it is false in Python, and true in Lua", function()
  local complaints, count = {}, 0
  for _, f in ipairs(public_functions()) do
    local n, list = least_call(f)
    for flag, place in pairs(n and flags_of(doc_of(f)) or {}) do
      local stands = { flag ~= "options" and 0 or nil } -- options may stand for the flag that is one of them
      if place > n then stands[#stands + 1] = place end
      for _, at in ipairs(stands) do
        local last = math.max(n + 1, at)
        list[last] = at > 0 and 0 or { [flag] = 0 }
        local ok, message = pcall(f.call, unpack(list, 1, last))
        count = count + 1
        if ok or not tostring(message):find("true or false", 1, true) then
          complaints[#complaints + 1] = ("%s, %s by %s: %s"):format(f.name, flag, at == 0 and "name" or "place",
            ok and "taken" or tostring(message))
        end
        for _, value in ipairs { true, false } do
          if at > 0 then list[last] = value else list[last] = { [flag] = value } end
          local _, expected = outcome(f, list, last)
          list[last] = at > 0 and np.array(value) or { [flag] = np.array(value) }
          local _, found = outcome(f, list, last)
          if found ~= expected then
            complaints[#complaints + 1] = ("%s, %s = np.array(%s): %s, not %s"):format(f.name, flag, tostring(value),
              found, expected)
          end
        end
        list[last] = nil
      end
    end
  end
  check.that(#complaints == 0, table.concat(complaints, "\n"))
  check.that(count > 40, ("only %d calls were made"):format(count))
end)

-- The arguments of a function that may be single numbers, and their places: 0 for those among its options.  Operands,
-- which count by their dtypes, are none.
local function numbers_of(doc)
  local found = {}
  local function judge(name, types, place)
    for kind in (types:find("lgt_array") and "" or types):gmatch("[^|%s]+") do
      if kind:find("^integer%??$") or kind:find("^number%??$") then found[name] = place end
    end
  end
  for i, p in ipairs(doc.params) do
    judge(p.name, p.type:gsub("%b{}", ""), i)
    for name, types in p.type:gmatch("([%w_]+): ([^,}]+)") do judge(name, types, 0) end
  end
  return found
end

check.case("where a number is expected an array of 0 dimensions is one, as is a boxed integer", function()
  local complaints, count, tried = {}, 0, 0
  for _, f in ipairs(public_functions()) do
    local n, list = least_call(f)
    for name, place in pairs(n and numbers_of(doc_of(f)) or {}) do
      local last = place == 0 and n + 1 or math.max(n, place)
      local function with(value)
        local arguments = { unpack(list, 1, n) }
        if place == 0 then arguments[n + 1] = { [name] = value } else arguments[place] = value end
        return outcome(f, arguments, last)
      end
      tried = tried + 1
      for _, number in ipairs { 2, 1, 3, 0, 0.5 } do
        local ok, expected = with(number)
        local same = ok and { np.array(number), number % 1 == 0 and np.array(number, "int64") or nil,
                              number % 1 == 0 and number + 0LL or nil } or {}
        for _, value in ipairs(same) do
          local taken, found = with(value)
          count = count + 1
          if not taken or found ~= expected then
            complaints[#complaints + 1] = ("%s, %s = %s %s: %s"):format(f.name, name,
              np.isarray(value) and value.dtype or "boxed", tostring(value), taken and "another result" or found)
          end
        end
        if ok then break end
      end
    end
  end
  check.that(#complaints == 0, table.concat(complaints, "\n"))
  check.that(count > 2.4 * tried, ("of %d numbers %d calls were made: most are to be tried three times"):format(tried,
    count))
end)

check.case("options stand in one table, behind which there is nothing", function()
  local a = matrix
  local second = {
    function() np.pad(vector, 1, { mode = "constant" }, { constant_values = 9 }) end,
    function() np.linspace(0, 1, { num = 3 }, { endpoint = false }) end,
    function() np.full({ 2 }, { fill_value = 3 }, { dtype = "int32" }) end,
    function() np.std(a, { axis = 1 }, { ddof = 1 }) end, function() np.sum(a, { axis = 1 }, { keepdims = true }) end,
    function() np.quantile(a, 0.5, { axis = 1 }, { keepdims = true }) end,
    function() np.cumsum(a, { axis = 1 }, { dtype = "int32" }) end, function() np.sort(a, { axis = 1 }, "stable") end,
    function() np.vander(vector, { N = 3 }, { increasing = true }) end,
    function() np.histogram(vector, { bins = 3 }, { density = true }) end,
    function() np.diff(vector, { n = 1 }, { axis = 1 }) end,
    function() np.add.reduce(a, { axis = 1 }, { keepdims = true }) end,
    function() np.packbits(a:gt(1), { axis = 1 }, { bitorder = "little" }) end,
  }
  for i = 1, #second do
    local ok, message = pcall(second[i])
    check.that(not ok and message:find("behind its options", 1, true), i .. ": " .. tostring(message))
  end
  local mixed = { { 2, shape = { 2, 3 } }, { shape = { 2, 3, dtype = "int32" } }, { 2, 3, dtype = "int32" } }
  for _, shape in ipairs(mixed) do
    local ok, message = pcall(np.zeros, shape)
    check.that(not ok and message:find("among the extents", 1, true), message)
  end
end)

check.case("an option that is false is one", function()
  local drawn = np.sort(np.random.choice(5, { size = 5, replace = false }))
  check.that(np.array_equal(drawn, np.arange(1, 6)), tostring(drawn))
end)

check.done()
