"""Linear and quadratic hydrodynamic damping in six degrees of freedom.

τ = −s (D + D_n |ν_r|) ν_r (Fossen 2021, eq. 6.72 and 6.75), with s the share of the body under water. In the second
term each component of the velocity has its own |ν_j|, as vehicle models are identified. With `quadratic_speed: total`
the speed |v| takes the place of |ν_j| in translation and |ω| in rotation, so that the drag of a ball is −½ ρ C A |v| v
in each direction (Morison's equation in space; DNV-RP-C205, §6.2.5). The slope of τ with velocity, times the step, is
added to the mass matrix (a linearly implicit Euler step), so that any drag is stable. Under RK4 the drag is explicit.
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
from skerry.physics.shapes import BluffBody, SlenderHull

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


@kernel
def _speed_slope(quadratic: Any, v: Any, speed: float, first: int, slope: Any) -> None:
    """Add an upper bound on the slope of D_n |v| v with v to `slope`, for translation (`first` 0) or rotation (3).

    With a = D_n v the slope is |v| D_n + a vᵀ/|v|. The symmetric part of the second term is negative by at most
    ½ (|a| − a·v/|v|), which is added. For equal drag in all directions the bound is the slope itself.
    """
    a = floats(stack_floats(3), 3)
    dot = square = 0.0
    for i in range(3):
        a[i] = 0.0
        for j in range(3):
            a[i] += quadratic[6 * (first + i) + first + j] * v[first + j]
        dot += a[i] * v[first + i]
        square += a[i] * a[i]
    if speed == 0.0:
        return
    more = 0.5 * max(np.sqrt(square) - dot / speed, 0.0)
    for i in range(3):
        own = max(quadratic[7 * (first + i)], 0.0)
        for j in range(3):
            row, column = first + i, first + j
            if j != i:
                own += 0.5 * abs(quadratic[6 * row + column] + quadratic[6 * column + row])
            slope[6 * row + column] += 0.5 * (a[i] * v[column] + v[row] * a[j]) / speed
        slope[7 * (first + i)] += speed * own + more


@law
def apply_speed_damping(model: int, data: int, table: int) -> None:
    """Apply the damping whose quadratic part uses |v| and |ω|. The constants are those of `apply_damping`."""
    block = block_of(data, table)
    share = block[SUBMERGED]
    if share == 0.0:
        return
    constants = constants_of(table)
    linear, quadratic = constants[:36], constants[36:72]
    positive, to_point = constants[72:108], constants[108:144]
    here = constants[144] != 0.0
    v, f = floats(stack_floats(6), 6), floats(stack_floats(6), 6)
    slope = floats(stack_floats(36), 36)
    w = block[RELATIVE : RELATIVE + 6]
    for i in range(6):
        v[i] = w[i]
        if not here:
            v[i] = 0.0
            for j in range(6):
                v[i] += to_point[6 * i + j] * w[j]
    speed = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    turning = np.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5])
    for i in range(6):
        f[i] = 0.0
        for j in range(3):
            f[i] -= (linear[6 * i + j] + quadratic[6 * i + j] * speed) * v[j]
            f[i] -= (linear[6 * i + 3 + j] + quadratic[6 * i + 3 + j] * turning) * v[3 + j]
    step = block[STEP] * share
    for i in range(36):
        slope[i] = positive[i]
    _speed_slope(quadratic, v, speed, 0, slope)
    _speed_slope(quadratic, v, turning, 3, slope)
    for i in range(3):  # couplings of translation and rotation, bounded by twice their size (Gershgorin)
        for j in range(3, 6):
            bound = abs(quadratic[6 * i + j]) * turning + abs(quadratic[6 * j + i]) * speed
            slope[7 * i] += bound
            slope[7 * j] += bound
    for i in range(6):
        for a in range(6):
            if here:
                block[INERTIA + 6 * i + a] += step * slope[6 * i + a]
                continue
            block[WRENCH + a] += share * to_point[6 * i + a] * f[i]
            for b in range(6):
                total = 0.0
                for j in range(6):
                    total += slope[6 * i + j] * to_point[6 * j + b]
                block[INERTIA + 6 * a + b] += step * to_point[6 * i + a] * total
        if here:
            block[WRENCH + i] += share * f[i]


class Damping(LawConfig):
    """Settings of linear and quadratic damping about `position`."""

    kind: Literal["damping"] = "damping"
    linear: Vector6 | Matrix6 = Field(ZERO, description="D: diagonal, six numbers ≥ 0, or 6 × 6; N s/m, N m s/rad")
    quadratic: Vector6 | Matrix6 = Field(
        ZERO, description="D_n: diagonal, six numbers ≥ 0, or 6 × 6; N s²/m², N m s²/rad²"
    )
    quadratic_speed: Literal["component", "total"] = Field(
        "component", description="speed in the quadratic part: of each axis by itself, or of the whole velocity vector"
    )
    slender: SlenderHull | None = Field(None, description="slender hull whose quadratic damping is estimated and added")
    bluff: BluffBody | None = Field(None, description="bluff body whose quadratic damping is estimated and added")

    @field_validator("linear", "quadratic")
    @classmethod
    def _check_not_negative(cls, value: Vector6 | Matrix6) -> Vector6 | Matrix6:
        if np.diag(full_matrix(value)).min() < 0:
            raise ValueError("must not be negative; give damping as positive numbers")
        return value

    def build(self, at: Attachment) -> Law:
        linear, quadratic = full_matrix(self.linear), full_matrix(self.quadratic)
        shapes = [shape for shape in (self.slender, self.bluff) if shape is not None]
        for shape in shapes:
            quadratic = quadratic + np.diag(shape.quadratic_damping(at.water_density))
        positive = implicit_part(linear)
        to_point = turned_shift(self.pose_on_body(at))
        at_origin = float(np.array_equal(to_point, np.eye(6)))
        sizes = np.abs(quadratic)
        fastest = positive + REFERENCE_SPEED * np.diag(sizes.sum(axis=0) + sizes.sum(axis=1))
        constants = np.concatenate(
            [m.ravel() for m in (linear, quadratic, positive, to_point)] + [np.array([at_origin])]
        )
        estimate = "; ".join(shape.METHOD for shape in shapes)
        force = apply_damping if self.quadratic_speed == "component" else apply_speed_damping
        return Law(constants, force=force, damping=to_point.T @ fastest @ to_point, estimate=estimate)


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
