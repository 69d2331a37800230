"""Implicit step of ropes: Newton's method on the energy of implicit Euler, in O(n).

A step of length h ends at the minimum of E(x) = ½ Σ (x − g)ᵀ M (x − g)/h² + Σ ½ k max(0, |x_i − x_p| − l)² + …. Here g
is the position of each node without its neighbours, and l the rest length of the edge to its parent. The gradient of E
is Newton's second law at the end of the step (Martin et al. 2011, Example-based elastic materials, §4; Baraff & Witkin
1998). Slack edges have no force. An edge with a largest tension T pulls with T when it is stretched further: its energy
is then T (|x_i − x_p| − l − T/2k). Stretched edges are stable at any ratio of stiffness to mass, because E decreases in
every iteration.

Each node has at most one parent, which has a higher number: a rope is a chain, and ropes tied to one point are a tree.
Therefore the Hessian is eliminated from the leaves to the root without fill-in, like a block-tridiagonal matrix.

Symmetric 3×3 matrices are six numbers: xx, xy, xz, yy, yz, zz.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import kernel
from skerry.ropes.group import (
    BEND,
    CHANGE,
    CONTACTS,
    DIAGONAL,
    FIXED,
    GOAL,
    GRADIENT,
    LIMIT,
    MASS,
    OFF_DIAGONAL,
    PARENT,
    PLANE,
    PLANES,
    REST,
    STIFF,
    TOUCHING,
    TRIAL,
    X,
    floats_at,
    integers_at,
)

MAX_ITERATIONS: Final = 40
# Largest step of the last iteration, m. Newton's method converges quadratically, so the remaining error is negligible.
TOLERANCE: Final = 1e-7


@kernel
def energy_of(memory: int, n: int, x: Any) -> float:
    """Return the energy E of a group with n nodes at positions x, (3n), J."""
    goal, mass = floats_at(memory, GOAL, n, 0, 3, n), floats_at(memory, MASS, n, 0, 6, n)
    parent, touching = integers_at(memory, PARENT, n, 0, n), integers_at(memory, TOUCHING, n, 0, n)
    stiffness, rest = floats_at(memory, STIFF, n, 0, 1, n), floats_at(memory, REST, n, 0, 1, n)
    limit = floats_at(memory, LIMIT, n, 0, 1, n)
    bending, planes = floats_at(memory, BEND, n, 0, 1, n), floats_at(memory, CONTACTS, n, 0, PLANES, n)
    total = 0.0
    for i in range(n):
        a, b, c = x[3 * i] - goal[3 * i], x[3 * i + 1] - goal[3 * i + 1], x[3 * i + 2] - goal[3 * i + 2]
        m = mass[6 * i : 6 * i + 6]
        total += 0.5 * (a * (m[0] * a + 2.0 * (m[1] * b + m[2] * c)) + b * (m[3] * b + 2.0 * m[4] * c) + m[5] * c * c)
        p = parent[i]
        if p >= 0:
            a, b, c = x[3 * p] - x[3 * i], x[3 * p + 1] - x[3 * i + 1], x[3 * p + 2] - x[3 * i + 2]
            stretch = np.sqrt(a * a + b * b + c * c) - rest[i]
            if stretch > 0.0 and stiffness[i] * stretch <= limit[i]:
                total += 0.5 * stiffness[i] * stretch * stretch
            elif stretch > 0.0:
                total += limit[i] * (stretch - 0.5 * limit[i] / stiffness[i])
            if bending[i] > 0.0:
                # the child of node i is node i − 1
                a += x[3 * i - 3] - x[3 * i]
                b += x[3 * i - 2] - x[3 * i + 1]
                c += x[3 * i - 1] - x[3 * i + 2]
                total += 0.5 * bending[i] * (a * a + b * b + c * c)
        for side in range(touching[i]):
            plane = planes[PLANES * i + PLANE * side : PLANES * i + PLANE * side + PLANE]
            deep = plane[3] - plane[0] * x[3 * i] - plane[1] * x[3 * i + 1] - plane[2] * x[3 * i + 2]
            if deep > 0.0:
                total += 0.5 * plane[4] * deep * deep
    return total


@kernel
def _assemble(memory: int, n: int) -> None:
    """Write the Hessian, D on the diagonal and B towards the parents, and the downhill gradient R."""
    goal, mass = floats_at(memory, GOAL, n, 0, 3, n), floats_at(memory, MASS, n, 0, 6, n)
    parent, touching = integers_at(memory, PARENT, n, 0, n), integers_at(memory, TOUCHING, n, 0, n)
    stiffness, rest = floats_at(memory, STIFF, n, 0, 1, n), floats_at(memory, REST, n, 0, 1, n)
    limit = floats_at(memory, LIMIT, n, 0, 1, n)
    bending, planes = floats_at(memory, BEND, n, 0, 1, n), floats_at(memory, CONTACTS, n, 0, PLANES, n)
    x, R = floats_at(memory, X, n, 0, 3, n), floats_at(memory, GRADIENT, n, 0, 3, n)
    D, B = floats_at(memory, DIAGONAL, n, 0, 6, n), floats_at(memory, OFF_DIAGONAL, n, 0, 6, n)
    fixed = integers_at(memory, FIXED, n, 0, n)
    for i in range(n):
        a, b, c = x[3 * i] - goal[3 * i], x[3 * i + 1] - goal[3 * i + 1], x[3 * i + 2] - goal[3 * i + 2]
        m = mass[6 * i : 6 * i + 6]
        for k in range(6):
            D[6 * i + k] = m[k]
        R[3 * i] = -(m[0] * a + m[1] * b + m[2] * c)
        R[3 * i + 1] = -(m[1] * a + m[3] * b + m[4] * c)
        R[3 * i + 2] = -(m[2] * a + m[4] * b + m[5] * c)
        for side in range(touching[i]):
            plane = planes[PLANES * i + PLANE * side : PLANES * i + PLANE * side + PLANE]
            u, v, w, k = plane[0], plane[1], plane[2], plane[4]
            deep = plane[3] - u * x[3 * i] - v * x[3 * i + 1] - w * x[3 * i + 2]
            if deep > 0.0:
                R[3 * i] += k * deep * u
                R[3 * i + 1] += k * deep * v
                R[3 * i + 2] += k * deep * w
                D[6 * i] += k * u * u
                D[6 * i + 1] += k * u * v
                D[6 * i + 2] += k * u * w
                D[6 * i + 3] += k * v * v
                D[6 * i + 4] += k * v * w
                D[6 * i + 5] += k * w * w
    for i in range(n):
        for k in range(6):
            B[6 * i + k] = 0.0
    for i in range(n):
        p = parent[i]
        if p < 0:
            continue
        u, v, w = x[3 * p] - x[3 * i], x[3 * p + 1] - x[3 * i + 1], x[3 * p + 2] - x[3 * i + 2]
        if bending[i] > 0.0:
            # The gradient of |(x_c − x_i) + (x_p − x_i)|² is exact. Its Hessian couples nodes that are not neighbours,
            # so it is replaced by that of the bound 2 |x_c − x_i|² + 2 |x_p − x_i|², with which the step still goes
            # downhill.
            k, c = bending[i], i - 1
            for a in range(3):
                bend = k * (x[3 * c + a] - 2.0 * x[3 * i + a] + x[3 * p + a])
                R[3 * c + a] -= bend
                R[3 * i + a] += 2.0 * bend
                R[3 * p + a] -= bend
            for d in (0, 3, 5):
                D[6 * c + d] += 2.0 * k
                D[6 * i + d] += 4.0 * k
                D[6 * p + d] += 2.0 * k
                B[6 * c + d] -= 2.0 * k
                B[6 * i + d] -= 2.0 * k
        length = np.sqrt(u * u + v * v + w * w)
        stretch = length - rest[i]
        if stretch <= 0.0 or length < 1e-12:
            continue
        u, v, w = u / length, v / length, w / length
        tension = min(stiffness[i] * stretch, limit[i])
        R[3 * i] += tension * u
        R[3 * i + 1] += tension * v
        R[3 * i + 2] += tension * w
        R[3 * p] -= tension * u
        R[3 * p + 1] -= tension * v
        R[3 * p + 2] -= tension * w
        across = tension / length
        along = (stiffness[i] if tension < limit[i] else 0.0) - across
        xx, xy, xz = across + along * u * u, along * u * v, along * u * w
        yy, yz, zz = across + along * v * v, along * v * w, across + along * w * w
        for node in (i, p):
            D[6 * node] += xx
            D[6 * node + 1] += xy
            D[6 * node + 2] += xz
            D[6 * node + 3] += yy
            D[6 * node + 4] += yz
            D[6 * node + 5] += zz
        B[6 * i] -= xx
        B[6 * i + 1] -= xy
        B[6 * i + 2] -= xz
        B[6 * i + 3] -= yy
        B[6 * i + 4] -= yz
        B[6 * i + 5] -= zz
    for i in range(n):
        if fixed[i] == 0:
            continue
        for k in range(6):
            D[6 * i + k] = 1.0 if k in (0, 3, 5) else 0.0
            B[6 * i + k] = 0.0
        R[3 * i] = R[3 * i + 1] = R[3 * i + 2] = 0.0
    for i in range(n):
        p = parent[i]
        if p >= 0 and fixed[p] != 0:
            for k in range(6):
                B[6 * i + k] = 0.0


@kernel
def _solve(memory: int, n: int) -> float:
    """Solve dx = Hessian⁻¹ R from the leaves to the root and back; return the largest component of dx, m."""
    parent = integers_at(memory, PARENT, n, 0, n)
    D, B = floats_at(memory, DIAGONAL, n, 0, 6, n), floats_at(memory, OFF_DIAGONAL, n, 0, 6, n)
    R, dx = floats_at(memory, GRADIENT, n, 0, 3, n), floats_at(memory, CHANGE, n, 0, 3, n)
    for i in range(n):
        a, b, c, d, e, f = D[6 * i], D[6 * i + 1], D[6 * i + 2], D[6 * i + 3], D[6 * i + 4], D[6 * i + 5]
        c0, c1, c2 = d * f - e * e, c * e - b * f, b * e - c * d
        q = 1.0 / (a * c0 + b * c1 + c * c2)
        a, b, c, d, e, f = c0 * q, c1 * q, c2 * q, (a * f - c * c) * q, (b * c - a * e) * q, (a * d - b * b) * q
        D[6 * i], D[6 * i + 1], D[6 * i + 2], D[6 * i + 3], D[6 * i + 4], D[6 * i + 5] = a, b, c, d, e, f
        p = parent[i]
        if p < 0:
            continue
        xx, xy, xz = B[6 * i], B[6 * i + 1], B[6 * i + 2]
        yy, yz, zz = B[6 * i + 3], B[6 * i + 4], B[6 * i + 5]
        # T = B D⁻¹, row by row; then D_p −= T B and R_p −= T R
        t00, t01, t02 = xx * a + xy * b + xz * c, xx * b + xy * d + xz * e, xx * c + xy * e + xz * f
        t10, t11, t12 = xy * a + yy * b + yz * c, xy * b + yy * d + yz * e, xy * c + yy * e + yz * f
        t20, t21, t22 = xz * a + yz * b + zz * c, xz * b + yz * d + zz * e, xz * c + yz * e + zz * f
        D[6 * p] -= t00 * xx + t01 * xy + t02 * xz
        D[6 * p + 1] -= t00 * xy + t01 * yy + t02 * yz
        D[6 * p + 2] -= t00 * xz + t01 * yz + t02 * zz
        D[6 * p + 3] -= t10 * xy + t11 * yy + t12 * yz
        D[6 * p + 4] -= t10 * xz + t11 * yz + t12 * zz
        D[6 * p + 5] -= t20 * xz + t21 * yz + t22 * zz
        r0, r1, r2 = R[3 * i], R[3 * i + 1], R[3 * i + 2]
        R[3 * p] -= t00 * r0 + t01 * r1 + t02 * r2
        R[3 * p + 1] -= t10 * r0 + t11 * r1 + t12 * r2
        R[3 * p + 2] -= t20 * r0 + t21 * r1 + t22 * r2
    longest = 0.0
    for i in range(n - 1, -1, -1):
        r0, r1, r2 = R[3 * i], R[3 * i + 1], R[3 * i + 2]
        p = parent[i]
        if p >= 0:
            u, v, w = dx[3 * p], dx[3 * p + 1], dx[3 * p + 2]
            r0 -= B[6 * i] * u + B[6 * i + 1] * v + B[6 * i + 2] * w
            r1 -= B[6 * i + 1] * u + B[6 * i + 3] * v + B[6 * i + 4] * w
            r2 -= B[6 * i + 2] * u + B[6 * i + 4] * v + B[6 * i + 5] * w
        u = D[6 * i] * r0 + D[6 * i + 1] * r1 + D[6 * i + 2] * r2
        v = D[6 * i + 1] * r0 + D[6 * i + 3] * r1 + D[6 * i + 4] * r2
        w = D[6 * i + 2] * r0 + D[6 * i + 4] * r1 + D[6 * i + 5] * r2
        dx[3 * i], dx[3 * i + 1], dx[3 * i + 2] = u, v, w
        longest = max(longest, max(abs(u), max(abs(v), abs(w))))
    return longest


@kernel
def minimise_energy(memory: int, n: int) -> int:
    """Move the n nodes of a group to the minimum of E, without the fixed nodes; return the number of iterations."""
    x, trial = floats_at(memory, X, n, 0, 3, n), floats_at(memory, TRIAL, n, 0, 3, n)
    dx = floats_at(memory, CHANGE, n, 0, 3, n)
    now = energy_of(memory, n, x)
    for iteration in range(MAX_ITERATIONS):
        _assemble(memory, n)
        longest = _solve(memory, n)
        share = 1.0
        after = now
        for _ in range(12):
            for k in range(3 * n):
                trial[k] = x[k] + share * dx[k]
            after = energy_of(memory, n, trial)
            if after <= now + 1e-12 * abs(now):
                break
            share *= 0.5
        for k in range(3 * n):
            x[k] = trial[k]
        now = after
        if longest * share < TOLERANCE:
            return iteration + 1
    return MAX_ITERATIONS
