-- array/io/zip.lua - zip archives, as far as .npz files need them: members stored or deflated, with zip64.
--
-- Read by the central directory at the archive's end, as the format demands.  Written member by member: a
-- local header is written again once the compressed size and the checksum of what is behind it are known.

local bit = require "bit"
local bytes = require "array.io.bytes"
local core = require "array.core"
local output = require "array.io.output"

local raise = core.raise

local zip = {}

local LOCAL, CENTRAL, LAST, LAST64, LOCATOR = "PK\3\4", "PK\1\2", "PK\5\6", "PK\6\6", "PK\6\7"
local STORED, DEFLATED = 0, 8
local LIMIT = 0xffffffff -- sizes and offsets from here on are written as this, and as 64 bits elsewhere

-- ---- numbers ------------------------------------------------------------------------------------------

local function number(text, at, size)
  local n = 0
  for i = at + size - 1, at, -1 do n = n * 256 + text:byte(i) end
  return n
end

local function little(n, size)
  local parts = {}
  for i = 1, size do
    parts[i] = string.char(n % 256)
    n = math.floor(n / 256)
  end
  return table.concat(parts)
end

-- ---- reading ------------------------------------------------------------------------------------------

-- Where the central directory lies: offset, size, number of entries; nil if there is none.
local function directory(image)
  local tail_at = math.max(0, image.size - 65557) -- the last record has a comment of at most 65535 bytes
  local tail = bytes.string_at(image, tail_at, 65557)
  local at
  for i = #tail - 21, 1, -1 do
    if tail:sub(i, i + 3) == LAST then
      at = i
      break
    end
  end
  if not at then return nil end
  local entries, size, offset = number(tail, at + 10, 2), number(tail, at + 12, 4), number(tail, at + 16, 4)
  if at > 20 and tail:sub(at - 20, at - 17) == LOCATOR then
    local record = bytes.string_at(image, number(tail, at - 12, 8), 56)
    if #record < 56 or record:sub(1, 4) ~= LAST64 then return nil end
    entries, size, offset = number(record, 33, 8), number(record, 41, 8), number(record, 49, 8)
  end
  if offset + size > image.size then return nil end
  return offset, size, entries
end

-- Sizes and the offset of an entry, which may be in its zip64 field.
local function widened(entry, extra)
  local at = 1
  while at + 3 <= #extra do
    local id, size = number(extra, at, 2), number(extra, at + 2, 2)
    if id == 1 then
      local field, from = extra:sub(at + 4, at + 3 + size), 1
      for _, name in ipairs { "size", "packed", "offset" } do
        if entry[name] == LIMIT and from + 7 <= #field then
          entry[name] = number(field, from, 8)
          from = from + 8
        end
      end
    end
    at = at + 4 + size
  end
  return entry
end

-- The members of an archive: {name, method, crc, packed, size, offset} each.
---@return table[]
function zip.members(image, who, path)
  local offset, size, entries = directory(image)
  if not offset then raise("%s: %s is no zip archive, or it is not complete", who, path) end
  local text = bytes.string_at(image, offset, size)
  local members, at = {}, 1
  for i = 1, entries do
    if at + 45 > #text or text:sub(at, at + 3) ~= CENTRAL then
      raise("%s: %s: the archive's directory is damaged: entry %d of %.0f is none", who, path, i, entries)
    end
    local function field(from, width) return number(text, at + from, width) end
    local name_end = at + 46 + field(28, 2)
    local extra_end = name_end + field(30, 2)
    local entry = {
      name = text:sub(at + 46, name_end - 1), flags = field(8, 2), method = field(10, 2), crc = field(16, 4),
      packed = field(20, 4), size = field(24, 4), offset = field(42, 4),
    }
    members[i] = widened(entry, text:sub(name_end, extra_end - 1))
    at = extra_end + field(32, 2)
  end
  return members
end

-- A source of a member's bytes.
function zip.source(image, member, who, path)
  local function refuse(why) raise("%s: %s: member %q %s", who, path, member.name, why) end
  local header = bytes.string_at(image, member.offset, 30)
  if #header < 30 or header:sub(1, 4) ~= LOCAL then refuse("is not where the archive's directory says") end
  if bit.band(member.flags, 1) == 1 then refuse("is encrypted") end
  local from = member.offset + 30 + number(header, 27, 2) + number(header, 29, 2)
  if from + member.packed > image.size then refuse("ends behind the archive: is the file complete?") end
  local raw = bytes.region(image, from, member.packed)
  if member.method == STORED then return raw end
  if member.method ~= DEFLATED then
    refuse(("is compressed by method %d; stored and deflated ones are read"):format(member.method))
  end
  return bytes.inflated(raw, member.size, who)
