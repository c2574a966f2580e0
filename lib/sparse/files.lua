-- sparse/files.lua - matrices in files: SciPy's .npz, and Matrix Market.

local bytes = require "array.io.bytes"
local ffi = require "ffi"
local sparse = require "sparse.core"
local np, core, dtypes, raise = sparse.np, sparse.array, sparse.dtypes, sparse.raise
local lgt, ranks = core.lgt, core.lgt.ranks
local npy = require "array.io.npy"
local output = require "array.io.output"
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
  if a.format == "ell" then raise("save_npz: files of SciPy's have no format ell: save a:tocsr()") end
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
  require("array.io.zip").write(path, members, compressed ~= false, "save_npz")
end

-- The text in a member: what follows its header.
local function text_in(image, member, path)
  if member.size > 4096 then raise("load_npz: %s: its format has %.0f bytes", path, member.size) end
  local source = require("array.io.zip").source(image, member, "load_npz", path)
  local all = bytes.take(source, member.size) or ""
  return all:match("\n([%l]+)%z*$") or ""
end

local READABLE = { csr = true, csc = true, coo = true, dia = true, bsr = true }

-- Read a matrix that SciPy's save_npz or ours has written.
---@param path string
---@return table matrix
function sp.load_npz(path)
  local image = bytes.of_file(path, "load_npz")
  local format, arrays = nil, {}
  for _, member in ipairs(require("array.io.zip").members(image, "load_npz", path)) do
    local name = member.name:match("^(.*)%.npy$")
    if name == "format" then format = text_in(image, member, path)
    elseif name then arrays[name] = npy.decode_member(image, member, "load_npz", path) end
  end
  image:close()
  local function need(name)
    if not arrays[name] then raise("load_npz: %s holds no array %q: is it a sparse matrix?", path, name) end
    return arrays[name]
  end
  local extents = need "shape"
  if core.ndim_of(extents) ~= 1 or core.size_of(extents) ~= 2 then
    raise("load_npz: %s: its shape is %s; two extents were expected", path, core.describe(extents))
  end
  extents = extents:totable()
  local shape = { tonumber(extents[1]), tonumber(extents[2]) }
  if not READABLE[format] then
    raise("load_npz: %s holds a matrix of format %q; csr, csc, coo, dia and bsr are read", path, format or "none")
  end
  local make = sp[format .. "_matrix"]
  if format == "coo" then return make({ need "data", { need "row", need "col" } }, { shape = shape, base = 0 }) end
  if format == "dia" then return make({ need "data", need "offsets" }, { shape = shape }) end
  return make({ need "data", need "indices", need "indptr" }, { shape = shape, base = 0 })
end

-- ---- Matrix Market -----------------------------------------------------------------------------------------------

-- Boisvert, Pozo, Remington, "The Matrix Market exchange formats" (NIST IR 5935, 1996).
local FIELDS = { real = "float64", double = "float64", integer = "int64", complex = "complex128", pattern = "float64",
                 ["unsigned-integer"] = "uint64" }
local SYMMETRIES = { general = true, symmetric = true, ["skew-symmetric"] = true, hermitian = true }

-- The first bytes of a file in memory, with a zero byte behind them.
local function text_of(image, count, who, path)
  count = math.min(count, image.size)
  local memory = ffi.gc(C.calloc(count + 1, 1), C.free)
  if memory == nil then raise("%s: %s: out of memory", who, path) end
  local size = tonumber(image:read_at(0, memory, count))
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
  if not FIELDS[field or ""] then
    local kinds = "real, double, integer, unsigned-integer, complex or pattern"
    refuse(("has elements of an unknown kind, %q: %s was expected"):format(field or "", kinds))
  end
  if not SYMMETRIES[symmetry or ""] then
    refuse(("has an unknown symmetry, %q: general, symmetric, skew-symmetric or hermitian was expected")
      :format(symmetry or ""))
  end
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
  if field == "integer" or field == "unsigned-integer" then
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

local SLICE, SLICES = 2 ^ 18, 2048 -- bytes, at most; of smaller files as many as this
local kind_of_task

