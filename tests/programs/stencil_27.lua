-- The mean of 27 neighbours in a cube, over and over: views of one grid, written in place.
--
--   lgt tests/programs/stencil_27.lua [side] [iterations]
local np = require "array"

local N, iterations = tonumber(arg[1]) or 100, tonumber(arg[2]) or 100

local function initialize()
  local grid = np.zeros({ N + 2, N + 2, N + 2 })
  grid[{ {}, {}, 1 }] = -273.15
  grid[{ {}, 1, {} }] = -273.15
  grid[{ 1, {}, {} }] = -273.15
  grid[{ {}, {}, -1 }] = 273.15
  grid[{ {}, -1, {} }] = 273.15
  grid[{ -1, {}, {} }] = 273.15
  return grid
end

local function run(grid)
  local low, middle, high = "1:-3", "2:-2", "3:"
  local function view(...) return grid[table.concat({ ... }, ", ")] end

  local g000, g001, g002 = view(low, low, low), view(low, low, middle), view(low, low, high)
  local g010, g011, g012 = view(low, middle, low), view(low, middle, middle), view(low, middle, high)
  local g020, g021, g022 = view(low, high, low), view(low, high, middle), view(low, high, high)

  local g100, g101, g102 = view(middle, low, low), view(middle, low, middle), view(middle, low, high)
  local g110, g111, g112 = view(middle, middle, low), view(middle, middle, middle), view(middle, middle, high)
  local g120, g121, g122 = view(middle, high, low), view(middle, high, middle), view(middle, high, high)

  local g200, g201, g202 = view(high, low, low), view(high, low, middle), view(high, low, high)
  local g210, g211, g212 = view(high, middle, low), view(high, middle, middle), view(high, middle, high)
  local g220, g221, g222 = view(high, high, low), view(high, high, middle), view(high, high, high)

  for _ = 1, iterations do
    local g00 = g000 + g001 + g002
    local g01 = g010 + g011 + g012
    local g02 = g020 + g021 + g022
    local g10 = g100 + g101 + g102
    local g11 = g110 + g111 + g112
    local g12 = g120 + g121 + g122
    local g20 = g200 + g201 + g202
    local g21 = g210 + g211 + g212
    local g22 = g220 + g221 + g222

    local g0 = g00 + g01 + g02
    local g1 = g10 + g11 + g12
    local g2 = g20 + g21 + g22

    local res = g0 + g1 + g2
    local work = 0.037 * res
    g111[":"] = work
  end
  local total = np.sum(g111)
  return total / N ^ 2
end

local grid = initialize()
print(("Average energy is %.12g"):format(run(grid):item()))
print(("Norm %.12g"):format(np.linalg.norm(grid:ravel()):item()))
