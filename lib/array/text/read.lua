-- array/text/read.lua - numbers from text: np.loadtxt, np.genfromtxt, np.fromstring, np.fromfile.
--
-- The text lies in memory as a whole, with a zero byte behind it.  Lines are cut into fields, and a field is
-- converted where it lies: no strings are made of the fields unless a converter in Lua asks for them.  Elements
-- are collected as float64, int64, uint64, complex128 or bool, and cast at the end.

local bytes = require "array.io.bytes"
local core = require "array.core"
local ffi = require "ffi"

local lgt, dtypes, raise, np = core.lgt, core.dtypes, core.raise, core.np
local C = ffi.C

ffi.cdef [[
  void *memchr(const void *, int, size_t);
  void *memmem(const void *, size_t, const void *, size_t);
  void *newlocale(int, const char *, void *);
  double strtod_l(const char *, char **, void *);
]]

local readtext = {}

-- ---- texts ---------------------------------------------------------------------------------------------

local function of_string(text) return { p = ffi.cast("const uint8_t *", text), size = #text, owner = text } end

-- Memory of so many bytes, which the collector gives back, with what `memory` (nil: nothing) has.
local function grown(memory, size)
  local larger = lgt.memory(size, memory, true)
  if memory then ffi.gc(memory, nil) end
  return ffi.gc(larger, lgt.C.lgt_memory_free)
end

-- All that a source gives.
local function drained(source)
  local room, size = math.min(source.left, 65536) + 1, 0
  local memory = grown(nil, room)
  while true do
    local wanted = room - 1 - size
    local got = source:read(ffi.cast("char *", memory) + size, wanted)
    size = size + got
    if got < wanted or source.left == 0 then break end
    room = math.min(room * 2, size + source.left + 1)
    memory = grown(memory, room)
  end
  ffi.cast("char *", memory)[size] = 0
  return { p = ffi.cast("const uint8_t *", memory), size = size, owner = memory }
end

-- What to read from: the name of a file (compressed, if it ends in .gz), a list of lines, or a function that
-- gives one line after the other, as io.lines does.
local function text_of(from, who)
  if type(from) == "string" then
    local image = bytes.of_file(from, who)
    local source = bytes.region(image, 0, image.size)
    if from:sub(-3) == ".gz" then source = bytes.inflated(source, math.huge, who, true) end
    local text = drained(source)
    if source.damaged then raise("%s: %s is no complete file of gzip's", who, from) end
    image:close()
    text.name = from
    return text
  end
  local lines = from
  if type(from) == "function" then
    lines = {}
    for line in from do lines[#lines + 1] = line end
  end
  if type(lines) ~= "table" then
    raise("%s: the name of a file or a list of lines was expected, not %s", who, (core.describe(from)))
  end
  for i = 1, core.length_of_list(lines, who) do
    if type(lines[i]) ~= "string" then raise("%s: line %d is no string but %s", who, i, (core.describe(lines[i]))) end
  end
  local text = of_string(table.concat(lines, "\n"))
  text.name = "the text"
  return text
end

-- ---- one field -----------------------------------------------------------------------------------------

local SPACE, TAB, RETURN, NEWLINE, MINUS, PLUS, ZERO, NINE = 32, 9, 13, 10, 45, 43, 48, 57
local numeric = ffi.gc(C.newlocale(2, "C", nil), nil) -- LC_NUMERIC: a point is a point
local ending = ffi.new("char *[1]")

local function is_space(c) return c == SPACE or c == TAB or c == RETURN end

-- convert[dtype](p, from, to, out, at): whether p[from .. to - 1], which is not empty and has no blanks at its
-- ends, is such a number; then it is stored in out[at].
local convert = {}

local function real(p, from, to)
  local x = C.strtod_l(ffi.cast("const char *", p) + from, ending, numeric)
  local stop = ffi.cast("const uint8_t *", ending[0]) - p
  return x, stop, stop <= to and stop > from
end

-- strtod takes hexadecimal numbers and nan(...), which NumPy does not.
local function is_decimal(p, from, to)
  for i = from, to - 1 do
    if p[i] == 120 or p[i] == 88 or p[i] == 40 then return false end
  end
  return true
end

convert[dtypes.FLOAT64] = function(p, from, to, out, at)
  local x, stop, some = real(p, from, to)
  if not some or stop ~= to or not is_decimal(p, from, to) then return false end
  out[at] = x
  return true
end

local function digits(p, from, to, most)
  if from >= to then return false end
  local n = 0ULL
  for i = from, to - 1 do
    local c = p[i]
    if c < ZERO or c > NINE then return false end
    local d = c - ZERO
    if n > (most - d) / 10 then return false end
    n = n * 10 + d
  end
  return true, n
end

local MOST_NEGATIVE, MOST_POSITIVE = 0x8000000000000000ULL, 0x7fffffffffffffffULL

convert[dtypes.INT64] = function(p, from, to, out, at)
  local negative = p[from] == MINUS
  if negative or p[from] == PLUS then from = from + 1 end
  local some, n = digits(p, from, to, negative and MOST_NEGATIVE or MOST_POSITIVE)
  if some then out[at] = negative and -ffi.cast("int64_t", n) or ffi.cast("int64_t", n) end
  return some
end

convert[dtypes.UINT64] = function(p, from, to, out, at)
  if p[from] == PLUS then from = from + 1 end
  local some, n = digits(p, from, to, 0xffffffffffffffffULL)
  if some then out[at] = n end
  return some
end

local integer = ffi.new("int64_t[1]")
convert[dtypes.BOOL] = function(p, from, to, out, at)
  if not convert[dtypes.INT64](p, from, to, integer, 0) then return false end
  out[at] = integer[0] ~= 0
  return true
end

local LETTER_J, OPEN, CLOSE = 106, 40, 41
convert[dtypes.COMPLEX128] = function(p, from, to, out, at)
  if p[from] == OPEN and p[to - 1] == CLOSE then from, to = from + 1, to - 1 end
  if to <= from or is_space(p[from]) or not is_decimal(p, from, to) then return false end
  local re, stop, some = real(p, from, to)
  if not some then return false end
  local im = 0
  if stop < to and p[stop] == LETTER_J then
    re, im, stop = 0, re, stop + 1
  elseif stop < to then
    if p[stop] ~= PLUS and p[stop] ~= MINUS then return false end
    im, stop, some = real(p, stop, to)
    if not some or p[stop] ~= LETTER_J then return false end
    stop = stop + 1
  end
  local parts = ffi.cast("double *", out + at)
  parts[0], parts[1] = re, im
  return stop == to
end

local KINDS = { [0] = dtypes.BOOL, [2] = dtypes.FLOAT64, [3] = dtypes.COMPLEX128 }

-- The dtype in which elements of `dtype` are collected.
local function collected_as(dtype)
  local category = dtypes.category[dtype]
  if category ~= 1 then return KINDS[category] end
  return dtypes.signed[dtype] and dtypes.INT64 or dtypes.UINT64
end

-- ---- lines and fields ----------------------------------------------------------------------------------

-- Where the fields of p[from .. to - 1] lie: fields[2k - 1] and fields[2k] for the k-th.  Returns how many.
local function blank_separated(p, from, to, fields)
  local n, i = 0, from
  while true do
    while i < to and is_space(p[i]) do i = i + 1 end
    if i >= to then return n end
    fields[2 * n + 1] = i
    while i < to and not is_space(p[i]) do i = i + 1 end
    fields[2 * n + 2] = i
    n = n + 1
  end
end

local function separated_by(delimiter)
  return function(p, from, to, fields)
    local n, i = 0, from
    while i < to and is_space(p[i]) do i = i + 1 end
    if i == to and delimiter ~= TAB and delimiter ~= SPACE then return 0 end
    i = from
    repeat
      local stop = i
      while stop < to and p[stop] ~= delimiter do stop = stop + 1 end
      local first, last = i, stop
      while first < last and is_space(p[first]) do first = first + 1 end
      while last > first and is_space(p[last - 1]) do last = last - 1 end
      fields[2 * n + 1], fields[2 * n + 2] = first, last
      n, i = n + 1, stop + 1
    until stop >= to
    return n
  end
end

-- Where in p[from .. to - 1] a comment begins, or `to`.
local function before_comments(p, from, to, comments)
  for i = 1, #comments do
    local found = C.memmem(p + from, to - from, comments[i], #comments[i])
    if found ~= nil then to = ffi.cast("const uint8_t *", found) - p end
  end
  return to
end

local function check_words(words, who, what)
  if words == nil then return {} end
  if type(words) == "string" then words = { words } end
  if type(words) ~= "table" then raise("%s: %s is a string or a list of them", who, what) end
  for i = 1, core.length_of_list(words, who) do
    if type(words[i]) ~= "string" then raise("%s: %s is a string or a list of them", who, what) end
  end
  return words
end

local function check_count(n, who, what)
  if n == nil then return 0 end
  n = core.plain(n)
  if not core.is_integer(n) or n < 0 then
    raise("%s: %s is a number from 0 up, not %s", who, what, (core.describe(n)))
  end
  return n
end

-- Calls row(fields, count, line number) for each line that is not empty.
local function each_line(text, how, row)
  local p, size, at, line = text.p, text.size, 0, 0
  local fields = {}
  while at < size do
    local newline = C.memchr(p + at, NEWLINE, size - at)
    local to = newline == nil and size or tonumber(ffi.cast("const uint8_t *", newline) - p)
    line = line + 1
    if line > how.skip then
      local stop = before_comments(p, at, to, how.comments)
      local count = how.cut(p, at, tonumber(stop), fields)
      if count > 0 and row(fields, count, line) == false then return end
    end
    at = to + 1
  end
end

-- ---- rows of an array ----------------------------------------------------------------------------------

local function new_rows(dtype) return { dtype = dtype, count = 0, room = 0, size = dtypes.size[dtype] } end

-- Room for `extra` elements more.  The pointer to all of them.
local function reserve(rows, extra)
  if rows.count + extra > rows.room then
    rows.room = math.max(2 * rows.room, rows.count + extra, 1024)
    rows.memory = grown(rows.memory, rows.room * rows.size)
    rows.p = ffi.cast(dtypes.pointer[rows.dtype], rows.memory)
  end
  return rows.p
end

-- The rows as an array of `dtype`.
local function finished(rows, shape, dtype, who, where)
  reserve(rows, 0)
  if not rows.p then rows.p = core.host_memory(rows.dtype, 1) end
  local p = rows.p
  if dtypes.category[dtype] == 1 and dtypes.size[dtype] < 8 then
    local low, high = dtypes.range_of(dtype)
    for i = 0, rows.count - 1 do
      if p[i] < low or p[i] > high then
        raise("%s: %s: %s is no %s", who, where, tostring(p[i]):gsub("U?LL$", ""), dtypes.name[dtype])
      end
    end
  end
  if rows.memory then ffi.gc(rows.memory, nil) end
  local array = core.adopt(rows.dtype, shape, rows.p)
  return dtype == rows.dtype and array or array:astype(dtypes.name[dtype])
end

-- NumPy's: without dimensions of extent 1 as long as `least` are left.
local function shaped(array, least)
  if array.ndim > least then array = np.squeeze(array) end
  if array.ndim < least then
    array = np.atleast_1d(array)
    if least == 2 and array.ndim == 1 then array = np.expand_dims(array, 2) end
  end
  return array
end

-- The fields to use: positions from 1, or negative ones from the last.
local function chosen(columns, count, who, line)
  local list = {}
  for i, k in ipairs(columns) do
    local at = k < 0 and count + 1 + k or k
    if not core.is_integer(k) or k == 0 then raise("%s: usecols: columns count from 1", who) end
    if at < 1 or at > count then
      raise("%s: usecols: there is no column %d: line %d has %d columns", who, k, line, count)
    end
    list[i] = at
  end
  return list
end

-- What may become an element.
local function check_value(value, who, what)
  value = core.plain(value)
  local t = type(value)
  if t == "number" or t == "boolean" or t == "cdata" and not core.is_array(value) then return value end
  raise("%s: %s gives elements, not %s", who, what, (core.describe(value)))
end

-- Reads rows and gives them as an array.
--   how: cut, comments, skip, most, footer, columns, dtype, ndmin, converters, unpack
--   how.missing(out, at, column): stores what stands for a field that is no number
--   how.uneven(line, count, wanted): a line with another number of columns; raises, or the line is left out
local function read(text, how, who)
  local kind = collected_as(how.dtype)
  local rows, one = new_rows(kind), convert[kind]
  local p, width, height, columns = text.p, nil, 0, nil
  local converters = how.converters
  local function refuse(line, column, from, to)
    raise("%s: %s, line %d, column %d: %q is no %s", who, text.name, line, column,
      ffi.string(p + from, math.min(to - from, 40)), dtypes.name[how.dtype])
  end
  local function row(fields, count, line)
    if height >= how.most then return false end
    width = width or count
    if not columns and how.columns then columns = chosen(how.columns, count, who, line) end
    if count ~= width and (not columns or how.strict) then return how.uneven(line, count, width) end
    if columns and count < width then chosen(how.columns, count, who, line) end
    local used = columns and #columns or count
    local out = reserve(rows, used)
    for k = 1, used do
      local column = columns and columns[k] or k
      local from, to = fields[2 * column - 1], fields[2 * column]
      local f = converters and converters[column]
      local stored
      if f then
        out[rows.count + k - 1] = check_value(f(ffi.string(p + from, to - from)), who, "a converter")
        stored = true
      else
        stored = from < to and one(p, from, to, out, rows.count + k - 1)
      end
      if not stored and not (how.missing and how.missing(out, rows.count + k - 1, column)) then
        refuse(line, column, from, to)
      end
    end
    rows.count, height = rows.count + used, height + 1
  end
  each_line(text, how, row)
  if how.footer then
    local used = columns and #columns or width or 0
    height = math.max(0, height - how.footer)
    rows.count = height * used
  end
  local shape = height > 0 and { height, columns and #columns or width } or { 0 }
  return shaped(finished(rows, shape, how.dtype, who, text.name), how.ndmin)
end

local function results(array, unpacked)
  if not unpacked or array.ndim == 0 then return array end
  local columns = {}
  array = array.T
  for i = 1, #array do columns[i] = array[i] end
  return unpack(columns)
end

-- The words between the commas of a text.
local function words_of(text)
  local words = {}
  for word in (text .. ","):gmatch("%s*(.-)%s*,") do words[#words + 1] = word end
  return words
end

-- ---- names of columns ----------------------------------------------------------------------------------

-- Names as NumPy makes them of words: without signs, none empty, no two alike.
local function valid_names(words)
  local names, seen = {}, {}
  for k, word in ipairs(words) do
    local name = word:gsub(" ", "_"):gsub("[]~!@#$%%^&*()%-=+\\|}[{';:/?.>,<]", "")
    if name == "" then name = "f" .. k - 1 end
    if name == "return" or name == "file" or name == "print" then name = name .. "_" end
    local count = seen[name] or 0
    seen[name] = count + 1
    names[k] = count > 0 and ("%s_%d"):format(name, count) or name
  end
  return names
end

-- The words of the first line that has any, perhaps behind the sign of a comment; rows begin below it.
local function names_above(text, how)
  local words = {}
  each_line(text, { skip = how.skip, comments = {}, cut = how.cut }, function(fields, count, line)
    local row = ffi.string(text.p + fields[1], fields[2 * count] - fields[1])
    for _, comment in ipairs(how.comments) do
      if row:sub(1, #comment) == comment then row = row:sub(#comment + 1) end
    end
    for _, comment in ipairs(how.comments) do row = row:sub(1, (row:find(comment, 1, true) or #row + 1) - 1) end
    how.skip = line
    local p = ffi.cast("const uint8_t *", row)
    for k = 1, how.cut(p, 0, #row, fields) do
      words[k] = ffi.string(p + fields[2 * k - 1], fields[2 * k] - fields[2 * k - 1])
    end
    return #words == 0 and nil
  end)
  return words
end

-- What the option names says.
local function names_of(names, text, how, who)
  if names == nil or names == false then return nil end
  if names == true then return valid_names(names_above(text, how)) end
  return valid_names(type(names) == "string" and words_of(names) or check_words(names, who, "names"))
end

-- The columns of a matrix by their names, in a table; where `unpacked`, one after the other.
local function named_columns(matrix, names, used, how, unpacked)
  local columns, by_name = {}, {}
  local few = used and #names <= #used -- the names are those of the columns that are used
  for k = 1, matrix.ndim == 2 and matrix.shape[2] or 0 do
    local at = used and not few and used[k] or k
    if at < 0 then at = #names + 1 + at end
    columns[k] = shaped(matrix[{ {}, k }], how.ndmin)
    by_name[names[at] or "f" .. k - 1] = columns[k]
  end
  if unpacked then return unpack(columns) end
  return by_name
end

local function check_delimiter(delimiter, who)
  if delimiter == nil then return blank_separated end
  if type(delimiter) ~= "string" or #delimiter ~= 1 or delimiter == "\n" or delimiter == "\r" then
    raise("%s: the delimiter is one character, not %s", who, (core.describe(delimiter)))
  end
  return separated_by(delimiter:byte())
end

local NAMES_WANTED = "%s: %s: %q: columns are numbered from 1; names are for np.genfromtxt where the option names " ..
  "gives them, or says (true) that the first line does"

local function check_columns(columns, who)
  if columns == nil then return nil end
  local list = type(columns) == "string" and words_of(columns) or core.as_list(columns)
  if not list then raise("%s: usecols is a list of columns, from 1", who) end
  core.length_of_list(type(columns) == "table" and columns or list, who)
  for _, k in ipairs(list) do
    if type(k) ~= "string" and not core.is_integer(k) then
      raise("%s: usecols is a list of columns, from 1, not %s", who, (core.describe(k)))
    end
  end
  return list
end

-- The number of a column that may have been named.
local function numbered(column, names, who, what)
  if type(column) ~= "string" then return column end
  if not names then raise(NAMES_WANTED, who, what, column) end
  for k, name in ipairs(names) do
    if name == column then return k end
  end
  raise("%s: %s: there is no column %q; there are %s", who, what, column, table.concat(names, ", "))
end

-- Values by column, some perhaps by its name, all by its number.
local function by_number(values, names, who, what)
  if type(values) ~= "table" or getmetatable(values) then return values end
  local result = {}
  for column, value in pairs(values) do result[numbered(column, names, who, what)] = value end
  return result
end

local function check_converters(converters, who)
  if type(converters) == "function" then
    return setmetatable({}, { __index = function() return converters end })
  end
  if converters ~= nil and type(converters) ~= "table" then
    raise("%s: converters are a table of functions by column, from 1", who)
  end
  return converters
end

-- Columns that were named, by their numbers.
local function use_names(how, names, who)
  for i, column in ipairs(how.columns or {}) do how.columns[i] = numbered(column, names, who, "usecols") end
  how.converters = by_number(how.converters, names, who, "converters")
end

local function check_ndmin(n, who)
  if n ~= nil and n ~= 0 and n ~= 1 and n ~= 2 then raise("%s: ndmin is 0, 1 or 2", who) end
  return n or 0
end

-- What both functions of files take.
local function common(options, who, skip)
  return {
    dtype = options.dtype and core.check_dtype(options.dtype, who) or dtypes.FLOAT64,
    cut = check_delimiter(options.delimiter, who),
    comments = options.comments == false and {} or check_words(options.comments or "#", who, "comments"),
    skip = check_count(options[skip], who, skip),
    most = options.max_rows and check_count(options.max_rows, who, "max_rows") or math.huge,
    columns = check_columns(options.usecols, who),
    converters = check_converters(options.converters, who),
    ndmin = check_ndmin(options.ndmin, who),
  }
end

local load_options = {
  dtype = true, comments = true, delimiter = true, converters = true, skiprows = true, usecols = true, unpack = true,
  ndmin = true, max_rows = true,
}

-- Read a table of numbers, a row from each line.  Options: dtype; delimiter, one character (else blanks);
-- comments, what a comment begins with ("#"; a list, or false); skiprows, max_rows; usecols, columns from 1;
-- converters, functions of a field's text by column; ndmin; unpack, for a result for each column.
---@param from string|string[]|fun(): string a file's name (.gz: compressed), lines, or what gives them
---@param options table?
---@return lgt_array ...
function np.loadtxt(from, options)
  options = core.check_options(options, load_options, "loadtxt")
  local how = common(options, "loadtxt", "skiprows")
  use_names(how, nil, "loadtxt")
  local text = text_of(from, "loadtxt")
  function how.uneven(line, count, wanted)
    raise("loadtxt: %s, line %d has %d columns, the lines before it have %d; usecols chooses columns", text.name, line,
      count, wanted)
  end
  return results(read(text, how, "loadtxt"), options.unpack)
end

local generic_options = {
  dtype = true, comments = true, delimiter = true, converters = true, skip_header = true, skip_footer = true,
  missing_values = true, filling_values = true, usecols = true, unpack = true, ndmin = true, max_rows = true,
  invalid_raise = true, names = true,
}

local DEFAULTS = { [0] = false, [1] = -1, [2] = 0 / 0, [3] = ffi.typeof("complex double")(0 / 0, 0) }

-- What np.genfromtxt stores for fields that are missing or no numbers.
local function substitute(filling, how, who)
  local default = DEFAULTS[dtypes.category[how.dtype]]
  local values = {}
  for column, value in pairs(type(filling) == "table" and filling or {}) do
    values[column] = check_value(value, who, "filling_values")
  end
  if filling ~= nil and type(filling) ~= "table" then default = check_value(filling, who, "filling_values") end
  return function(out, at, column)
    local value = values[column]
    if value == nil then value = default end
    out[at] = value
    return true
  end
end

-- As np.loadtxt, for tables with holes: what is missing, or no number, becomes NaN (-1, false), or what
-- filling_values says (a value, or values by column).  Options besides: skip_header and skip_footer, numbers of
-- lines; invalid_raise (true), whether lines with another number of columns are refused or left out; names, a list of
-- names of the columns, or true: the first line has them.  With names the columns come as a table of arrays, `t.x`, and
-- usecols, converters and filling_values may name them.
---@param from string|string[]|fun(): string
---@param options table?
---@return lgt_array|table ...
function np.genfromtxt(from, options)
  local who = "genfromtxt"
  options = core.check_options(options, generic_options, who)
  local how = common(options, who, "skip_header")
  how.footer = check_count(options.skip_footer, who, "skip_footer")
  check_words(options.missing_values, who, "missing_values") -- with no effect, as in NumPy where there are no masks
  local text = text_of(from, who)
  local names = names_of(options.names, text, how, who)
  use_names(how, names, who)
  how.missing = substitute(by_number(options.filling_values, names, who, "filling_values"), how, who)
  how.strict = true
  function how.uneven(line, count, wanted)
    if options.invalid_raise == false then return end
    raise("genfromtxt: %s, line %d has %d columns, the lines before it have %d; invalid_raise = false leaves it out",
      text.name, line, count, wanted)
  end
  if not names then return results(read(text, how, who), options.unpack) end
  local least = how.ndmin
  how.ndmin = 2
  local matrix = read(text, how, who)
  how.ndmin = math.min(least, 1)
  return named_columns(matrix, names, how.columns, how, options.unpack)
end

-- ---- lists of numbers ----------------------------------------------------------------------------------

-- All numbers in a text, whatever its lines.
local function list_of(text, dtype, separator, most, who)
  local kind = collected_as(dtype)
  local rows, p = new_rows(kind), text.p
  local blank = separator:find("^%s*$")
  local cut = blank and blank_separated or check_delimiter((separator:gsub("%s", "")), who)
  each_line(text, { skip = 0, comments = {}, cut = cut }, function(found, count, line)
    for k = 1, count do
      if rows.count >= most then return false end
      local from, to = found[2 * k - 1], found[2 * k]
      local last = k == count and from == to -- a separator at the end of a line
      if not last and not (from < to and convert[kind](p, from, to, reserve(rows, 1), rows.count)) then
        raise("%s: %s, line %d: %q is no %s", who, text.name, line, ffi.string(p + from, math.min(to - from, 40)),
          dtypes.name[dtype])
      end
      if not last then rows.count = rows.count + 1 end
    end
  end)
  return finished(rows, { rows.count }, dtype, who, text.name)
end

local list_options = { dtype = true, sep = true, count = true, offset = true }

local function check_list(options, who)
  options = core.check_options(options, list_options, who)
  local dtype = options.dtype and core.check_dtype(options.dtype, who) or dtypes.FLOAT64
  local count = core.plain(options.count)
  if count == nil or count == -1 then count = math.huge else check_count(count, who, "count") end
  if options.sep ~= nil and type(options.sep) ~= "string" then raise("%s: sep is a string", who) end
  return dtype, count, options.sep, check_count(options.offset, who, "offset")
end

-- The numbers in a string, separated by blanks or by what the option sep says.  Options besides: dtype, count.
---@param text string
---@param options {dtype: string?, sep: string?, count: integer?}?
---@return lgt_array
function np.fromstring(text, options)
  if type(text) ~= "string" then raise("fromstring: a string was expected, not %s", (core.describe(text))) end
  local dtype, count, separator = check_list(options, "fromstring")
  local source = of_string(text)
  source.name = "the text"
  return list_of(source, dtype, separator or " ", count, "fromstring")
end

-- The elements in a file: their bytes, or with the option sep text.  Options besides: dtype, count (of elements),
-- offset (in bytes).
---@param path string
---@param options {dtype: string?, sep: string?, count: integer?, offset: integer?}?
---@return lgt_array
function np.fromfile(path, options)
  local dtype, count, separator, offset = check_list(options, "fromfile")
  if separator and separator ~= "" then
    return list_of(text_of(path, "fromfile"), dtype, separator, count, "fromfile")
  end
  local image, size = bytes.of_file(path, "fromfile"), dtypes.size[dtype]
  if offset > image.size then
    raise("fromfile: %s has %d bytes; the offset is %d", path, image.size, offset)
  end
  count = math.min(count, math.floor((image.size - offset) / size))
  local array = bytes.array(bytes.region(image, offset, count * size), dtype, { count }, {},
    function(why) raise("fromfile: %s %s", path, why) end)
  image:close()
  return array
end

return readtext
