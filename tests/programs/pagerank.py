"""The rank of the pages of a web: the stationary distribution of a surfer who follows links, or jumps."""
import sys

import numpy as np
import scipy.io
import scipy.sparse as sp

damping = float(sys.argv[2]) if len(sys.argv) > 2 else 0.85
if len(sys.argv) > 1 and not sys.argv[1].isdigit():
    links = scipy.io.mmread(sys.argv[1]).tocsr().astype(float)
    pages = links.shape[0]
else:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    i = np.arange(pages)
    rows = np.tile(i, 5)
    columns = np.concatenate([(i * i + 7 * k) % pages for k in range(1, 6)])
    links = sp.csr_matrix((np.ones(5 * pages), (rows, columns)), shape=(pages, pages))

out = np.asarray(links.sum(axis=1)).ravel()
dangling = out == 0
P = sp.csr_matrix(links.multiply(1 / np.where(dangling, 1, out)[:, None])).T.tocsr()

rank, iterations = np.full(pages, 1 / pages), 0
while True:
    before = rank
    lost = rank[dangling].sum()
    rank = damping * (P @ rank + lost / pages) + (1 - damping) / pages
    iterations += 1
    if np.linalg.norm(rank - before, 1) < 1e-12:
        break

best = np.argsort(-rank, kind="stable")
print("pages       %d" % pages)
print("links       %d" % links.nnz)
print("iterations  %d" % iterations)
print("sum         %.12f" % rank.sum())
print("first       %d %.10g" % (best[0] + 1, rank[best[0]]))
print("last        %.10g" % rank.min())
