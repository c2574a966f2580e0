-- Runs a batch of random programs and writes what they computed.
--
--   lgt [--variable value ...] runner.lua BATCH.lua OUT [turns=N] [hotloop=N] [gc=N]
--
-- BATCH.lua returns a list of {seed, function(np, lgt, input, calls, seen, keep)}.  A program calls
--   input(...) and calls.NAME(...)    of prelude.lua
--   seen(value)                       for each number that it reads
--   keep(name, array)                 for each array that is alive at its end
-- OUT holds, for each program in each turn: a line "P seed", then "S value" for each number seen,
-- "A name dtype bytes shape..." with the elements behind it or "F name message" if they failed, "E message" if the program
-- did, and "D seed"; then "K kernels" that devices have.
-- It is flushed after each, so that what a crash interrupts is known.
local ffi = require "ffi"
local lgt = require "lgt"
local np = require "array"
local core = require "array.core"

local turns = 1
for i = 3, #arg do
  local name, value = arg[i]:match("^(%w+)=(%d+)$")
  if name == "turns" then
    turns = tonumber(value)
  elseif name == "hotloop" then
    require("jit.opt").start("hotloop=" .. value, "hotexit=2")
  elseif name == "gc" then -- each rank collects in its own rhythm
    local seed = (tonumber(value) * 7 + lgt.rank() * 4099) % 65536
    collectgarbage("setpause", 20 + seed % 400)
    collectgarbage("setstepmul", 50 + seed % 300)
  else
    error("unknown argument " .. arg[i])
  end
end

local out = assert(io.open(arg[2], "wb"))

local prelude = dofile(arg[0]:match("^(.*/)") .. "prelude.lua")

local function seen(value)
  if type(value) == "number" then value = ("%.17g"):format(value) end
  out:write("S ", tostring(value), "\n")
end

local function keep(name, array)
  local ok, memory, count = pcall(core.copy_out, array)
  if not ok then
    out:write("F ", name, " ", (tostring(memory):gsub("\n", " ")), "\n")
    return
  end
  local bytes = count * array.itemsize
  out:write(("A %s %s %d"):format(name, array.dtype, bytes))
  for _, extent in ipairs(array.shape) do out:write(" ", tostring(extent)) end
  out:write("\n", ffi.string(memory, bytes))
end

local programs = dofile(arg[1])
for _ = 1, turns do
  for _, program in ipairs(programs) do
    local seed, run = program[1], program[2]
    out:write("P ", seed, "\n")
    out:flush()
    local ok, message = pcall(function()
      run(np, lgt, prelude.input, prelude.calls, seen, keep)
      lgt.fence()
    end)
    if not ok then
      out:write("E ", (tostring(message):gsub("\n", " ")), "\n")
      pcall(lgt.fence) -- errors of this program are not those of the next
    end
    out:write("D ", seed, "\n")
    out:flush()
  end
end
out:write("K ", lgt.stats().device_kernels, "\n")
out:close()
