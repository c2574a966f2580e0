-- array/io/hdf5_apart.lua - the part of np.hdf5 that calls the library of HDF5: for one file, in a process apart.
--
-- A script of lgt-apart, see apart.lua.  The library is HDF5's own C interface, whose objects are numbers that must be
-- closed: a request opens them in a *scope*, which closes them all when the request ends, with or without an error.
-- What the library has to say of an error is the deepest line of its error stack.  What a request has changed is in the
-- file when it is answered, so that a process that ends takes nothing with it.
--
-- Element types are h5py's: booleans are an enumeration of FALSE and TRUE, complex numbers a pair of r and i.

local script = ...
local ffi = require "ffi"
local words = dofile((script:match("^.*/") or "") .. "words.lua")

ffi.cdef [[
  typedef struct { int storage_type; unsigned long long nlinks; int64_t max_corder; bool mounted; } group_info;
  typedef struct { unsigned long file; uint64_t rest[63]; } object_info;
  extern int64_t H5T_NATIVE_INT8_g, H5T_NATIVE_INT16_g, H5T_NATIVE_INT32_g, H5T_NATIVE_INT64_g, H5T_NATIVE_UINT8_g,
    H5T_NATIVE_UINT16_g, H5T_NATIVE_UINT32_g, H5T_NATIVE_UINT64_g, H5T_NATIVE_FLOAT_g, H5T_NATIVE_DOUBLE_g, H5T_C_S1_g,
    H5P_CLS_DATASET_CREATE_ID_g, H5P_CLS_LINK_CREATE_ID_g;
  int H5open(void);
  int H5Eset_auto2(int64_t, void *, void *);
  int H5Eprint2(int64_t, void *);
  int64_t H5Fcreate(const char *, unsigned, int64_t, int64_t);
  int64_t H5Fopen(const char *, unsigned, int64_t);
  int H5Fflush(int64_t, int);
  int H5Fclose(int64_t);
  int64_t H5Gcreate2(int64_t, const char *, int64_t, int64_t, int64_t);
  int H5Gget_info(int64_t, group_info *);
  int64_t H5Oopen(int64_t, const char *, int64_t);
  int H5Oget_info1(int64_t, object_info *);
  int H5Oclose(int64_t);
  int H5Oexists_by_name(int64_t, const char *, int64_t);
  int H5Iget_type(int64_t);
  int H5Lexists(int64_t, const char *, int64_t);
  int H5Lget_val(int64_t, const char *, void *, size_t, int64_t);
  int H5Ldelete(int64_t, const char *, int64_t);
  long H5Lget_name_by_idx(int64_t, const char *, int, int, unsigned long long, char *, size_t, int64_t);
  int64_t H5Dcreate2(int64_t, const char *, int64_t, int64_t, int64_t, int64_t, int64_t);
  int64_t H5Dget_space(int64_t);
  int64_t H5Dget_create_plist(int64_t);
  uint64_t H5Dget_offset(int64_t);
  uint64_t H5Dget_storage_size(int64_t);
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
  int H5Pget_layout(int64_t);
  int H5Pget_chunk(int64_t, int, unsigned long long *);
  int H5Pset_chunk(int64_t, int, const unsigned long long *);
  int H5Pset_alloc_time(int64_t, int);
  int H5Pset_fill_time(int64_t, int);
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

  void *open_memstream(char **, size_t *);
  int fclose(void *);
  void free(void *);
  void *mmap(void *, size_t, int, int, int, long);
  int munmap(void *, size_t);
  long lseek(int, long, int);
]]

-- ---- the library ---------------------------------------------------------------------------------------

local NAMES = { "libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5_serial.so.310", "libhdf5.so.310", "libhdf5.so.200" }

local h5
for _, name in ipairs(NAMES) do
  local found, library = pcall(ffi.load, name)
  if found then
    h5 = library
    h5.H5open()
    h5.H5Eset_auto2(0, nil, nil)
    break
  end
end

-- The text of an error stands behind what it is about: "file.h5: x" .. text.
local function raise(text, ...) error(text:format(...), 0) end

-- The deepest line of the library's error stack, as far as it says something.
local function reason()
  local text, size = ffi.new("char *[1]"), ffi.new("size_t[1]")
  local stream = ffi.C.open_memstream(text, size)
  if stream == nil then return "HDF5 gives no reason" end
  h5.H5Eprint2(0, stream)
  ffi.C.fclose(stream)
  local stack = ffi.string(text[0], size[0])
  ffi.C.free(text[0])
  local last
  for line in stack:gmatch("%(%): ([^\n]*)") do last = line end
  if not last then return "HDF5 gives no reason" end
  local what, why = last:match("^([^:,]*).-error message = '(.-)'") -- amid the numbers of a system call
  return what and what .. ": " .. why or last
