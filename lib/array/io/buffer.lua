-- array/io/buffer.lua - memory that arrays share with the rest of a program: np.frombuffer, DLPack.
--
-- An array over the program's memory uses it as it is.  While it does, the memory is the array's: what others
-- read or write there is out of date, until a:detach() has waited for the newest values and given it back.
-- FFI memory is kept alive for that long.  The runtime says that it no longer uses it by a count that it
-- decreases, for it cannot call into Lua: counts are looked at after each cycle of the collector.

local core = require "array.core"
local ffi = require "ffi"

local lgt, dtypes, raise, np, methods = core.lgt, core.dtypes, core.raise, core.np, core.methods
local C, rt = lgt.C, lgt.rt

ffi.cdef [[
  void lgt_lua_unshare(void *);
  void lgt_lua_delete_dlpack(void *);
  void lgt_lua_delete_dlpack_versioned(void *);
  void lgt_lua_delete_shared(void *);

  typedef struct lgt_dl_tensor {
    void *data;
    struct { int32_t type, id; } device;
    int32_t ndim;
    struct { uint8_t code, bits; uint16_t lanes; } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
  } lgt_dl_tensor;
  typedef struct lgt_dl_managed {
    lgt_dl_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct lgt_dl_managed *);
  } lgt_dl_managed;
  typedef struct lgt_dl_versioned {
    struct { uint32_t major, minor; } version;
    void *manager_ctx;
    void (*deleter)(struct lgt_dl_versioned *);
    uint64_t flags;
    lgt_dl_tensor dl_tensor;
  } lgt_dl_versioned;
]]

-- ---- memory of the FFI ---------------------------------------------------------------------------------

local shared = {} -- [count of users] = the memory they use

-- When Lua ends it first finalises what belongs to the FFI: the counts are gone when the last object that watches
-- them is finalised.
local life = { over = false }
life.ends = ffi.gc(ffi.new("char[1]"), function() life.over = true end)

local function drop_unused()
  for count in lgt.unordered(shared) do
    if count[0] == 1 then shared[count] = nil end -- only the entry itself is left
  end
end

-- An object that lives for one cycle of the collector.
local function watch()
  local object = newproxy(true)
  getmetatable(object).__gc = function()
    if life.over then return end
    drop_unused()
    if lgt.next(shared) then watch() end
  end
end

local function new_count()
  local count = ffi.cast("int *", ffi.C.calloc(1, ffi.sizeof("int")))
  if count == nil then raise("frombuffer: out of memory") end
  count[0] = 2
  return ffi.gc(count, C.lgt_lua_unshare)
end

local elements = {
  bool = "bool", char = "int8", ["signed char"] = "int8", ["unsigned char"] = "uint8", short = "int16",
  ["unsigned short"] = "uint16", int = "int32", ["unsigned int"] = "uint32", int64_t = "int64", uint64_t = "uint64",
  float = "float32", double = "float64", ["complex float"] = "complex64", complex = "complex128",
}

