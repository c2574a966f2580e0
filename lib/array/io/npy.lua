-- array/io/npy.lua - NumPy's files: np.save and np.load of .npy; np.savez, np.savez_compressed and np.load of .npz.
--
-- .npy: "\147NUMPY", version, the length of the header, a Python dictionary as text, then the elements in C
-- (or Fortran) order.  Written as version 1.0 with the data aligned to 64 bytes.  .npz: a zip archive of them.

local bit = require "bit"
local bytes = require "array.io.bytes"
local core = require "array.core"
local ffi = require "ffi"
local output = require "array.io.output"

local dtypes, raise, np = core.dtypes, core.raise, core.np

local npy = {}

local codes = { bool = "|b1", int8 = "|i1", int16 = "<i2", int32 = "<i4", int64 = "<i8", uint8 = "|u1", uint16 = "<u2",
                uint32 = "<u4", uint64 = "<u8", float16 = "<f2", float32 = "<f4", float64 = "<f8", complex64 = "<c8",
                complex128 = "<c16" }
local names = {}
for name, code in pairs(codes) do names[code:sub(2)] = name end

-- ---- writing ------------------------------------------------------------------------------------------

-- What comes before the elements.
local function header_of(a)
  local shape, dtype = core.shape_of(a), core.dtype_of(a)
  local extents = table.concat(shape, ", ") .. (#shape == 1 and "," or "")
  local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }"):format(codes[dtypes.name[dtype]], extents)
  header = header .. (" "):rep(63 - (10 + #header) % 64) .. "\n"
  return "\147NUMPY\1\0" .. string.char(bit.band(#header, 255), bit.rshift(#header, 8)) .. header
end

local function put(out, a)
  out:put(header_of(a))
  out:array(a)
end

-- A member of an archive: an array.
function npy.member(name, a)
  local bytes_of_a = core.size_of(a) * dtypes.size[core.dtype_of(a)]
  return { name = name .. ".npy", size = #header_of(a) + bytes_of_a, put = function(out) put(out, a) end }
end

local function with_suffix(path, suffix, who)
  if type(path) ~= "string" then raise("%s: a file name was expected, not %s", who, (core.describe(path))) end
  return path:sub(-#suffix) == suffix and path or path .. suffix
end

-- Write an array.  ".npy" is added to a name without it, as NumPy does.  Waits.
---@param path string
---@param a lgt_array
function np.save(path, a, surplus)
  core.check_options(surplus, {}, "save")
  a = np.asarray(a)
  path = with_suffix(path, ".npy", "save")
  output.write(path, "save", function(out) put(out, a) end)
end

local function save_archive(who, compress, path, ...)
  path = with_suffix(path, ".npz", who)
  local arrays, list, count = {}, {}, select("#", ...)
  local function enter(name, x)
    if arrays[name] then raise("%s: two arrays are named %q", who, name) end
    if type(name) ~= "string" or name == "" then
      raise("%s: the name of an array was expected, not %s", who, (core.describe(name)))
    end
    arrays[name] = np.asarray(x)
    list[#list + 1] = name
  end
  local named = select(count, ...)
  if count > 0 and core.is_options(named) then count = count - 1 else named = {} end
  for i = 1, count do
    local x = select(i, ...)
    enter("arr_" .. i - 1, x)
  end
  local sorted = {}
  for name in pairs(named) do sorted[#sorted + 1] = name end
  table.sort(sorted)
  for _, name in ipairs(sorted) do enter(name, named[name]) end
  local members = {}
  for i, name in ipairs(list) do
    members[i] = npy.member(name, arrays[name])
  end
  require("array.io.zip").write(path, members, compress, who)
end

-- Write several arrays to one file: np.savez("data", {x = x, y = y}).  Those given without a name are called
-- arr_0, arr_1, ..., as by NumPy.  ".npz" is added to a name without it.  Waits.
---@param path string
---@param ... lgt_array|table<string, lgt_array>
function np.savez(path, ...) save_archive("savez", false, path, ...) end

-- The same, compressed.
---@param path string
---@param ... lgt_array|table<string, lgt_array>
function np.savez_compressed(path, ...) save_archive("savez_compressed", true, path, ...) end

-- ---- reading ------------------------------------------------------------------------------------------

local MAGIC = "\147NUMPY"
local MOST = 2 ^ 53          -- integers that numbers hold exactly
local LONGEST_HEADER = 65536 -- NumPy refuses those of more than 10000 characters

-- The elements' dtype, whether their bytes are in reverse order, whether they are in Fortran's order, the shape.
local function parse_header(header, refuse)
  local order, code = header:match("'descr':%s*'([<>|=]?)(%w+)'")
  local fortran, extents = header:match("'fortran_order':%s*(%a+)"), header:match("'shape':%s*%(([%d,%s]*)%)")
  if not code and header:find("'descr':%s*'") then refuse("holds elements of a type that lgt does not have") end
  if not code or not extents or fortran ~= "True" and fortran ~= "False" then
    refuse("has a header that lgt does not understand: " .. header:sub(1, 100):gsub("[^ -~]", "?"))
  end
  local name = names[code]
  if not name then refuse(("holds elements of type %s, which lgt does not have"):format(code:sub(1, 20))) end
  local shape = {}
  for digits in extents:gmatch("%d+") do
    shape[#shape + 1] = tonumber(digits)
    if shape[#shape] > MOST then refuse(("has an extent of %.4g; at most 2^53 was expected"):format(shape[#shape])) end
  end
  if #shape > 6 then refuse(("has %d dimensions; arrays have at most 6"):format(#shape)) end
  return dtypes.number[name], order == ">", fortran == "True", shape
end

-- The array that a source of bytes (bytes.lua) holds.
---@param path string for messages
---@return lgt_array
function npy.decode(source, who, path)
  local function refuse(why) raise("%s: %s %s", who, path, why) end
  local function take(count)
    return bytes.take(source, count) or refuse("ends too early: is it a complete .npy file?")
  end
  local magic = take(8)
  if magic:sub(1, 6) ~= MAGIC then refuse("is no .npy file") end
  local width = magic:byte(7) == 1 and 2 or 4
  local size, digits = 0, take(width)
  for i = width, 1, -1 do size = size * 256 + digits:byte(i) end
  if size > LONGEST_HEADER then refuse(("states a header of %.0f bytes"):format(size)) end
  local dtype, reversed, fortran, shape = parse_header(take(size), refuse)
  local count, itemsize = core.product(shape), dtypes.size[dtype]
  local there = math.floor(source.left / itemsize)
  if count > there then refuse(("ends after %.0f of %.0f elements"):format(there, count)) end
  return bytes.array(source, dtype, shape, { reversed = reversed, fortran = fortran }, refuse)
end

local function refuse_member(member, who, path)
  raise("%s: %s: member %q is damaged: its checksum is wrong", who, path, member.name)
end

-- The array in a member of an archive.  What is damaged is refused: its checksum is wrong.
local function decode_member(image, member, who, path)
  local inner = require("array.io.zip").source(image, member, who, path)
  if inner.image and inner.image.fd then -- first rank 0 goes through it, then all read what they own
    local crc, total = bytes.crc_of(inner, who)
    if crc ~= member.crc or total ~= member.size then refuse_member(member, who, path) end
    return npy.decode(inner, who, path .. ": " .. member.name)
  end
  local crc, total = 0, 0
  local source = { left = inner.left }
  function source:read(pointer, count)
    local got = inner:read(pointer, count)
    crc, total, self.left = bytes.crc32(crc, pointer, got, who), total + got, inner.left
    return got
  end
  local array = npy.decode(source, who, path .. ": " .. member.name)
  local buffer = ffi.new("uint8_t[4096]")
  repeat until source:read(buffer, 4096) == 0
  if crc ~= member.crc or total ~= member.size or inner.damaged then refuse_member(member, who, path) end
  return array
end

npy.decode_member = decode_member

local function decode_archive(image, who, path)
  local arrays = {}
  for _, member in ipairs(require("array.io.zip").members(image, who, path)) do
    local name = member.name:match("^(.*)%.npy$")
    if name then arrays[name] = decode_member(image, member, who, path) end
  end
  return arrays
end

-- What an image (bytes.lua) of an .npy or .npz file holds.
---@param path string for messages
---@return lgt_array|table<string, lgt_array>
function npy.read(image, who, path)
  local first = bytes.string_at(image, 0, 4)
  if first:sub(1, 2) == "PK" and #first == 4 then return decode_archive(image, who, path) end
  return npy.decode(bytes.region(image, 0, image.size), who, path)
end

-- Read what np.save (an array) or np.savez (a table of arrays by name) has written.
---@param path string
---@return lgt_array|table<string, lgt_array>
function np.load(path, surplus)
  core.check_options(surplus, {}, "load")
  local image = bytes.of_file(path, "load")
  local result = npy.read(image, "load", path)
  image:close()
  return result
end

return npy
