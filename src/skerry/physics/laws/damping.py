"""Linear and quadratic hydrodynamic damping in six degrees of freedom.

τ = −s (D + D_n |ν_r|) ν_r (Fossen 2021, eq. 6.72 and 6.75), with s the share of the body under water. The slope of τ
with velocity, times the step, is added to the mass matrix (a linearly implicit Euler step), so that any drag is stable.
Under RK4 the drag is explicit.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from skerry.core.config import Matrix6, Vector6
from skerry.core.kernels import floats, kernel, stack_floats
from skerry.parts.law import (
    INERTIA,
    RELATIVE,
    STEP,
    SUBMERGED,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    block_of,
    constants_of,
    law,
    turned_shift,
)
from skerry.physics.laws.added_mass import full_matrix
from skerry.physics.shapes import SlenderHull

REFERENCE_SPEED = 5.0  # m/s and rad/s: speed up to which an explicit step (RK4) must be stable
ZERO: Vector6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def _slope(quadratic: Any, v: Any, i: int) -> float:
    """Return a bound on row i of the slope 2 D_n |ν| for the diagonal, couplings included (Gershgorin)."""
    total = 2.0 * max(quadratic[7 * i], 0.0) * abs(v[i])
    for j in range(6):
        if j != i:
            total += abs(quadratic[6 * i + j]) * abs(v[j]) + abs(quadratic[6 * j + i]) * abs(v[i])
    return total


@law
def apply_damping(model: int, data: int, table: int) -> None:
    """Apply the damping. Constants: D, D_n, implicit part of D, 6×6 shift to `position`, 1 if there is no shift."""
    block = block_of(data, table)
    share = block[SUBMERGED]
    if share == 0.0:
        return
    constants = constants_of(table)
    linear, quadratic = constants[:36], constants[36:72]
    positive, to_point = constants[72:108], constants[108:144]
    here = constants[144] != 0.0  # `position` is the link's origin: no shift needed
    v = floats(stack_floats(6), 6)
    f = floats(stack_floats(6), 6)
    w = block[RELATIVE : RELATIVE + 6]
    for i in range(6):
        v[i] = w[i]
        if not here:
            v[i] = 0.0
            for j in range(6):
                v[i] += to_point[6 * i + j] * w[j]
    for i in range(6):
        f[i] = 0.0
        for j in range(6):
            f[i] -= (linear[6 * i + j] + quadratic[6 * i + j] * abs(v[j])) * v[j]
    step = block[STEP] * share
    if here:
        for i in range(6):
            block[WRENCH + i] += share * f[i]
            block[INERTIA + 7 * i] += step * _slope(quadratic, v, i)
        if step > 0.0:
            for i in range(36):
                block[INERTIA + i] += step * positive[i]
        return
    for i in range(6):
        for j in range(6):
            block[WRENCH + j] += share * to_point[6 * i + j] * f[i]
    if step > 0.0:
        slope = floats(stack_floats(36), 36)
        for i in range(36):
            slope[i] = positive[i]
        for i in range(6):
            slope[7 * i] += _slope(quadratic, v, i)
        for a in range(6):
            for b in range(6):
                total = 0.0
                for i in range(6):
                    for j in range(6):
                        total += to_point[6 * i + a] * slope[6 * i + j] * to_point[6 * j + b]
                block[INERTIA + 6 * a + b] += step * total


class Damping(LawConfig):
    """Settings of linear and quadratic damping about `position`."""

    kind: Literal["damping"] = "damping"
    linear: Vector6 | Matrix6 = Field(ZERO, description="D: diagonal, six numbers ≥ 0, or 6 × 6; N s/m, N m s/rad")
    quadratic: Vector6 | Matrix6 = Field(
        ZERO, description="D_n: diagonal, six numbers ≥ 0, or 6 × 6; N s²/m², N m s²/rad²"
    )
    slender: SlenderHull | None = Field(None, description="slender hull whose quadratic damping is estimated and added")

    @field_validator("linear", "quadratic")
    @classmethod
    def _check_not_negative(cls, value: Vector6 | Matrix6) -> Vector6 | Matrix6:
        if np.diag(full_matrix(value)).min() < 0:
            raise ValueError("must not be negative; give damping as positive numbers")
        return value

    def build(self, at: Attachment) -> Law:
        linear, quadratic = full_matrix(self.linear), full_matrix(self.quadratic)
        if self.slender is not None:
            quadratic = quadratic + np.diag(self.slender.quadratic_damping(at.water_density))
        positive = implicit_part(linear)
        to_point = turned_shift(self.pose_on_body(at))
        at_origin = float(np.array_equal(to_point, np.eye(6)))
        sizes = np.abs(quadratic)
        fastest = positive + REFERENCE_SPEED * np.diag(sizes.sum(axis=0) + sizes.sum(axis=1))
        constants = np.concatenate(
            [m.ravel() for m in (linear, quadratic, positive, to_point)] + [np.array([at_origin])]
        )
        estimate = self.slender.METHOD if self.slender is not None else ""
        return Law(constants, force=apply_damping, damping=to_point.T @ fastest @ to_point, estimate=estimate)


def implicit_part(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the part of a linear drag D that is added to the mass matrix: Dᵀ P⁻¹ D, with P its symmetric part.

    For a symmetric D the result is D itself. For any dissipative D it makes the step a contraction, however stiff D is;
    the symmetric part alone would leave the rest of a coupled drag explicit. If P is singular or negative in a
    direction in which D acts, the result is the positive part of P instead.
    """
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    sound = values > 1e-9 * max(np.abs(matrix).max(initial=0.0), 1e-300)
    if not np.allclose(matrix @ vectors[:, ~sound], 0.0, atol=1e-9 * np.abs(matrix).max(initial=0.0)):
        return positive_part(matrix)
    inverse = (vectors[:, sound] / values[sound]) @ vectors[:, sound].T
    return np.asarray(matrix.T @ inverse @ matrix)


def positive_part(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the dissipative part of a matrix: its symmetric part without negative eigenvalues."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