end

local root -- the number of the open file

-- ---- scopes --------------------------------------------------------------------------------------------

local scope = {} -- functions that close what the current request has opened

local function check(status)
  if status < 0 then raise(": %s", reason()) end
  return status
end

-- The number of an object that close() closes; raises what went wrong instead of opening it.
local function own(number, close)
  check(number)
  scope[#scope + 1] = function() close(number) end
  return number
end

local function leave()
  for i = #scope, 1, -1 do
    scope[i]()
    scope[i] = nil
  end
end

-- ---- element types -------------------------------------------------------------------------------------

local INTEGER, FLOAT, STRING, COMPOUND, ENUM = 0, 1, 3, 6, 8
local zero, one = ffi.new("int8_t[1]", 0), ffi.new("int8_t[1]", 1)
local natives = {
  int8 = "INT8", int16 = "INT16", int32 = "INT32", int64 = "INT64", uint8 = "UINT8", uint16 = "UINT16",
  uint32 = "UINT32", uint64 = "UINT64", float32 = "FLOAT", float64 = "DOUBLE",
}

local function size_of(dtype) return dtype == "bool" and 1 or tonumber(dtype:match("%d+")) / 8 end

-- HDF5's type for elements of a dtype in memory, with the parts' names of a complex one.
local function type_in_memory(dtype, parts)
  if natives[dtype] then return h5["H5T_NATIVE_" .. natives[dtype] .. "_g"] end
  if dtype == "bool" then
    local id = own(h5.H5Tenum_create(h5.H5T_NATIVE_INT8_g), h5.H5Tclose)
    check(h5.H5Tenum_insert(id, "FALSE", zero))
    check(h5.H5Tenum_insert(id, "TRUE", one))
    return id
  end
  if dtype == "float16" then
    local id = own(h5.H5Tcopy(h5.H5T_NATIVE_FLOAT_g), h5.H5Tclose)
    check(h5.H5Tset_fields(id, 15, 10, 5, 0, 10))
    check(h5.H5Tset_size(id, 2))
    check(h5.H5Tset_ebias(id, 15))
    return id
  end
  local size = size_of(dtype)
  local part = size == 8 and h5.H5T_NATIVE_FLOAT_g or h5.H5T_NATIVE_DOUBLE_g
  local id = own(h5.H5Tcreate(COMPOUND, size), h5.H5Tclose)
  parts = parts or { "r", "i" }
  check(h5.H5Tinsert(id, parts[1], 0, part))
  check(h5.H5Tinsert(id, parts[2], size / 2, part))
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

local dtypes = { bool = true, float16 = true, complex64 = true, complex128 = true }
for name in pairs(natives) do dtypes[name] = true end

-- The dtype for elements that a file holds as type `id`, and the names of a complex number's parts.  whose: what
-- holds them, if it is not the object that the request names.
local function dtype_of_type(id, whose)
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
    local part = #names == 2 and own(h5.H5Tget_member_type(id, 0), h5.H5Tclose)
    if part and h5.H5Tget_class(part) == FLOAT then
      return h5.H5Tget_size(part) == 4 and "complex64" or "complex128", names
    end
  end
  if not dtypes[name] then
    local what = class == STRING and "strings" or "elements of another type"
    raise("%s holds %s, which arrays do not have", whose or "", what)
  end
  return name
end

-- ---- spaces --------------------------------------------------------------------------------------------

-- Numbers among the words of a request, as many as there are dimensions.
local function extents(list, first, ndim)
  local dims = ffi.new("unsigned long long[?]", math.max(ndim, 1))
  for d = 1, ndim do dims[d - 1] = tonumber(list[first + d - 1]) end
  return dims
end

local function new_space(ndim, dims)
  if ndim == 0 then return own(h5.H5Screate(0), h5.H5Sclose) end
  return own(h5.H5Screate_simple(ndim, dims, nil), h5.H5Sclose)
end

local function shape_of_space(space)
  local ndim = check(h5.H5Sget_simple_extent_ndims(space))
  if ndim > 6 then raise(" has %d dimensions; arrays have at most 6", ndim) end
  if h5.H5Sget_simple_extent_type(space) == 2 then return { 0 } end -- HDF5's "null" space
  local dims, shape = ffi.new("unsigned long long[6]"), {}
  check(h5.H5Sget_simple_extent_dims(space, dims, nil))
  for d = 1, ndim do shape[d] = tonumber(dims[d - 1]) end
  return shape
end

local function product(shape)
  local count = 1
  for d = 1, #shape do count = count * shape[d] end
  return count
end

local LARGE = 2 ^ 30

-- Memory for a name or a value that the file says is that long.
local function buffer_of(bytes)
  if bytes > LARGE then raise(" has a name or a value of %.0f bytes", bytes) end
  return ffi.new("char[?]", math.max(bytes, 1))
end

-- ---- objects -------------------------------------------------------------------------------------------

local GROUP, DATASET = 2, 5
local CONTIGUOUS, CHUNKED = 1, 2

local MOST_OF_LINK = 4096 -- bytes of its value that are looked at

-- H5Lexists looks at the last part of a name only.
local function exists(name)
  local at = ""
  for part in name:gmatch("[^/]+") do
    at = at .. "/" .. part
    if h5.H5Lexists(root, at, 0) <= 0 then return false end
  end
  return true
end

-- Raises if a link on the way to an object leads nowhere.  A soft link has a name as its value, an external one a byte
-- that is 0, the name of a file, and a name in there.
local function check_links(name)
  local at = ""
  for part in name:gmatch("[^/]+") do
    at = at .. "/" .. part
    if h5.H5Lexists(root, at, 0) <= 0 then return end
    if h5.H5Oexists_by_name(root, at, 0) <= 0 then
      local target = buffer_of(MOST_OF_LINK + 2)
      if h5.H5Lget_val(root, at, target, MOST_OF_LINK, 0) < 0 then return end
      if target[0] ~= 0 then raise(": the link %s leads to %s, which does not exist", at, ffi.string(target)) end
      local file = ffi.string(target + 1)
      local there = ffi.string(target + 2 + #file)
      raise(": the link %s leads to %s in the file %s, which cannot be opened", at, there, file)
    end
  end
end

local function open_object(name, wanted)
  check_links(name)
  if not exists(name) then raise(" does not exist; file:list(group) gives names") end
  local id = own(h5.H5Oopen(root, name, 0), h5.H5Oclose)
  local kind = h5.H5Iget_type(id)
  if wanted and kind ~= wanted then raise(" is %s", wanted == DATASET and "no data set" or "no group") end
  return id, kind
end

-- A new object can lie in groups only.
local function check_groups(name)
  for at in name:gmatch("()/") do
    local above = name:sub(1, at - 1)
    if above ~= "" and exists(above) and select(2, open_object(above)) ~= GROUP then
      raise(": %s is no group", above)
    end
  end
end

local function name_by(get, id, i)
  local size = check(get(id, ".", 0, 0, i, nil, 0, 0))
  local buffer = buffer_of(tonumber(size) + 1)
  check(get(id, ".", 0, 0, i, buffer, size + 1, 0))
  return ffi.string(buffer)
end

local function intermediate_groups()
  local list = own(h5.H5Pcreate(h5.H5P_CLS_LINK_CREATE_ID_g), h5.H5Pclose)
  check(h5.H5Pset_create_intermediate_group(list, 1))
  return list
end

local function flush() check(h5.H5Fflush(root, 0)) end

-- ---- the window ----------------------------------------------------------------------------------------

local END, READ_WRITE, SHARED = 2, 3, 1
local mapped, room = nil, 0

-- Shared memory, which has this size already.
local function window(descriptor, bytes)
  if bytes <= room then return mapped end
  local size = tonumber(ffi.C.lseek(descriptor, 0, END))
  if size < bytes then raise(": shared memory is missing") end
  if mapped then ffi.C.munmap(mapped, room) end
  mapped, room = nil, 0
  local p = ffi.C.mmap(nil, size, READ_WRITE, SHARED, descriptor, 0)
  if ffi.cast("intptr_t", p) == -1 then raise(": out of memory") end
  mapped, room = p, size
  return p
end

-- ---- requests ------------------------------------------------------------------------------------------
--
-- Each is a function of its words and of the window's descriptor that returns a list of words.

local requests = {}

local FLAGS = { r = 0, ["r+"] = 1, x = 4, w = 2 } -- H5F_ACC_RDONLY, RDWR, EXCL, TRUNC

function requests.open(path, mode)
  if mode == "a" then
    local file = io.open(path, "rb")
    mode = file and "r+" or "x"
    if file then file:close() end
  end
  if mode == "r" or mode == "r+" then root = h5.H5Fopen(path, FLAGS[mode], 0)
  else root = h5.H5Fcreate(path, FLAGS[mode], 0, 0) end
  check(root)
end

function requests.close()
  local number = root
  root = nil
  check(h5.H5Fclose(number))
end

-- The number of the file that an object lies in: external links lead into others.
local function file_number(object)
  local info = ffi.new("object_info")
  check(h5.H5Oget_info1(object, info))
  return info.file
end

-- Where a data set's bytes begin in the open file, or "" if they are not there in one piece.  What is not allocated
-- has no place, although H5Dget_offset may tell one (of a file with a user block).
local function place_of(set, layout, bytes)
  local at = h5.H5Dget_offset(set)
  if layout ~= CONTIGUOUS or at == -1ULL or file_number(set) ~= file_number(root) then return "" end
  local stored = tonumber(h5.H5Dget_storage_size(set))
  return stored > 0 and stored >= bytes and tonumber(at) or ""
end

-- name -> dtype; where its bytes are if they are in one piece, as they are in memory; the number of dimensions, the
-- extents; those of chunks, or 0.
function requests.about(name)
  local set = open_object(name, DATASET)
  local in_file = own(h5.H5Dget_type(set), h5.H5Tclose)
  local dtype, parts = dtype_of_type(in_file)
  local shape = shape_of_space(own(h5.H5Dget_space(set), h5.H5Sclose))
  local same = h5.H5Tequal(in_file, type_in_memory(dtype, parts)) > 0
  local list, chunk = own(h5.H5Dget_create_plist(set), h5.H5Pclose), ffi.new("unsigned long long[32]")
  local layout = h5.H5Pget_layout(list)
  if layout == CHUNKED then h5.H5Pget_chunk(list, #shape, chunk) end
  local at = same and place_of(set, layout, product(shape) * size_of(dtype)) or ""
  local reply = { dtype, at, #shape, unpack(shape) }
  for d = 1, #shape do reply[#reply + 1] = tonumber(chunk[d - 1]) end
  return reply
end

-- A data set, the spaces in memory and in the file, the type in memory, the window with room for all: of
-- ndim, starts, counts, steps.
local function part(descriptor, name, ...)
  local list = { ... }
  local ndim = tonumber(list[1])
  local start, count, step = extents(list, 2, ndim), extents(list, 2 + ndim, ndim), extents(list, 2 + 2 * ndim, ndim)
  local set = open_object(name, DATASET)
  local dtype, parts = dtype_of_type(own(h5.H5Dget_type(set), h5.H5Tclose))
  local space = own(h5.H5Dget_space(set), h5.H5Sclose)
  if #shape_of_space(space) ~= ndim then raise(": HDF5 contradicts itself") end
  if ndim > 0 then check(h5.H5Sselect_hyperslab(space, 0, start, step, count, nil)) end
  local bytes = size_of(dtype)
  for d = 0, ndim - 1 do bytes = bytes * tonumber(count[d]) end
  return set, type_in_memory(dtype, parts), new_space(ndim, count), space, window(descriptor, bytes)
end

function requests.read(descriptor, ...)
  local set, kind, inside, space, p = part(descriptor, ...)
  check(h5.H5Dread(set, kind, inside, space, 0, p))
end

function requests.write(descriptor, ...)
  local set, kind, inside, space, p = part(descriptor, ...)
  check(h5.H5Dwrite(set, kind, inside, space, 0, p))
end

function requests.flush() flush() end

local EARLY, NEVER = 1, 1 -- H5D_ALLOC_TIME_EARLY, H5D_FILL_TIME_NEVER

-- A new data set, in place of one of that name.  level: of compression, or ""; placed: "yes" if its bytes get their
-- place in the file at once, else ""; chunks: their extents, if there are any.
function requests.create(name, dtype, level, placed, ndim, ...)
  ndim = tonumber(ndim)
  local given, list = { ... }, own(h5.H5Pcreate(h5.H5P_CLS_DATASET_CREATE_ID_g), h5.H5Pclose)
  if #given > ndim then check(h5.H5Pset_chunk(list, ndim, extents(given, ndim + 1, ndim))) end
  if #given > ndim and level ~= "" then
    check(h5.H5Pset_shuffle(list))
    check(h5.H5Pset_deflate(list, tonumber(level)))
  end
  if placed ~= "" then
    check(h5.H5Pset_alloc_time(list, EARLY))
    check(h5.H5Pset_fill_time(list, NEVER))
  end
  if exists(name) then
    open_object(name, DATASET)
    check(h5.H5Ldelete(root, name, 0))
  end
  check_groups(name)
  local space, links = new_space(ndim, extents(given, 1, ndim)), intermediate_groups()
  own(h5.H5Dcreate2(root, name, type_in_memory(dtype), space, links, list, 0), h5.H5Dclose)
end

function requests.group(name)
  if exists(name) then return open_object(name, GROUP) and nil end
  check_groups(name)
  own(h5.H5Gcreate2(root, name, intermediate_groups(), 0, 0), h5.H5Oclose)
  flush()
end

function requests.delete(name)
  open_object(name)
  check(h5.H5Ldelete(root, name, 0))
  flush()
end

function requests.list(name)
  local group = open_object(name, GROUP)
  local info, names = ffi.new("group_info"), {}
  check(h5.H5Gget_info(group, info))
  for i = 0, tonumber(info.nlinks) - 1 do
    local entry = name_by(h5.H5Lget_name_by_idx, group, i)
    local object = h5.H5Oopen(group, entry, 0) -- a link may lead nowhere
    if object >= 0 and h5.H5Iget_type(object) == GROUP then entry = entry .. "/" end
    if object >= 0 then h5.H5Oclose(object) end
    names[i + 1] = entry
  end
  return names
end

-- ---- attributes ----------------------------------------------------------------------------------------

local function string_type()
  local id = own(h5.H5Tcopy(h5.H5T_C_S1_g), h5.H5Tclose)
  check(h5.H5Tset_size(id, -1ULL)) -- H5T_VARIABLE
  check(h5.H5Tset_cset(id, 1)) -- UTF-8
  return id
end

local function read_string(attribute, id)
  if h5.H5Tis_variable_str(id) > 0 then
    local text = ffi.new("char *[1]")
    check(h5.H5Aread(attribute, string_type(), text))
    if text[0] == nil then return "" end
    local result = ffi.string(text[0])
    h5.H5free_memory(text[0])
    return result
  end
  local size = tonumber(h5.H5Tget_size(id))
  local buffer = buffer_of(tonumber(size) + 1)
  check(h5.H5Aread(attribute, id, buffer))
  return ffi.string(buffer)
end

function requests.attributes(name)
  local object, names = open_object(name), {}
  for i = 0, check(h5.H5Aget_num_attrs(object)) - 1 do
    names[i + 1] = name_by(h5.H5Aget_name_by_idx, object, i)
  end
  return names
end

-- Nothing, if there is none; "text" and that; or a dtype, the elements, the extents.
function requests.attribute(name, key)
  local object = open_object(name)
  if h5.H5Aexists(object, key) <= 0 then return {} end
  local attribute = own(h5.H5Aopen(object, key, 0), h5.H5Aclose)
  local id = own(h5.H5Aget_type(attribute), h5.H5Tclose)
  local shape = shape_of_space(own(h5.H5Aget_space(attribute), h5.H5Sclose))
  if h5.H5Tget_class(id) == STRING and #shape == 0 then return { "text", read_string(attribute, id) } end
  local dtype, parts = dtype_of_type(id, ": attribute " .. key)
  local bytes = product(shape) * size_of(dtype)
  local p = buffer_of(bytes)
  if bytes > 0 then check(h5.H5Aread(attribute, type_in_memory(dtype, parts), p)) end
  return { dtype, ffi.string(p, bytes), unpack(shape) }
end

-- The same words.
function requests.set_attribute(name, key, kind, value, ...)
  local object = open_object(name)
  local id, data = kind == "text" and string_type() or type_in_memory(kind), ffi.cast("const char *", value)
  local pointer, ndim = ffi.new("const char *[1]", data), select("#", ...)
  if h5.H5Aexists(object, key) > 0 then check(h5.H5Adelete(object, key)) end
  local attribute = own(h5.H5Acreate2(object, key, id, new_space(ndim, extents({ ... }, 1, ndim)), 0, 0), h5.H5Aclose)
  check(h5.H5Awrite(attribute, id, kind == "text" and pointer or data))
  flush()
end

-- ---- answers -------------------------------------------------------------------------------------------

local MOVES = { read = true, write = true }

-- "o" and the packed reply, or "e" and what went wrong; without a request the file is closed.
return function(request, descriptor)
  if not request then
    if root then pcall(requests.close) end
    return ""
  end
  if not h5 then return "e: the library of HDF5 was not found: install libhdf5-103-1" end
  local list = words.unpack(request)
  local name = table.remove(list, 1)
  if MOVES[name] then table.insert(list, 1, descriptor) end
  local ok, reply = pcall(requests[name], unpack(list))
  leave()
  if not ok then return "e" .. tostring(reply) end
  return "o" .. words.pack(reply or {})
end
