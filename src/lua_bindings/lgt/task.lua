-- lgt/task.lua - lgt.task{...}: a new kind of task, written in Lua.
--
--   local lerp = lgt.task {
--     name = "lerp",
--     args = { "in", "in", "out" },
--     params = 1,
--     generator = function(b, x, y, t) return x + t * (y - x) end,
--   }
--   lerp(from, to, result, 0.25)
--
-- args lists the privilege of each array: "in", "out" (all of it is overwritten), "inout", or the name of
-- a reduction ("sum", "prod", "min", "max", "and", "or", "xor") that collects one value for each element
-- of the iteration space into an array with fewer of them: a 0-d array, or a view with extents stretched
-- by broadcasting.  What the array holds takes part, so that totals of several calls add up, as with +=; after
-- "fresh", as in "fresh sum", it is dropped, and may be that of np.empty.  The arrays' shapes together give the
-- iteration space, by NumPy's rules.  In reproducible mode floats have no "prod", whose bits would depend on
-- how arrays are cut; a task with a sum of floats is several tasks there (src/core/plan/reproducible.h).
--
-- The generator runs once for each combination of dtypes, on values (body.lua): first the body, then one
-- value for each array that is read, then the parameters, which are numbers when the task is called.  It
-- returns one value for each array that is written or reduced into, in their order; b:position(d) is the
-- place along dimension d.  Tasks fuse with everything else, because all the runtime sees is the generator.

local ffi = require "ffi"
local clear = require "table.clear"
local dtypes = require "lgt.dtype"

local REDUCTIONS = { sum = true, prod = true, min = true, max = true, ["and"] = true, ["or"] = true, xor = true }

-- The operator of a reduction, and whether it begins anew; nil for what is none.
local function reduction_of(privilege)
  if type(privilege) ~= "string" then return nil end
  local fresh = privilege:match("^fresh (%l+)$")
  local operator = fresh or privilege
  if REDUCTIONS[operator] then return operator, fresh ~= nil end
end

-- A task that meets new shapes all the time would fill memory: so many are remembered, then all are forgotten.
local MOST = 2048

local function check_args(lgt, definition)
  local args, writes = definition.args, false
  if type(args) ~= "table" or table.maxn(args) < 1 or table.maxn(args) > lgt.C.LGT_MAX_ARGS then
    lgt.raise("task %s: args must list the privileges of 1 to %d arrays", definition.name, lgt.C.LGT_MAX_ARGS)
  end
  for i = 1, table.maxn(args) do
    local privilege = args[i]
    if privilege ~= "in" and privilege ~= "out" and privilege ~= "inout" and not reduction_of(privilege) then
      lgt.raise("task %s: argument %d is %s: expected \"in\", \"out\", \"inout\", or a reduction such as \"sum\", " ..
        "into what is there, or \"fresh sum\"",
        definition.name, i, type(privilege) == "string" and ("%q"):format(privilege) or lgt.describe(privilege))
    end
    writes = writes or privilege ~= "in"
  end
  if not writes then
    lgt.raise("task %s: no argument is written: one must be \"out\", \"inout\" or a reduction", definition.name)
  end
end

local function check(lgt, definition)
  if type(definition) ~= "table" then
    lgt.raise("task: a table such as {name = ..., args = ..., generator = ...} was expected, not %s",
      lgt.describe(definition))
  end
  for key in pairs(definition) do
    if key ~= "name" and key ~= "args" and key ~= "params" and key ~= "generator" then
      lgt.raise("task: unknown field %q: expected name, args, params, generator", tostring(key))
    end
  end
  if type(definition.name) ~= "string" then lgt.raise("task: name must be a string") end
  if type(definition.generator) ~= "function" then
    lgt.raise("task %s: generator must be a function", definition.name)
  end
  local params = definition.params or 0
  if type(params) ~= "number" or params ~= math.floor(params) or params < 0 or params > lgt.C.LGT_MAX_PARAMS then
    lgt.raise("task %s: params, how many numbers it takes, must be an integer from 0 to %d, not %s", definition.name,
      lgt.C.LGT_MAX_PARAMS, type(params) == "number" and params or lgt.describe(params))
  end
  check_args(lgt, definition)
end

