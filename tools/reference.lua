-- reference.lua - docs/reference, made of the comments above the definitions in the libraries.
--
--   lgt tools/reference.lua            writes the pages
--   lgt tools/reference.lua --check    says which are not up to date
--
-- What the comments say is what editors and the prompt's help show, too (lgt/sources.lua).

local folder = arg[0]:match("^(.*)tools/") .. "docs/reference/"
local check = arg[1] == "--check"
local np = require "array"
local sources = require "lgt.sources"

local PAGES = { -- prefix of names, file, title, what the page says first
  { "np.linalg.", "linalg.md", "np.linalg", "Linear algebra.  Matrices are the last two axes of an array." },
  { "np.fft.", "fft.md", "np.fft", "Fourier transforms." },
  { "np.random.", "random.md", "np.random", "Random numbers, the same whatever the number of workers and domains." },
  { "np.ndimage.", "ndimage.md", "np.ndimage", "Filters of arrays of any number of dimensions, as scipy.ndimage's." },
  { "np.plot.", "plot.md", "np.plot", "Plots, in files or on the terminal.  `np.plot(...)` is `np.plot.line(...)`." },
  { "np.", "array.md", "require \"array\"", "The array library, called `np` here." },
  { "array:", "methods.md", "Methods of arrays", "What `a:name(...)` does." },
  { "lgt.", "lgt.md", "require \"lgt\"", "The runtime." },
}

local function page_of(name)
  for _, page in ipairs(PAGES) do
    if name:sub(1, #page[1]) == page[1] and not name:sub(#page[1] + 1):find("[.:]") then return page end
  end
end

local function value_of(name)
  local value = name:find("^np%.") and np or nil
  for part in name:gsub("^np%.", ""):gmatch("[%w_]+") do value = value and value[part] end
  return value
end

local function escaped(text) return (text:gsub("([*_<>|])", "\\%1")) end

local function lines_of(name, entry)
  local shown = name:gsub("^array:", "a:")
  local lines = { ("### `%s%s`"):format(shown, entry.parameters and "(" .. entry.parameters .. ")" or ""), "" }
  for _, line in ipairs(entry.text) do lines[#lines + 1] = escaped(line) end
  if #entry.text > 0 then lines[#lines + 1] = "" end
  for _, p in ipairs(entry.params) do
    lines[#lines + 1] = ("- `%s` `%s`%s"):format(p.name, p.type, p.text ~= "" and " " .. escaped(p.text) or "")
  end
  for _, r in ipairs(entry.returns) do
    lines[#lines + 1] = ("- gives `%s`%s"):format(r.type, r.text ~= "" and " " .. escaped(r.text) or "")
  end
  if #entry.params + #entry.returns > 0 then lines[#lines + 1] = "" end
  return lines
end

-- Public names of the index, and the ufuncs, by page.
local function collected()
  local by_page, ufuncs = {}, {}
  for _, page in ipairs(PAGES) do by_page[page] = {} end
  for name, entry in pairs(sources.index()) do
    local page = page_of(name)
    local value = value_of(name)
    local public = not name:find("^np%.") or type(value) == "function" or type(value) == "table"
    if page and public and (#entry.text > 0 or #entry.params > 0) then table.insert(by_page[page], name) end
  end
  for name in pairs(np.ufuncs) do
    if not sources.index()["np." .. name] and np[name] then ufuncs[#ufuncs + 1] = "`np." .. name .. "`" end
  end
  table.sort(ufuncs)
  return by_page, ufuncs
end

local function wrapped(words)
  local lines, line = {}, ""
  for _, word in ipairs(words) do
    if #line + #word > 110 then
      lines[#lines + 1] = line
      line = ""
    end
    line = line == "" and word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

local function text_of(page, names, ufuncs)
  local lines = { "# " .. page[3], "", page[4], "",
                  "Made by tools/reference.lua of the comments in the sources: change those.", "" }
  if page[1] == "np." then
    lines[#lines + 1] = "Universal functions: elementwise, of arrays or numbers, with broadcasting, and options " ..
      "`{out, where, dtype}`."
    lines[#lines + 1] = "They are NumPy's functions of these names; of two operands they have `reduce`, " ..
      "`accumulate`, `reduceat`, `outer`, `at`."
    lines[#lines + 1] = "\n" .. wrapped(ufuncs) .. "\n"
  end
  table.sort(names)
  for _, name in ipairs(names) do
    for _, line in ipairs(lines_of(name, sources.index()[name])) do lines[#lines + 1] = line end
  end
  return (table.concat(lines, "\n"):gsub("\n+$", "")) .. "\n"
end

local function contents(path)
  local file = io.open(path, "rb")
  local text = file and file:read("*a")
  if file then file:close() end
  return text
end

local stale = 0
local by_page, ufuncs = collected()
for _, page in ipairs(PAGES) do
  local path, text = folder .. page[2], text_of(page, by_page[page], ufuncs)
  if contents(path) ~= text then
    stale = stale + 1
    if check then
      print(("FAIL %s is not what the sources say: lgt tools/reference.lua writes it anew"):format(page[2]))
    else
      local file = assert(io.open(path, "wb"))
      file:write(text)
      file:close()
    end
  elseif check then
    print("ok " .. page[2])
  end
end
os.exit(check and stale > 0 and 1 or 0, true)
