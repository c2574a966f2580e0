-- Memory shared with the FFI, and DLPack.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local ffi = require "ffi"
local lgt = require "lgt"
local np = require "array"

check.case("element types and shapes come from the type of the memory", function()
  for ctype, dtype in pairs { ["double[6]"] = "float64", ["float[6]"] = "float32", ["int8_t[6]"] = "int8",
                              ["uint8_t[6]"] = "uint8", ["int16_t[6]"] = "int16", ["uint16_t[6]"] = "uint16",
                              ["int32_t[6]"] = "int32", ["uint32_t[6]"] = "uint32", ["int64_t[6]"] = "int64",
                              ["uint64_t[6]"] = "uint64", ["long[6]"] = "int64", ["bool[6]"] = "bool",
                              ["complex float[6]"] = "complex64", ["complex double[6]"] = "complex128" } do
    local buffer = ffi.new(ctype)
    buffer[2] = 1
    local a = np.frombuffer(buffer)
    check.equal(a.dtype, dtype)
    check.equal(a.shape[1], 6)
    check.that(a:astype("float64"):sum()() == 1)
  end
  local a = np.frombuffer(ffi.new("float[2][3]", { { 1, 2, 3 }, { 4, 5, 6 } }))
  check.equal(a:totable(), { { 1, 2, 3 }, { 4, 5, 6 } })
  a = np.frombuffer(ffi.new("int[?][3]", 4))
  check.equal(tostring(a.shape), "{4, 3}")
  check.equal(np.frombuffer(ffi.new("double[0]")).size, 0)
end)

check.case("nothing is copied", function()
  local n = 1000000
  local buffer = ffi.new("double[?]", n)
  for i = 0, n - 1 do buffer[i] = i end
  lgt.stats_reset()
  local a = np.asarray(buffer)
  a["1:10"] = -1
  a:imul(2)
  check.equal(a:sum()(), n * (n - 1) - 90 - 20)
  a:detach()
  check.equal(buffer[0], -2)
  check.equal(buffer[n - 1], 2 * (n - 1))
  check.refuses("was released", function() return a:sum()() end)
end)

check.case("views of detached memory are refused at the line that uses them", function()
  local buffer = ffi.new("double[4]", 1, 2, 3, 4)
  local a = np.frombuffer(buffer)
  local b, row = a["2:3"], a:reshape(2, 2)
  local before = b + 1
  check.equal((b + 1)["1"]:item(), 3) -- the path of this launch is known
  a:detach()
  local y = np.ones(2)
  check.refuses("detached", function() return b + 1 end)
  for _, use in ipairs {
    function() return (b + y) end, function() return (y + b) end, function() return (np.exp(b)) end,
    function() return (b:sum()) end, function() return (b[1]) end, function() return (b["1:1"]) end,
    function() b[1] = 5 end, function() b["..."] = y end, function() y["..."] = b end, function() b:iadd(y) end,
    function() return (b:dot(y)) end, function() return (b:copy()) end, function() return (b:totable()) end,
    function() return (b.shape) end, function() return (row.T) end, function() return (row:sum { axis = 1 }) end,
    function() return (b(1)) end, function() return (np.sort(b)) end, function() return (b:detach()) end,
    function() return (lgt.explain(b)) end, function() return (row:host("r", print)) end,
    function() return (np.where(b:gt(1), b, y)) end, function() return (np.concatenate { b, y }) end,
    function() return (np.fuse(function(x) return x + 1 end)(b)) end, function() return (np.save("/dev/null", b)) end,
  } do check.refuses("detached", use) end
  check.equal(tostring(b), "array (released)")
  check.equal(before:totable(), { 3, 4 })
  lgt.fence() -- nothing has failed
  b:free()
  row:free()
  check.equal((np.arange(3) + 1):totable(), { 1, 2, 3 })
end)

check.case("np.array copies", function()
  local buffer = ffi.new("int32_t[3]", 1, 2, 3)
  local a = np.array(buffer, { dtype = "float32" })
  buffer[0] = 9
  check.equal(a:totable(), { 1, 2, 3 })
  check.equal(a.dtype, "float32")
end)