-- The shape that the arrays have in common by broadcasting; raises where there is none.
local function iteration_space(lgt, definition, arrays)
  local space = {}
  for i = 1, #arrays do
    local shape = lgt.shape(lgt.layout(arrays[i]))
    while #space < #shape do table.insert(space, 1, 1) end
    for d = 1, #shape do
      local k = #space - #shape + d
      if space[k] == 1 then
        space[k] = shape[d]
      elseif shape[d] ~= 1 and shape[d] ~= space[k] then
        lgt.raise("task %s: argument %d has extent %d in dimension %d, the others have %d", definition.name, i,
          shape[d], k,
          space[k])
      end
    end
  end
  for i, privilege in ipairs(definition.args) do
    if privilege == "out" or privilege == "inout" then
      local shape = lgt.shape(lgt.layout(arrays[i]))
      local same = #shape == #space
      for d = 1, #space do same = same and shape[d] == space[d] end
      if not same then
        lgt.raise("task %s: argument %d is written and must have the whole shape (%s), not (%s)", definition.name, i,
          table.concat(space, ", "), table.concat(shape, ", "))
      end
    end
  end
end

-- Let the generator write the body of the kind for arrays of these layouts.
local function build(lgt, definition, numbers, body)
  local inputs, outputs = {}, {}
  for i, privilege in ipairs(definition.args) do
    local layout = lgt.layouts[numbers[i]]
    if privilege == "in" or privilege == "inout" then
      inputs[#inputs + 1] = body:load(layout.dtype, i - 1, layout.ndim == 0 and 1 or 0)
    end
    if privilege ~= "in" then outputs[#outputs + 1] = { index = i, dtype = layout.dtype, privilege = privilege } end
  end
  for i = 1, definition.params or 0 do inputs[#inputs + 1] = body:number(i - 1, true) end
  local results = { definition.generator(body, unpack(inputs)) }
  if #results ~= #outputs then
    lgt.raise("task %s: the generator returned %d values, not %d: one for each argument that is written",
      definition.name, #results, #outputs)
  end
  for i, output in ipairs(outputs) do
    local x = body:constant(results[i])
    if x.weak < 2 and not dtypes.can_cast(x.dtype, output.dtype) then
      lgt.raise("task %s: a %s cannot be written into argument %d of dtype %s: cast it", definition.name,
        dtypes.name[x.dtype], output.index, dtypes.name[output.dtype])
    end
    local operator, fresh = reduction_of(output.privilege)
    if operator then
      body:reduce(output.dtype, output.index - 1, operator, x, fresh)
    else
      body:store(output.dtype, output.index - 1, x)
    end
  end
end

-- ---- launching

-- What launches is generated, one function for each number of arrays and of numbers.  Without loops and tables it is
-- part of whatever trace calls it, however many arrays the tasks of a program's loop have.
local source = debug.getinfo(1, "S").source -- it is the libraries' own: lgt.line looks for the script behind it
local HEAD = [[
local lgt, task = ...
local istype, Array, handles, layouts, front = require("ffi").istype, lgt.Array, lgt.handles, lgt.layouts, lgt.front
local slot, submit, line, known, learn, BESIDE = lgt.slot, lgt.submit, lgt.line, task.known, task.learn, lgt.BESIDE
local classes, classify = task.classes, task.classify
local $latest -- the layouts of the latest launch, ...
local kind, beside -- ... and what follows from them
return function(...)
  if select("#", ...) ~= $total then task.wrong_count(select("#", ...)) end
  local $all = ...
  if front.epoch ~= task.epoch then
    task.forget()
    m1 = nil -- another layout may have its number now
  end
]]
local ARRAY = [[
  if not istype(Array, a$i) then task.wrong_array($i, a$i) end
  local n$i = handles[a$i.id].layout
  if n$i == 0 then task.wrong_array($i, a$i) end
]]
local OTHERS = [[
  if not ($same) then
    local node, large, class = known, false
]]
local LAYOUT = [[
    large = large or layouts[n$i].size >= BESIDE
    class = classes[n$i] or classify(n$i)
    node = node[class] or learn(node, class$found)
]]
local FOUND = [[
    kind, beside, $latest = node, large, $layouts
  end
]]
local NUMBER = [[
  if type(x$i) ~= "number" then task.wrong_number($i, x$i) end
]]
local LAUNCH = [[
  local l = slot()
  l.kind, l.nargs, l.nparams, l.line = kind, $nargs, $nparams, (beside or front.all_lines ~= 0) and line() or 0
]]

local function launcher(nargs, nparams)
  local arrays, numbers, latest, layouts, same, text = {}, {}, {}, {}, {}, {}
  for i = 1, nargs do
    arrays[i], latest[i], layouts[i] = "a" .. i, "m" .. i, "n" .. i
    same[i] = layouts[i] .. " == " .. latest[i]
  end
  for i = 1, nparams do numbers[i] = "x" .. i end
  local all = table.concat(arrays, ", ")
  local words = { total = nargs + nparams, nargs = nargs, nparams = nparams, latest = table.concat(latest, ", "),
                  layouts = table.concat(layouts, ", "), same = table.concat(same, " and "),
                  all = nparams > 0 and all .. ", " .. table.concat(numbers, ", ") or all }
  local function add(template, i)
    words.i, words.found = i, i == nargs and ", " .. all or ""
    text[#text + 1] = template:gsub("%$(%l+)", words)
  end
  add(HEAD)
  for i = 1, nargs do add(ARRAY, i) end
  add(OTHERS)
  for i = 1, nargs do add(LAYOUT, i) end
  add(FOUND)
  for i = 1, nparams do add(NUMBER, i) end
  add(LAUNCH)
  for i = 1, nargs do add("  l.arg[" .. i - 1 .. "] = a$i.id\n", i) end
  for i = 1, nparams do add("  l.param[" .. i - 1 .. "].f = x$i\n", i) end
  add("  submit(l)\nend\n")
  return assert(loadstring(table.concat(text), source))
end

local launchers = {}

-- A layout's class is the dense layout of its dtype and shape, which are all that a task asks of it: one that meets
-- other parts of an array at each turn need learn nothing.  All tasks of a runtime share what is known about classes; a
-- host may attach another runtime to the same state.
local shared = setmetatable({}, { __mode = "k" })

local function classes_of(lgt)
  local classes = { known = {}, count = 0, epoch = -1 }

  function classes.forget(epoch)
    classes.count, classes.epoch = 0, epoch
    clear(classes.known)
  end

  function classes.find(C, rt, dtype, layout)
    if classes.count == 4 * MOST then classes.forget(classes.epoch) end
    classes.count = classes.count + 1
    local dense = C.lgt_layout_join(rt, dtype, layout, layout)
    classes.known[layout] = dense ~= 0 and dense or layout -- none: it is stretched beyond all memory
    return classes.known[layout]
  end

  shared[lgt] = shared[lgt] or classes
  return shared[lgt]
end

local function define(lgt, definition)
  check(lgt, definition)
  local nargs, nparams, name = #definition.args, definition.params or 0, definition.name
  local known, remembered = {}, 0 -- a trie over the arguments' classes; its leaves are kinds
  local kinds = {} -- by dtypes

  local function find(arrays)
    iteration_space(lgt, definition, arrays)
    local key, numbers = {}, {} -- no arrays: a trace that calls the launcher keeps it, and what it knows
    for i = 1, nargs do
      numbers[i] = lgt.layout(arrays[i])
      local layout = lgt.layouts[numbers[i]]
      key[i] = dtypes.name[layout.dtype] .. (layout.ndim == 0 and "." or "")
    end
    key = table.concat(key, ",")
    kinds[key] = kinds[key] or lgt.kind(name .. ":" .. key, function(body) build(lgt, definition, numbers, body) end)
    return kinds[key]
  end

  local classes = classes_of(lgt)
  local task = { known = known, classes = classes.known, epoch = -1 }

  -- Numbers of layouts may stand for others now.
  function task.forget()
    remembered, task.epoch = 0, lgt.front.epoch
    clear(known)
    if classes.epoch ~= task.epoch then classes.forget(task.epoch) end
  end

  function task.classify(layout) return classes.find(lgt.C, lgt.rt, lgt.layouts[layout].dtype, layout) end

  -- What follows in the trie: behind the last class the kind, for which all arrays are given.  If the trie has to be
  -- forgotten on the way, what the call at hand learns below its root is lost, too, but for the kind: the launcher has
  -- that with the latest layouts.
  function task.learn(node, class, ...)
    remembered = remembered + 1
    if remembered > MOST then
      remembered = 1
      clear(known)
    end
    node[class] = ... and find { ... } or {}
    return node[class]
  end

  function task.wrong_count(n)
    lgt.raise("task %s takes %d arrays and %d numbers, not %d arguments", name, nargs, nparams, n)
  end

  function task.wrong_array(i, array)
    if not ffi.istype(lgt.Array, array) then
      lgt.raise("task %s: argument %d must be an array, not %s", name, i, lgt.describe(array))
    end
    lgt.raise("task %s: argument %d %s", name, i, lgt.why_gone(array))
  end

  function task.wrong_number(i, x)
    lgt.raise("task %s: parameter %d must be a number, not %s", name, i, lgt.describe(x))
  end

  local key = nargs * (lgt.C.LGT_MAX_PARAMS + 1) + nparams
  launchers[key] = launchers[key] or launcher(nargs, nparams)
  return launchers[key](lgt, task)
end

return define
