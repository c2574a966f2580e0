-- array/hdf5.lua - HDF5 files: np.hdf5(path, mode) gives a file; its methods read and write arrays by name.
--
-- The library is loaded when a file is opened.  It is HDF5's own C interface, whose objects are numbers that
-- must be closed: a call opens them in a *scope*, which closes them all when the call ends, with or without an
-- error.  What the library has to say of an error is the deepest line of its error stack.
--
-- Several ranks read such files: a whole data set that lies in one piece by tile, what lies in chunks each for itself.
--
-- Element types are h5py's: booleans are an enumeration of FALSE and TRUE, complex numbers a pair of r and i.

local bytes = require "array.bytes"
local core = require "array.core"
local ffi = require "ffi"
local slice = require "array.slice"

local lgt, dtypes, raise, np = core.lgt, core.dtypes, core.raise, core.np

ffi.cdef [[
  typedef struct { int storage_type; unsigned long long nlinks; int64_t max_corder; bool mounted; } lgt_h5_group_info;
  typedef struct lgt_h5_id { int64_t number; } lgt_h5_id;
  extern int64_t H5T_NATIVE_INT8_g, H5T_NATIVE_INT16_g, H5T_NATIVE_INT32_g, H5T_NATIVE_INT64_g, H5T_NATIVE_UINT8_g,
    H5T_NATIVE_UINT16_g, H5T_NATIVE_UINT32_g, H5T_NATIVE_UINT64_g, H5T_NATIVE_FLOAT_g, H5T_NATIVE_DOUBLE_g, H5T_C_S1_g,
    H5P_CLS_DATASET_CREATE_ID_g, H5P_CLS_LINK_CREATE_ID_g;
  int H5open(void);
  int H5Eset_auto2(int64_t, void *, void *);
  int H5Eprint2(int64_t, void *);
  lgt_file *open_memstream(char **, size_t *);
  int64_t H5Fcreate(const char *, unsigned, int64_t, int64_t);
  int64_t H5Fopen(const char *, unsigned, int64_t);
  int H5Fclose(int64_t);
  int64_t H5Gcreate2(int64_t, const char *, int64_t, int64_t, int64_t);
  int H5Gget_info(int64_t, lgt_h5_group_info *);
  int64_t H5Oopen(int64_t, const char *, int64_t);
  int H5Oclose(int64_t);
  int H5Iget_type(int64_t);
  int H5Lexists(int64_t, const char *, int64_t);
  int H5Ldelete(int64_t, const char *, int64_t);
  long H5Lget_name_by_idx(int64_t, const char *, int, int, unsigned long long, char *, size_t, int64_t);
  int64_t H5Dcreate2(int64_t, const char *, int64_t, int64_t, int64_t, int64_t, int64_t);
  int64_t H5Dget_space(int64_t);
  uint64_t H5Dget_offset(int64_t);
  int H5Fget_vfd_handle(int64_t, int64_t, void **);
  int H5Tequal(int64_t, int64_t);
  int64_t H5Dget_type(int64_t);
  int H5Dread(int64_t, int64_t, int64_t, int64_t, int64_t, void *);
  int H5Dwrite(int64_t, int64_t, int64_t, int64_t, int64_t, const void *);
  int H5Dclose(int64_t);
  int64_t H5Screate(int);
  int64_t H5Screate_simple(int, const unsigned long long *, const unsigned long long *);
  int H5Sget_simple_extent_type(int64_t);
  int H5Sget_simple_extent_ndims(int64_t);
  int H5Sget_simple_extent_dims(int64_t, unsigned long long *, unsigned long long *);
  int H5Sselect_hyperslab(int64_t, int, const unsigned long long *, const unsigned long long *,
    const unsigned long long *, const unsigned long long *);
  int H5Sselect_none(int64_t);
  int H5Sclose(int64_t);
  int H5Tget_class(int64_t);
  size_t H5Tget_size(int64_t);
  int H5Tget_sign(int64_t);
  int64_t H5Tcopy(int64_t);
  int H5Tset_size(int64_t, size_t);
  int H5Tset_fields(int64_t, size_t, size_t, size_t, size_t, size_t);
  int H5Tset_ebias(int64_t, size_t);
  int H5Tset_cset(int64_t, int);
  int H5Tis_variable_str(int64_t);
  int64_t H5Tenum_create(int64_t);
  int H5Tenum_insert(int64_t, const char *, const void *);
  int64_t H5Tcreate(int, size_t);
  int H5Tinsert(int64_t, const char *, size_t, int64_t);
  int H5Tget_nmembers(int64_t);
  char *H5Tget_member_name(int64_t, unsigned);
  int64_t H5Tget_member_type(int64_t, unsigned);
  int H5Tclose(int64_t);
  int H5free_memory(void *);
  int64_t H5Pcreate(int64_t);
  int H5Pset_chunk(int64_t, int, const unsigned long long *);
  int H5Pset_deflate(int64_t, unsigned);
  int H5Pset_shuffle(int64_t);
  int H5Pset_create_intermediate_group(int64_t, unsigned);
  int H5Pclose(int64_t);
  int64_t H5Acreate2(int64_t, const char *, int64_t, int64_t, int64_t, int64_t);
  int64_t H5Aopen(int64_t, const char *, int64_t);
  int H5Aexists(int64_t, const char *);
  int H5Adelete(int64_t, const char *);
  int H5Aget_num_attrs(int64_t);
  long H5Aget_name_by_idx(int64_t, const char *, int, int, unsigned long long, char *, size_t, int64_t);
  int64_t H5Aget_space(int64_t);
  int64_t H5Aget_type(int64_t);
  int H5Aread(int64_t, int64_t, void *);
  int H5Awrite(int64_t, int64_t, const void *);
  int H5Aclose(int64_t);
]]