check.case("offsets, counts, pointers, strings", function()
  local buffer = ffi.new("uint8_t[32]")
  ffi.cast("double *", buffer)[2] = 2.5
  check.equal(np.frombuffer(buffer, { dtype = "float64", offset = 16 }):totable(), { 2.5, 0 })
  check.equal(np.frombuffer(buffer, { dtype = "float64", offset = 16, count = 1 }):totable(), { 2.5 })
  check.equal(np.frombuffer(ffi.cast("double *", buffer), { count = 3 }):totable(), { 0, 0, 2.5 })
  check.equal(np.frombuffer("abc"):totable(), { 97, 98, 99 })
  check.equal(np.frombuffer("ab\1\0\2\0", { dtype = "uint16", offset = 2 }):totable(), { 1, 2 })
  check.equal(np.frombuffer(""):totable(), {})
end)

-- What a few turns of a stencil in place cost: passes, and bytes at the worst time.
local function cost(make)
  local x = make()
  for turn = 1, 2 do -- the first time something is learned
    lgt.fence()
    collectgarbage()
    collectgarbage()
    lgt.stats_reset()
    for _ = 1, 4 do x["2:-2"] = 0.5 * (x[":-3"] + x["3:"]) end
    lgt.fence()
    if turn == 2 then return { lgt.stats().passes, lgt.stats().bytes_peak }, x end
  end
end

check.case("memory of lgt's own is that of any array", function()
  local n = 100000
  local list = {}
  for i = 1, n do list[i] = i * i % 17 end
  local buffer = ffi.new("double[?]", n, list)
  local path = os.tmpname()
  np.savetxt(path, np.array(list))
  local made = {
    ["a table"] = function() return np.array(list) end,
    ["a string"] = function() return np.frombuffer(ffi.string(buffer, 8 * n), { dtype = "float64" }) end,
    ["a copy of FFI memory"] = function() return np.array(buffer) end,
    ["a text"] = function() return np.loadtxt(path) end,
  }
  local wanted, numbers = cost(function() return np.array(list) + 0 end)
  numbers = numbers:totable()
  for _, make in pairs(made) do
    local got, x = cost(make)
    if lgt.C.lgt_domains(lgt.rt) == 1 then check.equal(got, wanted) end
    check.equal(x:totable(), numbers)
    check.refuses("only attached arrays can be detached", function() x:detach() end)
  end
  os.remove(path)
  local attached = cost(function() return np.frombuffer(buffer) end) -- this stays where it is
  if lgt.C.lgt_domains(lgt.rt) == 1 then check.that(attached[1] > wanted[1]) end
end)

check.case("memory lives as long as it is used", function()
  local sums = {}
  for i = 1, 50 do
    local buffer = ffi.new("double[1000]")
    for k = 0, 999 do buffer[k] = i end
    local a = np.frombuffer(buffer)
    buffer = nil -- luacheck: ignore
    collectgarbage()
    sums[i] = a * 2
  end
  collectgarbage()
  for i = 1, 50 do check.equal(sums[i]:sum()(), 2000 * i) end
end)

check.case("memory is let go", function()
  local weak = setmetatable({}, { __mode = "v" })
  for i = 1, 10 do
    local buffer = ffi.new("double[1000]")
    weak[i] = buffer
    check.equal(np.frombuffer(buffer):sum()(), 0)
  end
  for _ = 1, 6 do
    collectgarbage()
    np.ones(1):item() -- flushes: dead handles are reported
  end
  local left = 0
  for _ in pairs(weak) do left = left + 1 end
  check.that(left <= 1, left .. " of 10 buffers are kept") -- the last may be in a register
end)

check.case("what is no memory", function()
  check.refuses("memory of the FFI or a string was expected, not nil", function() np.frombuffer(nil) end)
  check.refuses("an array of shape (2)", function() np.frombuffer(np.ones(2)) end)
  check.refuses("count says how many", function() np.frombuffer(ffi.new("double[2]") + 0) end)
  check.refuses("the pointer is NULL", function() np.frombuffer(ffi.cast("double *", nil), { count = 1 }) end)
  check.refuses("do not fit", function() np.frombuffer(ffi.new("double[2]"), { count = 3 }) end)
  check.refuses("do not fit", function() np.frombuffer(ffi.new("double[2]"), { offset = 17 }) end)
  check.refuses("not aligned", function() np.frombuffer(ffi.new("uint8_t[64]"), { dtype = "float64", offset = 3 }) end)
  check.refuses("dtype says what", function() np.frombuffer(ffi.new("struct { int a; }[2]")) end)
  check.refuses("unknown option size", function() np.frombuffer(ffi.new("double[2]"), { size = 1 }) end)
  check.refuses("count is an integer from 0 up", function() np.frombuffer("abc", { count = -1 }) end)
end)

