-- array/text/format.lua - numbers and nested tables as text, the way NumPy prints arrays.
--
-- Plain Lua without a runtime.  Floats are printed with the fewest digits that tell them apart, at most
-- `precision` after the point, all aligned; exponents appear when the range is wide.  Rows break at
-- `linewidth` columns.  Arrays of more than `threshold` elements show `edgeitems` at both ends.

local text = {}

-- Options of printing: the kinds of their values (array/core.lua), and what they are at first.
text.known = { precision = "count", threshold = "number", edgeitems = "count", linewidth = "limit", suppress = true }
text.options = { precision = 8, threshold = 1000, edgeitems = 3, linewidth = 75, suppress = false }

local function is_finite(x) return x - x == 0 end

local function special(x)
  if x ~= x then return "nan" end
  return x > 0 and "inf" or "-inf"
end

-- The fewest significant digits, in exponential form, that give x again.  `round` maps a number to the
-- nearest one of the array's type.
local function shortest(x, round)
  for digits = 0, 16 do
    local s = ("%." .. digits .. "e"):format(x)
    if round(tonumber(s)) == x then return s end
  end
  return ("%.16e"):format(x)
end

-- Without an exponent: the shortest form, or `precision` digits after the point where that is longer.
local function positional(x, precision, round)
  local sign, first, rest, exponent = shortest(x, round):match("^(-?)(%d)%.?(%d*)e([+-]%d+)$")
  exponent = tonumber(exponent)
  local digits = first .. rest
  if #rest - exponent > precision then
    local whole, fraction = ("%." .. precision .. "f"):format(x):match("^(-?%d+)%.?(%d*)$")
    return whole, (fraction:gsub("0+$", ""))
  end
  if exponent < 0 then return sign .. "0", ("0"):rep(-exponent - 1) .. digits end
  if #digits <= exponent then digits = digits .. ("0"):rep(exponent + 1 - #digits) end
  return sign .. digits:sub(1, exponent + 1), (digits:sub(exponent + 2):gsub("0+$", ""))
end

-- With an exponent: integer part, fraction, exponent with its sign.
local function scientific(x, precision, round)
  local s = shortest(x, round)
  local whole, fraction, exponent = s:match("^(-?%d)%.?(%d*)e([+-]%d+)$")
  if #fraction > precision then
    whole, fraction, exponent = ("%." .. precision .. "e"):format(x):match("^(-?%d)%.?(%d*)e([+-]%d+)$")
  end
  return whole, (fraction:gsub("0+$", "")), exponent
end

local function each(values, f)
  if type(values) ~= "table" then return f(values) end
  for i = 1, #values do each(values[i], f) end
end

local function identity(x) return x end

-- A function that writes any of these floats in one width.
---@param values table nested tables of numbers
---@param round (fun(x: number): number)? to the array's type
function text.float_formatter(values, round)
  round = round or identity
  local precision = text.options.precision
  local least, greatest = math.huge, 0
  each(values, function(x)
    local magnitude = math.abs(x)
    if is_finite(x) and magnitude > 0 then
      least, greatest = math.min(least, magnitude), math.max(greatest, magnitude)
    end
  end)
  local exponential = greatest >= 1e8 or
    (not text.options.suppress and greatest > 0 and (least < 0.0001 or greatest / least > 1000))
  local split = exponential and scientific or positional
  local left, right, exponent_width, any = 0, 0, 0, false
  each(values, function(x)
    if is_finite(x) then
      local whole, fraction, exponent = split(x, precision, round)
      left, right = math.max(left, #whole), math.max(right, #fraction)
      if exponent then exponent_width = math.max(exponent_width, #exponent) end
      any = true
    end
  end)
  local width = left + (any and 1 or 0) + right + (exponential and exponent_width + 1 or 0)
  each(values, function(x)
    if not is_finite(x) then width = math.max(width, #special(x)) end
  end)
  return function(x)
    local s
    if not is_finite(x) then
      s = special(x)
    elseif exponential then
      local whole, fraction, exponent = scientific(x, precision, round)
      fraction = fraction .. ("0"):rep(right - #fraction)
      exponent = exponent:sub(1, 1) .. ("0"):rep(exponent_width - #exponent) .. exponent:sub(2)
      s = whole .. "." .. fraction .. "e" .. exponent
    else
      local whole, fraction = positional(x, precision, round)
      s = whole .. "." .. fraction .. (" "):rep(right - #fraction)
    end
    return (" "):rep(width - #s) .. s
  end
end

-- One number by itself: the fewest digits that tell it apart from all others.
function text.float(x, round)
  if not is_finite(x) then return special(x) end
  local magnitude = math.abs(x)
  if magnitude ~= 0 and (magnitude >= 1e16 or magnitude < 1e-4) then
    local whole, fraction, exponent = scientific(x, 17, round or identity)
    return whole .. (fraction ~= "" and "." .. fraction or "") .. "e" .. exponent
  end
  local whole, fraction = positional(x, 400, round or identity)
  return whole .. "." .. (fraction == "" and "0" or fraction)
end

-- A complex number by itself.
function text.complex(z, round)
  local function part(x) return (text.float(tonumber(x), round):gsub("%.0$", "")) end
  local im = part(z.im)
  return part(z.re) .. (im:find("^-") and "" or "+") .. im .. "i"
end

-- An integer with all its digits, of which tostring leaves some out from 10^14 on; or a boolean.
function text.plain(x)
  if type(x) == "number" then return ("%.0f"):format(x) end
  return (tostring(x):gsub("U?LL$", ""))
end

-- Integers and booleans, aligned at the right.
function text.plain_formatter(values)
  local width = 0
  each(values, function(x) width = math.max(width, #text.plain(x)) end)
  return function(x)
    local s = text.plain(x)
    return (" "):rep(width - #s) .. s
  end
end

-- ---- brackets and lines -----------------------------------------------------------------------------

local ELISION = {} -- stands for the elements left out
text.ELISION = ELISION

local function extend(done, line, word, width, indent)
  if #line + #word > width and #line > #indent then
    done = done .. line:gsub("%s+$", "") .. "\n"
    line = indent
  end
  return done, line .. word
end

local function layout(values, format, depth_left, indent, width)
  if depth_left == 0 then return format(values) end
  local s
  if depth_left == 1 then
    s = ""
    local line = indent
    for i = 1, #values do
      local word = values[i] == ELISION and "..." or format(values[i])
      s, line = extend(s, line, word, width - 1, indent)
      if i < #values then line = line .. " " end
    end
    s = s .. line
  else
    local lines = {}
    for i = 1, #values do
      local row = values[i]
      lines[i] = indent .. (row == ELISION and "..." or layout(row, format, depth_left - 1, indent .. " ", width - 1))
    end
    s = table.concat(lines, ("\n"):rep(depth_left - 1))
  end
  return "[" .. s:sub(#indent + 1) .. "]"
end

-- Nested tables of numbers, `ndim` deep, as text; format writes one number.
function text.layout(values, ndim, format) return layout(values, format, ndim, " ", text.options.linewidth) end

-- The values without what was left out: what the formatters measure.
function text.without_elision(values)
  if type(values) ~= "table" then return values end
  local result = {}
  for i = 1, #values do
    if values[i] ~= ELISION then result[#result + 1] = text.without_elision(values[i]) end
  end
  return result
end

return text
