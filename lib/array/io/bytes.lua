-- array/io/bytes.lua - bytes to read and to write: files, memory, and what zlib has compressed in them.
--
--   image    something with a beginning and an end: image.size bytes; image:read_at(offset, pointer, count)
--            gives how many bytes it got; image.fd: the descriptor of a file
--   source   a part of an image that is read from front to back: source.left bytes at most;
--            source:read(pointer, count) gives how many bytes it got, fewer than count only at the end.  If it is
--            the part of an image from source.at on, source.image is that
--
-- The readers of file formats are given sources and images, so that they read hostile bytes in memory as they
-- read files.  Sizes that a file states are believed only as far as bytes to fill them exist.
--
-- zlib is loaded when something compressed is met.

local ffi = require "ffi"
local core = require "array.core"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local C = ffi.C

ffi.cdef [[
  typedef struct lgt_file lgt_file;
  lgt_file *fopen(const char *, const char *);
  int fclose(lgt_file *);
  size_t fread(void *, size_t, size_t, lgt_file *);
  size_t fwrite(const void *, size_t, size_t, lgt_file *);
  int fseeko(lgt_file *, long, int);
  long ftello(lgt_file *);
  int fileno(lgt_file *);
  lgt_file *tmpfile(void);
  int fflush(lgt_file *);
  char *strerror(int);

  typedef struct lgt_z_stream {
    const uint8_t *next_in; unsigned avail_in; unsigned long total_in;
    uint8_t *next_out; unsigned avail_out; unsigned long total_out;
    const char *msg; void *state, *zalloc, *zfree, *opaque;
    int data_type; unsigned long adler, reserved;
  } lgt_z_stream;
  const char *zlibVersion(void);
  unsigned long crc32(unsigned long, const void *, unsigned);
  int inflateInit2_(lgt_z_stream *, int, const char *, int);
  int inflate(lgt_z_stream *, int);
  int inflateEnd(lgt_z_stream *);
  int deflateInit2_(lgt_z_stream *, int, int, int, int, int, const char *, int);
  int deflate(lgt_z_stream *, int);
  int deflateEnd(lgt_z_stream *);
]]

local bytes = {}

-- What the last call of the system has failed for.
local function why() return ffi.string(C.strerror(ffi.errno())) end
bytes.why = why

local function open_stream(path, mode)
  local file = C.fopen(path, mode)
  if file == nil then return nil, why() end
  return ffi.gc(file, C.fclose)
end

local function check_name(path, who)
  if type(path) ~= "string" then raise("%s: a file name was expected, not %s", who, (core.describe(path))) end
end

-- A stdio file, closed by the collector if an error is raised before bytes.close.
function bytes.open(path, mode, who)
  check_name(path, who)
  local ranks = core.lgt.ranks
  local file, reason
  if ranks then file, reason = ranks.open(open_stream, path, mode) else file, reason = open_stream(path, mode) end
  if not file then raise("%s: %s: %s", who, path, reason) end
  return file
end

-- Whether everything that was written has arrived.
---@return boolean
function bytes.close(file)
  ffi.gc(file, nil)
  return C.fclose(file) == 0
end

-- ---- images --------------------------------------------------------------------------------------------

local SET, END = 0, 2

