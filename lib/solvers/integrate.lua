-- solvers/integrate.lua - initial value problems y' = f(t, y), by explicit Runge-Kutta methods with step control.
--
-- After Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I" (Springer 1993), II.4; steps, errors
-- and interpolants are SciPy's.  y is a vector, real or complex, of any length; what combines stages is one pass over
-- them.  A step waits once, for the norm of its error.

local np = require "array"
local core = require "array.core"
local tableau = require "solvers.tableau"

local raise, dtypes = core.raise, core.dtypes
local abs, max, min, sqrt = math.abs, math.max, math.min, math.sqrt

local integrate = {}

local SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 0.2, 10

-- The root of the mean of squares, as a number.
local function rms(x) return core.read_item(np.norm(x)) / sqrt(core.size_of(x)) end

-- sum_i a[i] K[i]
local function combine(a, K)
  local sum
  for i = 1, #a do
    if a[i] ~= 0 then
      local term = a[i] * K[i]
      sum = sum and sum + term or term
    end
  end
  return sum
end

-- ---- one method ----------------------------------------------------------------------------------------------

-- A first step that is neither much too long nor much too short (II.4 of the book).
local function first_step(s, t0, y0, f0)
  local scale = s.atol + np.abs(y0) * s.rtol
  local d0, d1 = rms(y0 / scale), rms(f0 / scale)
  local h0 = (d0 < 1e-5 or d1 < 1e-5) and 1e-6 or 0.01 * d0 / d1
  local f1 = s.fun(t0 + h0 * s.direction, y0 + h0 * s.direction * f0)
  local d2 = rms((f1 - f0) / scale) / h0
  local h1 = (d1 <= 1e-15 and d2 <= 1e-15) and max(1e-6, h0 * 1e-3)
    or (0.01 / max(d1, d2)) ^ (1 / (s.method.error_order + 1))
  return min(100 * h0, h1)
end

