-- solvers/direct.lua - direct solution of sparse systems: LU factors by UMFPACK, triangular systems.
--
-- UMFPACK (T. Davis, ACM TOMS 30, 2004; package libumfpack5) is loaded when it is first needed.  It factorises on the
-- host, on the whole matrix; so these functions wait, and on several ranks each would do the same work.  It takes
-- matrices by columns; one by rows is given as its transposed, and the transposed system is solved.

local ffi = require "ffi"
local np = require "array"
local core = require "array.core"
local sparse = require "sparse.core"
require "sparse"

local lgt, raise, dtypes = core.lgt, core.raise, core.dtypes

local direct = {}

-- ---- UMFPACK -------------------------------------------------------------------------------------------------

-- Real and complex, with 32- and 64-bit positions.
local declared = false
local function declare()
  if declared then return end
  declared = true
  for _, kind in ipairs { { "di", "int" }, { "dl", "int64_t" }, { "zi", "int" }, { "zl", "int64_t" } } do
    local z = kind[1]:sub(1, 1) == "z"
    local text = [[
      int umfpack_KIND_symbolic(INT, INT, const INT *, const INT *, const double *, Z1 void **, const double *,
        double *);
      int umfpack_KIND_numeric(const INT *, const INT *, const double *, Z1 void *, void **, const double *, double *);
      int umfpack_KIND_solve(INT, const INT *, const INT *, const double *, Z1 double *, Z2 const double *, Z1 void *,
        const double *, double *);
      void umfpack_KIND_free_symbolic(void **);
      void umfpack_KIND_free_numeric(void **);
      int umfpack_KIND_get_lunz(INT *, INT *, INT *, INT *, INT *, void *);
      void umfpack_KIND_defaults(double *);]]
    ffi.cdef((text:gsub("KIND", kind[1]):gsub("INT", kind[2]):gsub("Z1", z and "const double *," or "")
      :gsub("Z2", z and "double *," or "")))
  end
end

local library
local function umfpack(who)
  if library then return library end
  declare()
  for _, name in ipairs { "libumfpack.so.5", "libumfpack.so.6", "libumfpack.so" } do
    local ok, found = pcall(ffi.load, name)
    if ok then
      library = found
      return library
    end
  end
  raise("%s: sparse factorisations need UMFPACK: install libumfpack5", who)
end

local WARNING_SINGULAR, OUT_OF_MEMORY = 1, -1
local SIZE_OF_UNIT, NUMERIC_SIZE = 3, 40 -- places in the array that UMFPACK calls Info
local PLAIN, ADJOINT, TRANSPOSED = 0, 1, 2 -- A x = b, A^H x = b, A^T x = b

local function check(status, who)
  if status == 0 then return end
  if status == WARNING_SINGULAR then raise("%s: the matrix is singular", who) end
  if status == OUT_OF_MEMORY then raise("%s: out of memory for the factors", who) end
  raise("%s: UMFPACK ended with status %d", who, status)
end

-- The factors of a matrix.
local Factors = {}
Factors.__index = Factors
Factors.__tostring = function(f) return ("<factors of a %d x %d sparse matrix>"):format(f.n, f.n) end

local function host_index(x, is_long)
  return core.copy_out(np.astype(x, is_long and "int64" or "int32"))
end

-- Three of UMFPACK's functions, the same for real and complex: of complex numbers the imaginary parts have arguments of
-- their own, NULL where they lie among the real ones.
local function functions(C, kind, is_complex)
  local symbolic, numeric, solve = C["umfpack_" .. kind .. "_symbolic"], C["umfpack_" .. kind .. "_numeric"],
    C["umfpack_" .. kind .. "_solve"]
  if not is_complex then
    return function(f, out) return symbolic(f.n, f.n, f.pos, f.crd, f.values, out, f.control, nil) end,
      function(f, analysis, out, info) return numeric(f.pos, f.crd, f.values, analysis, out, f.control, info) end,
      function(f, which, x, b)
        return solve(which, f.pos, f.crd, f.values, x, b, f.numeric[0], f.control, nil)
      end
  end
  return function(f, out) return symbolic(f.n, f.n, f.pos, f.crd, f.values, nil, out, f.control, nil) end,
    function(f, analysis, out, info)
      return numeric(f.pos, f.crd, f.values, nil, analysis, out, f.control, info)
    end,
    function(f, which, x, b)
      return solve(which, f.pos, f.crd, f.values, nil, x, nil, b, nil, f.numeric[0], f.control, nil)
    end
