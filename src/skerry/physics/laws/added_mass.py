"""Added mass: inertia of the surrounding water, in the mass matrix, and its Coriolis force.

τ = −s (M_A ν̇_r + C_A(ν_r) ν_r), with ν_r the velocity through the water and s the share of the body under water
(Fossen 2021, §6.3 and eq. 6.42–6.46). In a uniform current without rotation ν̇_r = ν̇ + ω × u − u̇ in the link's axes,
u being the velocity of the water.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from skerry.core.config import Matrix6, Vector6
from skerry.core.kernels import floats, kernel, stack_floats
from skerry.parts.law import (
    BIAS,
    FLOW_RATE,
    RELATIVE,
    SUBMERGED,
    VELOCITY,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    add_inertia,
    block_of,
    constants_of,
    law,
    turned_shift,
)
from skerry.physics.shapes import Ellipsoid, SlenderHull


@kernel
def _add_water(block: Any, matrix: Any, share: float) -> None:
    """Add `share` of the added mass, with its Coriolis force, to a block."""
    v = block[RELATIVE : RELATIVE + 6]
    bias = floats(stack_floats(6), 6)
    ux = block[VELOCITY] - v[0]
    uy = block[VELOCITY + 1] - v[1]
    uz = block[VELOCITY + 2] - v[2]
    bias[0] = block[BIAS] + v[4] * uz - v[5] * uy - block[FLOW_RATE]
    bias[1] = block[BIAS + 1] + v[5] * ux - v[3] * uz - block[FLOW_RATE + 1]
    bias[2] = block[BIAS + 2] + v[3] * uy - v[4] * ux - block[FLOW_RATE + 2]
    for i in range(3, 6):
        bias[i] = block[BIAS + i]
    add_inertia(block, matrix, share, v, bias)


@law
def apply_added_mass(model: int, data: int, table: int) -> None:
    """Apply the added mass. Constants: M_A about the link's origin, (6, 6)."""
    block = block_of(data, table)
    if block[SUBMERGED] > 0.0:
        _add_water(block, constants_of(table), block[SUBMERGED])


@law
def apply_added_mass_without_munk_moment(model: int, data: int, table: int) -> None:
    """Apply the added mass without the Munk moment v × A v, where A is the translational part of M_A."""
    block = block_of(data, table)
    share = block[SUBMERGED]
    if share == 0.0:
        return
    A = constants_of(table)
    _add_water(block, A, share)
    x, y, z = block[RELATIVE], block[RELATIVE + 1], block[RELATIVE + 2]
    px = A[0] * x + A[1] * y + A[2] * z
    py = A[6] * x + A[7] * y + A[8] * z
    pz = A[12] * x + A[13] * y + A[14] * z
    block[WRENCH + 3] += share * (y * pz - z * py)
    block[WRENCH + 4] += share * (z * px - x * pz)
    block[WRENCH + 5] += share * (x * py - y * px)


class AddedMass(LawConfig):
    """Settings of added mass: a matrix about `position`, or a shape from which it is estimated."""

    kind: Literal["added_mass"] = "added_mass"
    matrix: Vector6 | Matrix6 | None = Field(
        None, description="diagonal, six numbers ≥ 0, or symmetric 6 × 6; kg, kg m, kg m²"
    )
    ellipsoid: Ellipsoid | None = Field(None, description="ellipsoid from which the matrix is estimated")
    slender: SlenderHull | None = Field(None, description="slender hull from which the matrix is estimated")
    munk_moment: bool = Field(
        True, description="whether to include the Munk moment, which turns a body across its path"
    )

    @field_validator("matrix")
    @classmethod
    def _check_matrix(cls, value: Vector6 | Matrix6 | None) -> Vector6 | Matrix6 | None:
        if value is None:
            return value
        matrix = full_matrix(value)
        if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-12):
            raise ValueError("must be symmetric: M[i][j] = M[j][i]")
        if np.linalg.eigvalsh(matrix).min() < -1e-9 * max(1.0, np.abs(matrix).max()):
            raise ValueError("must not have a negative eigenvalue; give added mass as positive numbers")
        return value

    @model_validator(mode="after")
    def _check_one_source(self) -> AddedMass:
        if sum(form is not None for form in (self.matrix, self.ellipsoid, self.slender)) != 1:
            raise ValueError("give exactly one of `matrix`, `ellipsoid` and `slender`")
        return self

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"matrix": [5, 20, 20, 0.1, 2, 2]} | settings)

    def build(self, at: Attachment) -> Law:
        to_point = turned_shift(self.pose_on_body(at))
        shape = self.ellipsoid or self.slender
        if shape is not None:
            own = shape.added_mass(at.water_density, at.neutral_volume)
        else:
            assert self.matrix is not None
            own = full_matrix(self.matrix)
        matrix = to_point.T @ (0.5 * (own + own.T)) @ to_point
        force = apply_added_mass if self.munk_moment else apply_added_mass_without_munk_moment
        return Law(matrix, force=force, added_mass=matrix, estimate=shape.METHOD if shape is not None else "")


def full_matrix(value: Vector6 | Matrix6) -> NDArray[np.float64]:
    """Return six numbers as a diagonal matrix, and a 6 × 6 matrix unchanged."""
    array = np.array(value, np.float64)
    return np.diag(array) if array.ndim == 1 else array