-- The stages of a step of length h, in s.K, and the y it leads to.
local function stages(s, t, y, h)
  local m, K = s.method, { s.f }
  for i = 1, #m.A do K[i + 1] = s.fun(t + m.C[i + 1] * h, y + h * combine(m.A[i], K)) end
  local y_new = y + h * combine(m.B, K)
  K[#K + 1] = s.fun(t + h, y_new)
  s.K = K
  return y_new
end

local function error_norm(s, h, scale)
  local m, K = s.method, s.K
  if m.E then return rms(h * combine(m.E, K) / scale) end
  local of_5 = np.norm(combine(m.E5, K) / scale)
  local of_3 = np.norm(combine(m.E3, K) / scale)
  of_5, of_3 = core.read_item(of_5) ^ 2, core.read_item(of_3) ^ 2
  if of_5 == 0 and of_3 == 0 then return 0 end
  return abs(h) * of_5 / sqrt((of_5 + 0.01 * of_3) * core.size_of(scale))
end

-- Goes one step on, whose length the error allows.  False where that would be less than numbers can tell.
local function step(s)
  local t, y = s.t, s.y
  local least = 10 * abs(t) * 2 ^ -52
  if t == 0 then least = 2 ^ -1070 end
  local h_abs, rejected = max(min(s.h_abs, s.max_step), least), false
  while true do
    if h_abs < least then return false end
    local t_new = t + h_abs * s.direction
    if s.direction * (t_new - s.t_bound) > 0 then t_new = s.t_bound end
    local h = t_new - t
    h_abs = abs(h)
    local y_new = stages(s, t, y, h)
    local size = error_norm(s, h, s.atol + np.maximum(np.abs(y), np.abs(y_new)) * s.rtol)
    local factor = SAFETY * size ^ (-1 / (s.method.error_order + 1))
    if size < 1 then
      factor = size == 0 and MAX_FACTOR or min(MAX_FACTOR, factor)
      if rejected then factor = min(1, factor) end
      s.h_abs, s.t_old, s.y_old, s.h = h_abs * factor, t, y, h
      s.t, s.y, s.f = t_new, y_new, s.K[#s.K]
      return true
    end
    if size ~= size then return false end
    h_abs, rejected = h_abs * max(MIN_FACTOR, factor), true
  end
end

-- ---- between steps ----------------------------------------------------------------------------------------------

-- The interpolant of the step just taken: a function of numbers.
local function polynomial(s)
  local P, K, t_old, y_old, h = s.method.P, s.K, s.t_old, s.y_old, s.h
  local Q = {}
  for j = 1, s.method.order + (s.method.order == 5 and -1 or 0) do
    local column = {}
    for i = 1, #P do column[i] = P[i][j] or 0 end
    Q[j] = combine(column, K) or 0 * K[1]
  end
  return function(t)
    local x = (t - t_old) / h
    local sum = Q[#Q]
    for j = #Q - 1, 1, -1 do sum = Q[j] + x * sum end
    return y_old + (h * x) * sum
  end
end

local function polynomial_of_order_7(s)
  local m, K, t_old, y_old, h = s.method, { unpack(s.K) }, s.t_old, s.y_old, s.h
  for i, a in ipairs(m.A_EXTRA) do
    K[#K + 1] = s.fun(t_old + m.C_EXTRA[i] * h, y_old + h * combine(a, K))
  end
  local change = s.y - y_old
  local F = { change, h * K[1] - change, 2 * change - h * (s.f + K[1]) }
  for i, d in ipairs(m.D) do F[3 + i] = h * combine(d, K) end
  return function(t)
    local x = (t - t_old) / h
    local y = F[7]
    for i = 6, 1, -1 do y = F[i] + (i % 2 == 0 and x or 1 - x) * y end
    return y_old + x * y
  end
end

local function interpolant(s) return (s.method.D and polynomial_of_order_7 or polynomial)(s) end

-- A function of time from those of the steps; at arrays of times the columns of a matrix.
local function solution(times, parts)
  local ascending = times[#times] >= times[1]
  local function at(t)
    local low, high = 1, #parts
    while low < high do -- of two at a boundary the first
      local middle = math.floor((low + high) / 2)
      local beyond
      if ascending then beyond = t > times[middle + 1] else beyond = t < times[middle + 1] end
      if beyond then low = middle + 1 else high = middle end
    end
    return parts[low](t)
  end
  return setmetatable({ ts = np.array(times), t_min = min(times[1], times[#times]),
                        t_max = max(times[1], times[#times]) }, {
    __call = function(_, t)
      t = core.plain(t)
      if type(t) == "number" then return at(t) end
      local columns = {}
      for i, x in ipairs(np.ravel(np.asarray(t)):totable()) do columns[i] = at(x) end
      return np.stack(columns, 2)
    end,
  })
end

-- ---- events -------------------------------------------------------------------------------------------------------

local function number_of(x) return type(x) == "number" and x or core.to_number(x, "solve_ivp: an event") end

-- What an event's field `terminal` says: after how many roots it ends the integration.
local function take_terminal(terminal, i)
  terminal = core.plain(terminal)
  if not terminal then return math.huge end
  if terminal == true then return 1 end
  if core.is_integer(terminal) and terminal >= 1 then return terminal end
  raise("solve_ivp: terminal of event %d is true, false, or the number of roots that end it, not %s", i,
    core.describe(terminal))
end

local function take_events(events, args)
  if events == nil then return {} end
  if core.is_callable(events) or type(events) == "table" and events.terminal ~= nil or type(events) == "table"
    and events.direction ~= nil then
    events = { events }
  end
  if type(events) ~= "table" then
    raise("solve_ivp: events are functions of t and y, not %s", core.describe(events))
  end
  local list = {}
  for i, e in ipairs(events) do
    local f, options = e, {}
    if type(e) == "table" then f, options = core.is_callable(e) and e or e[1], e end
    if not core.is_callable(f) then
      raise("solve_ivp: event %d is no function of t and y, nor {function, terminal = ..., direction = ...}", i)
    end
    local direction = core.plain(options.direction or 0)
    if type(direction) ~= "number" then
      raise("solve_ivp: direction of event %d is a number, above 0 for roots where it rises, not %s", i,
        core.describe(direction))
    end
    list[i] = { f = function(t, y) return number_of(f(t, y, unpack(args))) end, direction = direction, roots = 0,
                most = take_terminal(options.terminal, i) }
  end
  return list
end

-- A root of f between a and b, where its signs differ: bisection with regula falsi (Illinois).
local function root(f, a, b)
  local fa, fb = f(a), f(b)
  if fa == 0 then return a end
  for _ = 1, 200 do
    if fb == 0 or abs(b - a) <= 4 * 2 ^ -52 * max(abs(a), abs(b)) then break end
    local c = b - fb * (b - a) / (fb - fa)
    if not (min(a, b) < c and c < max(a, b)) then c = (a + b) / 2 end
    local fc = f(c)
    if fc * fb < 0 then a, fa = b, fb else fa = fa / 2 end
    b, fb = c, fc
  end
  return b
end

-- Events between the last two times, in the order in which they come; the last one may end it all.
local function find_events(s, events, sol)
  local found = {}
  for i, e in ipairs(events) do
    local before, now = e.value, e.f(s.t, s.y)
    e.value = now
    local up, down = before <= 0 and now >= 0, before >= 0 and now <= 0
    if up and e.direction >= 0 or down and e.direction <= 0 then
      local t = root(function(x) return e.f(x, sol(x)) end, s.t_old, s.t)
      e.roots = e.roots + 1
      found[#found + 1] = { t = t, event = i, terminal = e.roots >= e.most }
    end
  end
  table.sort(found, function(a, b) return (b.t - a.t) * s.direction > 0 end)
  for i, one in ipairs(found) do
    if one.terminal then return { unpack(found, 1, i) }, one.t end
  end
  return found
end

-- ---- solve_ivp -----------------------------------------------------------------------------------------

local known = { method = true, t_eval = true, dense_output = true, events = true, args = true, first_step = true,
                max_step = true, rtol = true, atol = true, vectorized = true }

local function take_times(t_eval, t0, t1)
  if core.is_array(t_eval) then t_eval = np.ravel(t_eval):totable() end
  if type(t_eval) ~= "table" then raise("solve_ivp: t_eval is a vector of times, not %s", core.describe(t_eval)) end
  local times = {}
  for i, t in ipairs(t_eval) do
    t = core.plain(t)
    times[i] = t
    if type(t) ~= "number" then raise("solve_ivp: t_eval has %s among its times", core.word(t)) end
    if t < min(t0, t1) or t > max(t0, t1) then raise("solve_ivp: t_eval has %g, which is outside the time span", t) end
    if i > 1 and (t - times[i - 1]) * (t1 - t0) <= 0 then
      raise("solve_ivp: t_eval must go from the begin of the time span to its end")
    end
  end
  return times
end

local function is_number(x) return type(x) == "number" and x == x end

local function take_span(t_span)
  if core.is_array(t_span) then t_span = np.ravel(t_span):totable() end
  local pair = type(t_span) == "table" and #t_span == 2
  local first, last = pair and core.plain(t_span[1]), pair and core.plain(t_span[2])
  if not (is_number(first) and is_number(last)) then
    raise("solve_ivp: the time span is {first, last}, two numbers, not %s", core.describe(t_span))
  end
  return first, last
end

local function take_start(y0)
  y0 = core.plain(y0)
  if type(y0) == "number" then y0 = { y0 } end
  if type(y0) ~= "table" and not core.is_array(y0) then
    raise("solve_ivp: y0 is a vector, not %s", core.describe(y0))
  end
  local y = np.ravel(np.asarray(y0))
  if dtypes.category[core.dtype_of(y)] < 2 then y = y:astype("float64") end
  if not np.all(np.isfinite(y)) then raise("solve_ivp: an element of y0 is infinite, or no number") end
  return y
end

-- rtol or atol: a number, or one for each of the elements of y.
local function take_tolerance(x, default, name, size)
  if x == nil then return default end
  if type(x) == "table" then x = np.array(x) end
  local is_array = core.is_array(x)
  if not is_array and not is_number(x) or is_array and core.size_of(x) ~= 1 and core.size_of(x) ~= size then
    raise("solve_ivp: %s is a number or a vector of %d, not %s", name, size, core.describe(x))
  end
  local good
  if is_array then good = np.all(np.greater_equal(x, 0)) else good = x >= 0 end
  if not good then raise("solve_ivp: %s must not be negative", name) end
  return is_array and core.ndim_of(x) > 0 and np.ravel(x) or x
end

-- first_step or max_step.
local function take_step(x, name, most)
  if x == nil then return nil end
  x = core.plain(x)
  if not is_number(x) or x <= 0 then
    raise("solve_ivp: %s is a number above 0, not %s", name, is_number(x) and ("%g"):format(x) or core.describe(x))
  end
  if most and x > most then raise("solve_ivp: %s, %g, is longer than the time span", name, x) end
  return x
end

local function begin(fun, t_span, y0, o)
  if not core.is_callable(fun) then
    raise("solve_ivp: a function of t and y was expected, not %s", core.describe(fun))
  end
  local t0, t1 = take_span(t_span)
  local method = tableau[o.method or "RK45"]
  if not method then
    raise("solve_ivp: the methods are \"RK45\", \"RK23\" and \"DOP853\", not %s", core.describe(o.method))
  end
  local args = o.args or {}
  if type(args) ~= "table" then
    raise("solve_ivp: args is a table of what the function gets behind t and y, not %s", core.describe(args))
  end
  local y = take_start(y0)
  local size, dtype, LEAST = core.size_of(y), y.dtype, 100 * 2 ^ -52 -- no smaller rtol can be reached
  local rtol = take_tolerance(o.rtol, 1e-3, "rtol", size)
  local s = { method = method, t = t0, y = y, t_bound = t1, nfev = 0, direction = t1 >= t0 and 1 or -1, args = args,
              max_step = take_step(o.max_step, "max_step") or math.huge,
              rtol = type(rtol) == "number" and max(rtol, LEAST) or np.maximum(rtol, LEAST),
              atol = take_tolerance(o.atol, 1e-6, "atol", size) }
  local h = take_step(o.first_step, "first_step", abs(t1 - t0))
  function s.fun(t, x)
    s.nfev = s.nfev + 1
    local f = fun(t, x, unpack(args))
    if f == nil then raise("solve_ivp: the function of t and y gave nil: it must return the derivative of y") end
    if not core.is_array(f) then f = np.array(type(f) == "number" and { f } or f) end
    if core.size_of(f) ~= size then
      raise("solve_ivp: the function gave %d elements, y has %d", core.size_of(f), size)
    end
    f = np.ravel(f)
    local category = dtypes.category[core.dtype_of(f)]
    if category == 3 and dtypes.category[core.dtype_of(y)] < 3 then
      raise("solve_ivp: the function gave complex numbers: then y0 must be complex, too")
    end
    return f.dtype == dtype and f or np.astype(f, dtype)
  end
  s.f = s.fun(s.t, y)
  s.h_abs = h or (size == 0 and math.huge or first_step(s, s.t, y, s.f))
  return s
end

-- What the output has for a step: its end, or the times of t_eval within it.
local function collect(s, out, t, y, sol)
  if not out.t_eval then
    out.t[#out.t + 1], out.y[#out.y + 1] = t, y
    return
  end
  while out.next <= #out.t_eval and (t - out.t_eval[out.next]) * s.direction >= 0 do
    local x = out.t_eval[out.next]
    out.t[#out.t + 1], out.y[#out.y + 1], out.next = x, sol(x), out.next + 1
  end
end

local function as_columns(list, y0)
  if #list == 0 then return np.zeros(core.size_of(y0), 0, { dtype = y0.dtype }) end
  return np.stack(list, 2)
end

local messages = {
  [0] = "The solver successfully reached the end of the integration interval.",
  [1] = "A termination event occurred.",
  [-1] = "Required step size is less than spacing between numbers.",
}

-- Solves y' = fun(t, y), y(t_span[1]) = y0, by a Runge-Kutta method with step control: "RK45" (default), "RK23" or
-- "DOP853".  These are explicit: of stiff problems they need very many steps.
--
-- An event is a function of t and y (and args) whose roots are looked for, or {function, terminal = true, direction =
-- 1}: terminal ends the integration at the first root (or at the one that it counts to), direction 1 takes only roots
-- at which the function rises, -1 those at which it falls.  For each t_events has a vector, y_events a matrix.
-- Raises where y0, a tolerance or a step makes no sense, or where the function gives other than as many elements as y
-- has; a solution that runs away is no error but status -1.
---@param fun fun(t: number, y: lgt_array, ...): lgt_array|number[] what y changes by: as many elements as y has
---@param t_span number[] from, to; downwards goes back in time
---@param y0 lgt_array|number[] [n], finite; complex if the solution is
---@param options {method: string?, t_eval: any, dense_output: boolean?, events: any, args: table?, first_step: number?,
---  max_step: number?, rtol: any, atol: any}? t_eval: times of the output, of the steps without; args: what the
---  functions get behind t and y; the error of a step is kept below atol + rtol |y| (1e-6, 1e-3; each a number, or one
---  for each element of y)
---@return {t: lgt_array, y: lgt_array, sol: any, t_events: table, y_events: table, nfev: integer, status: integer,
---  message: string, success: boolean} result y [n, times]; sol(t) with dense_output; status 0: the end was reached, 1:
---  an event ended it, -1: failed
function integrate.solve_ivp(fun, t_span, y0, options)
  local o = core.check_options(options, known, "solve_ivp")
  local s = begin(fun, t_span, y0, o)
  local first, events, times, parts = s.y, take_events(o.events, s.args), { s.t }, {}
  local out = { t = {}, y = {}, next = 1, t_eval = o.t_eval and take_times(o.t_eval, s.t, s.t_bound) }
  if not out.t_eval then out.t[1], out.y[1] = s.t, s.y end
  local t_events, y_events, status = {}, {}, nil
  for i, e in ipairs(events) do
    e.value, t_events[i], y_events[i] = e.f(s.t, s.y), {}, {}
  end
  while not status do
    if s.t == s.t_bound and #times > 1 then status = 0 break end
    if s.t == s.t_bound or core.size_of(s.y) == 0 then -- nothing to do
      s.t, status = s.t_bound, 0
      collect(s, out, s.t, s.y, function() return s.y end)
      break
    end
    if not step(s) then status = -1 break end
    local made -- of a step in which no time is asked for there need be no interpolant
    local function sol(time)
      made = made or interpolant(s)
      return made(time)
    end
    local t, y = s.t, s.y
    if #events > 0 then
      local found, last = find_events(s, events, sol)
      for _, one in ipairs(found) do
        local e = one.event
        t_events[e][#t_events[e] + 1], y_events[e][#y_events[e] + 1] = one.t, sol(one.t)
      end
      if last then status, t, y = 1, last, sol(last) end
    end
    if o.dense_output then parts[#parts + 1] = made or interpolant(s) end
    times[#times + 1] = t
    collect(s, out, t, y, sol)
  end
  for i = 1, #events do
    t_events[i], y_events[i] = np.array(t_events[i]), #y_events[i] > 0 and np.stack(y_events[i], 1) or np.zeros(0)
  end
  return { t = np.array(out.t), y = as_columns(out.y, first), nfev = s.nfev, njev = 0, nlu = 0, status = status,
           sol = o.dense_output and #parts > 0 and solution(times, parts) or nil,
           t_events = #events > 0 and t_events or nil, y_events = #events > 0 and y_events or nil,
           message = messages[status], success = status >= 0 }
end

return integrate
