-- array/npy.lua - NumPy's .npy files: np.save and np.load.
--
-- The format: "\147NUMPY", version, the length of the header, a Python dictionary as text, then the
-- elements in C (or Fortran) order.  Written as version 1.0 with the data aligned to 64 bytes.

local ffi = require "ffi"
local bit = require "bit"
local core = require "array.core"

local dtypes, raise, np = core.dtypes, core.raise, core.np

ffi.cdef [[
  typedef struct lgt_file lgt_file;
  lgt_file *fopen(const char *, const char *);
  int fclose(lgt_file *);
  size_t fread(void *, size_t, size_t, lgt_file *);
  size_t fwrite(const void *, size_t, size_t, lgt_file *);
  char *strerror(int);
]]

local codes = { bool = "|b1", int8 = "|i1", int16 = "<i2", int32 = "<i4", int64 = "<i8", uint8 = "|u1", uint16 = "<u2",
                uint32 = "<u4", uint64 = "<u8", float16 = "<f2", float32 = "<f4", float64 = "<f8", complex64 = "<c8",
                complex128 = "<c16" }
local names = {}
for name, code in pairs(codes) do names[code] = name end

local function open(path, mode, who)
  if type(path) ~= "string" then raise("%s: a file name was expected, not %s", who, (core.describe(path))) end
  local file = ffi.C.fopen(path, mode)
  if file == nil then raise("%s: %s: %s", who, path, ffi.string(ffi.C.strerror(ffi.errno()))) end
  return file
end

-- Write an array.  ".npy" is added to a name without it, as NumPy does.  Waits.
---@param path string
---@param a lgt_array
function np.save(path, a)
  a = np.asarray(a)
  local shape, dtype = core.shape_of(a), core.dtype_of(a)
  local extents = table.concat(shape, ", ") .. (#shape == 1 and "," or "")
  local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }"):format(codes[dtypes.name[dtype]], extents)
  header = header .. (" "):rep(63 - (10 + #header) % 64) .. "\n"
  local prefix = "\147NUMPY\1\0" .. string.char(bit.band(#header, 255), bit.rshift(#header, 8)) .. header
  local data, count = core.copy_out(a)
  if type(path) == "string" and not path:find("%.npy$") then path = path .. ".npy" end
  local file = open(path, "wb", "save")
  local complete = ffi.C.fwrite(prefix, 1, #prefix, file) == #prefix and
    ffi.C.fwrite(data, dtypes.size[dtype], count, file) == count
  if ffi.C.fclose(file) ~= 0 or not complete then raise("save: %s: the file could not be written completely", path) end
end

local function read_exactly(file, count, path)
  local buffer = ffi.new("char[?]", count)
  if ffi.C.fread(buffer, 1, count, file) ~= count then
    ffi.C.fclose(file)
    raise("load: %s ends too early: is it a complete .npy file?", path)
  end
  return ffi.string(buffer, count)
end

-- Read an array.
---@param path string
---@return lgt_array
function np.load(path)
  local file = open(path, "rb", "load")
  local function refuse(why)
    ffi.C.fclose(file)
    raise("load: %s %s", path, why)
  end
  local magic = read_exactly(file, 8, path)
  if magic:sub(1, 6) ~= "\147NUMPY" then refuse("is no .npy file") end
  local size_bytes = magic:byte(7) == 1 and 2 or 4
  local size, text = 0, read_exactly(file, size_bytes, path)
  for i = size_bytes, 1, -1 do size = size * 256 + text:byte(i) end
  local header = read_exactly(file, size, path)
  local code, fortran, extents = header:match("'descr':%s*'([^']*)'"), header:match("'fortran_order':%s*(%a+)"),
    header:match("'shape':%s*%(([^)]*)%)")
  if not code or not extents then refuse("has a header that lgt does not understand: " .. header) end
  local name = names[code] or names[(code:gsub("^[=|]", "<"))]
  if not name then refuse(("holds elements of type %s, which lgt does not have"):format(code)) end
  local shape = {}
  for n in extents:gmatch("%d+") do shape[#shape + 1] = tonumber(n) end
  if #shape > 6 then refuse(("has %d dimensions; arrays have at most 6"):format(#shape)) end
  local dtype, count = dtypes.number[name], core.product(shape)
  local data = core.host_memory(dtype, count)
  local got = ffi.C.fread(data, dtypes.size[dtype], count, file)
  ffi.C.fclose(file)
  if got ~= count then
    ffi.C.free(data)
    raise("load: %s ends after %.0f of %d elements", path, tonumber(got), count)
  end
  if fortran ~= "True" or #shape < 2 then return core.adopt(dtype, shape, data) end
  local reversed = {}
  for d = 1, #shape do reversed[d] = shape[#shape + 1 - d] end
  return np.copy(np.transpose(core.adopt(dtype, reversed, data)))
end

return true