end

local function factorise(a, who)
  sparse.take_matrix(a, who)
  if a.m ~= a.n then raise("%s: the matrix must be square, not of shape (%d, %d)", who, a.m, a.n) end
  local by_columns = a.format == "csc"
  local c = sparse.canonical(by_columns and a.t or a:tocsr())
  local is_complex, is_long = dtypes.category[a.kind] == 3, core.dtype_of(c.pos) == dtypes.INT64
  local C, kind = umfpack(who), (is_complex and "z" or "d") .. (is_long and "l" or "i")
  local f = setmetatable({
    n = a.n, shape = a.shape, nnz = 0, kind = a.kind, is_complex = is_complex, by_columns = by_columns,
    control = ffi.new("double[20]"),
    pos = host_index(c.pos, is_long), crd = host_index(c.crd, is_long),
    memory = core.copy_out(np.astype(c.vals, is_complex and "complex128" or "float64")),
  }, Factors)
  f.values = ffi.cast("const double *", f.memory)
  local symbolic, numeric, solve = functions(C, kind, is_complex)
  f.apply = solve
  C["umfpack_" .. kind .. "_defaults"](f.control)
  if a.n == 0 then return f end
  local analysis, out = ffi.new("void *[1]"), ffi.new("void *[1]")
  check(symbolic(f, analysis), who)
  local info = ffi.new("double[90]")
  local status = numeric(f, analysis[0], out, info)
  C["umfpack_" .. kind .. "_free_symbolic"](analysis)
  f.numeric = ffi.gc(out, C["umfpack_" .. kind .. "_free_numeric"])
  check(status, who)
  f.counted = lgt.outside(info[SIZE_OF_UNIT] * info[NUMERIC_SIZE])
  local int = ffi.typeof(is_long and "int64_t[1]" or "int[1]")
  local l, u, other = int(), int(), int()
  C["umfpack_" .. kind .. "_get_lunz"](l, u, other, other, other, out[0])
  f.nnz = tonumber(l[0]) + tonumber(u[0])
  return f
end

-- The factors of a square matrix.
---@param a table matrix
---@return table factors which have :solve(b, trans), shape and nnz
function direct.splu(a, surplus)
  core.check_surplus(surplus, "splu")
  return factorise(a, "splu")
end

-- One vector on the host.
local function solve_column(f, b, which)
  local dtype = f.is_complex and dtypes.COMPLEX128 or dtypes.FLOAT64
  local x = core.host_memory(dtype, f.n)
  local values = core.copy_out(np.astype(b, dtypes.name[dtype]))
  local status = f.apply(f, which, ffi.cast("double *", x), ffi.cast("const double *", values))
  if status ~= 0 then lgt.C.lgt_memory_free(x) end
  check(status, "solve")
  return core.adopt(dtype, { f.n }, x)
end

local TRANS = { N = true, T = true, H = true }

-- Solves A x = b, or with trans "T" or "H" the transposed system, or the conjugated one.
---@param b lgt_array vector or matrix
---@param trans string? "N"
---@return lgt_array
function Factors.solve(f, b, trans)
  trans = trans or "N"
  if not TRANS[trans] then raise("solve: trans is \"N\", \"T\" or \"H\", not %s", core.describe(trans)) end
  if type(b) == "table" then b = np.array(b) end
  core.layout_of(b, "solve")
  local shape = core.shape_of(b)
  if #shape < 1 or #shape > 2 or shape[1] ~= f.n then
    raise("solve: the matrix has %d rows, b is of shape %s", f.n, core.shape_text(shape))
  end
  local result = dtypes.promote(dtypes.promote(f.kind, core.dtype_of(b)), dtypes.FLOAT32)
  if dtypes.category[core.dtype_of(b)] < 2 and dtypes.category[f.kind] < 2 then result = dtypes.FLOAT64 end
  if f.n == 0 then return np.zeros(shape, { dtype = dtypes.name[result] }) end
  -- A real matrix with a complex b: the parts one by one.
  if dtypes.category[core.dtype_of(b)] == 3 and not f.is_complex then
    return np.astype(f:solve(np.real(b), trans) + np.array { 1i } * f:solve(np.imag(b), trans), dtypes.name[result])
  end
  -- By rows UMFPACK has the transposed matrix S: A^H x = b is S conj(x) = conj(b).
  local which = ({ N = PLAIN, T = TRANSPOSED, H = ADJOINT })[trans]
  local conjugated = false
  if not f.by_columns then
    which = trans == "N" and TRANSPOSED or PLAIN
    conjugated = trans == "H" and f.is_complex
  end
  if conjugated then b = np.conj(b) end
  local x
  if #shape == 1 then
    x = solve_column(f, b, which)
  else
    local columns = {}
    for j = 1, shape[2] do columns[j] = solve_column(f, b[{ {}, j }], which) end
    x = shape[2] > 0 and np.stack(columns, 2) or np.zeros(shape)
  end
  if conjugated then x = np.conj(x) end
  return np.astype(x, dtypes.name[result])
