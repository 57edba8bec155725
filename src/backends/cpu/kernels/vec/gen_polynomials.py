#!/usr/bin/env python3
"""Derives the polynomial coefficients of vector_math.h, trig.h and pow.h: prints them, highest power first, with their error.

Each makes max |w(x) (f(x) - p(x))| on [a, b] nearly least, by Lawson's iteration: least squares over a grid whose weights
are multiplied by the error until it is level.
Needs mpmath. Usage: gen_polynomials.py [NAME]
"""
import sys
from mpmath import mp, mpf, cos, erf, erfc, exp, expm1, log, log1p, lu_solve, matrix, pi, polyval, sin, sqrt, tanh

mp.dps = 40


def minimax(f, w, a, b, degree, rounds=60, grid=160):
    """Coefficients, highest power first, and the weighted error."""
    xs = [(a + b) / 2 + (a - b) / 2 * cos(pi * (i + mpf(1) / 2) / grid) for i in range(grid)]
    powers = [[x ** (degree - j) for j in range(degree + 1)] for x in xs]
    fs, ws = [f(x) for x in xs], [w(x) for x in xs]
    shares = [mpf(1) / grid] * grid
    best = (None, mpf("inf"))
    for _ in range(rounds):
        system, right = matrix(degree + 1, degree + 1), matrix(degree + 1, 1)
        for share, weight, row, value in zip(shares, ws, powers, fs):
            scale = share * weight * weight
            for i in range(degree + 1):
                right[i] += scale * row[i] * value
                for j in range(i, degree + 1):
                    system[i, j] += scale * row[i] * row[j]
        for i in range(degree + 1):
            for j in range(i):
                system[i, j] = system[j, i]
        coefficients = list(lu_solve(system, right))
        errors = [abs(wx * (fx - polyval(coefficients, x))) for x, fx, wx in zip(xs, fs, ws)]
        best = min(best, (coefficients, max(errors)), key=lambda found: found[1])
        total = sum(s * e for s, e in zip(shares, errors))
        shares = [s * e / total for s, e in zip(shares, errors)]
    return best


LN2, R2, TINY = log(mpf(2)), sqrt(mpf(2)), mpf("1e-8")


def erfcx(t):
    return exp(t * t) * erfc(t)


def even(f):
    """f of z = x^2."""
    return lambda z: f(sqrt(z))


def log_tail(x):
    """P of log(1 + x) = x - x^2 / 2 + x^3 P(x)."""
    return (log1p(x) - x + x * x / 2) / x**3 if abs(x) > mpf("1e-6") else mpf(1) / 3 - x / 4


# name: (what, f, weight, a, b, degree); weights turn the error of the polynomial into that of the whole function.
SETS = {
    "exp": ("exp(r) = 1 + r + r^2 P(r)", lambda r: (expm1(r) - r) / r**2, lambda r: r**2 / exp(r),
            -LN2 / 2 - mpf("0.001"), LN2 / 2 + mpf("0.0013"), 4),
    "log": ("log(1 + f) = f - f^2 / 2 + f^3 P(f)", log_tail, lambda x: abs(x**3 / log1p(x)), 1 / R2 - 1, R2 - 1, 8),
    "tanh": ("tanh(x) = x + x^3 P(x^2)", even(lambda x: (tanh(x) - x) / x**3), even(lambda x: x**3 / tanh(x)),
             TINY, mpf("0.4"), 4),
    "erf": ("erf(x) = x + x P(x^2)", even(lambda x: erf(x) / x - 1), even(lambda x: x / erf(x)), TINY, mpf(1), 6),
    "erf_tail": ("erf(x) = 1 - exp(P(x))", lambda x: log(erfc(x)), erfc, mpf("0.99"), mpf(4), 7),
    "erfcx": ("erfc(t) = exp(-t^2) u P(u), u = 1 / (1 + t / 2)", lambda u: erfcx(2 / u - 2) / u,
              lambda u: u / erfcx(2 / u - 2), mpf("0.1"), mpf(1), 9),
    "sin": ("sin(r) = r + r^3 P(r^2)", even(lambda x: (sin(x) - x) / x**3), even(lambda x: x**3 / sin(x)),
            TINY, (pi / 4)**2, 3),
    "cos": ("cos(r) = 1 - r^2 / 2 + r^4 P(r^2)", even(lambda x: (cos(x) - 1 + x * x / 2) / x**4), even(lambda x: x**4),
            TINY, (pi / 4)**2, 2),
    "log2": ("log2(m) = s P(s^2), s = (m - 1) / (m + 1)", even(lambda s: log((1 + s) / (1 - s)) / LN2 / s),
             even(lambda s: s * LN2 / log((1 + s) / (1 - s))), TINY, ((R2 - 1) / (R2 + 1))**2, 6),
    "exp2": ("exp2(f) = P(f)", lambda f: mpf(2)**f, lambda f: mpf(2)**-f, mpf("-0.5"), mpf("0.5"), 7),
}

for name in sys.argv[1:] or SETS:
    what, *problem = SETS[name]
    values, error = minimax(*problem)
    print(f"// {what}; error 2^{float(log(error) / LN2):.1f}")
    digits = 17 if name in ("log2", "exp2") else 9
    print(f"{name}: {{{', '.join(mp.nstr(v, digits) for v in values)}}}")
