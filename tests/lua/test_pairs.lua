-- Loops over pairs and next are what Lua says, also once LuaJIT compiles what is around them: lua_pairs.c.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")

-- LuaJIT's issue 827: once it has given up compiling the outer loop, that ends early.  It depends on what is compiled
-- when, so this stands outside of functions, and comes first.
local inner = { 1, 2, 3, 4, 5 }
local outer = { a = inner, b = inner, c = inner, d = inner, e = inner }
local function interpret(...) for _ = 1, 100 do end end -- luacheck: ignore
for _ = 1, 100000 do
  interpret()
  local count = 0
  for _, list in pairs(outer) do
    for _ in pairs(list) do end
    count = count + 1
  end
  assert(count == 5, count)
end

check.case("next and pairs say what they want", function()
  local got = {}
  for key, value in next, { 5, x = 6 } do got[key] = value end
  check.equal({ got[1], got.x }, { 5, 6 })
  check.that(next({}) == nil and next({ 1 }, 1) == nil)
  check.refuses("bad argument #1 to 'pairs' (table expected, got ", function() return (pairs(nil)) end)
  check.refuses("bad argument #1 to 'next' (table expected, got number)", function() return (next(3)) end)
end)

check.done()