end

-- A function that solves A x = b for any b.  Raises if A is singular.
---@param a table matrix [n, n]
---@param who string? in whose name it raises
---@return fun(b: lgt_array): lgt_array
function direct.factorized(a, who, surplus)
  core.check_surplus(type(who) ~= "string" and who or surplus, "factorized")
  local f = factorise(a, who or "factorized")
  return function(b) return f:solve(b) end
end

-- x with A x = b.  Raises if A is singular.
---@param a table matrix [n, n]
---@param b lgt_array|table vector [n] or [n, 1], matrix [n, k], or sparse matrix
---@return lgt_array|table x vector [n], matrix [n, k], or sparse as b is
function direct.spsolve(a, b, surplus)
  core.check_surplus(surplus, "spsolve")
  local f = factorise(a, "spsolve")
  if sparse.is_matrix(b) then return sparse.sp.csc_matrix(f:solve(b:todense())) end
  local x = f:solve(b)
  return core.ndim_of(x) == 2 and core.shape_of(x)[2] == 1 and np.ravel(x) or x -- as SciPy's
end

-- The inverse, as a sparse matrix: it is seldom sparse, and factorized(A) solves systems faster.
---@param a table matrix [n, n]
---@return table matrix [n, n] of format csc
function direct.inv(a, surplus)
  core.check_surplus(surplus, "inv")
  sparse.take_matrix(a, "inv")
  return direct.spsolve(a, sparse.sp.identity(a.n))
end

-- ---- triangular systems --------------------------------------------------------------------------------------

-- x with T x = b, of the triangle of a canonical matrix by rows; blocks of `rows` rows by themselves.
function direct.triangular(c, b, lower, unit, rows)
  local dtype = dtypes.promote(c.kind, core.dtype_of(b))
  if dtypes.category[dtype] < 2 then dtype = dtypes.FLOAT64 end
  local shape = core.shape_of(b)
  if #shape == 1 then b = np.reshape(b, { shape[1], 1 }) end
  local x = core.lgt.new(core.lgt.dense(dtype, core.shape_of(b)))
  sparse.launch_blocks("csr_triangular", "rwrrrr", { 0, 1, 2, 5 }, "image_ranges(0,2:3.0,4.0)",
    { c.lo, x, c.hi, c.crd, sparse.values_in(c, dtype), np.astype(b, dtypes.name[dtype]) },
    { rows or math.max(c.m, 1), lower and 1 or 0, unit and 1 or 0 })
  return #shape == 1 and np.ravel(x) or x
end

-- x with A x = b, A being triangular.
---@param a table matrix
---@param b lgt_array vector or matrix
---@param lower boolean? true
---@param options {lower: boolean?, unit_diagonal: boolean?}?
---@return lgt_array
function direct.spsolve_triangular(a, b, lower, options)
  if type(lower) == "table" then lower, options = nil, lower end
  options = core.check_options(options, { lower = true, unit_diagonal = true }, "spsolve_triangular")
  lower = core.check_value(lower, "flag", "lower", "spsolve_triangular")
  if lower == nil then lower = options.lower ~= false end
  sparse.take_matrix(a, "spsolve_triangular")
  if a.m ~= a.n then raise("spsolve_triangular: the matrix must be square, not of shape (%d, %d)", a.m, a.n) end
  if type(b) == "table" then b = np.array(b) end
  core.layout_of(b, "spsolve_triangular")
  if core.shape_of(b)[1] ~= a.n then
    raise("spsolve_triangular: the matrix has %d rows, b is of shape %s", a.n, core.shape_text(core.shape_of(b)))
  end
  local c = sparse.canonical(a:tocsr())
  if (lower and sparse.sp.tril or sparse.sp.triu)(c, 0, "csr").nnz ~= c.nnz then
    raise("spsolve_triangular: the matrix has entries %s its diagonal", lower and "above" or "below")
  end
  return direct.triangular(c, b, lower, options.unit_diagonal)
end

return direct
