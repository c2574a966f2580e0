-- array/text/write.lua - numbers as text in files: np.savetxt, a:tofile.

local bytes = require "array.io.bytes"
local core = require "array.core"
local ffi = require "ffi"
local output = require "array.io.output"

local dtypes, raise, np, methods = core.dtypes, core.raise, core.np, core.methods

local save_options = { fmt = true, delimiter = true, newline = true, header = true, footer = true, comments = true }

local function string_option(options, name, default)
  local value = options[name]
  if value == nil then return default end
  if type(value) ~= "string" then
    raise("savetxt: %s is a string, not %s", name, (core.describe(value)))
  end
  return value
end

local function conversions(format)
  local _, count = format:gsub("%%%%", ""):gsub("%%", "")
  return count
end

-- The format of a row, and how many numbers it takes for each column.
local function row_format(fmt, delimiter, columns, complex)
  local parts = complex and 2 or 1
  if type(fmt) == "table" then
    if #fmt ~= columns then raise("savetxt: %d formats for %d columns", #fmt, columns) end
    return table.concat(fmt, delimiter)
  end
  if type(fmt) ~= "string" then raise("savetxt: fmt is a format or a list of them, not %s", (core.describe(fmt))) end
  local count = conversions(fmt)
  if count == 1 then
    if complex then fmt = (" (%s+%sj)"):format(fmt, fmt) end
    local list = {}
    for k = 1, columns do list[k] = fmt end
    return table.concat(list, delimiter)
  end
  if count ~= columns * parts then
    raise("savetxt: %q formats %d numbers, a row has %d", fmt, count, columns * parts)
  end
  return fmt
end

-- Text goes to a file, through gzip's compression if its name ends in .gz.
local function writer(path, who)
  local file, complete = bytes.open(path, "wb", who), true
  local function put(pointer, count)
    complete = tonumber(ffi.C.fwrite(pointer, 1, count, file)) == count and complete
  end
  local deflate = path:sub(-3) == ".gz" and bytes.deflater(put, who, true)
  local function write(text) return (deflate or put)(text, #text) end
  return write, function()
    if deflate then deflate() end
    if not bytes.close(file) or not complete then
      raise("%s: %s: the file could not be written completely", who, path)
    end
  end
end

local PIECE = 512 -- rows that are written at once

-- Calls put(text) for the rows of a matrix in memory.
local function each_row(p, rows, columns, dtype, format, put)
  local values, complex, pieces = {}, dtypes.category[dtype] == 3, {}
  local to_lua = dtypes.to_lua
  for r = 0, rows - 1 do
    for c = 0, columns - 1 do
      local x = to_lua(dtype, p[r * columns + c])
      if complex then
        values[2 * c + 1], values[2 * c + 2] = tonumber(x.re), tonumber(x.im)
      elseif type(x) == "boolean" then
        values[c + 1] = x and 1 or 0
      else
        values[c + 1] = type(x) == "cdata" and not format:find("%%[-+ #0]*%d*%.?%d*[dius]") and tonumber(x) or x
      end
    end
    local line = format:format(unpack(values))
    pieces[#pieces + 1] = complex and line:gsub("%+%-", "-") or line
    if #pieces == PIECE then
      put(table.concat(pieces))
      pieces = {}
    end
  end
  put(table.concat(pieces))
end

-- Write a vector (a number in each line) or a matrix (a row in each line) as text.  Options: fmt ("%.18e"), a
-- format for each number, a list of them for the columns, or one for the whole row; delimiter (" "); newline;
-- header and footer, text with comments ("# ") before each line.  Waits.
---@param path string if it ends in .gz, the file is compressed
---@param a lgt_array
---@param options table?
function np.savetxt(path, a, options)
  if type(path) ~= "string" then raise("savetxt: a file name was expected, not %s", (core.describe(path))) end
  options = core.check_options(options, save_options, "savetxt")
  a = np.asarray(a)
  local shape, dtype = core.shape_of(a), core.dtype_of(a)
  if #shape ~= 1 and #shape ~= 2 then
    raise("savetxt: a vector or a matrix was expected, not %d dimensions", #shape)
  end
  local delimiter, newline = string_option(options, "delimiter", " "), string_option(options, "newline", "\n")
  local comments = string_option(options, "comments", "# ")
  local columns = shape[2] or 1
  local format = row_format(options.fmt or "%.18e", delimiter, columns, dtypes.category[dtype] == 3) .. newline
  local correct, why = pcall(format.format, format, unpack(np.zeros(columns * 2):totable()))
  if not correct then raise("savetxt: fmt: %s", (tostring(why):gsub("^bad argument #%d+ to '[^']*' ", ""))) end
  local put, close = writer(path, "savetxt")
  local function remark(text)
    if text ~= "" then put(comments .. text:gsub("\n", function(c) return c .. comments end) .. newline) end
  end
  remark(string_option(options, "header", ""))
  for data, rows in output.rows(a) do each_row(data, rows, columns, dtype, format, put) end
  remark(string_option(options, "footer", ""))
  close()
end

-- Write the elements in C order: their bytes, or as text with `sep` between them.  np.fromfile reads them.  Waits.
---@param path string
---@param sep string? "": bytes
function methods.tofile(a, path, sep)
  core.layout_of(a, "tofile")
  if type(path) ~= "string" then raise("tofile: a file name was expected, not %s", (core.describe(path))) end
  if sep ~= nil and type(sep) ~= "string" then raise("tofile: sep is a string, not %s", (core.describe(sep))) end
  if (sep == nil or sep == "") and path:sub(-3) ~= ".gz" then
    output.write(path, "tofile", function(out) out:array(a) end)
    return
  end
  local dtype = core.dtype_of(a)
  local put, close = writer(path, "tofile")
  local before = ""
  for data, _, count in output.rows(a) do
    if sep == nil or sep == "" then
      put(ffi.string(data, count * dtypes.size[dtype]))
    else
      local words = {}
      for i = 0, count - 1 do
        local x = dtypes.to_lua(dtype, data[i])
        words[i + 1] = type(x) == "number" and ("%.17g"):format(x) or tostring(x):gsub("U?LL$", "")
      end
      put(before .. table.concat(words, sep))
      before = sep
    end
  end
  close()
end

return true
