"""NPBench's programs (Ziogas et al., ICS'21) at its sizes M and L; sections.py measures them."""

# name: arguments for M and for L, as the programs in examples/ and tests/programs take them.  Smaller than NPBench's, so
# that NumPy needs less than 20 s and 20 GB: L of azimint_naive (1000 bins) and of mlp (layers of 30000), and both sizes of
# channel_flow (until nothing changes, which takes more than a thousand steps).
SIZES = {
    "adi": ([200, 20], [500, 50]),
    "arc_distance": ([1000000], [10000000]),
    "atax": ([10000, 12500], [20000, 25000]),
    "azimint_hist": ([4000000, 1000], [40000000, 1000]),
    "azimint_naive": ([4000000, 1000], [40000000, 50]),
    "bicg": ([12500, 10000], [25000, 20000]),
    "cavity_flow": ([121, 50, 10], [201, 100, 20]),
    "channel_flow": ([121, 121, 100, 10], [201, 201, 100, 20]),
    "cholesky": ([300], [900]),
    "cholesky2": ([2200], [8000]),
    "compute": ([5000, 5000], [16000, 16000]),
    "contour_integral": ([200, 400, 32], [600, 1000, 32]),
    "conv2d_bias": ([8, 64, 64, 3, 8, 5], [8, 128, 128, 3, 8, 10]),
    "correlation": ([1400, 1800], [3200, 4000]),
    "covariance": ([1400, 1800], [3200, 4000]),
    "covariance2": ([1400, 1800], [3200, 4000]),
    "crc16": ([16000], [160000]),
    "deriche": ([1500, 1000], [6000, 3000]),
    "doitgen": ([110, 125, 256], [220, 250, 512]),
    "durbin": ([6000], [20000]),
    "fdtd_2d": ([400, 450, 60], [800, 900, 150]),
    "floyd_warshall": ([400], [850]),
    "gemm": ([2500, 2750, 3000], [7000, 7500, 8000]),
    "gemver": ([3000], [10000]),
    "gesummv": ([4000], [14000]),
    "go_fast": ([6000], [20000]),
    "gramschmidt": ([220, 180], [600, 500]),
    "hdiff": ([128, 128, 160], [384, 384, 160]),
    "heat_3d": ([40, 50], [70, 100]),
    "jacobi_1d": ([12000, 3000], [34000, 8500]),
    "jacobi_2d": ([350, 80], [700, 200]),
    "k2mm": ([2000, 2250, 2500, 2750], [6000, 6500, 7000, 7500]),
    "k3mm": ([2000, 2200, 2400, 2600, 2800], [5500, 6000, 6500, 7000, 7500]),
    "lenet": ([8, 56, 56], [8, 176, 176]),
    "lu": ([220], [700]),
    "ludcmp": ([220], [650]),
    "mandelbrot1": ([250, 250, 150], [833, 833, 200]),
    "mandelbrot2": ([500, 500, 80], [1000, 1000, 100]),
    "mlp": ([8, 3, 30000, 10000, 10000], [8, 3, 30000, 15000, 15000]),
    "mvt": ([11000], [22000]),
    "nbody": ([50, 250], [100, 900]),
    "nussinov": ([90], [200]),
    "resnet": ([8, 28, 28, 64, 16], [8, 56, 56, 128, 32]),
    "scattering_self_energies": ([3, 5, 3, 2, 10, 3, 2, 4], [3, 10, 3, 3, 12, 4, 3, 4]),
    "seidel_2d": ([100, 15], [200, 40]),
    "softmax": ([32, 8, 256], [64, 16, 448]),
    "spmv": ([32768, 32768, 65536], [262144, 262144, 262144]),
    "stockham_fft": ([2, 18], [2, 21]),
    "symm": ([120, 150], [350, 550]),
    "syr2k": ([110, 140], [350, 400]),
    "syrk": ([150, 200], [500, 600]),
    "trisolv": ([5000], [14000]),
    "trmm": ([200, 250], [600, 700]),
    "vadv": ([112, 112, 80], [180, 180, 160]),
}

BY_ELEMENTS = {"crc16", "nussinov", "seidel_2d", "spmv"}  # their loops work on single elements
# lgt's text works on whole rows or planes where NPBench's, which NumPy is given, loops over single elements.
OTHER_TEXT = {"cholesky", "correlation", "covariance", "gramschmidt", "lenet", "lu", "ludcmp", "resnet",
              "scattering_self_energies", "symm", "syr2k", "syrk", "trmm"}
# Elements of the greatest arrays, of which NumPy has some four at a time while it makes them: of programs that do not
# fit into memory beside one another.
LARGE = {
    "atax": lambda m, n: m * n,
    "azimint_hist": lambda n, bins: n,
    "azimint_naive": lambda n, bins: n,
    "bicg": lambda n, m: m * n,
    "compute": lambda m, n: m * n,
    "gemm": lambda i, j, k: i * j + j * k + i * k,
    "gemver": lambda n: n * n,
    "gesummv": lambda n: 2 * n * n,
    "go_fast": lambda n: n * n,
    "hdiff": lambda i, j, k: 2 * i * j * k,
    "k2mm": lambda i, j, k, l: i * k + k * j + j * l + i * l,
    "k3mm": lambda i, j, k, l, m: i * k + k * j + j * m + m * l,
    "mlp": lambda batch, inputs, first, second, third: first * second,
    "mvt": lambda n: n * n,
    "softmax": lambda batch, heads, size: batch * heads * size**2,
    "trisolv": lambda n: n * n,
}


def memory(name, args):
    return 32 * LARGE.get(name, lambda *_: 0)(*args)


def title(name):
    """What the table calls it."""
    return name + (", by elements" if name in BY_ELEMENTS else " *" if name in OTHER_TEXT else "")
