-- array/make/windows.lua - all windows of some width over an array, as a view.

local core = require "array.core"

local lgt, raise, np = core.lgt, core.raise, core.np

local function take_list(value, who, what)
  local list = core.as_list(value) or { value }
  for i = 1, math.max(1, table.maxn(list)) do
    if not core.is_integer(list[i]) then
      raise("%s: %s, or a table of them, was expected, not %s", who, what, (core.describe(list[i])))
    end
  end
  return list
end

-- What a window of `width` elements shows at each position along an axis: a new last axis, and the axis' extent becomes
-- less by width - 1.  np.sliding_window_view(x, 5):mean(-1) is a moving average.
---@param a lgt_array
---@param width integer|integer[] the extent of the windows along each axis, or along those that are given
---@param axis integer|integer[]|nil as many as there are widths
---@return lgt_array a view, as wide as all windows together; it cannot be written
function np.sliding_window_view(a, width, axis, surplus)
  core.check_surplus(surplus, "sliding_window_view")
  local who = "sliding_window_view"
  a = np.asarray(a)
  axis = core.axis_option(axis, who)
  local ndim, widths = core.ndim_of(a), take_list(width, who, "a width")
  local axes = axis ~= nil and take_list(axis, who, "an axis")
  if #widths ~= (axes and #axes or ndim) then
    raise("%s: %d width%s for %d ax%s", who, #widths, #widths == 1 and "" or "s", axes and #axes or ndim,
      (axes and #axes or ndim) == 1 and "is" or "es")
  end
  if ndim + #widths > 6 then
    raise("%s: the view would have %d dimensions; arrays have at most 6", who, ndim + #widths)
  end
  local layout = core.layout_of(a)
  for i, n in ipairs(widths) do
    local d = core.check_axis(axes and axes[i] or i, ndim, who)
    local extent = tonumber(lgt.layouts[layout].shape[d - 1])
    if n < 1 or n > extent then
      raise("%s: a width of %d for axis %d: 1 to its extent of %d was expected", who, n, d, extent)
    end
    layout = lgt.windows(layout, d, n)
  end
  return lgt.alias(a, layout)
end

np.lib = { stride_tricks = {
  sliding_window_view = np.sliding_window_view, broadcast_to = np.broadcast_to, broadcast_arrays = np.broadcast_arrays,
} }

return true
