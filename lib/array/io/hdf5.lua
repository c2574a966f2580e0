-- array/io/hdf5.lua - HDF5 files: np.hdf5(path, mode) gives a file; its methods read and write arrays by name.
--
-- The library of HDF5 crashes, or goes in circles, on some files that are damaged.  So a process apart calls it
-- (apart.lua), one for each open file (hdf5_apart.lua): here are what a user may ask for, and the arrays.  Elements go
-- through a window of memory that both see, in boxes of whole chunks.
--
-- Several ranks: what the library tells of a file it tells rank 0, for all.  Of a data set that lies in one piece
-- every rank reads and writes the tiles it owns, without the library.  What lies in chunks, and parts of data sets,
-- every rank reads for itself; where the file is written, rank 0 does it for all, some rows at a time.
--
-- A file that is only read may lose its process, and gets another one when it is needed: one on which the library has
-- crashed can be read where it is sound, and of many open files few have one.

local apart = require "array.io.apart"
local bytes = require "array.io.bytes"
local core = require "array.core"
local ffi = require "ffi"
local output = require "array.io.output"
local slice = require "array.index.slice"
local words = require "array.io.words"

local lgt, dtypes, raise, np = core.lgt, core.dtypes, core.raise, core.np
local ranks = lgt.ranks
local leads = not ranks or ranks.rank == 0

ffi.cdef "char *getcwd(char *, size_t);"

-- ---- files ---------------------------------------------------------------------------------------------

---@class lgt_hdf5
local File = {}
File.__index = File

local MODES = { r = true, ["r+"] = true, w = true, x = true, a = true }
local SECONDS = 60 -- of processor time for a request, beside a second for each MB
local MOST = 16 -- processes of files that are only read

local readers = setmetatable({}, { __mode = "v" }) -- those that have a process, in no order
local turn = 0

local function absolute(path)
  if path:sub(1, 1) == "/" then return path end
  local buffer = ffi.new("char[4096]")
  if ffi.C.getcwd(buffer, 4096) == nil then return path end
  return ffi.string(buffer) .. "/" .. path
end

-- The reader that was not used for the longest time gives its process back, if there are many.
local function make_room()
  local count, oldest = 0, nil
  for i = 1, MOST do
    local file = readers[i]
    if file and file.child and file.child.process then
      count = count + 1
      if not oldest or file.used < readers[oldest].used then oldest = i end
    else
      return i
    end
  end
  apart.close(readers[oldest].child)
  readers[oldest].child = nil
  return oldest
end

-- A process that has the file open, and its reply; nil and what there was instead.
local function opened_once(file)
  local child, why = apart.child("hdf5_apart.lua", file.mode ~= "r")
  if not child then return nil, "e: " .. why end
  local reply = apart.ask(child, { "open", file.absolute, file.mode }, file.seconds)
  if reply:sub(1, 1) == "e" then apart.close(child) end
  return reply:sub(1, 1) == "o" and child, reply
end

-- A file that is written is locked, maybe by an object that nobody has any more.
local function opened(file)
  local child, reply = opened_once(file)
  if child or not reply:find("unable to lock file", 1, true) then return child, reply end
  collectgarbage()
  child, reply = opened_once(file)
  if child or not reply:find("unable to lock file", 1, true) then return child, reply end
  return nil, "e is open elsewhere, and one of both writes it: close() it there first"
end

-- What the file's process says (apart.ask); it gets one if it has none.  Without a request: of opening the file.
local function ask_here(file, request, megabytes)
  local seconds = file.seconds + (megabytes or 0)
  turn = turn + 1
  file.used = turn
  if file.child and not apart.lives(file.child) then
    apart.close(file.child)
    file.child = nil
    if file.mode ~= "r" then
      return "c: a call was interrupted, and the file is closed now"
    end
  end
  if not file.child then
    local place = file.mode == "r" and make_room()
    local child, reply = opened(file)
    if not child then return reply end
    file.child = child
    if place then readers[place] = file end
    if not request then return reply end
  end
  local reply = apart.ask(file.child, request, seconds)
  if not file.child.process then file.child = nil end
  return reply
