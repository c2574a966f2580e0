-- Wrong calls: each public function is given what it does not take, by a generator of calls with a fixed seed.  An
-- error is raised at the line of the caller, in words of the library, and the session computes on.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local ffi = require "ffi"
local np, lgt = require "array", require "lgt"
local sparse, solvers = require "sparse", require "solvers"

local CALLS = 40 -- of each function, with arguments of which one is drawn from `wrong`

local matrix = np.array { { 9, 1, 0, 2 }, { 1, 8, 1, 0 }, { 0, 1, 7, 1 }, { 2, 0, 1, 9 } } + 0.5
local vector, places = np.array { 1.5, 2.5, 0.5, 3.5 }, np.array({ 1, 3, 2, 4 }, { dtype = "int64" })
local csr = sparse.csr_array(matrix)

-- {how it is written, value}
local right = { { "matrix", matrix }, { "vector", vector }, { "places", places }, { "2", 2 }, { "{2, 2}", { 2, 2 } },
  { "csr", csr }, { '"float64"', "float64" } }
local wrong = {
  { "nil" }, { "true", true }, { '"text"', "text" }, { "{}", {} }, { "function", function() end }, { "0/0", 0 / 0 },
  { "1/0", 1 / 0 }, { "-1", -1 }, { "1e18", 1e18 }, { "1e300", 1e300 }, { "0", 0 }, { "1.5", 1.5 },
  { "{a = 1}", { a = 1 } },
  { '{1, "x"}', { 1, "x" } }, { "{{1, 2}, {3}}", { { 1, 2 }, { 3 } } }, { "zeros(3, 0)", np.zeros(3, 0) },
  { "zeros(2, 3, 4)", np.zeros(2, 3, 4) }, { "array(3)", np.array(3) }, { "csr", csr }, { "bools", vector:gt(1) },
  { "complex", vector:astype("complex128") }, { "int[3]", ffi.new("int[3]") }, { "io.stdout", io.stdout },
  { "coroutine", coroutine.create(function() end) }, { "zeros(7)", np.zeros(7) }, { "-5LL", -5LL },
  { "{-1, 2}", { -1, 2 } },
  { "NaN inside", np.array { 0 / 0, 1, 2, 3 } }, { "int8", np.ones(4, { dtype = "int8" }) },
}

local function set_of(text)
  local set = {}
  for word in text:gmatch("%S+") do set[word] = true end
  return set
end

-- Files and drawings, what changes the session, what any table may be given to; and np.kron's, of any size.
local exempt = set_of [[
  np.load np.save np.savez np.savez_compressed np.savetxt np.loadtxt np.genfromtxt np.fromfile np.hdf5 np.fromstring
  np.printoptions np.set_printoptions np.extend np.random.seed np.random.set_state np.plot np.frompointer sparse.kron
  sparse.kronsum np.kron sparse.save_npz sparse.load_npz sparse.mmread sparse.mmwrite]]

-- A script of one line: f(...) would not say what the script calls it.
local function caller_of(group, key)
  local text = "local np, sparse, solvers, fence = ... return function(...) %s[%q](...) fence() end"
  return loadstring(text:format(group, key), "=call")(np, sparse, solvers, lgt.fence)
end

local function public_functions()
  local groups = { np = np, ["np.linalg"] = np.linalg, ["np.fft"] = np.fft, ["np.random"] = np.random, sparse = sparse,
    solvers = solvers }
  for name in pairs(require("lgt.sources").index()) do -- what waits for its first use is loaded
    local group, key = name:match("^(.*)%.([%w_]+)$")
    if groups[group] then assert(groups[group][key] ~= nil, name) end
  end
  local found, seen = {}, {}
  for group, functions in pairs(groups) do
    for key, f in pairs(functions) do
      local name, own = group .. "." .. key, type(f) == "table" and getmetatable(f)
      if (type(f) == "function" or own and own.__call) and not seen[f] and not exempt[name] then
        seen[f] = true
        local count = own and rawget(f, "nin") or not own and debug.getinfo(f, "u").nparams or 1
        found[#found + 1] = { name = name, call = caller_of(group, key), count = math.max(1, count) }
      end
    end
  end
  table.sort(found, function(f, g) return f.name < g.name end)
  return found
end

local here = "call:1:"

-- What is wrong with a message; nil if nothing is.
local function fault_of(message, name)
  if message:sub(1, #here) ~= here then return "it is not raised at the line of the caller" end
  local text = message:sub(#here + 1):gsub(" %(in a task launched at call:1%)$", "")
  for _, words in ipairs { "attempt to ", "bad argument", "cannot convert" } do
    if text:find(words, 1, true) then return "it is Lua's own" end
  end
  if text:find("%.lua:%d") or text:find("assert", 1, true) then return "it shows a line of the library" end
  if text:find("0x%x%x%x") then return "it shows an address" end
  if text:find("^ array: ") and not name:find("array") then return "it names another function" end
end

-- The first call of f whose error is not as it should be, as text.
local function complaint_about(f, choose)
  for _ = 1, #wrong + CALLS + 2 do
    local list, values = choose(), {}
    for i, word in ipairs(list) do values[i] = word[2] end
    local ok, why = pcall(f.call, unpack(values, 1, #list))
    local fault = not ok and fault_of(tostring(why):match("^[^\n]*"), f.name)
    if fault then
      for i, word in ipairs(list) do values[i] = word[1] end
      return ("%s(%s): %s: %s"):format(f.name, table.concat(values, ", "), fault, why)
    end
  end
end

-- The calls of a function: each wrong argument alone; some of the right ones with a wrong one among them; too many.
local function chooser(count, seed)
  local turn = 0
  math.randomseed(seed) -- a function that changes does not change the calls of others
  return function()
    turn = turn + 1
    if wrong[turn] then return { wrong[turn] } end
    local list, n = {}, math.random(1, count + 1)
    if turn == #wrong + CALLS + 1 then n = count + 3 end
    for i = 1, n do list[i] = right[math.random() < 0.6 and math.random(3) or math.random(#right)] end
    if turn <= #wrong + CALLS then list[math.random(n)] = wrong[math.random(#wrong)] end
    return list
  end
end

local functions = public_functions()
check.that(#functions > 400, "they were not found")
lgt.options { compile = false }
for _, f in ipairs(functions) do
  local seed = tonumber(arg[1]) or 1
  for letter in f.name:gmatch(".") do seed = (31 * seed + letter:byte()) % 2 ^ 31 end
  local complaint = complaint_about(f, chooser(f.count, seed))
  check.case(f.name, function() check.that(not complaint, complaint) end)
end

check.case("afterwards", function()
  check.equal(np.sum(np.arange(10)):item(), 45)
  local a = np.array { { 2, 1 }, { 1, 3 } }
  check.equal(np.linalg.solve(a, np.array { 4, 7 }):round(6):totable(), { 1, 2 })
end)

check.done()