check.case("DLPack there and back", function()
  for _, dtype in ipairs { "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                           "float32", "float64", "complex64", "complex128" } do
    local a = np.arange(24):reshape(2, 3, 4):astype(dtype)
    local b = np.from_dlpack(a:dlpack())
    check.equal(b.dtype, dtype)
    check.that(np.array_equal(a, b), dtype)
  end
  check.equal(np.from_dlpack(np.array(3):dlpack()):item(), 3)
  check.equal(np.from_dlpack(np.zeros(0, 3):dlpack()).size, 0)
  check.that(np.array_equal(np.from_dlpack(np.arange(6):reshape(2, 3).T:dlpack()), np.arange(6):reshape(2, 3).T))
end)

check.case("a NaN of any bits is a number in Lua", function()
  local bits = ffi.new("uint64_t[4]", 0xffffffffffffffffULL, 0xfffd800012345678ULL, 0x7ff0000000000001ULL,
    0xfff9000000000000ULL)
  local text, path = ffi.string(bits, 32), os.tmpname()
  for _, dtype in ipairs { "float64", "float32", "float16", "complex128", "complex64" } do
    local a = np.frombuffer(text, { dtype = dtype })
    local complex = a.dtype:find "complex"
    local function is_number(x)
      if complex then return type(x.re) == "number" and type(x.im) == "number" end
      return type(x) == "number"
    end
    for _, x in ipairs(a:totable()) do check.that(is_number(x), dtype) end
    for i, x in np.ndenumerate(a) do
      check.that(is_number(x) and is_number(a(i)) and is_number(a[i]:item()), dtype)
    end
    check.that(tostring(a):find "nan", dtype)
    np.savetxt(path, a)
    check.equal(a:tobytes(), text, dtype)
  end
  os.remove(path)
end)

check.case("DLPack of version 1", function()
  local m = np.arange(6):dlpack { versioned = true }
  check.equal(tonumber(m.version.major), 1)
  m.version.major = 3
  check.refuses("DLPack 3.0; those of version 1", function() np.from_dlpack(m) end)
  m.version.major, m.flags = 1, 1 -- read-only: a copy
  local a = np.from_dlpack(m)
  check.equal(a:totable(), { 0, 1, 2, 3, 4, 5 })
  local memory = np.arange(3):dlpack { versioned = true }
  check.equal(np.from_dlpack(ffi.cast("void *", memory), { versioned = true }):totable(), { 0, 1, 2 })
end)

check.case("DLPack with strides", function()
  check.refuses("from_dlpack: a pointer to a DLManagedTensor was expected", function() np.from_dlpack(-5LL) end)
  check.refuses("from_dlpack: a pointer", function() np.from_dlpack(ffi.new("int[3]")) end)
  local m = np.arange(6):dlpack()
  local t = m.dl_tensor
  local strides = ffi.new("int64_t[2]", 1, 2)
  t.ndim, t.shape[0], t.shape[1], t.strides = 2, 2, 3, strides
  check.equal(np.from_dlpack(m):totable(), { { 0, 2, 4 }, { 1, 3, 5 } })
end)

check.case("DLPack that does not fit", function()
  local function changed(change)
    check.refuses("from_dlpack: a pointer to a DLManagedTensor was expected", function() np.from_dlpack(-5LL) end)
  check.refuses("from_dlpack: a pointer", function() np.from_dlpack(ffi.new("int[3]")) end)
  local m = np.arange(6):dlpack()
    change(m.dl_tensor)
    return ffi.gc(m, m.deleter) -- what is refused stays the caller's
  end
  check.refuses("a pointer to a DLManagedTensor", function() np.from_dlpack(7) end)
  check.refuses("on a device of type 7", function() np.from_dlpack(changed(function(t) t.device.type = 7 end)) end)
  check.refuses("7 dimensions", function() np.from_dlpack(changed(function(t) t.ndim = 7 end)) end)
  check.refuses("elements of code 4", function() np.from_dlpack(changed(function(t) t.dtype.code = 4 end)) end)
end)

check.done()
