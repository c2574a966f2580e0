-- hdf5.lua - hostile HDF5 files: valid ones, changed at random, are read or refused, and nothing else.
--
--   lgt tests/fuzz/hdf5.lua FILE FIRST LAST SEED [VALID ...]       run by hdf5.py, which watches
--
-- Turn by turn a changed file is written to FILE and all of it is read that is small.  A refusal is an error that names
-- a line of this script; so is what comes of a library that crashes, or comes to no end.  Then the turn's number is said.

package.path = arg[0]:gsub("[^/]*$", "?.lua;") .. package.path

local ffi = require "ffi"
local np = require "array"

local path, first, last, seed = arg[1], tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4])
local random = math.random

-- ---- what is changed -------------------------------------------------------------------------------------

local function text_of(name)
  local input = assert(io.open(name, "rb"))
  local text = input:read("*a")
  input:close()
  return text
end

local function made(write)
  local file = np.hdf5(path, "w")
  write(file)
  file:close()
  return text_of(path)
end

local seeds = {
  made(function(file) file:write("x", np.arange(6):reshape(2, 3)) end),
  made(function(file)
    file:write("g/h/x", np.arange(50), { chunks = { 20 }, compression = 1 })
    file:write("g/flags", np.arange(5):gt(2))
  end),
  made(function(file)
    file:write("z", np.ones(3) + ffi.new("complex double", 0, 1))
    file:write("half", np.ones(2, 2):astype("float16"))
    file:write("empty", np.zeros(0, 3))
    file:write("one", np.array(7))
    file:attribute("/", "title", "a text")
    file:attribute("z", "scale", 2.5)
    file:attribute("z", "list", np.arange(4))
  end),
}
for i = 5, #arg do seeds[#seeds + 1] = text_of(arg[i]) end

-- Numbers of 1 to 8 bytes, as sizes and addresses are; structures elsewhere, whole or in part.
local function little(number, size)
  local parts = {}
  for i = 1, size do
    parts[i] = string.char(number % 256)
    number = math.floor(number / 256)
  end
  return table.concat(parts)
end

local SIGNATURES = { "TREE", "HEAP", "SNOD", "GCOL", "OHDR", "OCHK", "FRHP", "FHDB", "FHIB", "BTHD", "BTLF", "BTIN", "FSHD" }
local function behind(text, at, what) return text:sub(1, at - 1) .. what .. text:sub(at + #what) end
local function near_structure(text)
  local signature = SIGNATURES[random(#SIGNATURES)]
  local found = text:find(signature, random(#text), true) or text:find(signature, 1, true)
  return found and math.min(#text, found + random(0, 80)) or random(#text)
end
local function aligned(at) return at - (at - 1) % 8 end

local more = {
  function(text, at)
    local size = 2 ^ random(0, 3)
    return behind(text, aligned(at), little(({ 0, 1, 2, 255, 65535, 2 ^ 31, 2 ^ 32 - 1, #text, #text - 8 })[random(9)], size))
  end,
  function(text, at) return behind(text, aligned(at), little(random(0, #text), 8)) end,
  function(text) return behind(text, aligned(near_structure(text)), little(aligned(random(#text)) - 1, 8)) end,
  function(text) return behind(text, near_structure(text), string.char(random(0, 255))) end,
  function(text, at)
    local from, size = aligned(random(#text)), 8 * random(1, 16)
    return behind(text, aligned(at), text:sub(from, from + size - 1))
  end,
  function(text, at)
    local other, size = seeds[random(#seeds)], 2 ^ random(0, 9)
    local from = aligned(random(#other))
    return behind(text, aligned(at), other:sub(from, from + size - 1))
  end,
}
for i = 1, #more do more[#more + 1] = more[i] end -- as often as those of texts
local mutated = require "mutate"(seeds, more)

-- ---- what is read ----------------------------------------------------------------------------------------

local here = debug.getinfo(1, "S").short_src
local read, refused, lost = 0, 0, 0
local turn

local function bug(why)
  print("FAIL " .. why)
  os.exit(1)
end

-- f(...), or nil if that is refused.
local function try(f, ...)
  local results = { pcall(f, ...) }
  if results[1] then
    read = read + 1
    return unpack(results, 2)
  end
  refused = refused + 1
  local why = tostring(results[2])
  if why:sub(1, #here) ~= here or why:find("hdf5_apart", 1, true) then bug(why) end
  local how = why:match("the library of HDF5 (.*)")
  if how then
    lost = lost + 1
    io.write("lost ", turn, " ", how, "\n")
    io.flush()
  end
end

local SMALL = 10000 -- elements

local function about(file, name) local shape = file:about(name) return shape end
local function value(file, name, key)
  local sum = np.sum(np.isfinite(file:read(name, key)))()
  return sum
end
local function attributes(file, name, key) local found = file:attribute(name, key) return found end
local function names(file, group) local found = file:list(group) return found end

local visit
local function look_at(file, name, depth)
  for _, key in ipairs(try(attributes, file, name) or {}) do try(attributes, file, name, key) end
  if name:sub(-1) == "/" then return visit(file, name, depth + 1) end
  local shape = try(about, file, name)
  local count = 1
  for d = 1, shape and #shape or 0 do count = count * shape[d] end
  if not shape or count > SMALL then return end
  try(value, file, name)
  if #shape > 0 then try(value, file, name, "2:, ...") end
end

visit = function(file, group, depth)
  if depth > 3 then return end -- a group may be in itself
  for i, name in ipairs(try(names, file, group) or {}) do
    if i > 20 then return end
    look_at(file, group .. name, depth)
  end
end

local function opened() local file = np.hdf5(path, "r", { seconds = 1 }) return file end

for number = first, last do
  turn = number
  math.randomseed(seed * 1000003 + turn)
  local text = mutated(seeds[random(#seeds)])
  local output = assert(io.open(path, "wb"))
  output:write(text)
  output:close()
  if turn % 100 == 0 then io.write("turn ", turn, "\n") io.flush() end
  local file = try(opened)
  if file then
    look_at(file, "/", 0)
    try(function() file:close() end)
  end
end
io.write("done ", read, " ", refused, " ", lost, "\n")
