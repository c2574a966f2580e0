"""A checksum of 16 bits over bytes, bit by bit."""
import sys

import numpy as np

n = int(sys.argv[1])

data = (np.arange(n) * 7919 % 251).astype(np.uint8)
crc = 0xFFFF
for b in data:
    cur_byte = 0xFF & int(b)
    for _ in range(0, 8):
        if (crc & 0x0001) ^ (cur_byte & 0x0001):
            crc = (crc >> 1) ^ 0x8408
        else:
            crc >>= 1
        cur_byte >>= 1
crc = ~crc & 0xFFFF
crc = (crc << 8) | ((crc >> 8) & 0xFF)

print("checksum  %d" % (crc & 0xFFFF))