-- How many entries begin in each slice of the file, as running sums from 0.  Each rank counts in its share of them.
local function count_slices(market, refuse)
  local size, rank, slices = ranks and ranks.size or 1, ranks and ranks.rank or 0, tonumber(market.nslice)
  local share = math.ceil(slices / size)
  local counts = ffi.new("int64_t[?]", share)
  local first, past = math.min(rank * share, slices), math.min((rank + 1) * share, slices)
  local why
  if first < past and lgt.C.lgt_market_count(market, first, past, counts) < 0 then
    why = ffi.string(lgt.C.lgt_message())
  end
  if ranks then why = ranks.complaint("reading a file", why) end
  if why then refuse(why) end
  local all = counts
  if ranks then
    local text = ranks.gather("reading a file", ffi.string(counts, share * 8))
    all = ffi.new("int64_t[?]", share * size)
    ffi.copy(all, text, #text)
  end
  local sums = ffi.new("int64_t[?]", slices + 1)
  for i = 0, slices - 1 do sums[i + 1] = sums[i] + all[i] end
  return sums, tonumber(sums[slices])
end

-- The entries that begin at byte `at` of a file: every rank reads those that it owns.
local function read_entries(image, at, field, m, n, count, refuse)
  local index, kind = sparse.index_type(m, n, 2 * count), dtypes.number[FIELDS[field]]
  local slice = math.max(1024, math.min(SLICE, math.ceil((image.size - at) / SLICES)))
  local market = ffi.new("lgt_market", {
    begin = at, ["end"] = image.size, slice = slice, nslice = math.max(1, math.ceil((image.size - at) / slice)),
    rows = m, cols = n, fd = image.fd, pattern = field == "pattern" and 1 or 0,
  })
  local sums, total = count_slices(market, refuse)
  if total < count then refuse(("ends after %.0f of %.0f entries"):format(total, count)) end
  if total > count then refuse(("has more than the %.0f entries that it states"):format(count)) end
  market.first = sums
  local rows, cols = lgt.new(lgt.dense(index, { count })), lgt.new(lgt.dense(index, { count }))
  local vals = lgt.new(lgt.dense(kind, { count }))
  if count == 0 then return rows, cols, vals end
  kind_of_task = kind_of_task or lgt.C.lgt_kind_builtin(lgt.rt, "market", "www", "align(0.0,1.0,2.0)")
  local l = ffi.new("lgt_launch")
  l.kind, l.nargs, l.nparams = kind_of_task, 3, 1
  l.arg[0], l.arg[1], l.arg[2] = rows.id, cols.id, vals.id
  l.param[0].i = ffi.cast("intptr_t", ffi.cast("void *", market))
  lgt.flush()
  if lgt.C.lgt_carry_out(lgt.rt, l) < 0 then refuse(ffi.string(lgt.C.lgt_message())) end
  return rows, cols, vals
end

-- The other triangle of a symmetric matrix.
local function mirrored(symmetry, x)
  if symmetry == "skew-symmetric" then return -x end
  if symmetry ~= "hermitian" then return x end
  return sparse.is_matrix(x) and x:conj() or np.conj(x)
end

local function check_sizes(m, n, count, refuse)
  for what, number in pairs { rows = m, columns = n, entries = count } do
    if number < 0 then refuse(("states %.0f %s; 0 or more were expected"):format(number, what)) end
  end
end

local function read_coordinates(image, p, at, size, field, symmetry, refuse)
  local m, n, count
  m, at = integer(p, at, size)
  if m then n, at = integer(p, at, size) end
  if n then count, at = integer(p, at, size) end
  if not count then refuse("has no line with rows, columns and entries") end
  check_sizes(m, n, count, refuse)
  if count > (image.size - at + 1) / 4 then refuse(("states %.0f entries and is too short for them"):format(count)) end
  if symmetry ~= "general" and m ~= n then refuse("is symmetric but not square") end
  local rows, cols, vals = read_entries(image, at, field, m, n, count, refuse)
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
  if not n then refuse("has no line with rows and columns") end
  check_sizes(m, n, 0, refuse)
  if symmetry ~= "general" and m ~= n then refuse("is symmetric but not square") end
  local count = m * n
  if symmetry == "skew-symmetric" then count = m * (m - 1) / 2
  elseif symmetry ~= "general" then count = m * (m + 1) / 2 end
  if count > (size - at + 1) / 2 then refuse(("states %.0f elements and is too short for them"):format(count)) end
  local kind = dtypes.number[FIELDS[field]]
  local vals, read = core.host_memory(kind, m * n), reader(field) -- by columns
  for j = 0, (m > 0 and n or 0) - 1 do -- of no rows there may be any number of columns
    local first = symmetry == "general" and 0 or symmetry == "skew-symmetric" and j + 1 or j
    for i = first, m - 1 do
      at = at and read(p, at, size, vals, j * m + i)
    end
  end
  if not at then
    lgt.C.lgt_memory_free(vals)
    refuse("ends too early, or has something else than numbers")
  end
  local a = core.adopt(kind, { n, m }, vals).T
  if symmetry == "general" then return np.copy(a) end
  return np.tril(a) + mirrored(symmetry, np.tril(a, -1).T)
end

-- What precedes the entries, in a piece of the file that has all of that: nil if this has not.
local function head_of(p, size, whole, refuse)
  local format, field, symmetry, at = banner(p, size, refuse)
  local stop = at
  while stop < size and p[stop] ~= NEWLINE do stop = stop + 1 end
  if stop < size or whole then return format, field, symmetry, at end
end

-- What cannot be positioned, as a pipe, in a file of its own.
local function spooled(image)
  if image.fd then return image, function() image:close() end end
  local file = C.tmpfile()
  if file ~= nil then ffi.gc(file, C.fclose) end
  if file == nil or C.fwrite(image.text, 1, image.size, file) ~= image.size or C.fflush(file) ~= 0 then
    raise("mmread: a temporary file could not be written: %s", bytes.why())
  end
  return { size = image.size, fd = C.fileno(file), read_at = function(_, ...) return image:read_at(...) end },
    function() bytes.close(file) end
end

local HEAD = 2 ^ 16

-- Read a Matrix Market file: of format coordinate a matrix of format "coo", of format array an array.  Of the former
-- each rank reads its share of the entries, one of which stands on each line.
---@param path string
---@return table|lgt_array
function sp.mmread(path)
  numeric = numeric or require("array.text.read") and C.newlocale(2, "C", nil)
  local function refuse(why) raise("mmread: %s %s", path, why) end
  local image, close = spooled(bytes.of_file(path, "mmread"))
  local p, size, memory, format, field, symmetry, at
  local count = HEAD
  repeat
    p, size, memory = text_of(image, count, "mmread", path)
    format, field, symmetry, at = head_of(p, size, count >= image.size, refuse)
    count = count * 4
  until format
  local result
  if format == "coordinate" then
    result = read_coordinates(image, p, at, size, field, symmetry, refuse)
  else
    p, size, memory = text_of(image, image.size, "mmread", path)
    result = read_array(p, at, size, field, symmetry, refuse)
  end
  close()
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

local ENTRIES = 2 ^ 16 -- that are written at once

local function put_entries(out, a, write)
  local c = a:tocoo()
  out:put(("%d %d %d\n"):format(a.m, a.n, c.nnz))
  local next_cols, next_vals = output.rows(c.cols, ENTRIES), output.rows(c.vals, ENTRIES)
  for rows, n in output.rows(c.rows, ENTRIES) do
    local cols, vals, lines = next_cols(), next_vals(), {}
    for k = 0, n - 1 do lines[k + 1] = ("%d %d%s\n"):format(rows[k] + 1, cols[k] + 1, write(vals[k])) end
    out:put(table.concat(lines))
  end
end

local function put_values(out, vals, count, write)
  local lines = {}
  for k = 0, count - 1 do lines[k + 1] = write(vals[k]):sub(2) .. "\n" end
  out:put(table.concat(lines))
end

local function put_elements(out, a, write, symmetry)
  out:put(("%d %d\n"):format(a:dims()))
  if symmetry == "general" then
    for vals, _, count in output.rows(a.T) do put_values(out, vals, count, write) end -- by columns
    return
  end
  local wanted = np.triu(np.ones(a.shape, { dtype = "bool" }), symmetry == "skew-symmetric" and 1 or 0)
  local below = np.compress(np.ravel(wanted), np.ravel(a.T))
  for vals, count in output.rows(below, ENTRIES) do put_values(out, vals, count, write) end
end

-- The part of a matrix that a file of this symmetry has: on and below the diagonal, below it if it is skew.
local function stored_part(a, symmetry, is_sparse)
  if symmetry == "general" then return a end
  local square, same = a.shape[1] == a.shape[2], false
  if square and is_sparse then
    a = sparse.canonical(a:tocsr())
    same = a:ne(mirrored(symmetry, a.T:tocsr())).nnz == 0
  elseif square then
    same = np.array_equal(a, mirrored(symmetry, a.T))
  end
  if not same then raise("mmwrite: the matrix is not %s", symmetry) end
  return is_sparse and sp.tril(a, symmetry == "skew-symmetric" and -1 or 0) or a
end

-- Write a matrix, sparse or dense, as a Matrix Market file.
---@param path string ".mtx" is added to a name without it
---@param a table|lgt_array
---@param options {comment: string?, field: string?, precision: integer?, symmetry: string?}? field "pattern" leaves the
---  values out; symmetry "symmetric", "skew-symmetric" or "hermitian" (of a matrix that is) writes one triangle
function sp.mmwrite(path, a, options)
  options = core.check_options(options, { comment = true, field = true, precision = true, symmetry = true }, "mmwrite")
  if type(path) ~= "string" then raise("mmwrite: a file name was expected, not %s", core.describe(path)) end
  if path:sub(-4) ~= ".mtx" then path = path .. ".mtx" end
  local is_sparse = sparse.is_matrix(a)
  if not is_sparse then a = np.asarray(a) end
  local kind = is_sparse and a.kind or core.dtype_of(a)
  local field = options.field or field_of(kind)
  if field ~= "pattern" and field ~= field_of(kind) then
    raise("mmwrite: elements of type %s are not written as %s", dtypes.name[kind], field)
  end
  if not is_sparse and core.ndim_of(a) ~= 2 then raise("mmwrite: a matrix was expected, not %s", core.describe(a)) end
  local symmetry = options.symmetry or "general"
  if not SYMMETRIES[symmetry] then
    raise("mmwrite: symmetry is general, symmetric, skew-symmetric or hermitian, not %s", core.describe(symmetry))
  end
  a = stored_part(a, symmetry, is_sparse)
  local write = formatter(field, options.precision)
  local comment = (options.comment or ""):gsub("\n", "\n%%")
  output.write(path, "mmwrite", function(out)
    local format = is_sparse and "coordinate" or "array"
    out:put(("%%%%MatrixMarket matrix %s %s %s\n%%%s\n"):format(format, field, symmetry, comment))
    if is_sparse then put_entries(out, a, write) else put_elements(out, a, write, symmetry) end
  end)
end

return true