end

-- Raise what a reply, of whatever rank, is instead of one.
local function refuse(file, who, what, reply)
  local kind, text = reply:sub(1, 1), reply:sub(2)
  if kind == "e" then raise("%s: %s%s", who, what, text) end
  if file.mode ~= "r" then file.open = false end
  if kind == "c" then raise("%s: %s%s", who, what, text) end
  if kind == "i" then raise("interrupted!") end
  if kind == "k" then
    raise("%s: %s: the process that had it open was killed: is there enough memory?%s", who, what, text)
  end
  raise("%s: %s is damaged: the library of HDF5 %s", who, what, text)
end

-- The words with which the process of rank 0 replies.
local function ask(file, who, what, request)
  local function asked() return ask_here(file, request) end
  local reply = (ranks and ranks.shared("the library of HDF5", asked) or asked)()
  if reply:sub(1, 1) ~= "o" then refuse(file, who, what, reply) end
  return words.unpack(reply:sub(2))
end

-- HDF5 would take what is before a zero byte.
local function check_text(who, what, text)
  if text:find("\0", 1, true) then raise("%s: %s has a zero byte; HDF5's texts have none", who, what) end
end

-- Open an HDF5 file.  Modes: "r" (the default) reads, "r+" changes, "w" makes a new file in place of an old one,
-- "x" makes one where there is none, "a" changes or makes one.  A file that is damaged is an error where it is used,
-- also if the library of HDF5 crashes on it, or takes more processor time for a call than `seconds` and 1 s for a MB.
-- A file that is read may be opened again by its path when it was not used for long and many are open.  Several ranks
-- read and write such files as one process does.  docs/reference/hdf5.md has the methods of a file.
---@param path string
---@param mode string? "r", "r+", "w", "x" or "a"
---@param options {seconds: number?}? 60
---@return lgt_hdf5
function np.hdf5(path, mode, options)
  mode = mode or "r"
  options = core.check_options(options, { seconds = true }, "hdf5")
  if type(path) ~= "string" then raise("hdf5: a file name was expected, not %s", (core.describe(path))) end
  check_text("hdf5", "the file's name", path)
  if not MODES[mode] then
    raise("hdf5: the mode is \"r\", \"r+\", \"w\", \"x\" or \"a\", not %s", (core.describe(mode)))
  end
  local seconds = options.seconds or SECONDS
  if type(seconds) ~= "number" or not (seconds >= 1 and seconds <= 1e9) then
    raise("hdf5: seconds: a number from 1 on was expected, not %s", tostring(seconds))
  end
  local file = { path = path, absolute = absolute(path), mode = mode, seconds = seconds, open = true }
  setmetatable(file, File)
  if mode == "r" then file.stream = bytes.open(path, "rb", "hdf5") end
  ask(file, "hdf5", path)
  if mode ~= "r" then file.mode = "r+" end -- opened again, a file must not be made again
  if mode ~= "r" and ranks then file.stream = bytes.open(path, "r+b", "hdf5") end
  return file
end

function File:__tostring() return ("HDF5 file %s%s"):format(self.path, self.open and "" or " (closed)") end

-- Close the file.  What has been written is on disk afterwards.  The collector closes files, too, at some time; one
-- that it closes has 10 s to be written.
function File:close()
  if not self.open then return end
  self.open = false
  if self.stream then bytes.close(self.stream) end
  local function closed()
    local child = self.child
    self.child = nil
    if not child then return "o" end
    local reply = self.mode == "r" and "o" or apart.ask(child, { "close" }, self.seconds)
    if child.process then apart.close(child) end
    return reply
  end
  local reply = (ranks and self.mode ~= "r" and ranks.shared("closing a file", closed) or closed)()
  if reply:sub(1, 1) ~= "o" then refuse(self, "hdf5", self.path, reply) end
end