-- What the type of FFI memory says: the dtype of its elements and its extents (nil: a pointer), if it does.
local function described(buffer)
  local element, extents = tostring(ffi.typeof(buffer)):match("^ctype<(.-) ?([*&%[%]%d?()]*)>$")
  if not element then return nil end
  element = element:gsub("^const ", ""):gsub("^volatile ", "")
  local name = elements[element]
  local shape = {}
  for extent in extents:gmatch("%[([%d?]+)%]") do shape[#shape + 1] = tonumber(extent) or -1 end
  if #shape == 0 then return name, nil end
  if shape[1] == -1 then
    local size = name and dtypes.size[dtypes.number[name]] or 1
    for d = 2, #shape do size = size * shape[d] end
    shape[1] = ffi.sizeof(buffer) / size
  end
  return name, shape
end

local known = { dtype = true, count = "count", offset = "count" }

-- How many elements there are between byte `offset` and the end: so many as the caller wants (nil: all that fit).
local function count_elements(dtype, count, offset, bytes)
  local fitting = math.floor((bytes - offset) / dtypes.size[dtype])
  if offset > bytes or count and count > fitting then
    raise("frombuffer: %s elements of %s from byte %d on do not fit into %d bytes", tostring(count or "no"),
      dtypes.name[dtype], offset, bytes)
  end
  return count or fitting
end

-- The dtype, shape and bytes before the first element that are meant.
local function what_is_meant(buffer, options)
  local name, shape = described(buffer)
  local dtype = options.dtype and core.check_dtype(options.dtype, "frombuffer") or name and dtypes.number[name]
  if not dtype then
    raise("frombuffer: the option dtype says what the elements of %s are", tostring(ffi.typeof(buffer)))
  end
  local offset, count = options.offset or 0, options.count
  if not shape then
    if not count then raise("frombuffer: of a pointer the option count says how many elements it points to") end
    return dtype, { count }, offset
  end
  local fitting = count_elements(dtype, count, offset, ffi.sizeof(buffer))
  if not count and offset == 0 and dtypes.number[name or ""] == dtype then return dtype, shape, offset end
  return dtype, { fitting }, offset
end

-- The bytes of a string, in memory of the array's own.
local function copy_of_string(text, options)
  local dtype = core.check_dtype(options.dtype or "uint8", "frombuffer")
  local offset = options.offset or 0
  local count = count_elements(dtype, options.count, offset, #text)
  local memory = core.host_memory(dtype, count)
  ffi.copy(memory, ffi.cast("const char *", text) + offset, count * dtypes.size[dtype])
  return core.adopt(dtype, { count }, memory)
end

-- An array over memory of the FFI, without a copy: ffi.new("double[3][4]") gives a matrix.  Options: dtype, where
-- the memory's type does not say it; offset, in bytes; count, of elements (needed for a pointer, whose memory the
-- caller keeps alive).  Of a string the bytes are copied.  a:detach() gives the memory back.  Two arrays may be over
-- the same memory only if neither is written.  On several ranks the memory's contents must be alike on all of them
-- already: fill what malloc returned (ffi.new does) before.
---@param buffer ffi.cdata*|string
---@param options {dtype: string?, count: integer?, offset: integer?}?
---@return lgt_array
function np.frombuffer(buffer, options)
  options = core.check_options(options, known, "frombuffer")
  if type(buffer) == "string" then return copy_of_string(buffer, options) end
  if type(buffer) ~= "cdata" or core.is_array(buffer) then
    raise("frombuffer: memory of the FFI or a string was expected, not %s", (core.describe(buffer)))
  end
  local dtype, shape, offset = what_is_meant(buffer, options)
  local p = ffi.cast("uint8_t *", buffer) + offset
  if p == nil then raise("frombuffer: the pointer is NULL") end
  local size = dtypes.size[dtype]
  if tonumber(ffi.cast("uintptr_t", p) % (dtypes.category[dtype] == 3 and size / 2 or size)) ~= 0 then
    raise("frombuffer: the memory is not aligned for elements of %s", dtypes.name[dtype])
  end
  local count = new_count()
  if lgt.next(shared) == nil then watch() end
  shared[count] = buffer
  local id = lgt.attach(lgt.dense(dtype, shape), p, C.lgt_lua_unshare, count)
  if id == 0 then
    count[0] = 1
    lgt.fail()
  end
  return lgt.wrap(id)
end

-- Wait until the memory that np.frombuffer or np.from_dlpack was given holds the newest values, and give it back.
-- The array is released, and its views cannot be used any more.
function methods.detach(a)
  core.layout_of(a, "detach")
  lgt.flush()
  if C.lgt_array_detach(rt, a.id) < 0 then lgt.fail() end
  lgt.free(a)
  drop_unused()
end

-- ---- DLPack --------------------------------------------------------------------------------------------

local CPU, CUDA, CUDA_HOST = 1, 2, 3
local MAJOR, MINOR = 1, 0 -- of DLPack
local READ_ONLY, COPIED = 1, 2 -- flags
local SIGNED, UNSIGNED, REAL, COMPLEX, BOOL = 0, 1, 2, 5, 6 -- codes of element types
local words = { [SIGNED] = "int%d", [UNSIGNED] = "uint%d", [REAL] = "float%d", [COMPLEX] = "complex%d",
                [BOOL] = "bool" }

local function is_dense(t)
  if t.strides == nil then return true end
  local step = 1
  for d = t.ndim - 1, 0, -1 do
    if t.shape[d] ~= 1 and t.strides[d] ~= step then return false end
    step = step * t.shape[d]
  end
  return true
end

-- Of a managed tensor: itself, its flags (of the host's own kind if it has none), and the function that deletes it.
local function opened(managed, options)
  local ctype = type(managed) == "cdata" and not core.is_array(managed) and tostring(ffi.typeof(managed)) or ""
  if not ctype:find("struct", 1, true) and not ctype:find("void *", 1, true) then
    raise("from_dlpack: a pointer to a DLManagedTensor was expected, not %s", (core.describe(managed)))
  end
  local versioned = options.versioned
  if versioned == nil then versioned = ctype:lower():find("versioned", 1, true) ~= nil end
  local m = ffi.cast(versioned and "lgt_dl_versioned *" or "lgt_dl_managed *", managed)
  if m == nil then raise("from_dlpack: the pointer is NULL") end
  if not versioned then return m, m.dl_tensor, 0, C.lgt_lua_delete_dlpack end
  if m.version.major ~= MAJOR then
    raise("from_dlpack: the tensor is of DLPack %d.%d; those of version %d are taken", m.version.major, m.version.minor,
      MAJOR)
  end
  return m, m.dl_tensor, tonumber(m.flags), C.lgt_lua_delete_dlpack_versioned
end

local function check_device(t)
  if t.device.type == CPU or t.device.type == CUDA_HOST then return C.LGT_MEMORY_HOST end
  if t.device.type ~= CUDA then
    raise("from_dlpack: the tensor lies on a device of type %d; those of the host and of CUDA are taken",
      t.device.type)
  end
  local ours = C.lgt_device_shared(rt)
  if ours < 0 then lgt.fail() end
  if t.device.id ~= ours then
    raise("from_dlpack: the tensor lies on GPU %d, and this program works on GPU %d", t.device.id, ours)
  end
  if not is_dense(t) then
    raise("from_dlpack: the tensor lies on a GPU with strides: make its elements contiguous there first")
  end
  return C.LGT_MEMORY_CUDA
end

-- Elements with strides, as an array of its own.
local function gathered(t, dtype, shape, p)
  local strides = {}
  for d = 1, t.ndim do strides[d] = tonumber(t.strides[d - 1]) end
  local copy, at = core.host_memory(dtype, core.product(shape)), 0
  local function level(d, from)
    if d > #shape then
      copy[at] = p[from]
      at = at + 1
      return
    end
    for i = 0, shape[d] - 1 do level(d + 1, from + i * strides[d]) end
  end
  level(1, 0)
  return core.adopt(dtype, shape, copy)
end

local imports = { versioned = "flag" }

-- An array over a DLManagedTensor (a pointer to one), whose memory it owns from now on: nothing is copied if its
-- elements lie in C order and may be written.  The tensor's deleter is called at the end; it must not be a function of
-- Lua.  Memory of a GPU is taken in a program that works on this GPU alone; all that the process has asked of it is
-- waited for.  a:detach() brings the newest values there.  Options: versioned, for a pointer to a
-- DLManagedTensorVersioned whose type does not say so.
---@param managed ffi.cdata*
---@param options {versioned: boolean?}?
---@return lgt_array
function np.from_dlpack(managed, options)
  options = core.check_options(options, imports, "from_dlpack")
  local m, t, flags, delete = opened(managed, options)
  local word = words[t.dtype.code]
  local dtype = word and t.dtype.lanes == 1 and dtypes.number[word:format(t.dtype.bits)]
  if not dtype then
    raise("from_dlpack: elements of code %d, %d bits and %d lanes, which arrays do not have", t.dtype.code,
      t.dtype.bits, t.dtype.lanes)
  end
  if t.ndim < 0 or t.ndim > 6 then raise("from_dlpack: %d dimensions; arrays have at most 6", t.ndim) end
  local kind = check_device(t)
  local shape = {}
  for d = 1, t.ndim do shape[d] = tonumber(t.shape[d - 1]) end
  local p = ffi.cast(dtypes.pointer[dtype], ffi.cast("uint8_t *", t.data) + t.byte_offset)
  if not is_dense(t) then
    local result = gathered(t, dtype, shape, p)
    delete(m)
    return result
  end
  local id = lgt.attach(lgt.dense(dtype, shape), p, delete, m, kind)
  if id == 0 then lgt.fail() end
  local a = lgt.wrap(id)
  if flags % 2 ~= READ_ONLY then return a end
  local copy = a:copy()
  a:detach()
  return copy
end

local codes = { [0] = BOOL, [1] = SIGNED, [2] = REAL, [3] = COMPLEX }
-- Room for the tensor and six extents, and (lua_support.h) where the memory of a GPU is noted.
local HEADER, SHARED = 256, 248

-- The tensor in `memory`, with a shape; its data are still to be set.
local function described_in(memory, versioned, shape, dtype)
  local m = ffi.cast(versioned and "lgt_dl_versioned *" or "lgt_dl_managed *", memory)
  local t = m.dl_tensor
  if versioned then
    m.version.major, m.version.minor, m.flags = MAJOR, MINOR, COPIED
  end
  local code = codes[dtypes.category[dtype]]
  t.ndim = #shape
  t.dtype.code = code == SIGNED and not dtypes.signed[dtype] and UNSIGNED or code
  t.dtype.bits, t.dtype.lanes = dtypes.size[dtype] * 8, 1
  t.shape = ffi.cast("int64_t *", memory + ffi.sizeof("lgt_dl_versioned"))
  for d = 1, #shape do t.shape[d - 1] = shape[d] end
  return m, t
end

local function on_host(a, versioned, shape, dtype)
  local memory = ffi.cast("uint8_t *", lgt.memory(HEADER + 64 + core.product(shape) * dtypes.size[dtype]))
  local m, t = described_in(memory, versioned, shape, dtype)
  local place = ffi.cast("uintptr_t", memory) + HEADER
  t.data = ffi.cast("void *", place + (64 - place % 64) % 64) -- aligned for vectors
  lgt.flush()
  if C.lgt_array_copy_out(rt, a.id, t.data) < 0 then
    C.lgt_memory_free(memory)
    lgt.fail()
  end
  t.device.type = CPU
  m.deleter = ffi.cast(m.deleter, C.lgt_memory_free)
  return m
end

local function on_gpu(a, versioned, shape, dtype)
  local memory = ffi.cast("uint8_t *", lgt.memory(HEADER))
  local m, t = described_in(memory, versioned, shape, dtype)
  local whole, out = a:copy(), ffi.new("lgt_shared *[1]")
  lgt.flush()
  if C.lgt_array_share(rt, whole.id, C.LGT_MEMORY_CUDA, out) < 0 then
    C.lgt_memory_free(memory)
    lgt.fail()
  end
  ffi.cast("lgt_shared **", memory + SHARED)[0] = out[0]
  t.device.type, t.device.id, t.data = CUDA, out[0].device, out[0].data
  m.deleter = ffi.cast(m.deleter, C.lgt_lua_delete_shared)
  return m
end

local exports = { device = true, versioned = "flag" }

-- The elements as a DLManagedTensor: a copy in C order, with memory of its own that the tensor's deleter frees.
-- Waits until they are there, so that any stream may read them.  Options: device, "cpu" or "cuda", where it is to be:
-- the GPU that this program works on; versioned, for a DLManagedTensorVersioned.
---@param options {device: string?, versioned: boolean?}?
---@return ffi.cdata* managed a pointer to a DLManagedTensor
function methods.dlpack(a, options)
  core.layout_of(a, "dlpack")
  options = core.check_options(options, exports, "dlpack")
  local device = options.device or "cpu"
  if device ~= "cpu" and device ~= "cuda" then
    raise('dlpack: the device is "cpu" or "cuda", not %s', core.word(device))
  end
  local place = device == "cuda" and on_gpu or on_host
  return place(a, options.versioned, core.shape_of(a), core.dtype_of(a))
end

return true
