"""Loops that hold set-points: which there are, what actuators get of their output, what can be held together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isfinite, radians
from typing import Final

from pydantic import Field

from skerry.control.loops.pid import PidConfig
from skerry.core.config import Config, NonNegative
from skerry.core.errors import SkerryError, did_you_mean

SETPOINTS: Final = ("depth", "altitude", "heading_deg", "speed", "rpm", "east", "north", "pitch_deg", "roll_deg")
RIVALS: Final = (("depth", "altitude"), ("speed", "rpm"), ("speed", "east"), ("rpm", "east"))
LOOP_OF: Final = {"altitude": "depth", "rpm": "speed", "east": "position", "north": "position"}


class LoopConfig(PidConfig):
    """A loop, and what of its output each actuator gets, on top of its reset value."""

    actuators: dict[str, float] = Field(
        {},
        description="units of its command per unit of output, by name; none: N or N m for the `allocation`",
    )


class LoopsConfig(Config):
    """The loops that there are; errors in m, m/s and rad."""

    depth: LoopConfig | None = Field(None, description="also for the altitude")
    heading: LoopConfig | None = Field(None, description="positive to starboard")
    speed: LoopConfig | None = Field(None, description="its output is also set directly, by `rpm`")
    pitch: LoopConfig | None = Field(None, description="positive is nose down")
    roll: LoopConfig | None = Field(None, description="positive is starboard down")
    position: PidConfig | None = Field(None, description="a force east and one north, N, for the `allocation`")

    def present(self) -> dict[str, PidConfig]:
        """Those that are there, by name."""
        named = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: loop for name, loop in named.items() if loop is not None}

    def shares(self) -> dict[str, dict[str, float]]:
        """What of their output actuators get, of the loops that have their own."""
        found = {name: loop.actuators for name, loop in self.present().items() if isinstance(loop, LoopConfig)}
        return {name: actuators for name, actuators in found.items() if actuators}


class DiveConfig(Config):
    """How depth becomes pitch under way."""

    pitch_deg_per_metre: NonNegative = Field(8.0, description="of the depth's error")
    integral: NonNegative = Field(0.0, description="° for each metre of error and second, against lift and trim")
    largest_pitch_deg: float = Field(15.0, gt=0, lt=90)

    def loop(self) -> PidConfig:
        """From an error of depth, m, to the pitch, rad."""
        gains = {"proportional": radians(self.pitch_deg_per_metre), "integral": radians(self.integral)}
        return PidConfig(**gains, limit=radians(self.largest_pitch_deg))


def check_setpoints(setpoints: Mapping[str, float], loops: Collection[str], dives: bool, allotted: bool) -> None:
    """Raise an error if these cannot be held: by loops, or depth by diving; `allotted` says that speed is by thrust."""
    for name, value in setpoints.items():
        if name not in SETPOINTS:
            raise SkerryError(f"there is no set-point {name!r}; {did_you_mean(name, SETPOINTS)}")
        if isinstance(value, bool | str) or not isfinite(value):
            raise SkerryError(f"a set-point must be a number, not {name}={value!r}")
        loop = LOOP_OF.get(name, name.removesuffix("_deg"))
        if loop == "depth" and loop not in loops and dives:
            if "pitch_deg" in setpoints:
                raise SkerryError(f"give {name} or pitch_deg, not both, as the depth is held by pitch")
            if not {"speed", "rpm"} & setpoints.keys():
                raise SkerryError(f"{name} is held by pitch under way; give a speed or rpm too")
        elif loop not in loops:
            known = ", ".join(loops) or "none"
            raise SkerryError(f"there is no loop for the {loop}, which {name} needs; loops: {known}")
    for one, other in RIVALS:
        if one in setpoints and other in setpoints:
            raise SkerryError(f"give {one} or {other}, not both")
    if ("east" in setpoints) != ("north" in setpoints):
        raise SkerryError("a place is both, east and north")
    if "rpm" in setpoints and allotted:
        raise SkerryError("the loop of the speed asks for thrust, not for rpm; give a speed")
