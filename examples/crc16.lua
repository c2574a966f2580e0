-- A checksum of 16 bits over bytes, bit by bit.
--
--   lgt examples/crc16.lua [n]
local np = require "array"

local bit = require "bit"
local band, bxor, rshift = bit.band, bit.bxor, bit.rshift

local n = tonumber(arg[1]) or 1000000

local data = (np.arange(n) * 7919 % 251):astype("uint8")
local crc = data:host("r", function(p) -- each byte depends on those before: a loop over memory
  local sum = 0xffff
  for i = 0, n - 1 do
    local byte = p[i]
    for _ = 1, 8 do
      local odd = band(bxor(sum, byte), 1)
      sum = bxor(rshift(sum, 1), 0x8408 * odd)
      byte = rshift(byte, 1)
    end
  end
  return sum
end)
crc = band(bit.bnot(crc), 0xffff)
crc = bxor(bit.lshift(band(crc, 0xff), 8), rshift(crc, 8))

print(("checksum  %d"):format(crc))
