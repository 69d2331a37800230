"""Spring on a joint, such as a suspension: force −k (q − q₀), implicit in the step.

The damper is the joint damping of the URDF.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import Positive
from skerry.core.errors import SkerryError
from skerry.core.kernels import floats, load_word, words
from skerry.parts.law import (
    HEADER,
    JOINT_AXIS,
    JOINT_INERTIA,
    JOINT_POSITION,
    LAYOUT,
    Attachment,
    Law,
    LawConfig,
    constants_of,
    law,
)
from skerry.physics.mujoco import LAYOUT_SIZE, MASS, QFRC_PASSIVE, QPOS, QVEL

STIFFNESS, REST, IMPLICIT_STEP = 0, 1, -1  # indices of the constants; the last is added when the model is built


@law
def apply_spring_force(model: int, data: int, table: int) -> None:
    """Apply the force of the spring to the joint."""
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    c = constants_of(table)
    q = floats(load_word(data + layout[QPOS]) + 8 * header[JOINT_POSITION], 1)[0]
    rate = floats(load_word(data + layout[QVEL]) + 8 * header[JOINT_AXIS], 1)[0]
    h = c[IMPLICIT_STEP]
    floats(load_word(data + layout[QFRC_PASSIVE]) + 8 * header[JOINT_AXIS], 1)[0] -= c[STIFFNESS] * (
        q + h * rate - c[REST]
    )
    floats(load_word(data + layout[MASS]) + 8 * header[JOINT_INERTIA], 1)[0] += h * h * c[STIFFNESS]


class Spring(LawConfig):
    """Settings of a linear spring on the joint above its link."""

    kind: Literal["spring"] = "spring"
    stiffness: Positive = Field(description="stiffness, N/m or N m/rad")
    rest: float = Field(0.0, description="joint position at which the force is 0, m or rad")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"link": "fin", "stiffness": 5} | settings)

    def build(self, at: Attachment) -> Law:
        if at.joint is None or at.joint.kind == "fixed":
            raise SkerryError(
                f"a spring needs a movable joint above its link, but link {at.link!r} has none; use another link"
            )
        start = min(max(self.rest, at.joint.lower), at.joint.upper)
        return Law(
            np.array([self.stiffness, self.rest]), force=apply_spring_force, joint=at.joint.name, joint_start=start
        )
