---@meta
-- array/meta/numbers.lua - polynomials, linear algebra, distributions: what editors, help and the reference know of
-- functions that loops make, or that have others' bodies.  Declarations only: nothing loads this file.

local np = {}
local linalg, fft, random = {}, {}, {}
np.linalg = linalg
np.fft = fft
np.random = random


-- ---- windows and polynomials ---------------------------------------------------------------------------

-- The triangular window of n points.
---@param n integer
---@return lgt_array
function np.bartlett(n) end

-- Blackman's window of n points.
---@param n integer
---@return lgt_array
function np.blackman(n) end

-- Hamming's window of n points.
---@param n integer
---@return lgt_array
function np.hamming(n) end

-- Von Hann's window of n points.
---@param n integer
---@return lgt_array
function np.hanning(n) end

-- Kaiser's window of n points.
---@param n integer
---@param beta number
---@return lgt_array
function np.kaiser(n, beta) end

-- The sum of polynomials, the highest power first.
---@param a lgt_array
---@param b lgt_array
---@return lgt_array
function np.polyadd(a, b) end

-- The difference of polynomials, the highest power first.
---@param a lgt_array
---@param b lgt_array
---@return lgt_array
function np.polysub(a, b) end

-- The product of polynomials, the highest power first.
---@param a lgt_array
---@param b lgt_array
---@return lgt_array
function np.polymul(a, b) end

-- The values of a polynomial, the highest power first, at x.
---@param p lgt_array
---@param x lgt_array|number
---@return lgt_array
function np.polyval(p, x) end

-- ---- questions -----------------------------------------------------------------------------------------

-- As np.round.
---@param a lgt_array
---@param decimals integer?
---@return lgt_array
function np.around(a, decimals) end

-- As np.round.
---@param a lgt_array
---@param decimals integer?
---@return lgt_array
function np.round_(a, decimals) end

-- Is x an array?
---@param x any
---@return boolean
function np.isarray(x) end

-- Are the elements complex?
---@param a lgt_array
---@return boolean
function np.iscomplexobj(a) end

-- Are the elements real?
---@param a lgt_array
---@return boolean
function np.isrealobj(a) end

-- The number of dimensions.
---@param a lgt_array
---@return integer
function np.ndim(a) end

-- The extents.
---@param a lgt_array
---@return integer[]
function np.shape(a) end

-- ---- linalg --------------------------------------------------------------------------------------------

-- Eigenvalues, always complex.
---@param a lgt_array
---@return lgt_array
function linalg.eigvals(a) end

-- Eigenvalues of a Hermitian matrix, ascending.
---@param a lgt_array
---@param uplo string?
---@return lgt_array
function linalg.eigvalsh(a, uplo) end

-- The norm of vectors or matrices: a number, "fro", "nuc", math.huge.
---@param a lgt_array
---@param order any
---@param axis integer|integer[]|nil
---@param options {keepdims: boolean?}?
---@return lgt_array
function linalg.norm(a, order, axis, options) end

-- ---- fft -----------------------------------------------------------------------------------------------

-- The discrete Fourier transform along an axis (the last) of n elements.  norm: "backward", "ortho", "forward".
---@param a lgt_array
---@param n integer?
---@param axis integer?
---@param norm string?
---@return lgt_array
function fft.fft(a, n, axis, norm) end

-- The inverse of np.fft.fft.
---@param a lgt_array
---@param n integer?
---@param axis integer?
---@param norm string?
---@return lgt_array
function fft.ifft(a, n, axis, norm) end

-- The transform over two axes (the last ones).
---@param a lgt_array
---@param s integer[]?
---@param axes integer[]?
---@param norm string?
---@return lgt_array
function fft.fft2(a, s, axes, norm) end

-- The inverse of np.fft.fft2.
---@param a lgt_array
---@param s integer[]?
---@param axes integer[]?
---@param norm string?
---@return lgt_array
function fft.ifft2(a, s, axes, norm) end

-- The transform over several axes (all).
---@param a lgt_array
---@param s integer[]?
---@param axes integer[]?
---@param norm string?
---@return lgt_array
function fft.fftn(a, s, axes, norm) end

-- The inverse of np.fft.fftn.
---@param a lgt_array
---@param s integer[]?
---@param axes integer[]?
---@param norm string?
---@return lgt_array
function fft.ifftn(a, s, axes, norm) end

-- The transform of real numbers over two axes; the last one has only its first half.
---@param a lgt_array
---@param s integer[]?
---@param axes integer[]?
---@param norm string?
---@return lgt_array
function fft.rfft2(a, s, axes, norm) end