end

-- ---- writing ------------------------------------------------------------------------------------------

local TIME, DATE = 0, 0x21 -- the first of January 1980: the same arrays give the same file

local function header_fields(m, wide)
  local function small(n) return little(wide and LIMIT or n, 4) end
  return little(wide and 45 or 20, 2) .. little(0, 2) .. little(m.method, 2) .. little(TIME, 2) .. little(DATE, 2) ..
    little(m.crc, 4) .. small(m.packed) .. small(m.size) .. little(#m.name, 2)
end

local function local_header(m)
  local extra = m.wide and little(1, 2) .. little(16, 2) .. little(m.size, 8) .. little(m.packed, 8) or ""
  return LOCAL .. header_fields(m, m.wide) .. little(#extra, 2) .. m.name .. extra
end

local function central_header(m)
  local wide = m.wide or m.offset >= LIMIT
  local extra = wide and little(1, 2) .. little(24, 2) .. little(m.size, 8) .. little(m.packed, 8) ..
    little(m.offset, 8) or ""
  return CENTRAL .. little(wide and 45 or 20, 2) .. header_fields(m, wide) .. little(#extra, 2) .. little(0, 2) ..
    little(0, 2) .. little(0, 2) .. little(0, 4) .. little(wide and LIMIT or m.offset, 4) .. m.name .. extra
end

local function ending(count, from, size)
  local text = ""
  if from + size >= LIMIT or count >= 65535 then
    text = LAST64 .. little(44, 8) .. little(45, 2) .. little(45, 2) .. little(0, 8) .. little(count, 8) ..
      little(count, 8) .. little(size, 8) .. little(from, 8) .. LOCATOR .. little(0, 4) .. little(from + size, 8) ..
      little(1, 4)
  end
  local entries = little(math.min(count, 65535), 2)
  return text .. LAST .. little(0, 4) .. entries .. entries .. little(math.min(size, LIMIT), 4) ..
    little(math.min(from, LIMIT), 4) .. little(0, 2)
end

-- Its bytes as they are.
local function store(out, m, who)
  local from = out.at
  m.put(out)
  m.packed = m.size
  out:afterwards(function(bytes_of)
    for p, count in bytes_of(from, m.size) do m.crc = bytes.crc32(m.crc, p, count, who) end
  end)
end

-- Deflated by rank 0, from a file into which all ranks have written.
local function deflate(out, m, who)
  output.scratch(out, function(scratch)
    m.put(scratch)
    scratch:afterwards(function(bytes_of)
      local from = out.at
      local run = bytes.deflater(function(p, count) out:put(p, count) end, who)
      for p, count in bytes_of(0, m.size) do
        m.crc = bytes.crc32(m.crc, p, count, who)
        run(p, count)
      end
      run()
      m.packed = out.at - from
    end)
  end)
end

-- Write an archive.  Each member is {name = string, size = bytes, put = fun(out)}, which puts them into a file
-- (output.lua).  Only rank 0 knows their checksums and what they are compressed to, and writes what depends on it.
---@param path string
---@param members table[]
---@param compress boolean
---@param who string
function zip.write(path, members, compress, who)
  output.write(path, who, function(out)
    if out.stream then raise("%s: %s is no ordinary file: an archive cannot be written to it", who, path) end
    local central = {}
    for i, m in ipairs(members) do
      m.offset, m.method, m.crc, m.packed = out.at, compress and DEFLATED or STORED, 0, 0
      m.wide = m.size >= LIMIT - LIMIT / 1024 -- deflating may make it a little longer
      local header = local_header(m)
      out:put(header)
      if compress then deflate(out, m, who) else store(out, m, who) end
      header = local_header(m) -- with the checksum, and as long as before
      out:put(header, #header, m.offset)
      central[i] = central_header(m)
    end
    local text, from = table.concat(central), out.at
    out:put(text)
    out:put(ending(#central, from, #text))
  end)
end

return zip