-- What messages are about.
local function subject(who, file, name)
  if getmetatable(file) ~= File then raise("hdf5 %s: file:%s(...) is called with a colon", who, who) end
  if not file.open then raise("hdf5 %s: %s is closed", who, file.path) end
  if type(name) ~= "string" or name == "" then
    raise("hdf5 %s: the name of a data set or group was expected, not %s", who, (core.describe(name)))
  end
  check_text("hdf5 " .. who, "the name", name)
  return ("%s: %s"):format(file.path, name)
end

local function ask_about(file, who, name, request)
  return ask(file, "hdf5 " .. who, subject(who, file, name), request)
end

local function check_mode(file, who)
  if file.mode ~= "r" then return end
  raise("hdf5 %s: %s is open for reading; open it with \"r+\" or \"a\"", who, file.path)
end

-- ---- data sets -----------------------------------------------------------------------------------------

-- What there is to know about a data set: dtype, shape, at: where its bytes are in the file, if they are there in
-- one piece as they are in memory; chunk: extents, 1 where it is in none.
local function about(file, who, name)
  local list = ask_about(file, who, name, { "about", name })
  local ndim = tonumber(list[3])
  local set = { dtype = dtypes.number[list[1]], at = tonumber(list[2]), shape = {}, chunk = {} }
  if not set.dtype or not ndim or #list ~= 3 + 2 * ndim then
    refuse(file, "hdf5 " .. who, file.path, "e: the library contradicts itself")
  end
  for d = 1, ndim do
    set.shape[d] = tonumber(list[3 + d])
    set.chunk[d] = math.max(1, tonumber(list[3 + ndim + d]))
  end
  return set
end

