-- sparse/files.lua - matrices in files: SciPy's .npz, and Matrix Market.

local bytes = require "array.bytes"
local ffi = require "ffi"
local sparse = require "sparse.core"
local np, core, dtypes, raise = sparse.np, sparse.array, sparse.dtypes, sparse.raise
local npy = require "array.npy"
local sp = sparse.sp
local C = ffi.C

-- ---- npz -------------------------------------------------------------------------------------------------------

-- Text as an array of bytes of no dimensions, which np.save does not know.
local function text_member(name, text)
  local header = ("{'descr': '|S%d', 'fortran_order': False, 'shape': (), }"):format(#text)
  header = header .. (" "):rep(63 - (10 + #header) % 64) .. "\n"
  local all = "\147NUMPY\1\0" .. string.char(#header, 0) .. header .. text
  return { name = name .. ".npy", size = #all, put = function(out) out:put(all) end }
end

local function arrays_of(a)
  if a.format == "coo" then return { row = a.rows, col = a.cols, data = a.vals } end
  if a.format == "dia" then
    return { offsets = np.array(a.offs, { dtype = "int32" }), data = a.diagonals }
  end
  local c = a.format == "csc" and a.t or a
  return { indices = c.crd, indptr = c.pos, data = c.vals }
end

-- Write a matrix as SciPy's save_npz does.
---@param path string ".npz" is added to a name without it
---@param a table matrix
---@param compressed boolean? true
function sp.save_npz(path, a, compressed)
  sparse.take_matrix(a, "save_npz")
  if type(path) ~= "string" then raise("save_npz: a file name was expected, not %s", core.describe(path)) end
  if path:sub(-4) ~= ".npz" then path = path .. ".npz" end
  local members = { text_member("format", a.format) }
  local arrays = arrays_of(a)
  arrays.shape = np.array({ a.m, a.n }, { dtype = "int64" })
  for _, name in ipairs { "shape", "row", "col", "offsets", "indices", "indptr", "data" } do
    if arrays[name] then
      members[#members + 1] = npy.member(name, arrays[name])
    end
  end
  require("array.zip").write(path, members, compressed ~= false, "save_npz")
end

-- The text in a member: what follows its header.
local function text_of(image, member, path)
  if member.size > 4096 then raise("load_npz: %s: its format has %.0f bytes", path, member.size) end
  local source = require("array.zip").source(image, member, "load_npz", path)
  local all = bytes.take(source, member.size) or ""
  return all:match("\n([%l]+)%z*$") or ""
end

-- Read a matrix that SciPy's save_npz or ours has written.
---@param path string
---@return table matrix
function sp.load_npz(path)
  local image = bytes.of_file(path, "load_npz")
  local format, arrays = nil, {}
  for _, member in ipairs(require("array.zip").members(image, "load_npz", path)) do
    local name = member.name:match("^(.*)%.npy$")
    if name == "format" then format = text_of(image, member, path)
    elseif name then arrays[name] = npy.decode_member(image, member, "load_npz", path) end
  end
  image:close()
  local function need(name)
    if not arrays[name] then raise("load_npz: %s holds no array %q: is it a sparse matrix?", path, name) end
    return arrays[name]
  end
  local extents = need("shape"):totable()
  local shape = { tonumber(extents[1]), tonumber(extents[2]) }
  local make = sp[tostring(format) .. "_matrix"]
  if not make then
    raise("load_npz: %s holds a matrix of format %q; csr, csc, coo and dia are read", path, format or "none")
  end
  if format == "coo" then return make({ need "data", { need "row", need "col" } }, { shape = shape, base = 0 }) end
  if format == "dia" then return make({ need "data", need "offsets" }, { shape = shape }) end
  return make({ need "data", need "indices", need "indptr" }, { shape = shape, base = 0 })
end

-- ---- Matrix Market -----------------------------------------------------------------------------------------------

-- Boisvert, Pozo, Remington, "The Matrix Market exchange formats" (NIST IR 5935, 1996).
local FIELDS = { real = "float64", double = "float64", integer = "int64", complex = "complex128", pattern = "float64",
                 ["unsigned-integer"] = "uint64" }
local SYMMETRIES = { general = true, symmetric = true, ["skew-symmetric"] = true, hermitian = true }

-- A file's text in memory, with a zero byte behind it.
local function text_of_file(path, who)
  local image = bytes.of_file(path, who)
  local memory = ffi.gc(C.calloc(image.size + 1, 1), C.free)
  if memory == nil then raise("%s: %s: out of memory", who, path) end
  local size = tonumber(image:read_at(0, memory, image.size))
  image:close()
  return ffi.cast("const uint8_t *", memory), size, memory
end

local NEWLINE, SPACE, TAB, RETURN, PERCENT, ZERO, NINE, MINUS, PLUS = 10, 32, 9, 13, 37, 48, 57, 45, 43

-- The next integer at or behind `at`: its value and what follows it; nil if there is none.
local function integer(p, at, size)
  while at < size and (p[at] == SPACE or p[at] == TAB or p[at] == RETURN or p[at] == NEWLINE) do at = at + 1 end
  local negative = p[at] == MINUS
  if negative or p[at] == PLUS then at = at + 1 end
  local first, n = at, 0
  while p[at] >= ZERO and p[at] <= NINE do
    n = n * 10 + (p[at] - ZERO)
    at = at + 1
  end
  if at == first or n > 2 ^ 53 then return nil end
  return negative and -n or n, at
end

local ending = ffi.new("char *[1]")
local numeric

local function real(p, at)
  local x = C.strtod_l(ffi.cast("const char *", p) + at, ending, numeric)
  local stop = tonumber(ffi.cast("const uint8_t *", ending[0]) - p)
  if stop == at then return nil end
  return x, stop
end

-- The first line and the comments: object, format, field, symmetry, and where the sizes begin.
local function banner(p, size, refuse)
  local line_end = 0
  while line_end < size and p[line_end] ~= NEWLINE do line_end = line_end + 1 end
  local words = {}
  for word in ffi.string(p, math.min(line_end, 1024)):lower():gmatch("%S+") do words[#words + 1] = word end
  if words[1] ~= "%%matrixmarket" or words[2] ~= "matrix" then refuse("does not begin with %%MatrixMarket matrix") end
  local format, field, symmetry = words[3], words[4], words[5]
  if format ~= "coordinate" and format ~= "array" then refuse("is neither of format coordinate nor array") end
  if not FIELDS[field or ""] then refuse("has elements of an unknown kind") end
  if not SYMMETRIES[symmetry or ""] then refuse("has an unknown symmetry") end
  if field == "pattern" and format == "array" then refuse("is an array of a pattern, which says nothing") end
  local at = line_end + 1
  while at < size do -- comments and blank lines
    local first = at
    while first < size and (p[first] == SPACE or p[first] == TAB or p[first] == RETURN) do first = first + 1 end
    if first < size and p[first] ~= PERCENT and p[first] ~= NEWLINE then break end
    while at < size and p[at] ~= NEWLINE do at = at + 1 end
    at = at + 1
  end
  return format, field, symmetry, at
end

-- A value of a field into vals[k]; what follows it, or nil.
local function reader(field)
  if field == "pattern" then
    return function(_, at, _, vals, k)
      vals[k] = 1
      return at
    end
  elseif field == "integer" or field == "unsigned-integer" then
    return function(p, at, size, vals, k)
      local n, stop = integer(p, at, size)
      if n then vals[k] = n end
      return stop
    end
  elseif field == "complex" then
    local parts = ffi.typeof("double *")
    return function(p, at, _, vals, k)
      local re, im
      re, at = real(p, at)
      if not re then return nil end
      im, at = real(p, at)
      if not im then return nil end
      local v = ffi.cast(parts, vals)
      v[2 * k], v[2 * k + 1] = re, im
      return at
    end
  end
  return function(p, at, _, vals, k)
    local x, stop = real(p, at)
    if x then vals[k] = x end
    return stop
  end
end

local function read_entries(p, at, size, field, m, n, count, refuse)
  local index, kind = sparse.index_type(m, n, 2 * count), dtypes.number[FIELDS[field]]
  local rows, cols = core.host_memory(index, count), core.host_memory(index, count)
  local vals = core.host_memory(kind, count)
  local read, wrong = reader(field), nil
  for k = 0, count - 1 do
    local i, j
    i, at = integer(p, at, size)
    if not i then wrong = ("ends after %d of %d entries"):format(k, count) break end
    j, at = integer(p, at, size)
    local next_at = j and read(p, at, size, vals, k)
    if not next_at then wrong = ("has no numbers where entry %d should be"):format(k + 1) break end
    at = next_at
    if i < 1 or i > m or j < 1 or j > n then
      wrong = ("has entry %d at (%.0f, %.0f), outside of %d rows and %d columns"):format(k + 1, i, j, m, n)
      break
    end
    rows[k], cols[k] = i - 1, j - 1
  end
  while not wrong and at < size do
    if p[at] > SPACE then wrong = ("has more than the %d entries that it states"):format(count) end
    at = at + 1
  end
  if wrong then
    C.free(rows) C.free(cols) C.free(vals)
    refuse(wrong)
  end
  return core.adopt(index, { count }, rows), core.adopt(index, { count }, cols), core.adopt(kind, { count }, vals)
end

-- The other triangle of a symmetric matrix.
local function mirrored(symmetry, x)
  if symmetry == "skew-symmetric" then return -x end
  return symmetry == "hermitian" and np.conj(x) or x
end

local function read_coordinates(p, at, size, field, symmetry, refuse)
  local m, n, count
  m, at = integer(p, at, size)
  if m then n, at = integer(p, at, size) end
  if n then count, at = integer(p, at, size) end
  if not count or m < 0 or n < 0 or count < 0 then refuse("has no line with rows, columns and entries") end
  if count > (size - at + 1) / 4 then refuse(("states %.0f entries and is too short for them"):format(count)) end
  if symmetry ~= "general" and m ~= n then refuse("is symmetric but not square") end
  local rows, cols, vals = read_entries(p, at, size, field, m, n, count, refuse)
  if symmetry ~= "general" and count > 0 then
    local off = np.not_equal(rows, cols)
    local r, c, v = np.compress(off, rows), np.compress(off, cols), np.compress(off, vals)
    rows, cols = np.concatenate { rows, c }, np.concatenate { cols, r }
    vals = np.concatenate { vals, mirrored(symmetry, v) }
  end
  return sparse.coo(m, n, rows, cols, vals)
end

local function read_array(p, at, size, field, symmetry, refuse)
  local m, n
  m, at = integer(p, at, size)
  if m then n, at = integer(p, at, size) end
  if not n or m < 0 or n < 0 then refuse("has no line with rows and columns") end
  if symmetry ~= "general" and m ~= n then refuse("is symmetric but not square") end
  local count = m * n
  if symmetry == "skew-symmetric" then count = m * (m - 1) / 2
  elseif symmetry ~= "general" then count = m * (m + 1) / 2 end
  if count > (size - at + 1) / 2 then refuse(("states %.0f elements and is too short for them"):format(count)) end
  local kind = dtypes.number[FIELDS[field]]
  local vals, read = core.host_memory(kind, m * n), reader(field) -- by columns
  for j = 0, n - 1 do
    local first = symmetry == "general" and 0 or symmetry == "skew-symmetric" and j + 1 or j
    for i = first, m - 1 do
      at = at and read(p, at, size, vals, j * m + i)
    end
  end
  if not at then
    C.free(vals)
    refuse("ends too early, or has something else than numbers")
  end
  local a = core.adopt(kind, { n, m }, vals).T
  if symmetry == "general" then return np.copy(a) end
  return np.tril(a) + mirrored(symmetry, np.tril(a, -1).T)
end

-- Read a Matrix Market file: of format coordinate a matrix of format "coo", of format array an array.
---@param path string
---@return table|lgt_array
function sp.mmread(path)
  numeric = numeric or require("array.readtext") and C.newlocale(2, "C", nil)
  local p, size, memory = text_of_file(path, "mmread")
  local function refuse(why) raise("mmread: %s %s", path, why) end
  local format, field, symmetry, at = banner(p, size, refuse)
  local result = (format == "array" and read_array or read_coordinates)(p, at, size, field, symmetry, refuse)
  return memory and result
end

local function field_of(kind)
  local category = dtypes.category[kind]
  return category == 3 and "complex" or category == 2 and "real" or "integer"
end

local function formatter(field, precision)
  local real_format = precision and ("%%.%de"):format(precision - 1) or "%.17g"
  if field == "pattern" then return function() return "" end end
  if field == "integer" then return function(v) return " " .. tostring(v):gsub("U?LL$", "") end end
  if field == "complex" then
    local both = " " .. real_format .. " " .. real_format
    return function(v) return both:format(v.re, v.im) end
  end
  return function(v) return " " .. real_format:format(v) end
end

-- Write a matrix, sparse or dense, as a Matrix Market file.
---@param path string ".mtx" is added to a name without it
---@param a table|lgt_array
---@param options {comment: string?, field: string?, precision: integer?}? field "pattern" leaves the values out
function sp.mmwrite(path, a, options)
  options = core.check_options(options, { comment = true, field = true, precision = true }, "mmwrite")
  if type(path) ~= "string" then raise("mmwrite: a file name was expected, not %s", core.describe(path)) end
  if path:sub(-4) ~= ".mtx" then path = path .. ".mtx" end
  local is_sparse = sparse.is_matrix(a)
  if not is_sparse then a = np.asarray(a) end
  local kind = is_sparse and a.kind or core.dtype_of(a)
  local field = options.field or field_of(kind)
  if field ~= "pattern" and field ~= field_of(kind) then
    raise("mmwrite: elements of type %s are not written as %s", dtypes.name[kind], field)
  end
  local file, why = io.open(path, "w")
  if not file then raise("mmwrite: %s", why) end
  local write = formatter(field, options.precision)
  file:write("%%MatrixMarket matrix ", is_sparse and "coordinate" or "array", " ", field, " general\n%")
  file:write((options.comment or ""):gsub("\n", "\n%%"), "\n")
  if is_sparse then
    local c = a:tocoo()
    local rows, cols, vals = core.copy_out(c.rows), core.copy_out(c.cols), core.copy_out(c.vals)
    file:write(("%d %d %d\n"):format(a.m, a.n, c.nnz))
    for k = 0, c.nnz - 1 do file:write(("%d %d"):format(rows[k] + 1, cols[k] + 1), write(vals[k]), "\n") end
  else
    if core.ndim_of(a) ~= 2 then raise("mmwrite: a matrix was expected, not %s", core.describe(a)) end
    local m, n = a:dims()
    local vals = core.copy_out(np.copy(a.T))
    file:write(("%d %d\n"):format(m, n))
    for k = 0, m * n - 1 do file:write(write(vals[k]):sub(2), "\n") end
  end
  if not file:close() then raise("mmwrite: %s: the file could not be written completely", path) end
end

return true
