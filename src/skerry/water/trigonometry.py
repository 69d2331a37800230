"""Sine, cosine and exponential as polynomials, which compilers vectorise; library calls are not vectorised.

Angles are in turns. Let q be the distance from the nearest whole turn, |q| ≤ ½, and r = |q| − ¼. Then cos 2πq = −sin
2πr and sin 2πq = ± cos 2πr. The functions cos 2πr and sin 2πr / r are polynomials in r² of degree 6, interpolated at
Chebyshev nodes on [0, 1/16]; the error is below 1e-12. The exponential of x ≤ 0 is that of x/64, by a Taylor series of
degree 6, squared six times; the error is below 3e-12, and results are at least 1e-13.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from skerry.core.kernels import kernel

COSINE: Final = (
    0.9999999999992482,
    -19.739208800999542,
    64.93939372062428,
    -85.45678817841585,
    60.24331181762473,
    -26.394948750734322,
    7.536600657871792,
)
SINE: Final = (
    6.283185307179272,
    -41.3417022399051,
    81.60524914926853,
    -76.70584756004557,
    42.05813534983568,
    -15.081489767347058,
    3.665889195033482,
)
TURN: Final = 0.15915494309189535  # 1/2π


@kernel
def wrap(turns: float) -> float:
    """Return the same angle within half a turn of 0."""
    return turns - np.floor(turns + 0.5)


@kernel
def cosine(q: float) -> float:
    """Return cos 2πq for |q| ≤ ½."""
    s = SINE
    r = 0.25 - abs(q)
    u = r * r
    return r * (s[0] + u * (s[1] + u * (s[2] + u * (s[3] + u * (s[4] + u * (s[5] + u * s[6]))))))


@kernel
def sine(q: float) -> float:
    """Return sin 2πq for |q| ≤ ½."""
    c = COSINE
    r = abs(q) - 0.25
    u = r * r
    size = c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * (c[5] + u * c[6])))))
    return size if q >= 0.0 else -size


@kernel
def decay(x: float) -> float:
    """Return e^x for x ≤ 0."""
    y = max(x, -30.0) * (1.0 / 64.0)
    e = 1.0 + y * (1.0 + y * (1 / 2 + y * (1 / 6 + y * (1 / 24 + y * (1 / 120 + y * (1 / 720))))))
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    return e * e