-- ---- the library ---------------------------------------------------------------------------------------

local h5
local NAMES = { "libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5_serial.so.310", "libhdf5.so.310", "libhdf5.so.200" }

local function load_library()
  if h5 then return end
  for _, name in ipairs(NAMES) do
    local found, library = pcall(ffi.load, name)
    if found then
      h5 = library
      h5.H5open()
      h5.H5Eset_auto2(0, nil, nil)
      return
    end
  end
  raise("hdf5: the library of HDF5 was not found: install libhdf5-103-1")
end

-- The deepest line of the library's error stack, as far as it says something.
local function reason()
  local text, size = ffi.new("char *[1]"), ffi.new("size_t[1]")
  local stream = ffi.C.open_memstream(text, size)
  if stream == nil then return "HDF5 gives no reason" end
  h5.H5Eprint2(0, stream)
  bytes.close(stream)
  local stack = ffi.string(text[0], size[0])
  ffi.C.free(text[0])
  local last
  for line in stack:gmatch("%(%): ([^\n]*)") do last = line end
  return last or "HDF5 gives no reason"
end

-- ---- scopes --------------------------------------------------------------------------------------------

local Scope = {}
Scope.__index = Scope

-- The number of an object that close() closes; raises what went wrong instead of opening it.
function Scope:own(number, close)
  if number < 0 then raise("%s: %s: %s", self.who, self.what, reason()) end
  self[#self + 1] = function() close(number) end
  return number
end

function Scope:check(status)
  if status < 0 then raise("%s: %s: %s", self.who, self.what, reason()) end
  return status
end

local function leave(scope, ok, ...)
  for i = #scope, 1, -1 do scope[i]() end
  if not ok then error(..., 0) end
  return ...
end

-- f(scope, ...) with a scope that is closed afterwards.  `what` is what messages are about.
local function within(who, what, f, ...)
  local scope = setmetatable({ who = "hdf5 " .. who, what = what }, Scope)
  return leave(scope, pcall(f, scope, ...))
end

-- ---- element types -------------------------------------------------------------------------------------

local INTEGER, FLOAT, STRING, COMPOUND, ENUM = 0, 1, 3, 6, 8
local zero, one = ffi.new("int8_t[1]", 0), ffi.new("int8_t[1]", 1)
local natives = {
  int8 = "INT8", int16 = "INT16", int32 = "INT32", int64 = "INT64", uint8 = "UINT8", uint16 = "UINT16",
  uint32 = "UINT32", uint64 = "UINT64", float32 = "FLOAT", float64 = "DOUBLE",
}

-- HDF5's type for elements of a dtype in memory, with the parts' names of a complex one.
local function type_in_memory(scope, dtype, parts)
  local name = dtypes.name[dtype]
  if natives[name] then return h5["H5T_NATIVE_" .. natives[name] .. "_g"] end
  if name == "bool" then
    local id = scope:own(h5.H5Tenum_create(h5.H5T_NATIVE_INT8_g), h5.H5Tclose)
    scope:check(h5.H5Tenum_insert(id, "FALSE", zero))
    scope:check(h5.H5Tenum_insert(id, "TRUE", one))
    return id
  end
  if name == "float16" then
    local id = scope:own(h5.H5Tcopy(h5.H5T_NATIVE_FLOAT_g), h5.H5Tclose)
    scope:check(h5.H5Tset_fields(id, 15, 10, 5, 0, 10))
    scope:check(h5.H5Tset_size(id, 2))
    scope:check(h5.H5Tset_ebias(id, 15))
    return id
  end
  local size = dtypes.size[dtype]
  local part = size == 8 and h5.H5T_NATIVE_FLOAT_g or h5.H5T_NATIVE_DOUBLE_g
  local id = scope:own(h5.H5Tcreate(COMPOUND, size), h5.H5Tclose)
  parts = parts or { "r", "i" }
  scope:check(h5.H5Tinsert(id, parts[1], 0, part))
  scope:check(h5.H5Tinsert(id, parts[2], size / 2, part))
  return id
end

local function members(id)
  local names = {}
  for i = 0, h5.H5Tget_nmembers(id) - 1 do
    local name = h5.H5Tget_member_name(id, i)
    names[i + 1] = name ~= nil and ffi.string(name) or ""
    h5.H5free_memory(name)
  end
  return names
end

-- The dtype for elements that a file holds as type `id`, and the names of a complex number's parts.
local function dtype_of_type(scope, id)
  local class, size = h5.H5Tget_class(id), tonumber(h5.H5Tget_size(id))
  local name
  if class == INTEGER and size <= 8 then
    name = (h5.H5Tget_sign(id) == 0 and "uint" or "int") .. size * 8
  elseif class == FLOAT then
    name = size == 2 and "float16" or size == 4 and "float32" or "float64"
  elseif class == ENUM then
    local names = members(id)
    if #names == 2 and names[1] == "FALSE" and names[2] == "TRUE" then name = "bool" end
  elseif class == COMPOUND then
    local names = members(id)
    local part = #names == 2 and scope:own(h5.H5Tget_member_type(id, 0), h5.H5Tclose)
    if part and h5.H5Tget_class(part) == FLOAT then
      return dtypes.number[h5.H5Tget_size(part) == 4 and "complex64" or "complex128"], names
    end
  end
  if not name or not dtypes.number[name] then
    raise("%s: %s holds %s, which arrays do not have", scope.who, scope.what,
      class == STRING and "strings" or "elements of another type")
  end
  return dtypes.number[name]
end

-- ---- spaces --------------------------------------------------------------------------------------------

local function extents(shape)
  local dims = ffi.new("unsigned long long[?]", math.max(#shape, 1))
  for d = 1, #shape do dims[d - 1] = shape[d] end
  return dims
end

local function new_space(scope, shape)
  if #shape == 0 then return scope:own(h5.H5Screate(0), h5.H5Sclose) end
  return scope:own(h5.H5Screate_simple(#shape, extents(shape), nil), h5.H5Sclose)
end

local function shape_of_space(scope, space)
  local ndim = scope:check(h5.H5Sget_simple_extent_ndims(space))
  if ndim > 6 then raise("%s: %s has %d dimensions; arrays have at most 6", scope.who, scope.what, ndim) end
  if h5.H5Sget_simple_extent_type(space) == 2 then return { 0 } end -- HDF5's "null" space
  local dims, shape = ffi.new("unsigned long long[6]"), {}
  scope:check(h5.H5Sget_simple_extent_dims(space, dims, nil))
  for d = 1, ndim do shape[d] = tonumber(dims[d - 1]) end
  return shape
end

-- Selects the part of a space that an index names.  The selection's shape without and with the axes of which
-- one position was taken.
local function select_part(scope, space, key)
  local shape = shape_of_space(scope, space)
  if key == nil then return shape, shape end
  local entries
  if type(key) == "string" then
    entries = slice.parse_string(key)
  elseif type(key) == "table" then
    entries = slice.parse_table(key, #shape, function(x) return core.is_array(x) and 1 or nil end)
  else
    entries = { { kind = "at", at = core.to_number(key, scope.who) } }
  end
  local ndim = #shape
  local start, count, stride, whole, kept = {}, {}, {}, {}, {}
  for d = 1, ndim do start[d], count[d], stride[d] = 0, shape[d], 1 end
  local taken = 0
  for _, s in ipairs(slice.resolve(entries, shape)) do
    if s.kind == "new" or s.kind == "pick" or s.kind == "range" and s.step < 0 then
      raise("%s: a part of a data set is named by positions and by ranges with steps above 0", scope.who)
    end
    local d = s.axis + taken
    start[d], count[d] = s.first, s.count or 1
    if s.kind == "at" then taken, kept[d] = taken + 1, false else stride[d] = s.step end
  end
  for d = 1, ndim do
    if kept[d] ~= false then whole[#whole + 1] = count[d] end
  end
  if core.product(count) == 0 then
    scope:check(h5.H5Sselect_none(space))
  elseif ndim > 0 then
    scope:check(h5.H5Sselect_hyperslab(space, 0, extents(start), extents(stride), extents(count), nil))
  end
  return whole, count
end

-- ---- files ---------------------------------------------------------------------------------------------

---@class lgt_hdf5
local File = {}
File.__index = File

local FLAGS = { r = 0, ["r+"] = 1 } -- H5F_ACC_RDONLY, H5F_ACC_RDWR
local GROUP, DATASET = 2, 5

local function open_file(path, mode)
  local existing = FLAGS[mode] or mode == "a" and 1
  if mode == "a" then
    local file = io.open(path, "rb")
    if file then file:close() else existing = nil end
  end
  if existing then return h5.H5Fopen(path, existing, 0) end
  return h5.H5Fcreate(path, mode == "x" and 4 or 2, 0, 0) -- H5F_ACC_EXCL, H5F_ACC_TRUNC
end

-- Open an HDF5 file.  Modes: "r" (the default) reads, "r+" changes, "w" makes a new file in place of an old one,
-- "x" makes one where there is none, "a" changes or makes one.
---@param path string
---@param mode string? "r", "r+", "w", "x" or "a"
---@return lgt_hdf5
function np.hdf5(path, mode)
  mode = mode or "r"
  if type(path) ~= "string" then raise("hdf5: a file name was expected, not %s", (core.describe(path))) end
  if not FLAGS[mode] and mode ~= "w" and mode ~= "x" and mode ~= "a" then
    raise("hdf5: the mode is \"r\", \"r+\", \"w\", \"x\" or \"a\", not %s", (core.describe(mode)))
  end
  if mode ~= "r" and core.lgt.ranks then
    raise("hdf5: several ranks cannot write an HDF5 file; use np.save, or run the script with lgt -n 1")
  end
  load_library()
  local number = open_file(path, mode)
  if number < 0 then raise("hdf5: %s: %s", path, reason()) end
  local id = ffi.gc(ffi.new("lgt_h5_id", number), function(file) h5.H5Fclose(file.number) end)
  return setmetatable({ id = id, path = path, mode = mode }, File)
end

function File:__tostring() return ("HDF5 file %s%s"):format(self.path, self.id and "" or " (closed)") end

-- What has been written is on disk afterwards.  (The collector closes files, too, at some time.)
function File:close()
  if not self.id then return end
  local number = ffi.gc(self.id, nil).number
  self.id = nil
  if h5.H5Fclose(number) < 0 then raise("hdf5: %s: %s", self.path, reason()) end
end

local function within_file(who, file, name, f, ...)
  if getmetatable(file) ~= File then raise("hdf5 %s: file:%s(...) is called with a colon", who, who) end
  if not file.id then raise("hdf5 %s: %s is closed", who, file.path) end
  if type(name) ~= "string" or name == "" then
    raise("hdf5 %s: the name of a data set or group was expected, not %s", who, (core.describe(name)))
  end
  return within(who, ("%s: %s"):format(file.path, name), f, file.id.number, name, ...)
end

-- H5Lexists looks at the last part of a name only.
local function exists(root, name)
  local at = ""
  for part in name:gmatch("[^/]+") do
    at = at .. "/" .. part
    if h5.H5Lexists(root, at, 0) <= 0 then return false end
  end
  return true
end

local function open_object(scope, root, name, wanted)
  if not exists(root, name) then raise("%s: %s does not exist; file:list(group) gives names", scope.who, scope.what) end
  local id = scope:own(h5.H5Oopen(root, name, 0), h5.H5Oclose)
  local kind = h5.H5Iget_type(id)
  if wanted and kind ~= wanted then
    raise("%s: %s is %s", scope.who, scope.what, wanted == DATASET and "no data set" or "no group")
  end
  return id, kind
end

-- A new array of a shape, and where its elements are.
local function new_array(dtype, shape)
  local array = lgt.new(lgt.dense(dtype, shape))
  return array, (core.host(array, "w"))
end

local NOWHERE = -1ULL -- HADDR_UNDEF: not there yet, in chunks, or in another file

-- Of a data set whose elements lie in one piece in a file that only is read: the source of their bytes (bytes.lua), so
-- that every rank reads the tiles it owns.
local function source_of(root, set)
  local at, fd = h5.H5Dget_offset(set), ffi.new("void *[1]")
  if at == NOWHERE or h5.H5Fget_vfd_handle(root, 0, fd) < 0 then return nil end
  return { image = { fd = ffi.cast("int *", fd[0])[0] }, at = tonumber(at), left = math.huge }
end

-- Read a data set, or the part of it that an index such as "1:10, :" or {{1, 10}, {}} names.
---@param name string such as "results/x"
---@param key string|table|integer?
---@return lgt_array
function File:read(name, key)
  return within_file("read", self, name, function(scope, root)
    local set = open_object(scope, root, name, DATASET)
    local type_in_file = scope:own(h5.H5Dget_type(set), h5.H5Tclose)
    local dtype, parts = dtype_of_type(scope, type_in_file)
    local space = scope:own(h5.H5Dget_space(set), h5.H5Sclose)
    local shape, memory_type = select_part(scope, space, key), type_in_memory(scope, dtype, parts)
    local source = key == nil and self.mode == "r" and h5.H5Tequal(type_in_file, memory_type) > 0 and
      source_of(root, set)
    if source then
      return bytes.array(source, dtype, shape, {}, function(why) raise("%s: %s %s", scope.who, scope.what, why) end)
    end
    local array, p = new_array(dtype, shape)
    if core.product(shape) > 0 then
      scope:check(h5.H5Dread(set, memory_type, new_space(scope, shape), space, 0, p))
    end
    return array
  end)
end

local write_options = { compression = true, chunks = true }

-- How a data set is laid out: in chunks, if it is compressed.
local function creation(scope, shape, options)
  local level, chunks = options.compression, options.chunks
  local list = scope:own(h5.H5Pcreate(h5.H5P_CLS_DATASET_CREATE_ID_g), h5.H5Pclose)
  if level == nil and chunks == nil then return list end
  if level ~= nil and (not core.is_integer(level) or level < 0 or level > 9) then
    raise("%s: compression is a level from 0 to 9, not %s", scope.who, (core.describe(level)))
  end
  if chunks ~= nil and (type(chunks) ~= "table" or #chunks ~= #shape) then
    raise("%s: chunks are given by their extents, one for each dimension", scope.who)
  end
  if core.product(shape) == 0 or #shape == 0 then return list end
  local sides = {}
  for d = 1, #shape do
    sides[d] = chunks and chunks[d] or math.min(shape[d], math.ceil(2 ^ (17 / #shape)))
    if not core.is_integer(sides[d]) or sides[d] < 1 or sides[d] > shape[d] then
      raise("%s: chunks: an extent from 1 to %d was expected for dimension %d", scope.who, shape[d], d)
    end
  end
  scope:check(h5.H5Pset_chunk(list, #shape, extents(sides)))
  if level then
    scope:check(h5.H5Pset_shuffle(list))
    scope:check(h5.H5Pset_deflate(list, level))
  end
  return list
end

local function intermediate_groups(scope)
  local list = scope:own(h5.H5Pcreate(h5.H5P_CLS_LINK_CREATE_ID_g), h5.H5Pclose)
  scope:check(h5.H5Pset_create_intermediate_group(list, 1))
  return list
end

local function check_mode(file, who)
  if file.mode == "r" then raise("hdf5 %s: %s is open for reading; open it with \"r+\" or \"a\"", who, file.path) end
end

-- Write an array as a data set, in place of one of that name.  Groups in the name are made.  Options:
-- compression, a level from 0 to 9; chunks, their extents.  Waits.
---@param name string
---@param a lgt_array
---@param options {compression: integer?, chunks: integer[]?}?
function File:write(name, a, options)
  check_mode(self, "write")
  a = np.asarray(a)
  options = core.check_options(options, write_options, "hdf5 write")
  local shape, dtype = core.shape_of(a), core.dtype_of(a)
  within_file("write", self, name, function(scope, root)
    local id, list = type_in_memory(scope, dtype), creation(scope, shape, options)
    local data, links = core.copy_out(a), intermediate_groups(scope)
    if exists(root, name) then
      open_object(scope, root, name, DATASET)
      scope:check(h5.H5Ldelete(root, name, 0))
    end
    local set = scope:own(h5.H5Dcreate2(root, name, id, new_space(scope, shape), links, list, 0), h5.H5Dclose)
    if core.product(shape) > 0 then scope:check(h5.H5Dwrite(set, id, 0, 0, 0, data)) end
  end)
end

-- Write an array into the part of a data set that an index names.  Waits.
---@param name string
---@param key string|table|integer
---@param a lgt_array|number
function File:update(name, key, a)
  check_mode(self, "update")
  within_file("update", self, name, function(scope, root)
    local set = open_object(scope, root, name, DATASET)
    local dtype, parts = dtype_of_type(scope, scope:own(h5.H5Dget_type(set), h5.H5Tclose))
    local space = scope:own(h5.H5Dget_space(set), h5.H5Sclose)
    local shape = select_part(scope, space, key)
    local values = np.empty(shape, { dtype = dtypes.name[dtype] })
    values["..."] = a
    local data = core.copy_out(values)
    if core.product(shape) > 0 then
      scope:check(h5.H5Dwrite(set, type_in_memory(scope, dtype, parts), new_space(scope, shape), space, 0, data))
    end
  end)
end

-- Make a group, and those it lies in.
function File:group(name)
  check_mode(self, "group")
  within_file("group", self, name, function(scope, root)
    if exists(root, name) then return open_object(scope, root, name, GROUP) and nil end
    scope:own(h5.H5Gcreate2(root, name, intermediate_groups(scope), 0, 0), h5.H5Oclose)
  end)
end

-- Take a data set or a group out of the file.
function File:delete(name)
  check_mode(self, "delete")
  within_file("delete", self, name, function(scope, root)
    open_object(scope, root, name)
    scope:check(h5.H5Ldelete(root, name, 0))
  end)
end

local function name_by(scope, get, id, i)
  local size = scope:check(get(id, ".", 0, 0, i, nil, 0, 0))
  local buffer = ffi.new("char[?]", size + 1)
  scope:check(get(id, ".", 0, 0, i, buffer, size + 1, 0))
  return ffi.string(buffer)
end

-- The names in a group, those of groups with a "/" behind them.
---@param name string? "/"
---@return string[]
function File:list(name)
  return within_file("list", self, name or "/", function(scope, root)
    local group = scope:own(h5.H5Oopen(root, name or "/", 0), h5.H5Oclose)
    if h5.H5Iget_type(group) ~= GROUP then raise("%s: %s is no group", scope.who, scope.what) end
    local info, names = ffi.new("lgt_h5_group_info"), {}
    scope:check(h5.H5Gget_info(group, info))
    for i = 0, tonumber(info.nlinks) - 1 do
      local entry = name_by(scope, h5.H5Lget_name_by_idx, group, i)
      local object = h5.H5Oopen(group, entry, 0) -- a link may lead nowhere
      if object >= 0 and h5.H5Iget_type(object) == GROUP then entry = entry .. "/" end
      if object >= 0 then h5.H5Oclose(object) end
      names[i + 1] = entry
    end
    return names
  end)
end

-- Shape and dtype of a data set.
---@return integer[] shape, string dtype
function File:about(name)
  return within_file("about", self, name, function(scope, root)
    local set = open_object(scope, root, name, DATASET)
    local dtype = dtype_of_type(scope, scope:own(h5.H5Dget_type(set), h5.H5Tclose))
    local shape = shape_of_space(scope, scope:own(h5.H5Dget_space(set), h5.H5Sclose))
    return setmetatable(shape, core.shape_meta), dtypes.name[dtype]
  end)
end

-- ---- attributes ----------------------------------------------------------------------------------------

local function string_type(scope)
  local id = scope:own(h5.H5Tcopy(h5.H5T_C_S1_g), h5.H5Tclose)
  scope:check(h5.H5Tset_size(id, -1ULL)) -- H5T_VARIABLE
  scope:check(h5.H5Tset_cset(id, 1)) -- UTF-8
  return id
end

local function read_string(scope, attribute, id)
  if h5.H5Tis_variable_str(id) > 0 then
    local text = ffi.new("char *[1]")
    scope:check(h5.H5Aread(attribute, string_type(scope), text))
    if text[0] == nil then return "" end
    local result = ffi.string(text[0])
    h5.H5free_memory(text[0])
    return result
  end
  local size = tonumber(h5.H5Tget_size(id))
  local buffer = ffi.new("char[?]", size + 1)
  scope:check(h5.H5Aread(attribute, id, buffer))
  return ffi.string(buffer)
end

local function read_attribute(scope, object, key)
  if h5.H5Aexists(object, key) <= 0 then return nil end
  local attribute = scope:own(h5.H5Aopen(object, key, 0), h5.H5Aclose)
  local id = scope:own(h5.H5Aget_type(attribute), h5.H5Tclose)
  local space = scope:own(h5.H5Aget_space(attribute), h5.H5Sclose)
  local shape = shape_of_space(scope, space)
  if h5.H5Tget_class(id) == STRING and #shape == 0 then return read_string(scope, attribute, id) end
  local dtype, parts = dtype_of_type(scope, id)
  local array, p = new_array(dtype, shape)
  if core.product(shape) > 0 then scope:check(h5.H5Aread(attribute, type_in_memory(scope, dtype, parts), p)) end
  return #shape == 0 and array:item() or array
end

local function write_attribute(scope, object, key, value)
  local id, shape, data
  if type(value) == "string" then
    id, shape, data = string_type(scope), {}, ffi.new("const char *[1]")
    data[0] = value
  else
    value = np.asarray(value)
    shape, data = core.shape_of(value), core.copy_out(value)
    id = type_in_memory(scope, core.dtype_of(value))
  end
  if h5.H5Aexists(object, key) > 0 then scope:check(h5.H5Adelete(object, key)) end
  local attribute = scope:own(h5.H5Acreate2(object, key, id, new_space(scope, shape), 0, 0), h5.H5Aclose)
  scope:check(h5.H5Awrite(attribute, id, data))
end

-- An attribute of a data set or group ("/": of the file): its value, nil if it has none of that name; with a
-- value it is set.  Values are numbers, strings, booleans, arrays.  Without a key: the names of all.
---@param name string
---@param key string?
---@param value any
function File:attribute(name, key, value)
  if value ~= nil then check_mode(self, "attribute") end
  return within_file("attribute", self, name, function(scope, root)
    local object = scope:own(h5.H5Oopen(root, name, 0), h5.H5Oclose)
    if key == nil then
      local names = {}
      for i = 0, scope:check(h5.H5Aget_num_attrs(object)) - 1 do
        names[i + 1] = name_by(scope, h5.H5Aget_name_by_idx, object, i)
      end
      return names
    end
    if type(key) ~= "string" then
      raise("hdf5 attribute: the name of an attribute was expected, not %s", (core.describe(key)))
    end
    if value == nil then return read_attribute(scope, object, key) end
    write_attribute(scope, object, key, value)
  end)
end

return true
