-- The rank of the pages of a web: the stationary distribution of a surfer who follows links, or jumps.
--
--   lgt examples/pagerank.lua [graph.mtx | pages] [damping]
--
-- A graph in a Matrix Market file, such as examples/data/karate.mtx, has an entry (i, j) for a link from i to j;
-- without a file one is made up, in which page i links to i * i + k (mod pages).
local np, sp = require "array", require "sparse"

local pages, damping = tonumber(arg[1]) or 2000, tonumber(arg[2]) or 0.85
if not (damping >= 0 and damping < 1) then
  error(("damping is %g: it must be at least 0 and below 1"):format(damping), 0)
end
local links
if arg[1] and not tonumber(arg[1]) then
  links = sp.mmread(arg[1]):tocsr():ne(0):astype("float64")
  pages = links.shape[1]
else
  local i = np.arange(pages)
  local from, to = {}, {}
  for k = 1, 5 do from[k], to[k] = i, (i * i + 7 * k) % pages end
  local rows, columns = np.concatenate(from), np.concatenate(to)
  links = sp.csr_matrix({np.ones(5 * pages), {rows, columns}}, {shape = {pages, pages}, base = 0})
end

local out = links:sum(2)
local dangling = out:eq(0)
local P = links:multiply((1 / np.where(dangling, 1, out)):reshape(pages, 1)).T:tocsr()

local rank, iterations = np.full(pages, 1 / pages), 0
repeat
  local before = rank
  local lost = np.where(dangling, rank, 0):sum() -- from pages without links the surfer jumps
  rank = damping * (P:dot(rank) + lost / pages) + (1 - damping) / pages
  iterations = iterations + 1
until np.norm(rank - before, 1) < 1e-12

local best = np.argsort(-rank)
print(("pages       %d"):format(pages))
print(("links       %d"):format(links.nnz))
print(("iterations  %d"):format(iterations))
print(("sum         %.12f"):format(rank:sum():item()))
print(("first       %d %.10g"):format(best(1), rank(best(1))))
print(("last        %.10g"):format(rank:min():item()))
