-- lgt/elsewhere.lua - what to write for names of NumPy that are spelt otherwise here: for the messages about names that
-- do not exist.  docs/numpy.md says why.
return {
  -- of np
  mgrid = "np.indices(shape), or np.meshgrid(x, y, {indexing = \"ij\"})",
  ogrid = "np.ix_(...), or np.meshgrid(x, y, {indexing = \"ij\", sparse = true})",
  r_ = "np.concatenate{a, b}", c_ = "np.column_stack{a, b}", s_ = "the key as a string, a[\"2:3\"]",
  vectorize = "np.fuse(f)", frompyfunc = "np.fuse(f)",
  ndarray = "np.empty(shape), or np.isarray(x)",
  matrix = "np.array{{1, 2}, {3, 4}}", mat = "np.array{{1, 2}, {3, 4}}",
  float = "np.float64", int = "np.int64",
  dtype = "a string, \"float64\", or np.float64",
  nditer = "np.ndindex(shape), or a:host(\"rw\", f)",
  seterr = "nothing: floating-point errors give NaN and infinities",
  errstate = "nothing: floating-point errors give NaN and infinities",
  trapezoid = "np.trapz(y, x)", concat = "np.concatenate{a, b}", permute_dims = "np.transpose(a, axes)",
  -- of arrays
  tolist = "a:totable()", flat = "a:ravel()", resize = "np.resize(a, shape)",
  itemset = "a[i] = x", ["repeat"] = "a:rep(n)", tostring = "tostring(a)",
}
