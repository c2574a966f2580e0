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
]]

-- ---- memory of the FFI ---------------------------------------------------------------------------------

local shared = {} -- [count of users] = the memory they use

local function drop_unused()
  for count in lgt.unordered(shared) do
    if count[0] == 1 then shared[count] = nil end -- only the entry itself is left
  end
end

-- An object that lives for one cycle of the collector.
local function watch()
  local object = newproxy(true)
  getmetatable(object).__gc = function()
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

-- The dtype, shape and bytes before the first element that are meant.
local function what_is_meant(buffer, options)
  local name, shape = described(buffer)
  local dtype = options.dtype and core.check_dtype(options.dtype, "frombuffer") or name and dtypes.number[name]
  if not dtype then
    raise("frombuffer: the option dtype says what the elements of %s are", tostring(ffi.typeof(buffer)))
  end
  local offset, count, size = options.offset or 0, options.count, dtypes.size[dtype]
  if not shape then
    if not count then raise("frombuffer: of a pointer the option count says how many elements it points to") end
    return dtype, { count }, offset
  end
  local bytes = ffi.sizeof(buffer)
  local fitting = math.floor((bytes - offset) / size)
  if offset > bytes or count and count > fitting then
    raise("frombuffer: %s elements of %s from byte %d on do not fit into %d bytes", tostring(count or "no"),
      dtypes.name[dtype], offset, bytes)
  end
  if not count and offset == 0 and dtypes.number[name or ""] == dtype then return dtype, shape, offset end
  return dtype, { count or fitting }, offset
end

-- An array over memory of the FFI, without a copy: ffi.new("double[3][4]") gives a matrix.  Options: dtype, where
-- the memory's type does not say it; offset, in bytes; count, of elements (needed for a pointer, whose memory the
-- caller keeps alive).  Of a string the bytes are copied.  a:detach() gives the memory back.  On several ranks the
-- memory's contents must be alike on all of them already: fill what malloc returned (ffi.new does) before.
---@param buffer ffi.cdata*|string
---@param options {dtype: string?, count: integer?, offset: integer?}?
---@return lgt_array
function np.frombuffer(buffer, options)
  options = core.check_options(options, known, "frombuffer")
  if type(buffer) == "string" then
    local copy = ffi.new("uint8_t[?]", math.max(#buffer, 1))
    ffi.copy(copy, buffer, #buffer)
    local count = options.count or math.floor((#buffer - (options.offset or 0)) /
      dtypes.size[core.check_dtype(options.dtype or "uint8", "frombuffer")])
    return np.frombuffer(copy, { dtype = options.dtype or "uint8", offset = options.offset, count = count })
  end
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

local CPU, CUDA_HOST = 1, 3
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

-- An array over a DLManagedTensor (a pointer to one), whose memory it owns from now on: nothing is copied if its
-- elements lie in C order.  The tensor's deleter is called at the end; it must not be a function of Lua.
---@param managed ffi.cdata*
---@return lgt_array
function np.from_dlpack(managed)
  local ctype = type(managed) == "cdata" and not core.is_array(managed) and tostring(ffi.typeof(managed)) or ""
  if not ctype:find("struct", 1, true) and not ctype:find("void *", 1, true) then
    raise("from_dlpack: a pointer to a DLManagedTensor was expected, not %s", (core.describe(managed)))
  end
  local m = ffi.cast("lgt_dl_managed *", managed)
  if m == nil then raise("from_dlpack: the pointer is NULL") end
  local t = m.dl_tensor
  if t.device.type ~= CPU and t.device.type ~= CUDA_HOST then
    raise("from_dlpack: the tensor lies on a device of type %d; tensors of the host are taken", t.device.type)
  end
  local word = words[t.dtype.code]
  local dtype = word and t.dtype.lanes == 1 and dtypes.number[word:format(t.dtype.bits)]
  if not dtype then
    raise("from_dlpack: elements of code %d, %d bits and %d lanes, which arrays do not have", t.dtype.code,
      t.dtype.bits, t.dtype.lanes)
  end
  if t.ndim < 0 or t.ndim > 6 then raise("from_dlpack: %d dimensions; arrays have at most 6", t.ndim) end
  local shape, strides = {}, {}
  for d = 1, t.ndim do shape[d] = tonumber(t.shape[d - 1]) end
  local p = ffi.cast(dtypes.pointer[dtype], ffi.cast("uint8_t *", t.data) + t.byte_offset)
  if is_dense(t) then
    return lgt.wrap(lgt.attach(lgt.dense(dtype, shape), p, C.lgt_lua_delete_dlpack, m))
  end
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
  C.lgt_lua_delete_dlpack(m)
  return core.adopt(dtype, shape, copy)
end

local codes = { [0] = BOOL, [1] = SIGNED, [2] = REAL, [3] = COMPLEX }

-- The elements as a DLManagedTensor: a copy in C order, with memory of its own that the tensor's deleter frees.
-- Waits.
---@return ffi.cdata* managed a pointer to a DLManagedTensor
function methods.dlpack(a)
  core.layout_of(a, "dlpack")
  local shape, dtype = core.shape_of(a), core.dtype_of(a)
  local size, header = dtypes.size[dtype], 256 -- room for the tensor and six extents; aligned for vectors
  local memory = ffi.cast("uint8_t *", lgt.memory(header + 64 + core.product(shape) * size))
  local m = ffi.cast("lgt_dl_managed *", memory)
  local t = m.dl_tensor
  local place = ffi.cast("uintptr_t", memory) + header
  t.data = ffi.cast("void *", place + (64 - place % 64) % 64)
  lgt.flush()
  if C.lgt_array_copy_out(lgt.rt, a.id, t.data) < 0 then
    C.lgt_memory_free(memory)
    lgt.fail()
  end
  t.device.type, t.ndim = CPU, #shape
  local code = codes[dtypes.category[dtype]]
  t.dtype.code = code == SIGNED and not dtypes.signed[dtype] and UNSIGNED or code
  t.dtype.bits, t.dtype.lanes = size * 8, 1
  t.shape = ffi.cast("int64_t *", memory + ffi.sizeof("lgt_dl_managed"))
  for d = 1, #shape do t.shape[d - 1] = shape[d] end
  m.deleter = ffi.cast("void (*)(lgt_dl_managed *)", C.lgt_memory_free)
  return m
end

return true
