-- hdf5.lua - hostile HDF5 files: valid ones, changed at random, are read or refused, and nothing else.
--
--   lgt tests/fuzz/hdf5.lua FILE FIRST LAST SEED       run by hdf5.py, which watches
--
-- Turn by turn a changed file is written to FILE and all of it is read that is small.  A refusal is an error that names
-- a line of this script.

package.path = arg[0]:gsub("[^/]*$", "?.lua;") .. package.path

local ffi = require "ffi"
local np = require "array"

local path, first, last, seed = arg[1], tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4])

-- ---- what is changed -------------------------------------------------------------------------------------

local function made(write)
  local file = np.hdf5(path, "w")
  write(file)
  file:close()
  local input = assert(io.open(path, "rb"))
  local text = input:read("*a")
  input:close()
  return text
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
local mutated = require "mutate"(seeds)

-- ---- what is read ----------------------------------------------------------------------------------------

local here = debug.getinfo(1, "S").short_src
local read, refused = 0, 0

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
  if tostring(results[2]):sub(1, #here) ~= here then bug(tostring(results[2])) end
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
  for _, name in ipairs(try(names, file, group) or {}) do look_at(file, group .. name, depth) end
end

local function opened() local file = np.hdf5(path) return file end

for turn = first, last do
  math.randomseed(seed * 1000003 + turn)
  local text = mutated(seeds[math.random(#seeds)])
  local output = assert(io.open(path, "wb"))
  output:write(text)
  output:close()
  io.write("turn ", turn, "\n")
  io.flush()
  local file = try(opened)
  if file then
    look_at(file, "/", 0)
    try(function() file:close() end)
  end
end
io.write("done ", read, " ", refused, "\n")