-- The part of a shape that an index names: its shape without the axes of which one position was taken; and first
-- positions, counts and steps along all axes, and which of these is the first axis of the part.
local function select_part(shape, key, who)
  local start, count, step, whole, kept = {}, {}, {}, {}, {}
  for d = 1, #shape do start[d], count[d], step[d] = 0, shape[d], 1 end
  local part = { start = start, count = count, step = step, rows = 1 }
  if key == nil then return shape, part end
  local entries
  if type(key) == "string" then
    entries = slice.parse_string(key)
  elseif type(key) == "table" then
    entries = slice.parse_table(key, #shape, function(x) return core.is_array(x) and 1 or nil end)
  elseif type(key) == "number" then
    entries = { { kind = "at", at = key } }
  else
    raise("%s: a part of a data set is named by positions and by ranges, not by %s", who, (core.describe(key)))
  end
  local taken = 0
  for _, s in ipairs(slice.resolve(entries, shape)) do
    if s.kind == "new" or s.kind == "pick" or s.kind == "range" and s.step < 0 then
      raise("%s: a part of a data set is named by positions and by ranges with steps above 0", who)
    end
    local d = s.axis + taken
    start[d], count[d] = s.first, s.count or 1
    if s.kind == "at" then taken, kept[d] = taken + 1, false else step[d] = s.step end
  end
  for d = #shape, 1, -1 do
    if kept[d] ~= false then
      table.insert(whole, 1, count[d])
      part.rows = d
    end
  end
  return whole, part
end

-- ---- boxes ---------------------------------------------------------------------------------------------

local BOX = 2 ^ 23 -- bytes that go through the window at a time, unless a chunk is larger

-- Extents of boxes of whole chunks, cut along the first dimensions.
local function box_of(part, chunk, size)
  local box, unit, total = {}, {}, core.product(part.count) * size
  for d = 1, #part.count do
    local n = part.count[d]
    unit[d] = part.step[d] == 1 and math.min(chunk[d], n) or 1
    box[d] = n
    if total > BOX then
      local rest = total / n
      box[d] = math.max(unit[d], math.floor(BOX / rest / unit[d]) * unit[d])
      if box[d] < n then total = rest * box[d] else box[d] = n end
    end
  end
  return box, unit, total
end

-- for at, extent in boxes(part, box, unit): positions in the part from 0, and extents.  Where chunks begin elsewhere
-- than the part the first boxes are smaller.
local function boxes(part, box, unit)
  local ndim, at, extent = #part.count, {}, {}
  local function place(d, position)
    local over = part.step[d] == 1 and (part.start[d] + position) % unit[d] or 0
    at[d] = position
    extent[d] = math.min(part.count[d] - position, box[d] == part.count[d] and box[d] or box[d] - over)
  end
  local begun = false
  return function()
    if not begun then
      begun = true
      for d = 1, ndim do place(d, 0) end
      return at, extent
    end
    for d = ndim, 1, -1 do
      if at[d] + extent[d] < part.count[d] then
        place(d, at[d] + extent[d])
        return at, extent
      end
      place(d, 0)
    end
  end
end

-- f(element of the part, element of the box, elements) for all that lies in one piece in both, in C order.
local function each_run(part, at, extent, f)
  local count, first = part.count, math.max(#part.count, 1)
  while first > 1 and extent[first] == count[first] do first = first - 1 end
  local run, stride, lines = 1, {}, 1
  for d = #count, 1, -1 do
    stride[d] = d == #count and 1 or stride[d + 1] * count[d + 1]
    if d >= first then run = run * extent[d] else lines = lines * extent[d] end
  end
  for i = 0, lines - 1 do
    local rest, place = i, #count > 0 and at[first] * stride[first] or 0
    for d = first - 1, 1, -1 do
      place = place + (at[d] + rest % extent[d]) * stride[d]
      rest = math.floor(rest / extent[d])
    end
    f(place, i * run, run)
  end
end

-- A part of a data set {name, start, count, step}, which is not empty, goes into memory in C order, or ("write") comes
-- from there.  The first reply that is none; nil: it is done.
local function move(file, request, part, set, data)
  local size, memory = dtypes.size[set.dtype], ffi.cast("uint8_t *", data)
  local box, unit, total = box_of(part, set.chunk, size)
  local window = nil
  local function put(to, from, run) ffi.copy(window + from * size, memory + to * size, run * size) end
  local function take(to, from, run) ffi.copy(memory + to * size, window + from * size, run * size) end
  for at, extent in boxes(part, box, unit) do
    local asked, ndim = { request, part.name, #at }, #at
    for d = 1, ndim do
      asked[3 + d], asked[3 + ndim + d] = part.start[d] + at[d] * part.step[d], extent[d]
      asked[3 + 2 * ndim + d] = part.step[d]
    end
    if not (file.child and apart.lives(file.child)) then
      local reply = ask_here(file)
      if reply:sub(1, 1) ~= "o" then return reply end
    end
    local why
    window, why = apart.window(file.child, total)
    if not window then return "e: " .. why end
    if request == "write" then each_run(part, at, extent, put) end
    local reply = ask_here(file, asked, total / 2 ^ 20)
    if reply:sub(1, 1) ~= "o" then return reply end
    if request == "read" then each_run(part, at, extent, take) end
  end
end

-- ---- reading -------------------------------------------------------------------------------------------

-- A new array of a shape, and where its elements are.
local function new_array(dtype, shape)
  local array = lgt.new(lgt.dense(dtype, shape))
  return array, (core.host(array, "w"))
end

local SHARED = 2 ^ 22 -- bytes that rank 0 sends the others at a time

-- Elements that rank 0 has got, or its reply instead; to all ranks.
local function share(reply, data, count)
  reply = ranks.complaint("reading a file", reply)
  local memory = ffi.cast("uint8_t *", data)
  for at = 0, reply and -1 or count - 1, SHARED do
    local n = math.min(SHARED, count - at)
    local text = ranks.shared("what rank 0 has read", function() return ffi.string(memory + at, n) end)()
    if not leads then ffi.copy(memory + at, text, n) end
  end
  return reply
end

-- Read a data set, or the part of it that an index such as "1:10, :" or {{1, 10}, {}} names.
---@param name string such as "results/x"
---@param key string|table|integer?
---@return lgt_array
function File:read(name, key)
  local what, set = subject("read", self, name), about(self, "read", name)
  local shape, part = select_part(set.shape, key, "hdf5 read")
  if key == nil and set.at and self.stream then
    local source = { image = { fd = ffi.C.fileno(self.stream) }, at = set.at, left = math.huge }
    return bytes.array(source, set.dtype, shape, {}, function(why) raise("hdf5 read: %s %s", what, why) end)
  end
  local array, p = new_array(set.dtype, shape)
  if core.product(shape) == 0 then return array end
  part.name = name
  local alone = ranks and self.mode ~= "r" -- only rank 0 has the file open
  local reply
  if leads or not alone then reply = move(self, "read", part, set, p) end
  if alone then reply = share(reply, p, core.product(shape) * dtypes.size[set.dtype])
  elseif ranks then reply = ranks.complaint("reading a file", reply) end
  if reply then
    lgt.free(array)
    refuse(self, "hdf5 read", what, reply)
  end
  return array
end

-- ---- writing -------------------------------------------------------------------------------------------

local write_options = { compression = true, chunks = true }

-- How a data set is laid out: in chunks, if it is compressed.  The level, or ""; the chunks' extents, or nil.
local function creation(shape, options)
  local level, chunks = options.compression, options.chunks
  if level == nil and chunks == nil then return "" end
  if level ~= nil and (not core.is_integer(level) or level < 0 or level > 9) then
    raise("hdf5 write: compression is a level from 0 to 9, not %s", (core.describe(level)))
  end
  if chunks ~= nil and (type(chunks) ~= "table" or #chunks ~= #shape) then
    raise("hdf5 write: chunks are given by their extents, one for each dimension")
  end
  if core.product(shape) == 0 or #shape == 0 then return "" end
  local sides = {}
  for d = 1, #shape do
    sides[d] = chunks and chunks[d] or math.min(shape[d], math.ceil(2 ^ (17 / #shape)))
    if not core.is_integer(sides[d]) or sides[d] < 1 or sides[d] > shape[d] then
      raise("hdf5 write: chunks: an extent from 1 to %d was expected for dimension %d", shape[d], d)
    end
  end
  return level or "", sides
end

-- The part of a part with `count` of its rows, from `first` on.
local function rows_of(part, first, count)
  local rows = { name = part.name, start = { unpack(part.start) }, count = { unpack(part.count) }, step = part.step }
  if #part.count > 0 then
    rows.start[part.rows] = part.start[part.rows] + first * part.step[part.rows]
    rows.count[part.rows] = count
  end
  return rows
end

-- Raise the error of an array that could not be computed, before the file is changed.
local function check_computed(a)
  local first = {}
  for d = 1, #core.shape_of(a) do first[d] = 1 end
  if core.size_of(a) == 0 then return end
  if #first > 0 then a(unpack(first)) else a:item() end
end

-- Rank 0 writes an array into a part of a data set.
local function write_part(file, who, name, part, set, a)
  local first, step, reply = 0, ranks and (set.chunk[part.rows] or 1) or math.huge, nil
  part.name = name
  if core.product(part.count) > 0 then
    local row = core.size_of(a) / (core.shape_of(a)[1] or 1) * dtypes.size[set.dtype]
    step = step * math.max(1, math.floor(BOX / row / step)) -- whole chunks
    for data, count in output.rows(a, step, true) do
      if leads and not reply then reply = move(file, "write", rows_of(part, first, count), set, data) end
      first = first + count
    end
  end
  if ranks then reply = ranks.complaint("writing a file", reply) end
  if reply then refuse(file, "hdf5 " .. who, ("%s: %s"):format(file.path, name), reply) end
  ask_about(file, who, name, { "flush" })
end

-- Every rank writes the tiles of an array that it owns, from a place in the file on.
local function write_tiles(file, name, at, a)
  lgt.flush()
  local fd, why = ffi.C.fileno(file.stream), nil
  if lgt.C.lgt_array_write(lgt.rt, a.id, fd, at) < 0 then why = ffi.string(lgt.C.lgt_message()) end
  if not why and not leads and ffi.C.fdatasync(fd) < 0 then why = bytes.why() end -- rank 0 may be on another machine
  why = ranks.complaint("writing a file", why)
  if why then raise("hdf5 write: %s: %s: %s", file.path, name, why) end
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
  subject("write", self, name)
  local level, chunk = creation(shape, options)
  local placed = ranks and not chunk
  check_computed(a)
  local request = { "create", name, dtypes.name[dtype], level, placed and "yes" or "", #shape, unpack(shape) }
  for d = 1, chunk and #shape or 0 do request[#request + 1] = chunk[d] end
  ask_about(self, "write", name, request)
  local at = placed and about(self, "write", name).at
  if at then return write_tiles(self, name, at, a) end
  local _, part = select_part(shape, nil, "hdf5 write")
  if not chunk then
    chunk = {}
    for d = 1, #shape do chunk[d] = 1 end
  end
  write_part(self, "write", name, part, { dtype = dtype, chunk = chunk }, a)
end

-- Write an array into the part of a data set that an index names.  Waits.
---@param name string
---@param key string|table|integer
---@param a lgt_array|number
function File:update(name, key, a)
  check_mode(self, "update")
  subject("update", self, name)
  local set = about(self, "update", name)
  local shape, part = select_part(set.shape, key, "hdf5 update")
  local values = np.empty(shape, { dtype = dtypes.name[set.dtype] })
  values["..."] = a
  check_computed(values)
  write_part(self, "update", name, part, set, values)
end

-- Make a group, and those it lies in.
---@param name string such as "results/of today"
function File:group(name)
  check_mode(self, "group")
  ask_about(self, "group", name, { "group", name })
end

-- Take a data set or a group out of the file.
---@param name string
function File:delete(name)
  check_mode(self, "delete")
  ask_about(self, "delete", name, { "delete", name })
end

-- The names in a group, those of groups with a "/" behind them.
---@param name string? "/"
---@return string[]
function File:list(name) return (ask_about(self, "list", name or "/", { "list", name or "/" })) end

-- Shape and dtype of a data set.
---@param name string
---@return integer[] shape, string dtype
function File:about(name)
  subject("about", self, name)
  local set = about(self, "about", name)
  return setmetatable(set.shape, core.shape_meta), dtypes.name[set.dtype]
end

-- ---- attributes ----------------------------------------------------------------------------------------

-- The value of which the reply tells: text, a number, a boolean, an array.
local function value_of(file, what, list)
  local dtype, data, shape = dtypes.number[list[1]], list[2], {}
  for d = 3, #list do shape[d - 2] = tonumber(list[d]) end
  if list[1] == "text" then return data end
  if not dtype or core.product(shape) * dtypes.size[dtype] ~= #data then
    refuse(file, "hdf5 attribute", what, "e: the library contradicts itself")
  end
  local array, p = new_array(dtype, shape)
  ffi.copy(p, data, #data)
  return #shape == 0 and array:item() or array
end

-- An attribute of a data set or group ("/": of the file): its value, nil if it has none of that name; with a
-- value it is set.  Values are numbers, strings, booleans, arrays.  Without a key: the names of all.
---@param name string
---@param key string?
---@param value any
function File:attribute(name, key, value)
  if value ~= nil then check_mode(self, "attribute") end
  local what = subject("attribute", self, name)
  if key == nil then return (ask_about(self, "attribute", name, { "attributes", name })) end
  if type(key) ~= "string" then
    raise("hdf5 attribute: the name of an attribute was expected, not %s", (core.describe(key)))
  end
  check_text("hdf5 attribute", "the attribute's name", key)
  if value == nil then
    local list = ask_about(self, "attribute", name, { "attribute", name, key })
    if #list == 0 then return nil end
    return value_of(self, what, list)
  end
  if type(value) == "string" then
    check_text("hdf5 attribute", "the value", value)
    ask_about(self, "attribute", name, { "set_attribute", name, key, "text", value })
    return
  end
  value = np.asarray(value)
  local shape, dtype, data = core.shape_of(value), core.dtype_of(value), core.copy_out(value)
  local text = ffi.string(data, core.product(shape) * dtypes.size[dtype])
  ask_about(self, "attribute", name, { "set_attribute", name, key, dtypes.name[dtype], text, unpack(shape) })
end

return true
