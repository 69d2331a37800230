"""Base classes of everything that is attached to a robot or to the world, and of its settings."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import Config, KindConfig, Vector3
from skerry.core.frames import OPTICAL_IN_BODY, Pose, inverse, multiply, rpy_to_quaternion


class Component(ABC):  # noqa: B024, derived classes have abstract methods
    """Part of a robot or of the world. Its state is bytes, which a snapshot stores.

    State that native code uses is kept in the engine and is not repeated here. A component may continue in another
    engine, when robots or objects are added or removed. It must not keep memory or indices of an engine, unless its
    `bind` replaces them.
    """

    def state(self) -> bytes:
        """Return the state that is needed to continue bit-identically."""
        return b""

    def set_state(self, state: bytes) -> None:
        """Restore a state that `state` returned."""
        if state:
            raise ValueError(f"{type(self).__name__} has no state, but got {len(state)} bytes to restore")


class ComponentConfig(KindConfig):
    """Settings that a file selects by `kind:`. Pure data; each family defines a `build` method."""

    @classmethod
    def example(cls, **settings: Any) -> Self:
        """Return small valid settings, with which the contract tests build the kind.

        The robot of these tests is `rig`. Its links hang on `base_link` by joints: `fin` by the hinge `fin_hinge`,
        `piston` by a slide, `wheel` by an axle, and `hand` by a wrist of two axles.

        Args:
            settings: Settings that are added to the example or replace its own.
        """
        return super().example(**({"link": "base_link"} if "link" in cls.model_fields else {}) | settings)

    def trim_ballast(self, density: float) -> float:
        """Return the mass of ballast water, kg, in neutral trim in water of this density, kg/m³."""
        return 0.0


class Mount(Config):
    """Mounting of a component: a link by name, and an optional offset in the frame of that link."""

    link: str = Field(min_length=1, description="link that the part is attached to")
    position: Vector3 = Field((0.0, 0.0, 0.0), description="offset from the origin of the link, m, in its frame")
    roll_deg: float = 0.0
    pitch_deg: float = 0.0
    yaw_deg: float = 0.0
    ros_camera: bool = Field(
        False,
        description="the link has a ROS optical frame (z forward, x right, y down): point along its z axis, not its x",
    )

    def offset(self) -> Pose:
        """Return the pose of the component in the frame of its link; its own axes are FLU, and it points along x."""
        turn = rpy_to_quaternion(np.radians([self.roll_deg, self.pitch_deg, self.yaw_deg]))
        if self.ros_camera:
            turn = multiply(turn, inverse(OPTICAL_IN_BODY))
        return Pose(np.array(self.position), turn)


class MeasuringConfig(ComponentConfig, Mount):
    """Settings of a part that measures, on a link. `noise: none` makes it exact.

    Attributes:
        perfect: Settings that replace those of the file with `noise: none`: all that give errors, without error.
    """

    perfect: ClassVar[Mapping[str, Any]] = {}

    @model_validator(mode="before")
    @classmethod
    def _turn_noise_off(cls, data: object) -> object:
        if not isinstance(data, Mapping) or "noise" not in data:
            return data
        if data["noise"] == "none":
            return {key: value for key, value in data.items() if key != "noise"} | dict(cls.perfect)
        if "noise" not in cls.model_fields:
            others = f"; single errors are set by {', '.join(cls.perfect)}" if cls.perfect else ""
            raise ValueError(f"`noise` can only be `none`, which makes the part exact, not {data['noise']!r}{others}")
        return data
