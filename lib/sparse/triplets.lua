-- sparse/triplets.lua - triplets in order by rows: how matrices are made, and how they are transposed.
--
-- By counting (ops/sparse/sparse_shape.c), if they are not by rows already.  One domain counts rows.  Several cut the
-- triplets in runs, one for each, and each orders its own by whose rows they belong to.  Then all know who has how many
-- for whom, send each other these (bind/shuffle.h), and each counts its rows.  No domain has more than its run and
-- its rows.

local sparse = require "sparse.core"
local runs = require "array.index.runs"

local np, core, dtypes, lgt = sparse.np, sparse.array, sparse.dtypes, sparse.lgt
local vector = sparse.vector

-- ---- one domain ---------------------------------------------------------------------------------------------

local SMALL, MOST_PARTS = 1e5, 16

-- How many parts entries are ordered in, side by side.  The result is the same for any number; but ranks must agree on
-- launches, and their hosts may have unequal numbers of processors.
local function parts_of(nnz, n)
  if sparse.has_domains() or nnz < math.max(SMALL, 2 * n) then return 1 end
  return math.min(MOST_PARTS, lgt.C.lgt_workers(lgt.rt))
end

-- Do many entries go to places far apart, one after the other, so that each would be a line of memory of its own?  They
-- do not where positions grow along the entries, as those of a matrix with a band do.  Waits, for large ones.
local function is_scattered(keys, n)
  local MANY, SAMPLES, CACHED = 2 ^ 21, 1024, 2 ^ 19 -- entries that are near one another
  local nnz = core.size_of(keys)
  if nnz < MANY or n < 2 ^ 14 then return false end
  local sample = sparse.part(keys, 0, SAMPLES, math.floor(nnz / SAMPLES)):astype("float64") * (SAMPLES / n)
  return core.read_item(np.mean(np.abs(sample - np.arange(SAMPLES)))) / SAMPLES * nnz > CACHED
end

-- Triplets whose rows ascend: what a matrix has of them besides is where rows begin.  Nil if they do not.  Waits.
local function as_they_are(m, n, rows, cols, vals, state)
  local nnz = core.size_of(rows)
  if nnz < 2 or np.any(np.less(sparse.part(rows, 1, nnz - 1), sparse.part(rows, 0, nnz - 1))) then return nil end
  local pos = vector(core.dtype_of(rows), m + 1)
  sparse.launch_whole("coo_bounds", "wr", { pos, rows })
  return sparse.csr(m, n, pos, cols, vals, state)
end

local function matrix(dtype, rows, columns) return lgt.new(lgt.dense(dtype, { rows, columns })) end

-- The sums of entries before each key, for each of the parts; the positions of keys are their first ones.
local function count_keys(keys, n, parts, numbers)
  local index = core.dtype_of(keys)
  local part, sum, pos = np.zeros(64 * parts, { dtype = "bool" }), matrix(index, 1, parts * n), vector(index, n + 1)
  sparse.launch_whole("coo_count", "rwr", { part, sum, keys }, numbers)
  sparse.launch_whole("coo_offsets", "wm", { sparse.as_row(pos), sum })
  return part, sum, pos
end

-- By one domain: first into buckets that fit into a cache, then each by its rows.  `pos`: in place of columns.
local function in_buckets(m, n, rows, cols, pos, vals, state)
  local BUCKET, SOME, MOST = 2 ^ 15, 512, 2048 -- triplets of one; buckets, so that all have some; at most
  local index, nnz, kind = core.dtype_of(rows), core.size_of(vals), core.dtype_of(vals)
  local function exponent(x) return math.max(0, math.ceil(math.log(x) / math.log(2))) end
  local shift = math.max(math.min(20, exponent(m * math.min(BUCKET / nnz, 1 / SOME))), exponent(m / MOST))
  local buckets = math.ceil(m / 2 ^ shift)
  local parts = parts_of(nnz, buckets)
  local numbers = { parts, nnz, shift, 0, pos and 1 or 0 }
  local part, sum, first = count_keys(rows, buckets, parts, numbers)
  -- A record has a value and two positions.
  local width = dtypes.size[index]
  local records = vector(index, nnz * (math.ceil(dtypes.size[kind] / width) + 2))
  sparse.launch_whole("coo_spread", "rmwrrr", { part, sum, records, rows, pos or cols, vals }, numbers)
  local crd, entries, begins = vector(index, nnz), vector(kind, nnz), vector(index, m + 1)
  sparse.launch_whole("coo_gather", "rwwwrr",
    { np.zeros(64 * buckets, { dtype = "bool" }), begins, crd, entries, first, records }, { shift })
  return sparse.csr(m, n, begins, crd, entries, state)
end

local function in_one_piece(m, n, rows, cols, vals, state)
  local index, nnz = core.dtype_of(rows), core.size_of(vals)
  local crd, entries = vector(index, nnz), vector(core.dtype_of(vals), nnz)
  local parts = parts_of(nnz, m)
  local part, sum, pos = count_keys(rows, m, parts, { parts, nnz, 0, 0 })
  sparse.launch_whole("coo_place", "rmwwrrr", { part, sum, crd, entries, rows, cols, vals }, { parts, nnz })
  return sparse.csr(m, n, pos, crd, entries, state)
