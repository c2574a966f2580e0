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
  { "np.testing.", "testing.md", "np.testing", "Assertions that say where two arrays differ." },
  { "np.plot.", "plot.md", "np.plot", "Plots, in files or on the terminal.  `np.plot(...)` is `np.plot.line(...)`." },
  { "np.", "array.md", "require \"array\"", "The array library, called `np` here." },
  { "array:", "methods.md", "Methods of arrays", "What `a:name(...)` does." },
  { "file:", "hdf5.md", "Methods of HDF5 files", "What `f:name(...)` does, where `f = np.hdf5(path, mode)`." },
  { "lgt.", "lgt.md", "require \"lgt\"", "The runtime." },
  { "sparse.", "sparse.md", "require \"sparse\"",
    "Sparse matrices, as scipy.sparse's arrays; positions count from 1." },
  { "A:", "matrices.md", "Methods of sparse matrices",
    "What `A:name(...)` does, of matrices of all or of some formats." },
  { "solvers.", "solvers.md", "require \"solvers\"",
    "Iterative and direct solvers, eigenvalues, differential equations, as scipy.sparse.linalg and scipy.integrate " ..
      "have them." },
}

-- Functions by public name that the index does not have: found where they were defined.  Of each prefix, the names of
-- those that have no words of their own.
local found, wordless = {}, {}

local function add_functions(prefix, functions)
  local names, of = {}, {}
  for name, f in pairs(functions) do
    if type(f) == "function" then names[#names + 1] = name end
  end
  table.sort(names)
  wordless[prefix] = {}
  for _, name in ipairs(names) do
    local f = functions[name]
    local entry = of[f] or sources.of_function(f)
    if of[f] then
      entry.also = (entry.also or "Also") .. (" `%s%s`"):format(prefix, name)
    elseif entry and #entry.text + #entry.params > 0 then
      of[f] = { text = entry.text, params = entry.params, returns = entry.returns, parameters = entry.parameters }
      if prefix == "A:" then of[f].parameters = of[f].parameters:gsub("^%w+,? ?", "") end -- the matrix itself
      found[prefix .. name] = of[f]
    else
      table.insert(wordless[prefix], "`" .. name .. "`")
    end
  end
end

do
  local sparse, solvers = require "sparse", require "solvers"
  local public = {}
  for name, f in pairs(solvers) do public[name] = f end
  for line in io.lines(arg[0]:match("^(.*)tools/") .. "lib/solvers.lua") do -- what is loaded when it is first used
    for name in (line:match('^at_home%("%w+", "(.*)"') or ""):gmatch("%S+") do public[name] = solvers[name] end
  end
  add_functions("solvers.", public)
  local _ = sparse.save_npz -- loads its file
  add_functions("sparse.", sparse)
  local methods = {} -- those of several formats are the same to their users
  for _, format in ipairs { "ell", "bsr", "dia", "coo", "csc", "csr", "any" } do
    for name, f in pairs(require("sparse.core").methods[format]) do
      local entry = sources.of_function(f)
      if not methods[name] or entry and #entry.text + #entry.params > 0 then methods[name] = f end
    end
  end
  add_functions("A:", methods)
end

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
  local shown = name:gsub("^array:", "a:"):gsub("^file:", "f:")
  local lines = { ("### `%s%s`"):format(shown, entry.parameters and "(" .. entry.parameters .. ")" or ""), "" }
  for _, line in ipairs(entry.text) do lines[#lines + 1] = escaped(line) end
  lines[#lines + 1] = entry.also
  if #entry.text > 0 or entry.also then lines[#lines + 1] = "" end
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
  local function add(name, entry)
    local page = page_of(name)
    local value = value_of(name)
    local public = not name:find("^np%.") or type(value) == "function" or type(value) == "table"
    if page and public and (#entry.text > 0 or #entry.params > 0) then table.insert(by_page[page], name) end
  end
  for name, entry in pairs(sources.index()) do
    if not name:find("^sparse%.") and not name:find("^solvers%.") then add(name, entry) end
  end
  for name, entry in pairs(found) do add(name, entry) end
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
    for _, line in ipairs(lines_of(name, found[name] or sources.index()[name])) do lines[#lines + 1] = line end
  end
  if wordless[page[1]] and #wordless[page[1]] > 0 then
    lines[#lines + 1] = "## As SciPy's\n\n" .. wrapped(wordless[page[1]])
  end
  return (table.concat(lines, "\n"):gsub("\n+$", "")) .. "\n"
end

local function contents(path)
  local file = io.open(path, "rb")
  local text = file and file:read("*a")
  if file then file:close() end
  return text
end

local wrong = sources.wrong_types()
if #wrong > 0 then
  print("FAIL the reference: a type is missing, or its brackets are not closed: " .. table.concat(wrong, ", "))
  os.exit(1, true)
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
