"""A spring on a joint, as of a suspension: force −k (q − q₀), implicit in the step; its damper is the joint's own."""

from __future__ import annotations

from typing import Literal

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

STIFFNESS, REST, IMPLICIT_STEP = 0, 1, -1


@law
def pull_back(model: int, data: int, table: int) -> None:
    """Pull the joint to where the spring rests."""
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
    """A linear spring on the joint above its link."""

    kind: Literal["spring"] = "spring"
    stiffness: Positive = Field(description="N/m, or N m/rad")
    rest: float = Field(0.0, description="position of the joint at which it does not pull, m or rad")

    def build(self, at: Attachment) -> Law:
        if at.joint is None or at.joint.kind == "fixed":
            raise SkerryError(f"a spring needs a moving joint above link {at.link!r}")
        start = min(max(self.rest, at.joint.lower), at.joint.upper)
        return Law(np.array([self.stiffness, self.rest]), force=pull_back, joint=at.joint.name, joint_start=start)
