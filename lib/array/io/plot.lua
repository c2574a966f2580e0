-- array/io/plot.lua - np.plot: lines, points, images and contours, in a file (SVG or PNG) or on the terminal.
--
--   np.plot(y)   np.plot(x, y, {file = "a.svg", title = "..."})        lines
--   np.plot.scatter(x, y)   np.plot.image(a)   np.plot.contour(a)
--
-- Drawing is gnuplot's, which is run for each plot and gets the data as text; an image as PNG or on the terminal
-- needs no gnuplot.  What is drawn on the terminal goes to the standard output.

local core = require "array.core"
local png = require "array.io.png"

local dtypes, raise, np = core.dtypes, core.raise, core.np

local plot = {}

-- ---- arguments -------------------------------------------------------------------------------------------

local known = {
  file = true, title = true, xlabel = true, ylabel = true, labels = true, width = "number", height = "number",
  logx = true, logy = true, xlim = "interval", ylim = "interval", style = true, low = "number", high = "number",
  levels = true,
}

local LARGEST_SIDE = 16384 -- of a drawing, in pixels

local function check_matrix(a, who)
  a = np.asarray(a)
  if core.ndim_of(a) ~= 2 or core.size_of(a) == 0 or dtypes.category[core.dtype_of(a)] == 3 then
    raise("%s: a matrix of real numbers with elements was expected, not %s", who, (core.describe(a)))
  end
  return a
end

local function check_text(options, name, who)
  local text = options[name]
  if text ~= nil and type(text) ~= "string" then
    raise("%s: %s is a string, not %s", who, name, (core.describe(text)))
  end
  return text
end

local function check_options(options, who)
  options = core.check_options(options, known, who)
  local file = check_text(options, "file", who)
  if file and not file:find("%.svg$") and not file:find("%.png$") then
    raise("%s: the name of the file ends in .svg or .png, unlike %s", who, file)
  end
  for _, name in ipairs { "title", "xlabel", "ylabel", "style" } do check_text(options, name, who) end
  for _, name in ipairs { "width", "height" } do
    local extent = options[name]
    if extent and not (extent >= 1 and extent <= LARGEST_SIDE) then
      raise("%s: %s is a number from 1 to %d, not %s", who, name, LARGEST_SIDE, (core.describe(extent)))
    end
  end
  return options
end

-- ---- gnuplot ---------------------------------------------------------------------------------------------

local function quoted(text) return "'" .. text:gsub("'", "''"):gsub("\n", " ") .. "'" end

-- A number as gnuplot reads it; what is no finite number is left out of a plot.
local function number(x) return x - x == 0 and ("%.10g"):format(x) or "nan" end