---@param text string
function bytes.of_string(text)
  local p = ffi.cast("const char *", text)
  return {
    size = #text,
    text = text, -- keeps it alive
    read_at = function(_, offset, pointer, count)
      count = math.max(0, math.min(count, #text - offset))
      if count > 0 then ffi.copy(pointer, p + offset, count) end
      return count
    end,
    close = function() end,
  }
end

-- What a file that cannot be positioned, as a pipe, has; nil: it can be, or it cannot be opened.
local function text_of_stream(path)
  local file = open_stream(path, "rb")
  if not file then return nil end
  if C.fseeko(file, 0, END) == 0 then
    bytes.close(file)
    return nil
  end
  local parts, buffer = {}, ffi.new("char[65536]")
  repeat
    local got = tonumber(C.fread(buffer, 1, 65536, file))
    parts[#parts + 1] = ffi.string(buffer, got)
  until got == 0
  bytes.close(file)
  return table.concat(parts)
end

-- What one rank cannot read, no rank has read: then all raise the same error.
local function on_all_ranks(count)
  local ranks = core.lgt.ranks
  return ranks and ranks.least("reading a file", count) or count
end

---@param path string
---@param who string
function bytes.of_file(path, who)
  check_name(path, who)
  local ranks = core.lgt.ranks
  local text_of = ranks and ranks.shared("opening a file", text_of_stream) or text_of_stream
  local text = text_of(path) -- a pipe can be read once: by rank 0
  if text then return bytes.of_string(text) end
  local file = bytes.open(path, "rb", who)
  C.fseeko(file, 0, END)
  local size, at = tonumber(C.ftello(file)), -1
  if size >= 2 ^ 62 then raise("%s: %s is a directory", who, path) end
  size = on_all_ranks(size)
  return {
    size = size,
    fd = C.fileno(file),
    read_at = function(_, offset, pointer, count)
      local got = 0
      if offset == at or C.fseeko(file, offset, SET) == 0 then got = tonumber(C.fread(pointer, 1, count, file)) end
      at = offset + got
      return on_all_ranks(got)
    end,
    close = function() bytes.close(file) end,
  }
end

-- `count` bytes of an image as a string, fewer where it ends.
function bytes.string_at(image, offset, count)
  count = math.max(0, math.min(count, image.size - offset))
  local buffer = ffi.new("char[?]", math.max(count, 1))
  return ffi.string(buffer, image:read_at(offset, buffer, count))
end

-- ---- sources -------------------------------------------------------------------------------------------

-- The bytes of an image from `offset`, at most `count` of them.
function bytes.region(image, offset, count)
  local source = { left = math.max(0, math.min(count, image.size - offset)), image = image, at = offset }
  function source:read(pointer, wanted)
    local got = image:read_at(self.at, pointer, math.min(wanted, self.left))
    self.at, self.left = self.at + got, self.left - got
    return got
  end
  return source
end

local function reverse_bytes(data, count, size)
  local p = ffi.cast("uint8_t *", data)
  for i = 0, count - 1 do
    local e = p + i * size
    for k = 0, size / 2 - 1 do e[k], e[size - 1 - k] = e[size - 1 - k], e[k] end
  end
end

-- The next `count` bytes as a string, or nil where the source ends before.
function bytes.take(source, count)
  if count > source.left then return nil end
  local buffer = ffi.new("char[?]", math.max(count, 1))
  if source:read(buffer, count) < count then return nil end
  return ffi.string(buffer, count)
end

-- Of a file every rank reads the tiles it owns.
local function read_tiles(source, dtype, shape, how, problem)
  local array = lgt.new(lgt.dense(dtype, shape))
  local part = array
  if how.fortran and #shape > 1 then
    local order = {}
    for d = 1, #shape do order[d] = #shape + 1 - d end
    part = lgt.alias(array, lgt.transpose(core.layout_of(array), order))
  end
  lgt.flush()
  if lgt.C.lgt_array_read(lgt.rt, part.id, source.image.fd, source.at, how.reversed and 1 or 0) < 0 then
    local text = ffi.string(lgt.C.lgt_message())
    lgt.free(array)
    problem("cannot be read: " .. text)
  end
  local size = core.product(shape) * dtypes.size[dtype]
  source.at, source.left = source.at + size, source.left - size
  return array
end

local function adopt(dtype, shape, data, fortran)
  if not fortran or #shape < 2 then return core.adopt(dtype, shape, data) end
  local turned = {}
  for d = 1, #shape do turned[d] = shape[#shape + 1 - d] end
  return core.np.copy(core.np.transpose(core.adopt(dtype, turned, data)))
end

-- The array whose elements are the next of a source: in C order, or in Fortran's; maybe with the bytes of each number
-- reversed.  Waits.
---@param shape integer[]
---@param how {fortran: boolean?, reversed: boolean?}
---@param problem fun(why: string) raises
---@return lgt_array
function bytes.array(source, dtype, shape, how, problem)
  if source.image and source.image.fd then return read_tiles(source, dtype, shape, how, problem) end
  local count, size = core.product(shape), dtypes.size[dtype]
  local data = core.host_memory(dtype, count)
  local got = source:read(data, count * size)
  if got ~= count * size then
    lgt.C.lgt_memory_free(data)
    problem(("ends after %.0f of %.0f elements"):format(math.floor(got / size), count))
  end
  if how.reversed then -- the parts of a complex number are numbers of their own
    local parts = dtypes.category[dtype] == 3 and 2 or 1
    reverse_bytes(data, count * parts, size / parts)
  end
  return adopt(dtype, shape, data, how.fortran)
end

-- ---- zlib ----------------------------------------------------------------------------------------------

local zlib

---@param who string
function bytes.zlib(who)
  if zlib then return zlib end
  local found, library = pcall(ffi.load, "libz.so.1")
  if not found then raise("%s: compressed files need zlib: install zlib1g", who) end
  zlib = library
  return zlib
end

local BUFFER = 65536
local RAW, GZIP = -15, 31 -- without a header, with gzip's
local FINISH, OK, STREAM_END = 4, 0, 1
local MOST = 2 ^ 30 -- bytes for one call: zlib counts in 32 bits
-- No byte of a deflated stream stands for more than this.
bytes.EXPANSION = 1032

local function stream(begin, finish, who, ...)
  local z = ffi.new("lgt_z_stream")
  if begin(z, ...) ~= OK then raise("%s: zlib: out of memory", who) end
  return ffi.gc(z, finish)
end

-- What a source of deflated bytes stands for: `size` bytes, as its container says.  `damaged` is set when
-- they are not what a compressor has written.  With `gzip` they are a file of gzip's.
function bytes.inflated(compressed, size, who, gzip)
  local library = bytes.zlib(who)
  local z = stream(library.inflateInit2_, library.inflateEnd, who, gzip and GZIP or RAW, library.zlibVersion(),
    ffi.sizeof("lgt_z_stream"))
  local buffer = ffi.new("uint8_t[?]", BUFFER)
  local source, ended = { left = math.min(size, compressed.left * bytes.EXPANSION) }, false
  function source:read(pointer, wanted)
    local p, got = ffi.cast("uint8_t *", pointer), 0
    wanted = math.min(wanted, self.left)
    while got < wanted and not ended do
      if z.avail_in == 0 then
        z.avail_in = compressed:read(buffer, BUFFER)
        z.next_in = buffer
      end
      local room = math.min(wanted - got, MOST)
      z.next_out, z.avail_out = p + got, room
      local status = library.inflate(z, 0)
      got = got + room - z.avail_out
      ended = status ~= OK or z.avail_in == 0 and compressed.left == 0 and z.avail_out > 0
      if ended and status ~= STREAM_END then self.damaged = true end
    end
    self.left = ended and 0 or self.left - got
    return got
  end
  return source
end

-- The checksum of bytes behind others whose checksum is `crc` (0 for none).
---@return integer
function bytes.crc32(crc, pointer, count, who)
  local p, library = ffi.cast("const uint8_t *", pointer), bytes.zlib(who)
  local at = 0
  while at < count do
    local n = math.min(MOST, count - at)
    crc = tonumber(library.crc32(crc, p + at, n))
    at = at + n
  end
  return crc
end

-- The checksum of the rest of a source, which remains to be read, and its bytes; of what one rank sees.
---@return integer crc, integer count
function bytes.crc_of(source, who)
  local ranks = core.lgt.ranks
  local function all()
    local crc, total, buffer = 0, 0, ffi.new("uint8_t[?]", BUFFER)
    local rest = bytes.region(source.image, source.at, source.left)
    repeat
      local got = rest:read(buffer, BUFFER)
      crc, total = bytes.crc32(crc, buffer, got, who), total + got
    until got == 0
    return crc, total
  end
  if not ranks then return all() end
  return ranks.shared("reading a file", function() return ranks.alone(all) end)()
end

-- A function that deflates one piece of memory after the other and hands the result to put(pointer, count);
-- called without a piece it ends.
function bytes.deflater(put, who, gzip)
  local library = bytes.zlib(who)
  local z = stream(library.deflateInit2_, library.deflateEnd, who, -1, 8, gzip and GZIP or RAW, 8, 0,
    library.zlibVersion(), ffi.sizeof("lgt_z_stream"))
  local buffer = ffi.new("uint8_t[?]", BUFFER)
  local function run(flush)
    repeat
      z.next_out, z.avail_out = buffer, BUFFER
      local status = library.deflate(z, flush)
      if z.avail_out < BUFFER then put(buffer, BUFFER - z.avail_out) end
    until flush == FINISH and status == STREAM_END or flush ~= FINISH and z.avail_out > 0
  end
  return function(pointer, count)
    if not pointer then return run(FINISH) end
    local p, at = ffi.cast("const uint8_t *", pointer), 0
    while at < count do
      local n = math.min(MOST, count - at)
      z.next_in, z.avail_in = p + at, n
      run(0)
      at = at + n
    end
  end
end

return bytes
