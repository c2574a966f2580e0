#!/usr/bin/python3
"""Compares np.random's distributions with SciPy's, and what they give on other machines.

    tests/lua/distributions.py --lgt build/lgt

Each distribution draws a sample from a fixed seed.  Continuous ones must pass the test of Kolmogorov and
Smirnov, discrete ones the chi-square test on their frequencies, at a level of 1e-4.  Seeds are fixed, so this
either always passes or never.  Each sample must be the same, bit for bit, on one worker, on two, on three
domains with tiles of one element, and unfused.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy import stats

N = 40000
LEVEL = 1e-4
# Lua expression, SciPy's distribution
CONTINUOUS = {
    "random.rand(n)": stats.uniform(),
    "random.uniform(-2, 3, n)": stats.uniform(-2, 5),
    "random.randn(n)": stats.norm(),
    "random.normal(5, 2, n)": stats.norm(5, 2),
    "random.exponential(3, n)": stats.expon(0, 3),
    "random.standard_exponential(n)": stats.expon(),
    "random.lognormal(0.5, 0.7, n)": stats.lognorm(0.7, scale=np.exp(0.5)),
    "random.laplace(1, 2, n)": stats.laplace(1, 2),
    "random.logistic(1, 2, n)": stats.logistic(1, 2),
    "random.gumbel(1, 2, n)": stats.gumbel_r(1, 2),
    "random.rayleigh(2, n)": stats.rayleigh(0, 2),
    "random.weibull(1.7, n)": stats.weibull_min(1.7),
    "random.pareto(3, n)": stats.pareto(3, loc=-1),
    "random.power(2.5, n)": stats.powerlaw(2.5),
    "random.standard_cauchy(n)": stats.cauchy(),
    "random.triangular(-1, 0.5, 3, n)": stats.triang(1.5 / 4, -1, 4),
    "random.wald(2, 3, n)": stats.invgauss(2 / 3, scale=3),
    "random.standard_gamma(0.4, n)": stats.gamma(0.4),
    "random.gamma(3.5, 2, n)": stats.gamma(3.5, scale=2),
    "random.beta(2, 5, n)": stats.beta(2, 5),
    "random.beta(0.5, 0.5, n)": stats.beta(0.5, 0.5),
    "random.chisquare(4, n)": stats.chi2(4),
    "random.noncentral_chisquare(3, 2, n)": stats.ncx2(3, 2),
    "random.f(5, 12, n)": stats.f(5, 12),
    "random.noncentral_f(5, 12, 3, n)": stats.ncf(5, 12, 3),
    "random.standard_t(6, n)": stats.t(6),
    "random.vonmises(0.5, 4, n)": stats.vonmises(4, loc=0.5),
    "random.dirichlet({2, 3, 4}, n)[{{}, 1}]": stats.beta(2, 7),
    "random.multivariate_normal({1, 2}, np.array{{4, 1}, {1, 9}}, n)[{{}, 2}]": stats.norm(2, 3),
    "random.gamma(np.full(n, 2), np.full(n, 3))": stats.gamma(2, scale=3),
    "random.default_rng(5):normal(1, 2, n)": stats.norm(1, 2),
}
DISCRETE = {
    "random.randint(3, 9, n)": stats.randint(3, 9),
    "random.geometric(0.3, n)": stats.geom(0.3),
    "random.poisson(0.7, n)": stats.poisson(0.7),
    "random.poisson(9.5, n)": stats.poisson(9.5),
    "random.poisson(60, n)": stats.poisson(60),
    "random.poisson(np.full(n, 4))": stats.poisson(4),
    "random.binomial(12, 0.3, n)": stats.binom(12, 0.3),
    "random.binomial(100, 0.4, n)": stats.binom(100, 0.4),
    "random.binomial(500, 0.9, n)": stats.binom(500, 0.9),
    "random.negative_binomial(4, 0.35, n)": stats.nbinom(4, 0.35),
    "random.hypergeometric(15, 20, 12, n)": stats.hypergeom(35, 15, 12),
    "random.zipf(2.5, n)": stats.zipf(2.5),
    "random.logseries(0.6, n)": stats.logser(0.6),
    "random.multinomial(20, {0.2, 0.3, 0.5}, n)[{{}, 2}]": stats.binom(20, 0.3),
    "random.choice(6, n)": stats.randint(1, 7),
    "random.choice(3, n, {p = np.array{0.5, 0.2, 0.3}})": stats.rv_discrete(values=([1, 2, 3], [0.5, 0.2, 0.3])),
    "random.permutation(n) % 7": stats.randint(0, 7),
    "random.shuffle(a) or a % 5": stats.randint(0, 5),
}
LUA = r"""
local np = require "array"
local random, n = np.random, %d
local a = np.arange(n)
for k, f in ipairs { %s } do
  random.seed(100 + k)
  np.save(arg[1] .. "/" .. k .. ".npy", f())
end
"""
RUNS = {"one worker": ["--cpus=1"], "two workers": ["--cpus=2"], "domains": ["--domains=3", "--min-tile=1"], "unfused": ["--fusion=0"]}


def p_value(sample, distribution, discrete):
    if not discrete:
        return stats.kstest(sample, distribution.cdf).pvalue
    values, counts = np.unique(sample, return_counts=True)
    expected = distribution.pmf(values) * len(sample)
    common = expected >= 10
    seen, wanted = np.append(counts[common], counts[~common].sum()), expected[common]
    wanted = np.append(wanted, len(sample) - wanted.sum())
    if wanted[-1] < 10:  # too few others for a class of their own
        if wanted[-1] < -1e-6 * len(sample) or seen[-1] > 60:
            return 0.0
        seen, wanted = seen[:-1], wanted[:-1]
        return stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue
    return stats.chisquare(seen, wanted).pvalue


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", default=os.environ.get("LGT", "build/lgt"))
    args = parser.parse_args()
    cases = [(e, d, False) for e, d in CONTINUOUS.items()] + [(e, d, True) for e, d in DISCRETE.items()]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        script = f"{folder}/run.lua"
        with open(script, "w") as f:
            f.write(LUA % (N, ", ".join(f"function() return {e} end" for e, _, _ in cases)))
        for name, options in RUNS.items():
            os.mkdir(f"{folder}/{name}")
            if subprocess.run([args.lgt, *options, script, f"{folder}/{name}"]).returncode:
                sys.exit(f"FAIL {name}: lgt failed")
        for k, (expression, distribution, discrete) in enumerate(cases, 1):
            first, *others = [np.load(f"{folder}/{name}/{k}.npy") for name in RUNS]
            p = p_value(first, distribution, discrete)
            why = []
            if first.shape != (N,):
                why.append(f"shape {first.shape}")
            if not p > LEVEL:
                why.append(f"not that distribution: p = {p:.2g}, mean {first.mean():.4g} for {distribution.mean():.4g}")
            why += [f"other numbers: {name}" for name, x in zip(list(RUNS)[1:], others) if x.tobytes() != first.tobytes()]
            print(f"FAIL {expression}: {'; '.join(why)}" if why else f"ok {expression}")
            bad += bool(why)
    sys.exit(1 if bad else 0)


main()
