"""Control loops: their settings, the shares of actuators in their outputs, and which setpoints can be combined."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isfinite, radians
from typing import Final

from pydantic import Field

from skerry.control.loops.pid import PidConfig
from skerry.core.config import Config, NonNegative
from skerry.core.errors import SkerryError, did_you_mean

SETPOINTS: Final = ("depth", "altitude", "heading_deg", "speed", "rpm", "east", "north", "pitch_deg", "roll_deg")
EXCLUSIVE: Final = (("depth", "altitude"), ("speed", "rpm"), ("speed", "east"), ("rpm", "east"))
LOOP_OF: Final = {"altitude": "depth", "rpm": "speed", "east": "position", "north": "position"}


class LoopConfig(PidConfig):
    """Settings of a loop, with the share of its output that is added to the reset value of each actuator."""

    actuators: dict[str, float] = Field(
        {},
        description="command per unit of output, by actuator; empty: the output is N or N m for the `allocation`",
    )


class LoopsConfig(Config):
    """Settings of the loops of a controller; errors are in m, m/s and rad."""

    depth: LoopConfig | None = Field(None, description="loop of the depth and of the altitude")
    heading: LoopConfig | None = Field(None, description="loop of the heading; positive turns to starboard")
    speed: LoopConfig | None = Field(None, description="loop of the speed; the setpoint `rpm` sets its output directly")
    pitch: LoopConfig | None = Field(None, description="loop of the pitch; positive is nose down")
    roll: LoopConfig | None = Field(None, description="loop of the roll; positive is starboard down")
    position: PidConfig | None = Field(
        None, description="loops of east and north; their outputs are forces for the `allocation`, N"
    )

    def present(self) -> dict[str, PidConfig]:
        """Return the loops that are configured, by name."""
        named = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: loop for name, loop in named.items() if loop is not None}

    def shares(self) -> dict[str, dict[str, float]]:
        """Return the shares of the actuators, for the loops that have `actuators`."""
        found = {name: loop.actuators for name, loop in self.present().items() if isinstance(loop, LoopConfig)}
        return {name: actuators for name, actuators in found.items() if actuators}


class DiveConfig(Config):
    """Settings of the loop that controls depth by pitch while the vehicle has speed."""

    pitch_deg_per_metre: NonNegative = Field(8.0, description="pitch per metre of depth error, °")
    integral: NonNegative = Field(
        0.0, description="pitch per metre of depth error and second, °, against lift and trim"
    )
    largest_pitch_deg: float = Field(15.0, gt=0, lt=90, description="largest pitch in both directions")

    def loop(self) -> PidConfig:
        """Return the gains of the loop from depth error (m) to pitch (rad)."""
        gains = {"proportional": radians(self.pitch_deg_per_metre), "integral": radians(self.integral)}
        return PidConfig(**gains, limit=radians(self.largest_pitch_deg))


def check_setpoints(setpoints: Mapping[str, float], loops: Collection[str], dives: bool, allotted: bool) -> None:
    """Check that the setpoints can be held together.

    Args:
        setpoints: Setpoints by name.
        loops: Names of the configured loops.
        dives: Whether depth can be controlled by pitch.
        allotted: Whether the loop of the speed produces thrust for an allocation, so that `rpm` is not possible.

    Raises:
        SkerryError: If a setpoint is unknown, is not a finite number, has no loop, or excludes another one.
    """
    for name, value in setpoints.items():
        if name not in SETPOINTS:
            raise SkerryError(f"there is no setpoint {name!r}; {did_you_mean(name, SETPOINTS)}")
        if isinstance(value, bool | str) or not isfinite(value):
            raise SkerryError(f"a setpoint must be a finite number, not {name}={value!r}")
        loop = LOOP_OF.get(name, name.removesuffix("_deg"))
        if loop == "depth" and loop not in loops and dives:
            if "pitch_deg" in setpoints:
                raise SkerryError(f"give {name} or pitch_deg, not both; this vehicle controls its depth by pitch")
            if not {"speed", "rpm"} & setpoints.keys():
                raise SkerryError(f"{name} is controlled by pitch, which needs speed; give a speed or rpm too")
        elif loop not in loops:
            known = ", ".join(loops) or "none"
            raise SkerryError(f"the setpoint {name} needs a loop `{loop}`; the controller has: {known}")
    for one, other in EXCLUSIVE:
        if one in setpoints and other in setpoints:
            raise SkerryError(f"give {one} or {other}, not both")
    if ("east" in setpoints) != ("north" in setpoints):
        raise SkerryError("a position needs both east and north")
    if "rpm" in setpoints and allotted:
        raise SkerryError("the loop `speed` produces thrust for the allocation, not rpm; give a speed instead of rpm")
