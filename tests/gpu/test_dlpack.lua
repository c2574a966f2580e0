-- DLPack with memory of a GPU.  The driver itself, called as another library of the process would, is the other side.
local check = dofile(arg[0]:match("^(.*/)") .. "../lua/check.lua")
local ffi = require "ffi"
local lgt, np = require "lgt", require "array"

ffi.cdef [[
  int cuDevicePrimaryCtxRetain(void **context, int device);
  int cuDevicePrimaryCtxRelease_v2(int device);
  int cuCtxSetCurrent(void *context);
  int cuMemGetInfo_v2(size_t *left, size_t *all);
  int cuMemAlloc_v2(uint64_t *address, size_t bytes);
  int cuMemFree_v2(uint64_t address);
  int cuStreamCreate(void **stream, unsigned flags);
  int cuStreamDestroy_v2(void *stream);
  int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
  int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
  int cuStreamSynchronize(void *stream);
]]
np.ones(1):sum():item() -- opens the GPU
local cuda = ffi.load("libcuda.so.1")
local function good(result) if result ~= 0 then error("the driver: " .. result, 2) end end

local context, stream = ffi.new("void *[1]"), ffi.new("void *[1]")
good(cuda.cuDevicePrimaryCtxRetain(context, 0))
good(cuda.cuCtxSetCurrent(context[0]))
good(cuda.cuStreamCreate(stream, 1))

local function left()
  local bytes, all = ffi.new("size_t[1]"), ffi.new("size_t[1]")
  good(cuda.cuCtxSetCurrent(context[0]))
  good(cuda.cuMemGetInfo_v2(bytes, all))
  return tonumber(bytes[0])
end