-- The inverse of np.fft.rfft2.
---@param a lgt_array
---@param s integer[]?
---@param axes integer[]?
---@param norm string?
---@return lgt_array
function fft.irfft2(a, s, axes, norm) end

-- The transform of real numbers over several axes; the last one has only its first half.
---@param a lgt_array
---@param s integer[]?
---@param axes integer[]?
---@param norm string?
---@return lgt_array
function fft.rfftn(a, s, axes, norm) end

-- The inverse of np.fft.rfftn.
---@param a lgt_array
---@param s integer[]?
---@param axes integer[]?
---@param norm string?
---@return lgt_array
function fft.irfftn(a, s, axes, norm) end

-- The inverse of np.fft.hfft.
---@param a lgt_array
---@param n integer?
---@param axis integer?
---@param norm string?
---@return lgt_array
function fft.ihfft(a, n, axis, norm) end

-- The element of frequency 0 moved to the middle.
---@param a lgt_array
---@param axes integer|integer[]|nil
---@return lgt_array
function fft.fftshift(a, axes) end

-- The inverse of np.fft.fftshift.
---@param a lgt_array
---@param axes integer|integer[]|nil
---@return lgt_array
function fft.ifftshift(a, axes) end

-- The frequencies of np.fft.rfft's elements, d (1) being the distance of samples.
---@param n integer
---@param d number?
---@return lgt_array
function fft.rfftfreq(n, d) end

-- ---- random ------------------------------------------------------------------------------------------

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param a number|lgt_array|nil
---@param b number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.beta(a, b, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}. int64.
---@param n number|lgt_array|nil
---@param p number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.binomial(n, p, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param df number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.chisquare(df, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param scale number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.exponential(scale, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param dfnum number|lgt_array|nil
---@param dfden number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.f(dfnum, dfden, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param shape number|lgt_array|nil
---@param scale number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.gamma(shape, scale, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}. int64.
---@param p number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.geometric(p, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param loc number|lgt_array|nil
---@param scale number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.gumbel(loc, scale, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}. int64.
---@param ngood number|lgt_array|nil
---@param nbad number|lgt_array|nil
---@param nsample number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.hypergeometric(ngood, nbad, nsample, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param loc number|lgt_array|nil
---@param scale number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.laplace(loc, scale, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param loc number|lgt_array|nil
---@param scale number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.logistic(loc, scale, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param mean number|lgt_array|nil
---@param sigma number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.lognormal(mean, sigma, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}. int64.
---@param p number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.logseries(p, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}. int64.
---@param n number|lgt_array|nil
---@param p number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.negative_binomial(n, p, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param df number|lgt_array|nil
---@param nonc number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.noncentral_chisquare(df, nonc, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param dfnum number|lgt_array|nil
---@param dfden number|lgt_array|nil
---@param nonc number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.noncentral_f(dfnum, dfden, nonc, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param loc number|lgt_array|nil
---@param scale number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.normal(loc, scale, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param a number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.pareto(a, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}. int64.
---@param lam number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.poisson(lam, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param a number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.power(a, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param scale number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.rayleigh(scale, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param ... integer|table
---@return lgt_array
function random.standard_cauchy(...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param ... integer|table
---@return lgt_array
function random.standard_exponential(...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param shape number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.standard_gamma(shape, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param df number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.standard_t(df, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param left number|lgt_array|nil
---@param mode number|lgt_array|nil
---@param right number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.triangular(left, mode, right, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param low number|lgt_array|nil
---@param high number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.uniform(low, high, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param mu number|lgt_array|nil
---@param kappa number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.vonmises(mu, kappa, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param mean number|lgt_array|nil
---@param scale number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.wald(mean, scale, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}.
---@param a number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.weibull(a, ...) end

-- Numbers of this distribution.  Behind the parameters the shape, as arguments or as one table (without one: that of
-- the parameters), and options {dtype, size}. int64.
---@param a number|lgt_array|nil
---@param ... integer|table
---@return lgt_array
function random.zipf(a, ...) end

-- As np.random.rand.
---@param ... integer|table
---@return lgt_array
function random.random(...) end

-- As np.random.rand.
---@param ... integer|table
---@return lgt_array
function random.random_sample(...) end

-- As np.random.rand.
---@param ... integer|table
---@return lgt_array
function random.ranf(...) end

-- As np.random.rand.
---@param ... integer|table
---@return lgt_array
function random.sample(...) end

-- As np.random.randn.
---@param ... integer|table
---@return lgt_array
function random.standard_normal(...) end

-- As np.random.randint.
---@param ... integer|table
---@return lgt_array
function random.integers(...) end

return np