end

-- ---- several domains ----------------------------------------------------------------------------------------

-- Launch on runs of triplets: arguments `scaled` have as many elements of each as fit, those `rows` one row, argument 0
-- has 64 for each part.
local function launch_runs(variant, privileges, arrays, numbers, rows, scaled, image)
  local words = { ("align(0.0,%s.0,%s.0) scale(0.0,%d)"):format(table.concat(rows, ".0,"), table.concat(scaled, ".0,"),
    64 * numbers[1]) }
  for _, a in ipairs(scaled) do words[#words + 1] = ("scale(%d.0)"):format(a) end
  sparse.launch(variant, privileges, table.concat(words, " ") .. (image or ""), arrays, numbers)
end

local PARTS, MANY = 4, 2 ^ 17 -- of a run, which workers share; entries of one that is worth it

-- Triplets in runs, ordered by the domain that gets their rows, `height` of them; where in each run whose begin.
local function deal(rows, cols, vals, domains, part, numbers)
  local index, nnz = core.dtype_of(rows), core.size_of(vals)
  local sum, begins = matrix(index, domains, numbers[1] * domains), matrix(index, domains, domains + 1)
  launch_runs("coo_count", "rwr", { part, sum, rows }, numbers, { 1 }, { 2 })
  sparse.launch("coo_offsets", "wm", "align(0.0,1.0)", { begins, sum })
  local keys, others, data = vector(index, nnz), vector(index, nnz), vector(core.dtype_of(vals), nnz)
  launch_runs("coo_split", "rmwwwrrr", { part, sum, keys, others, data, rows, cols, vals }, numbers, { 1 },
    { 2, 3, 4, 5, 6, 7 })
  return keys, others, data, begins
end

local function in_runs(m, n, rows, cols, vals, state)
  local index, nnz, domains = core.dtype_of(rows), core.size_of(vals), lgt.C.lgt_domains(lgt.rt)
  local height, name = math.ceil(m / domains), dtypes.name[index]
  local parts = nnz >= domains * math.max(MANY, 2 * height) and PARTS or 1
  local part = np.zeros(64 * parts * domains, { dtype = "bool" })
  local keys, others, data, begins = deal(rows, cols, vals, domains, part,
    { parts, math.ceil(nnz / domains), 0, height })
  local sizes = np.sum(begins[":, 2:"] - begins[":, :-2"], 1)
  local past = np.cumsum(sizes)
  local from, cuts = (past - sizes):astype(name), np.copy(begins.T:astype("int64"))
  local room = tonumber(core.read_item(np.max(sizes)))
  local marks = np.zeros(domains, { dtype = "int8" })
  local function send(x) return runs.shuffle(x, marks, cuts, domains * room) end
  keys, others, data, past = send(keys), send(others), send(data), past:astype(name)
  -- Each domain's own, by rows.
  local numbers = { parts, room, 0, 0 }
  local sum, firsts = matrix(index, domains, parts * height), matrix(index, domains, height + 1)
  launch_runs("coo_count", "rwrrr", { part, sum, keys, from, past }, numbers, { 1, 3, 4 }, { 2 })
  sparse.launch("coo_offsets", "wm", "align(0.0,1.0)", { firsts, sum })
  local crd, entries, pos = vector(index, nnz), vector(core.dtype_of(vals), nnz), vector(index, m + 1)
  launch_runs("coo_place", "rmwwrrrrr", { part, sum, crd, entries, keys, others, data, from, past }, numbers,
    { 1, 7, 8 }, { 4, 5, 6 }, " image_ranges(7,8:2.0,3.0)")
  pos["2:"] = np.ravel(firsts[":, 2:"] + from[":, *"])[{ { 1, m } }] -- as in sparse.positions
  pos["1"] = 0
  return sparse.csr(m, n, pos, crd, entries, state)
end

-- Triplets by rows; entries of a row keep their order.  Positions count from 0 and are of one type.  In place of
-- columns there may be `pos`, where entries of each begin.  `may_ascend`: it is looked at whether rows ascend already.
return function(m, n, rows, cols, pos, vals, state, may_ascend)
  local domains = lgt.C.lgt_domains(lgt.rt)
  local whole = not sparse.has_domains()
  local one = whole or core.size_of(vals) < domains * domains
  rows, cols, vals = sparse.dense(rows), cols and sparse.dense(cols), sparse.dense(vals)
  local result = may_ascend and whole and as_they_are(m, n, rows, cols, vals, state)
  if result then return result end
  if one and is_scattered(rows, m) then return in_buckets(m, n, rows, cols, pos, vals, state) end
  cols = cols or sparse.rows_at(pos, core.size_of(vals))
  return (one and in_one_piece or in_runs)(m, n, rows, cols, vals, state)
end
