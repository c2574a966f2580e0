-- readers.lua - hostile files: valid ones, changed at random, are read or refused, and nothing else.
--
--   lgt tests/fuzz/readers.lua [turns [seed]]
--
-- A refusal is an error that names the line below that asked: one that names a line of a library is a bug there,
-- and so is a crash.  What was read must be small: nothing is allocated for what a file only promises.  The
-- bytes that showed a bug are left in a file, whose name is printed.

package.path = arg[0]:gsub("[^/]*$", "?.lua;") .. package.path

local np = require "array"
local bytes = require "array.io.bytes"
local npy = require "array.io.npy"
local sp = require "sparse"

local turns, seed = tonumber(arg[1]) or 20000, tonumber(arg[2]) or os.time()
math.randomseed(seed)
local random = math.random

-- ---- what is changed -------------------------------------------------------------------------------------

local folder = os.tmpname()
local function written(suffix, write)
  local path = folder .. suffix
  write(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  os.remove(path)
  return text
end

local function read_binary(text) return npy.read(bytes.of_string(text), "fuzz", "it") end

local seeds = {}
local function seed_file(read, suffix, write) seeds[#seeds + 1] = { read = read, text = written(suffix, write) } end
for _, dtype in ipairs { "float64", "int8", "complex64", "bool" } do
  seed_file(read_binary, ".npy", function(path) np.save(path, np.arange(6):reshape(2, 3):astype(dtype)) end)
end
seed_file(read_binary, ".npy", function(path) np.save(path, np.zeros(0, 3)) end)
seed_file(read_binary, ".npz", function(path) np.savez(path, np.arange(4), { x = np.ones(2, 2) }) end)
seed_file(read_binary, ".npz", function(path) np.savez_compressed(path, { x = np.arange(50), y = np.ones(3) }) end)
-- As other writers have them: in Fortran's order, of version 2, of another byte order.
for _, change in ipairs { { "False", "True " }, { "^(.....Y)\1(.)(..)", "%1\2%2%3\0\0" }, { "'<f8'", "'>f8'" } } do
  seeds[#seeds + 1] = { read = read_binary, text = (seeds[1].text:gsub(change[1], change[2])) }
end


local function read_text(options, read)
  return function(text)
    local got = (read or np.loadtxt)({ text }, options)
    return got
  end
end
local TABLE = "# x y\n1.5 -2e3\n\n nan 0.25\n"
for _, dtype in ipairs { "float64", "int64", "uint8", "complex128", "bool" } do
  for text, delimiter in pairs { [TABLE] = false, ["1, 2,3\n4,5,6\n"] = ",", ["(1+2j) 3j\n+4 -5\n"] = false } do
    local options = { dtype = dtype, delimiter = delimiter or nil }
    seeds[#seeds + 1] = { read = read_text(options), text = text }
    seeds[#seeds + 1] = { read = read_text(options, np.genfromtxt), text = text }
  end
end
seeds[#seeds + 1] = { read = read_text({ usecols = { 1, -1 }, max_rows = 2 }), text = TABLE }
local function from_string(lines, options) return np.fromstring(lines[1], options) end
seeds[#seeds + 1] = { read = read_text({ sep = "," }, from_string), text = "1,2 ,3\n4" }

local function read_matrix(text)
  local path = folder .. ".mtx"
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  local got = sp.mmread(path)
  return got
end
for _, text in ipairs {
  "matrix coordinate real general\n% why\n\n3 4 3\n1 1 1.5\n3 4 -2e3\n2 1 nan\n",
  "matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
  "matrix coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 3 -1.25\n",
  "matrix coordinate integer skew-symmetric\n3 3 2\n2 1 -7\n3 2 9\n",
  "matrix array real general\n2 3\n1\n2\n3\n4\n5\n6e-3\n",
  "matrix array integer symmetric\n2 2\n1\n2\n3\n", "matrix array complex skew-symmetric\n2 2\n1 2\n",
} do seeds[#seeds + 1] = { read = read_matrix, text = "%%MatrixMarket " .. text } end

local texts = {}
for i, origin in ipairs(seeds) do texts[i] = origin.text end
local mutated = require "mutate"(texts)

-- ---- the loop --------------------------------------------------------------------------------------------

local here = debug.getinfo(1, "S").short_src

local function bug(text, why)
  local path = folder .. ".bug"
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  print(("FAIL fuzz: seed %d: %s (the bytes are in %s)"):format(seed, why, path))
  os.exit(1)
end

local function total(result)
  if np.isarray(result) then return result.nbytes end
  if sp.issparse(result) then return result.row.nbytes + result.col.nbytes + result.data.nbytes end
  local sum = 0
  for _, a in pairs(result) do sum = sum + a.nbytes end
  return sum
end

local accepted = 0
for turn = 1, turns do
  local origin = seeds[random(#seeds)]
  local text = mutated(origin.text)
  local ok, result = pcall(function()
    local got = origin.read(text) -- tail calls would hide this line
    return got
  end)
  if ok then
    accepted = accepted + 1
    if total(result) > 100 * #text + 4096 then bug(text, ("%d bytes became %d"):format(#text, total(result))) end
  elseif tostring(result):sub(1, #here) ~= here then
    bug(text, tostring(result))
  end
  if turn % 10000 == 0 then
    collectgarbage()
    np.ones(1):item()
  end
end
os.remove(folder)
os.remove(folder .. ".mtx")
print(("ok %d changed files: %d were read, the others refused"):format(turns, accepted))
