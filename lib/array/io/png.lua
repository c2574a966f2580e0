-- array/io/png.lua - an array of numbers as a picture, for np.plot.image.
--
-- Writes PNG, the picture format that every program reads, and does without a compressor: a PNG may hold
-- "stored" blocks, so that all it takes are the format's two checksums.  A picture has one pixel for each
-- element, rows from top to bottom; the smallest element is dark violet, the greatest yellow (viridis).

local bit = require "bit"
local ffi = require "ffi"
local core = require "array.core"

local np, raise = core.np, core.raise
local band, bxor, rshift, bnot = bit.band, bit.bxor, bit.rshift, bit.bnot

local png = {}

-- Viridis at nine equidistant places.
local ANCHORS = {
  { 68, 1, 84 }, { 71, 45, 123 }, { 59, 82, 139 }, { 44, 114, 142 }, { 33, 145, 140 }, { 40, 174, 128 },
  { 94, 201, 98 }, { 173, 220, 48 }, { 253, 231, 37 },
}

-- 256 colours, three bytes each.
function png.palette()
  local colours = ffi.new("uint8_t[768]")
  for i = 0, 255 do
    local place = i / 255 * (#ANCHORS - 1)
    local k = math.min(math.floor(place), #ANCHORS - 2)
    for c = 0, 2 do
      local low, high = ANCHORS[k + 1][c + 1], ANCHORS[k + 2][c + 1]
      colours[3 * i + c] = low + (high - low) * (place - k) + 0.5
    end
  end
  return colours
end

local crc_table = ffi.new("uint32_t[256]")
for n = 0, 255 do
  local c = n
  for _ = 1, 8 do c = band(c, 1) == 1 and bxor(rshift(c, 1), 0xedb88320) or rshift(c, 1) end
  crc_table[n] = c
end

local function crc32(text)
  local p, c = ffi.cast("const uint8_t *", text), bnot(0)
  for i = 0, #text - 1 do c = bxor(crc_table[band(bxor(c, p[i]), 255)], rshift(c, 8)) end
  return bnot(c)
end

local function adler32(p, size)
  local a, b = 1, 0
  for i = 0, size - 1 do
    a = (a + p[i]) % 65521
    b = (b + a) % 65521
  end
  return b * 65536 + a
end

local function big_endian(n)
  return string.char(band(rshift(n, 24), 255), band(rshift(n, 16), 255), band(rshift(n, 8), 255), band(n, 255))
end

local function chunk(name, data) return big_endian(#data) .. name .. data .. big_endian(crc32(name .. data)) end

-- The bytes in zlib's format, not compressed.
local function stored(bytes, size)
  local parts, at = { "\120\1" }, 0
  repeat
    local n = math.min(65535, size - at)
    local last = at + n == size and 1 or 0
    parts[#parts + 1] = string.char(last, n % 256, math.floor(n / 256), 255 - n % 256, 255 - math.floor(n / 256))
    parts[#parts + 1] = ffi.string(bytes + at, n)
    at = at + n
  until at == size
  parts[#parts + 1] = big_endian(adler32(bytes, size))
  return table.concat(parts)
end

-- The numbers of the colours, 0 to 255, from `low` to `high` (the extremes where they are nil).  Waits.
---@return lgt_array uint8
function png.shades(a, low, high)
  low, high = low or np.min(a):item(), high or np.max(a):item()
  local scale = high > low and 255 / (high - low) or 0
  local shade = np.clip((np.astype(a, "float64") - low) * scale, 0, 255)
  return np.astype(np.where(np.isnan(shade), 0, shade), "uint8")
end

-- Write a matrix of real numbers as a PNG file.
---@param path string
---@param a lgt_array
---@param low number? what has the first colour
---@param high number? what has the last colour
---@param who string
function png.save(path, a, low, high, who)
  local shades = png.shades(a, low, high)
  local rows, columns = a:dims()
  local size = rows * (1 + 3 * columns) -- each row begins with a byte that names its filter: none
  local bytes, colours = ffi.new("uint8_t[?]", size), png.palette()
  shades:host("r", function(p)
    local to = 0
    for i = 0, rows - 1 do
      to = to + 1
      for j = 0, columns - 1 do
        ffi.copy(bytes + to, colours + 3 * p[i * columns + j], 3)
        to = to + 3
      end
    end
  end)
  local file, message = io.open(path, "wb")
  if not file then raise("%s: %s", who, message) end
  local written, why = file:write("\137PNG\r\n\26\n",
    chunk("IHDR", big_endian(columns) .. big_endian(rows) .. "\8\2\0\0\0"), -- 8 bits, red green blue
    chunk("IDAT", stored(bytes, size)), chunk("IEND", ""))
  local closed, late = file:close()
  if not written or not closed then raise("%s: %s: %s", who, path, why or late) end
end

return png