-- The lines before a plot: where to draw, how large, what is written around.
local function preamble(options)
  local lines = {}
  local function add(format, ...) lines[#lines + 1] = format:format(...) end
  local file = options.file
  if file then
    local kind = file:find("%.svg$") and "svg" or "png"
    add("set terminal %s size %d,%d", kind, options.width or 800, options.height or 500)
    add("set output %s", quoted(file))
  else
    add("set terminal dumb %d %d", options.width or 79, options.height or 24)
  end
  add("set datafile missing 'nan'")
  for _, name in ipairs { "title", "xlabel", "ylabel" } do
    if options[name] then add("set %s %s noenhanced", name, quoted(options[name])) end
  end
  for axis, name in pairs { x = "logx", y = "logy" } do
    if options[name] then add("set logscale %s", axis) end
  end
  for axis, name in pairs { x = "xlim", y = "ylim" } do
    if options[name] then add("set %srange [%.17g:%.17g]", axis, options[name][1], options[name][2]) end
  end
  return lines
end

-- What gnuplot said, without where in its script it was and without warnings: of a single value, say, for which it
-- makes an axis.
local function complaints(text)
  local kept = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    local what = line:gsub('^%s*"[^"]*" line %d+: ', "")
    if what:find("%S") and not what:find("^[Ww]arning:") then kept[#kept + 1] = what end
  end
  return table.concat(kept, "\n")
end

-- Runs gnuplot on a script.  What it draws on the terminal comes back, for only io.write is what a program may
-- have redirected.
local function run(lines, who)
  local script = os.tmpname()
  local file = assert(io.open(script, "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  local command = "gnuplot SCRIPT 2>SCRIPT.log; echo \"status $?\"; cat SCRIPT.log; rm -f SCRIPT.log"
  local pipe = io.popen((command:gsub("SCRIPT", script)))
  local text = pipe:read("*a")
  pipe:close()
  os.remove(script)
  local drawn, status, said = text:match("^(.*)status (%d+)\n(.*)$")
  if status == "127" then raise("%s: plots are drawn by gnuplot: install gnuplot-nox", who) end
  if said:find("range is invalid", 1, true) or said:find("value undefined!", 1, true) then
    raise("%s: no point can be drawn: each is NaN or infinite, not positive on a logarithmic axis, or outside of " ..
      "xlim and ylim", who)
  end
  said = complaints(said)
  if status ~= "0" or said ~= "" then raise("%s: gnuplot: %s", who, said) end
  return drawn
end

local function finish(lines, options, who)
  local text = run(lines, who)
  if not options.file then io.write((text:gsub("\f", ""):gsub("^\n", ""))) end
end

-- ---- lines and points ------------------------------------------------------------------------------------

-- The vectors to draw: one, or a list of them.
local function series_of(y, who)
  local list = y
  if core.is_array(y) or type(y) == "table" and (type(y[1]) == "number" or #y == 0) then list = { y } end
  if type(list) ~= "table" then raise("%s: a vector was expected, not %s", who, (core.describe(y))) end
  local result = {}
  for i, v in ipairs(list) do
    v = np.asarray(v)
    if core.ndim_of(v) ~= 1 or dtypes.category[core.dtype_of(v)] == 3 then
      raise("%s: a vector of real numbers was expected, not %s", who, (core.describe(v)))
    end
    result[i] = v
  end
  return result
end

local function draw_series(who, default_style, x, y, options)
  if core.is_options(x) or x == nil then raise("%s: what is to be drawn?", who) end
  if core.is_options(y) then y, options = nil, y end
  if y == nil then x, y = nil, x end
  options = check_options(options, who)
  local series = series_of(y, who)
  if x ~= nil then x = series_of(x, who)[1] end
  local lines, parts = preamble(options), {}
  local labels = options.labels or {}
  if type(labels) ~= "table" then raise("%s: labels are a table of strings, one for each vector", who) end
  if #labels == 0 then lines[#lines + 1] = "set nokey" end
  for i, v in ipairs(series) do
    local n = core.size_of(v)
    if x and core.size_of(x) ~= n then
      raise("%s: %d places and %d values", who, core.size_of(x), n)
    end
    if n == 0 then raise("%s: a vector without elements", who) end
    local values, places = np.astype(v, "float64"):totable(), x and np.astype(x, "float64"):totable()
    lines[#lines + 1] = ("$data%d << END"):format(i)
    for k = 1, n do lines[#lines + 1] = number(places and places[k] or k) .. " " .. number(values[k]) end
    lines[#lines + 1] = "END"
    parts[i] = ("$data%d using 1:2 with %s title %s noenhanced"):format(i, options.style or default_style,
      quoted(tostring(labels[i] or "")))
  end
  lines[#lines + 1] = "plot " .. table.concat(parts, ", ")
  finish(lines, options, who)
end

-- Draw vectors as lines.  Options: file, a name that ends in .svg or .png (without one: on the terminal); title,
-- xlabel, ylabel; labels, one for each vector; width, height (pixels, or characters); xlim, ylim, {first, last};
-- logx, logy; style, one of gnuplot's ("lines", "points", "linespoints", "steps", "impulses", "boxes").
---@param x lgt_array|nil places; 1, 2, ... if there is none
---@param y lgt_array|lgt_array[] values
---@param options table?
function plot.line(x, y, options) draw_series("plot.line", "lines", x, y, options) end

-- The same with a point for each element.
---@param x lgt_array|nil
---@param y lgt_array|lgt_array[]
---@param options table?
function plot.scatter(x, y, options) draw_series("plot.scatter", "points", x, y, options) end

-- ---- matrices --------------------------------------------------------------------------------------------

-- Every so many rows and columns, that no more than these are left.
local function thinned(a, rows, columns)
  local n, m = a:dims()
  return a[{ { 1, n, step = math.ceil(n / rows) }, { 1, m, step = math.ceil(m / columns) } }]
end

-- Two pixels in each character: the upper one is its foreground, the lower one its background.
local function on_terminal(a, options)
  a = thinned(a, 2 * (options.height or 24), options.width or 79)
  local shades, colours, lines = png.shades(a, options.low, options.high):totable(), png.palette(), {}
  local function colour(kind, shade)
    return ("\27[%d;2;%d;%d;%dm"):format(kind, colours[3 * shade], colours[3 * shade + 1], colours[3 * shade + 2])
  end
  for i = 1, #shades, 2 do
    local line = {}
    for j = 1, #shades[i] do
      local below = shades[i + 1] and colour(48, shades[i + 1][j]) or "\27[49m"
      line[j] = colour(38, shades[i][j]) .. below .. "▀"
    end
    lines[#lines + 1] = table.concat(line) .. "\27[0m\n"
  end
  io.write(options.title and options.title .. "\n" or "", table.concat(lines))
end

-- The matrix as gnuplot's data, and the lines that say how it is coloured.
local function matrix_lines(a, options)
  local lines = preamble(options)
  local anchors = {}
  local colours = png.palette()
  for i = 0, 8 do
    local k = 3 * math.floor(i * 255 / 8)
    anchors[#anchors + 1] = ("%g '#%02x%02x%02x'"):format(i / 8, colours[k], colours[k + 1], colours[k + 2])
  end
  lines[#lines + 1] = "set palette defined (" .. table.concat(anchors, ", ") .. ")"
  lines[#lines + 1] = "set nokey"
  if options.low or options.high then
    lines[#lines + 1] = ("set cbrange [%s:%s]"):format(options.low or "*", options.high or "*")
  end
  lines[#lines + 1] = "$data << END"
  for _, row in ipairs(np.astype(a, "float64"):totable()) do
    for j = 1, #row do row[j] = number(row[j]) end
    lines[#lines + 1] = table.concat(row, " ")
  end
  lines[#lines + 1] = "END"
  return lines
end

local LARGEST = 1000 -- rows and columns that gnuplot gets

-- Draw a matrix, a colour for each element, the first row on top.  A .png file has a pixel for each, a .svg file
-- and the terminal have as many as fit.  Options: file, title, width, height, low and high (what has the first and
-- the last colour; the extremes), and for .svg files those of np.plot.line.
---@param a lgt_array a matrix of real numbers
---@param options table?
function plot.image(a, options)
  options = check_options(options, "plot.image")
  a = check_matrix(a, "plot.image")
  if not options.file then return on_terminal(a, options) end
  if options.file:find("%.png$") then return png.save(options.file, a, options.low, options.high, "plot.image") end
  a = thinned(a, LARGEST, LARGEST)
  local rows, columns = a:dims()
  -- gnuplot draws images of at least 2 x 2: what is added lies outside of the ranges
  a = np.pad(a, { { 0, rows == 1 and 1 or 0 }, { 0, columns == 1 and 1 or 0 } }, "edge")
  local lines = matrix_lines(a, options)
  lines[#lines + 1] = ("set xrange [0.5:%g]\nset yrange [%g:0.5]"):format(columns + 0.5, rows + 0.5)
  lines[#lines + 1] = "plot $data matrix using ($1+1):($2+1):3 with image pixels"
  finish(lines, options, "plot.image")
end

-- Draw the lines along which a matrix has certain values, the first row at the bottom.  Options: levels, how many
-- (10) or a table of values; and those of np.plot.line.
---@param a lgt_array a matrix of real numbers, at least 2 x 2
---@param options table?
function plot.contour(a, options)
  options = check_options(options, "plot.contour")
  a = check_matrix(a, "plot.contour")
  local rows, columns = a:dims()
  if rows < 2 or columns < 2 then raise("plot.contour: at least 2 rows and 2 columns are needed") end
  local levels = core.plain(options.levels or 10)
  if type(levels) ~= "number" then levels = core.as_list(levels) end
  if not levels then
    raise("plot.contour: levels are a number or a table of values, not %s", (core.describe(options.levels)))
  end
  if levels ~= levels or type(levels) == "number" and (levels < 1 or levels % 1 ~= 0) or
    type(levels) == "table" and #levels == 0 then
    raise("plot.contour: at least one level was expected, not %s", (core.describe(options.levels)))
  end
  local lines = matrix_lines(thinned(a, LARGEST, LARGEST), options)
  lines[#lines + 1] = "set contour base\nset view map\nunset surface\nunset colorbox"
  lines[#lines + 1] = "set cntrparam levels " .. (type(levels) == "number" and levels or
    "discrete " .. table.concat(levels, ","))
  lines[#lines + 1] = ("set xrange [1:%d]\nset yrange [1:%d]"):format(columns, rows)
  lines[#lines + 1] = ("splot $data matrix using ($1*%d+1):($2*%d+1):3 with lines palette"):format(
    math.ceil(columns / LARGEST), math.ceil(rows / LARGEST))
  finish(lines, options, "plot.contour")
end

np.plot = plot
setmetatable(plot, { __call = function(_, ...) return draw_series("plot", "lines", ...) end })

return plot
