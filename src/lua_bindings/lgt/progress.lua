-- lgt/progress.lua - lgt.progress: a loop that shows how far it is.
--
-- The bar goes to the error output, only where that is a terminal and on the first rank: what a script prints
-- stays as it is.  It is drawn a few times a second, so that a turn costs one look at the clock; turns that take
-- less than a microsecond do not even do that, for the number of turns between two looks follows their speed.
-- A loop runs ahead of what it launches; the runtime lets it run ahead only so far, so the rate is right on
-- average.

local ffi = require "ffi"

ffi.cdef [[
  int isatty(int);
  int ioctl(int, unsigned long, ...);
]]

local INTERVAL = 0.1 -- seconds between two drawings
local BLOCKS = { "▏", "▎", "▍", "▌", "▋", "▊", "▉" }

local function columns()
  local size = ffi.new("unsigned short[4]")
  if ffi.C.ioctl(2, 0x5413, size) == 0 and size[1] > 0 then return size[1] end -- TIOCGWINSZ
  return 80
end

-- 75 → "1:15"
local function clock(seconds)
  if seconds >= 360000 or seconds ~= seconds then return "?" end
  local s = math.floor(seconds + 0.5)
  local h, m = math.floor(s / 3600), math.floor(s / 60) % 60
  if h > 0 then return ("%d:%02d:%02d"):format(h, m, s % 60) end
  return ("%d:%02d"):format(m, s % 60)
end

-- Three digits, never an exponent: 1234567 → "1.23M".
local function short(x)
  for _, unit in ipairs { "", "k", "M", "G" } do
    if x < 999.5 then return ("%.3g%s"):format(x, unit) end
    x = x / 1000
  end
  return ("%.0fT"):format(x)
end

local function rate_text(rate)
  if rate >= 1 or rate == 0 then return short(rate) .. "/s" end
  return short(1 / rate) .. " s each"
end

local function bar_text(share, width)
  local eighths = math.floor(share * width * 8 + 0.5)
  local full, part = math.floor(eighths / 8), eighths % 8
  local text = ("█"):rep(full) .. (BLOCKS[part] or "")
  return text .. (" "):rep(width - full - (part > 0 and 1 or 0))
end

-- The line that shows `done` of `total` turns after some seconds.
local function line_text(label, done, total, seconds)
  local rate = seconds > 0 and done / seconds or 0
  local left = done > 0 and (total - done) * seconds / done or 0 / 0
  local before = label ~= "" and label .. " " or ""
  local figures = (" %3d%% %d/%d %s %s<%s"):format(total > 0 and math.floor(100 * done / total) or 100, done, total,
    rate_text(rate), clock(seconds), clock(left))
  local width = math.min(40, columns() - #before - #figures - 3)
  local bar = width >= 5 and "|" .. bar_text(total > 0 and done / total or 1, width) .. "|" or ""
  return before .. bar .. figures
end

local function check_integer(lgt, x, what)
  if type(x) ~= "number" or x ~= math.floor(x) then
    lgt.raise("progress: %s is an integer, not %s", what, lgt.describe(x))
  end
end

-- What is left of the arguments without the options at their end.
local function take_options(lgt, ...)
  local arguments = { ... }
  local options
  for i = 4, 2, -1 do
    if type(arguments[i]) == "table" then
      options = arguments[i]
      arguments[i] = nil
      break
    end
  end
  for name in pairs(options or {}) do
    if name ~= "label" then lgt.raise("progress: unknown option %s; it takes label", tostring(name)) end
  end
  local label = options and options.label or ""
  if type(label) ~= "string" then lgt.raise("progress: label is a string, not %s", lgt.describe(label)) end
  return label, arguments[1], arguments[2], arguments[3]
end

return function(lgt, ...)
  local clock_now = lgt.C.lgt_time -- lgt.time is something that all ranks do together, and only one draws
  local label, first, last, step = take_options(lgt, ...)
  local list
  if type(first) == "table" then
    list, first, last, step = first, 1, #first, 1
  elseif last == nil then
    first, last = 1, first
  end
  step = step or 1
  check_integer(lgt, first, "the first number")
  check_integer(lgt, last, "the last number")
  check_integer(lgt, step, "the step")
  if step == 0 then lgt.raise("progress: the step is 0") end
  local total = math.max(0, math.floor((last - first) / step) + 1)
  local shown = ffi.C.isatty(2) == 1 and lgt.rank() == 0
  local began, drawn, done, look, every = clock_now(), 0, 0, 1, 1

  local function draw(now)
    io.stderr:write("\r", line_text(label, done, total, now - began), "\27[K")
    io.stderr:flush()
    drawn = now
  end

  -- Called after turn number `look`: draws, if it is time to, and says when to look at the clock again.
  local function consider()
    local now = clock_now()
    if now - drawn >= INTERVAL then
      draw(now)
      local seconds = (now - began) / math.max(done, 1)
      every = math.max(1, math.min(2 * every, math.floor(INTERVAL / 8 / math.max(seconds, 1e-9))))
    end
    look = done + every
  end

  local i = first - step
  return function()
    if i ~= first - step then done = done + 1 end
    i = i + step
    if shown and done >= look then consider() end
    if done >= total then
      if shown then
        draw(clock_now())
        io.stderr:write("\n")
        shown = false
      end
      return nil
    end
    if list then return i, list[i] end
    return i
  end
end
