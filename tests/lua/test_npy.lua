-- .npy and .npz files: what is saved comes back; files that are none are refused.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"

local path = os.tmpname() .. ".npy"

check.case("all types and shapes", function()
  for _, dtype in ipairs { "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                           "float32", "float64", "complex64", "complex128" } do
    local a = np.arange(24):reshape(2, 3, 4):astype(dtype)
    np.save(path, a)
    local b = np.load(path)
    check.equal(b.dtype, dtype)
    check.that(np.array_equal(a, b), dtype)
  end
  for _, shape in ipairs { {}, { 1 }, { 0 }, { 3, 0, 2 }, { 2, 1, 1, 1, 1, 2 } } do
    np.save(path, np.zeros(shape))
    check.that(np.load(path).shape == np.zeros(shape).shape)
  end
end)

check.case("views", function()
  local a = np.arange(12):reshape(3, 4)
  np.save(path, a.T["::-1, 2:"])
  check.that(np.array_equal(np.load(path), a.T["::-1, 2:"]))
end)

check.case("the suffix is added", function()
  local stem = path:gsub("%.npy$", "")
  np.save(stem, np.ones(2))
  check.equal(np.load(path):sum()(), 2)
end)

check.case("files that are none", function()
  check.refuses("No such file", function() np.load("/nowhere/x.npy") end)
  check.refuses("No such file", function() np.save("/nowhere/x.npy", np.ones(2)) end)
  local file = io.open(path, "wb")
  file:write("this is not an array at all")
  file:close()
  check.refuses("is no .npy file", function() np.load(path) end)
  np.save(path, np.ones(100))
  file = io.open(path, "rb")
  local text = file:read("*a")
  file:close()
  file = io.open(path, "wb")
  file:write(text:sub(1, -9))
  file:close()
  check.refuses("ends after 99 of 100", function() np.load(path) end)
  file = io.open(path, "wb")
  file:write(text:sub(1, 20))
  file:close()
  check.refuses("too early", function() np.load(path) end)
end)

local function contents(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local function replace(name, text)
  local file = assert(io.open(name, "wb"))
  file:write(text)
  file:close()
end

check.case("headers that promise too much", function()
  np.save(path, np.ones(100))
  local text = contents(path)
  local function promising(shape) -- the header stays as long as it is
    return (text:gsub("%(100,%), } *", function(old) return shape .. ", }" .. (" "):rep(#old - #shape - 3) end))
  end
  for _, shape in ipairs { "(99999999999,)", "(9999999, 9999999, 9999999, 9999999)", "(101,)" } do
    replace(path, promising(shape))
    check.refuses("ends after 100 of", function() np.load(path) end)
  end
  replace(path, promising "(1,1,1,1,1,1,1)")
  check.refuses("has 7 dimensions", function() np.load(path) end)
  replace(path, promising("(0, 1" .. ("0"):rep(30) .. ")"))
  check.refuses("has an extent of 1e+30", function() np.load(path) end)
  replace(path, (text:gsub("<f8", "|O8")))
  check.refuses("holds elements of type O8, which lgt does not have", function() np.load(path) end)
  replace(path, text:sub(1, 6) .. "\2\0\255\255\255\255" .. text:sub(11))
  check.refuses("states a header of 4294967295 bytes", function() np.load(path) end)
end)

check.case("archives", function()
  local name = path .. ".npz"
  np.savez_compressed(name, { x = np.arange(1000), y = np.ones(2, 2) })
  local all = np.load(name)
  check.equal(all.x:sum()(), 499500)
  check.equal(all.y.dtype, "float64")
  local text = contents(name)
  replace(name, text:sub(1, 1000))
  check.refuses("is no zip archive, or it is not complete", function() np.load(name) end)
  replace(name, text:sub(1, 600) .. "\0\0\0\0" .. text:sub(605))
  check.refuses(name, function() np.load(name) end)
  np.savez(name, { x = np.arange(1000) })
  text = contents(name)
  replace(name, text:sub(1, 600) .. "\7" .. text:sub(602))
  check.refuses("member \"x.npy\" is damaged: its checksum is wrong", function() np.load(name) end)
  os.remove(name)
end)

os.remove(path)
check.done()
