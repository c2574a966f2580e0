-- array/core/complex.lua - functions of complex numbers, as generators over their parts.
--
-- The inverse functions are Kahan's (Branch Cuts for Complex Elementary Functions, in: The State of the Art in
-- Numerical Analysis, 1987), which keep the signs of zeros on the cuts and their accuracy near them.

local core = require "array.core"

local lgt, dtypes = core.lgt, core.dtypes
local category = dtypes.category

local of = {}

function of.sign(z)
  local x, y = z:real(), z:imag()
  local s = x:ne(0):select(x:sign(), y:sign())
  return (x:isnan():logical_or(y:isnan()):select(x + y, s)):complex(x * 0):cast(z.dtype)
end

function of.rint(z) return z:real():rint():complex(z:imag():rint()) end
function of.exp2(z) return (z * math.log(2)):exp() end

function of.expm1(z)
  local x, y = z:real(), z:imag()
  local half = (y * 0.5):sin()
  return (x:expm1() * y:cos() - 2 * half * half):complex(x:exp() * y:sin())
end

function of.log1p(z)
  local x, y = z:real(), z:imag()
  return ((x * (2 + x) + y * y):log1p() * 0.5):complex(y:atan2(1 + x))
end

function of.arcsin(z)
  local p, m = (1 + z):sqrt(), (1 - z):sqrt()
  return z:real():atan2((m * p):real()):complex((m:conj() * p):imag():asinh())
end

function of.arccos(z)
  local p, m = (1 + z):sqrt(), (1 - z):sqrt()
  return (2 * m:real():atan2(p:real())):complex((p:conj() * m):imag():asinh())
end

function of.arccosh(z)
  local p, m = (z + 1):sqrt(), (z - 1):sqrt()
  return (m:conj() * p):real():asinh():complex(2 * m:imag():atan2(p:real()))
end

function of.arctanh(z)
  local x, y = z:real(), z:imag()
  local d = 1 - x
  return ((4 * x / (d * d + y * y)):log1p() * 0.25):complex((2 * y):atan2(d * (1 + x) - y * y) * 0.5)
end

-- f(z) from f(iz): the hyperbolic functions along the other axis.
local function rotated(z) return (-z:imag()):complex(z:real()) end

function of.arcsinh(z)
  local w = of.arcsin(rotated(z))
  return w:imag():complex(-w:real())
end

function of.arctan(z)
  local w = of.arctanh(rotated(z))
  return w:imag():complex(-w:real())
end

-- ---- order ---------------------------------------------------------------------------------------------

-- Is one of two operands, values or numbers of Lua, complex?
function of.any(x, y)
  local function complex(v)
    local dtype = lgt.is_value(v) and v.dtype or type(v) == "cdata" and dtypes.of_scalar(v)
    return dtype and category[dtype] == 3
  end
  return complex(x) or complex(y)
end

-- Does x come before y (parts = {"lt", "lt"}), or so?  What has a NaN that matters is in no order.
function of.ordered(x, y, parts)
  if not lgt.is_value(x) then x = y.body:constant(x) end
  if not lgt.is_value(y) then y = x.body:constant(y) end
  local numbers = x:imag():isnan():logical_or(y:imag():isnan()):logical_not()
  local by_real = x:real()[parts[1]](x:real(), y:real()):logical_and(numbers)
  return by_real:logical_or(x:real():eq(y:real()):logical_and(x:imag()[parts[2]](x:imag(), y:imag())))
end

return of