-- Memory of the other library with n doubles, which are still on their way there, and a tensor over it.
local N = 1000
local owned = {} -- addresses
local block = ffi.new("double[?]", N)
local shape = ffi.new("int64_t[1]", N)
local function foreign(versioned)
  local address = ffi.new("uint64_t[1]")
  good(cuda.cuCtxSetCurrent(context[0]))
  good(cuda.cuMemAlloc_v2(address, 8 * N))
  owned[#owned + 1] = address[0]
  for i = 0, N - 1 do block[i] = i end
  good(cuda.cuMemcpyHtoDAsync_v2(address[0], block, 8 * N, stream[0]))
  local m = ffi.cast(versioned and "lgt_dl_versioned *" or "lgt_dl_managed *", ffi.C.calloc(1, 256))
  local t = m.dl_tensor
  t.device.type, t.device.id, t.ndim, t.shape = 2, 0, 1, shape
  t.dtype.code, t.dtype.bits, t.dtype.lanes = 2, 64, 1
  t.data = ffi.cast("void *", address[0])
  m.deleter = ffi.cast(m.deleter, ffi.C.free)
  if versioned then m.version.major, m.version.minor = 1, 1 end
  return m, address[0]
end
local function seen(address)
  good(cuda.cuCtxSetCurrent(context[0]))
  good(cuda.cuMemcpyDtoHAsync_v2(block, address, 8 * N, stream[0]))
  good(cuda.cuStreamSynchronize(stream[0]))
  return block
end

check.case("there and back", function()
  for _, dtype in ipairs { "bool", "int8", "int64", "uint16", "float16", "float32", "float64", "complex128" } do
    local a = np.arange(24):reshape(2, 3, 4):astype(dtype)
    local m = a:dlpack { device = "cuda" }
    check.equal(m.dl_tensor.device.type, 2)
    local b = np.from_dlpack(m)
    check.equal(b.dtype, dtype)
    check.that(np.array_equal(a, b), dtype)
  end
  local a = np.arange(12):reshape(3, 4)
  check.that(np.array_equal(np.from_dlpack(a.T:dlpack { device = "cuda" }), a.T))
  check.that(np.array_equal(np.from_dlpack(a["2"]:dlpack { device = "cuda" }), a["2"]))
  check.equal(np.from_dlpack(np.zeros(0, 3):dlpack { device = "cuda" }).size, 0)
  check.equal(np.from_dlpack(np.array(3):dlpack { device = "cuda" }):item(), 3)
  check.equal(a:dlpack().dl_tensor.device.type, 1)
end)

check.case("nothing is copied, and what others have put into their streams is waited for", function()
  local m = foreign()
  lgt.fence()
  local before = lgt.stats()
  local x = np.from_dlpack(m)
  local y = x * 2
  lgt.fence()
  local after = lgt.stats()
  check.equal(after.bytes_to_devices - before.bytes_to_devices, 0)
  check.equal(after.bytes_from_devices - before.bytes_from_devices, 0)
  check.equal(y[N]:item(), 2 * (N - 1))
  check.that(lgt.explain(x):find("over memory of another library", 1, true))
  x:detach()
end)

check.case("what is written is there after detach", function()
  local m, address = foreign()
  local x = np.from_dlpack(m)
  x:iadd(1)
  x["1:10"] = -1
  x:detach()
  local got = seen(address)
  check.equal(got[0], -1)
  check.equal(got[10], 11)
  check.equal(got[N - 1], N)
  check.refuses("was released", function() return x:sum()() end)
end)

check.case("so is what the host has written", function()
  local m, address = foreign()
  local x = np.from_dlpack(m)
  x:host("rw", function(p) p[3] = 77 end)
  x:sort()
  check.equal(x[5]:item(), 5)
  local y = x + 1
  x:detach()
  check.equal(seen(address)[N - 1], N - 1)
  check.equal(block[3], 4)
  check.equal(y:max():item(), N)
end)

check.case("memory is given back by deleters", function()
  local a = np.arange(100000) * 1.5
  lgt.fence()
  local m = a:dlpack { device = "cuda" } -- what lgt takes for its copy stays with it
  m.deleter(m)
  local before = left()
  m = a:dlpack { device = "cuda" }
  check.that(before - left() >= 800000)
  m.deleter(m)
  check.that(before - left() < 800000)
  m = a:dlpack { device = "cuda", versioned = true }
  local b = np.from_dlpack(m)
  check.equal(b[100000]:item(), 99999 * 1.5)
  b:detach()
  check.that(before - left() < 800000)
end)

check.case("versions and flags", function()
  local m = foreign(true)
  local x = np.from_dlpack(m)
  check.equal(x[7]:item(), 6)
  x:detach()
  m = np.arange(3):dlpack { device = "cuda", versioned = true }
  check.equal(tonumber(m.version.major), 1)
  check.equal(tonumber(m.flags), 2)
  check.equal(np.from_dlpack(ffi.cast("void *", m), { versioned = true }):totable(), { 0, 1, 2 })
  m = foreign(true)
  m.version.major = 2
  check.refuses("the tensor is of DLPack 2.1; those of version 1 are taken", function() np.from_dlpack(m) end)
  m.version.major, m.flags = 1, 1
  local copy = np.from_dlpack(m)
  copy:imul(0)
  check.equal(copy:sum():item(), 0)
  check.equal(np.from_dlpack(np.arange(3):dlpack { versioned = true }):totable(), { 0, 1, 2 })
end)

check.case("errors", function()
  local m = foreign()
  m.dl_tensor.device.id = 1
  check.refuses("the tensor lies on GPU 1, and this program works on GPU 0", function() np.from_dlpack(m) end)
  m.dl_tensor.device.id, m.dl_tensor.strides = 0, ffi.new("int64_t[1]", 2)
  check.refuses("the tensor lies on a GPU with strides", function() np.from_dlpack(m) end)
  m.dl_tensor.device.type = 10
  check.refuses("a device of type 10", function() np.from_dlpack(m) end)
  check.refuses('the device is "cpu" or "cuda", not', function() np.ones(2):dlpack { device = "tpu" } end)
end)

good(cuda.cuCtxSetCurrent(context[0]))
good(cuda.cuStreamDestroy_v2(stream[0]))
for _, address in ipairs(owned) do good(cuda.cuMemFree_v2(address)) end
good(cuda.cuDevicePrimaryCtxRelease_v2(0))
check.done()
