"""Holds depth or altitude, heading, speed or place, pitch and roll, by PID loops that are allotted to actuators."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from math import cos, isfinite, radians, sin
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from skerry.control.allocation import Allocation, AllocationConfig
from skerry.control.navigation import Navigation, NavigationConfig
from skerry.control.pid import Pid, PidConfig
from skerry.core.config import Config, NonNegative
from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.frames import heading_to_yaw
from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller, ControllerConfig
from skerry.parts.sensor import Truth

SETPOINTS: Final = ("depth", "altitude", "heading_deg", "speed", "rpm", "east", "north", "pitch_deg", "roll_deg")
RIVALS: Final = (("depth", "altitude"), ("speed", "rpm"), ("speed", "east"), ("rpm", "east"))
LOOP_OF: Final = {"altitude": "depth", "rpm": "speed", "east": "position", "north": "position"}
# the axes of the wrench, x forward, y left, z up, that loops without actuators of their own ask for, and which way
AXIS_OF: Final = {
    "depth": ("heave", -1.0),
    "heading": ("yaw", -1.0),
    "speed": ("surge", 1.0),
    "pitch": ("pitch", 1.0),
    "roll": ("roll", 1.0),
    "surge": ("surge", 1.0),
    "sway": ("sway", 1.0),
}


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


class HoldController(Controller):
    """Idle until `hold` is called. Its set-points are changed by the API, at any time."""

    def __init__(self, config: HoldSettings) -> None:
        self.config = config
        self.setpoints: dict[str, float] = {}
        self._loops = config.loops.present()
        self._shares = config.loops.shares()
        self._pids = {
            name: Pid(loop, name in ("heading", "pitch", "roll"))
            for name, loop in self._loops.items()
            if name != "position"
        }
        if config.loops.position is not None:
            self._pids |= {axis: Pid(config.loops.position) for axis in ("east", "north")}
        if config.dive is not None:
            self._pids["dive"] = Pid(config.dive.loop())
        self._allocation: Allocation | None = None
        self._is_cut = False  # whether the last wrench was more than the thrusters have
        self._commanded: set[str] = set()
        self._stopping = False
        if config.setpoints:
            self.hold(**config.setpoints)

    @property
    def idle(self) -> bool:
        return not self.setpoints and not self._stopping

    def hold(self, **setpoints: float) -> None:
        """Hold these alone: depth or altitude, heading_deg, speed, rpm or east and north, pitch_deg, roll_deg."""
        self.config.check(setpoints)
        if not setpoints:
            raise SkerryError(f"nothing to hold; give one or more of {', '.join(SETPOINTS)}, or call stop()")
        self.setpoints = {name: float(value) for name, value in setpoints.items()}

    def stop(self) -> None:
        """Send the actuators that it commands to their reset values, and be idle."""
        self.setpoints = {}
        self._stopping = bool(self._commanded)

    def act(self, truth: Truth, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        here = Navigation(self.config.navigation, self.config.link, truth, sensors)
        self.steer(here, truth)
        self._command(self._outputs(here), actuators)

    def steer(self, here: Navigation, truth: Truth) -> None:
        """Change the set-points, as guidance does."""
        return

    def _outputs(self, here: Navigation) -> dict[str, float]:
        """What the loops that have a set-point put out."""
        wanted = self.setpoints
        measured: dict[str, tuple[float, float | None]] = {}  # wanted and measured
        if "depth" in wanted:
            measured["depth"] = (wanted["depth"], here.depth())
        elif "altitude" in wanted:  # as a depth: downwards
            altitude = here.altitude()
            measured["depth"] = (-wanted["altitude"], None if altitude is None else -altitude)
        if "heading_deg" in wanted:
            yaw = here.yaw()
            measured["heading"] = (-float(heading_to_yaw(wanted["heading_deg"])), None if yaw is None else -yaw)
        if "speed" in wanted:
            measured["speed"] = (wanted["speed"], here.speed())
        if "east" in wanted:
            place = here.position()
            for number, axis in enumerate(("east", "north")):
                measured[axis] = (wanted[axis], None if place is None else place[number])
        under_way = wanted.get("speed", wanted.get("rpm", 0.0)) > 0.0
        if "dive" in self._pids and under_way and "depth" in measured and "pitch_deg" not in wanted:
            measured["dive"] = measured["depth"]
        outputs = self._step(measured)
        pitch = radians(wanted["pitch_deg"]) if "pitch_deg" in wanted else outputs.pop("dive", None)
        attitude = here.attitude() if pitch is not None or "roll_deg" in wanted else None
        turned: dict[str, tuple[float, float | None]] = {}
        if pitch is not None:
            turned["pitch"] = (pitch, None if attitude is None else attitude[1])
        if "roll_deg" in wanted:
            turned["roll"] = (radians(wanted["roll_deg"]), None if attitude is None else attitude[0])
        outputs |= self._step(turned)
        for name in self._pids.keys() - measured.keys() - turned.keys():
            self._pids[name].reset()
        if "rpm" in wanted:
            outputs["speed"] = wanted["rpm"]
        if "east" in outputs:
            force = (outputs.pop("east"), outputs.pop("north"))
            if (yaw := here.yaw()) is not None:
                outputs |= self.push(*force, yaw)
        return outputs

    def push(self, east: float, north: float, yaw: float) -> dict[str, float]:
        """What there is to do for a force east and north, N, at a yaw: surge and sway."""
        return {"surge": cos(yaw) * east + sin(yaw) * north, "sway": cos(yaw) * north - sin(yaw) * east}

    def _step(self, measured: Mapping[str, tuple[float, float | None]]) -> dict[str, float]:
        """The outputs of these loops; what cannot be measured now stays as it was."""
        seconds = 1.0 / float(self.config.frequency)
        outputs = {}
        for name, (goal, value) in measured.items():
            if name in self._pids:
                pid = self._pids[name]
                integrate = not (self._is_cut and name not in self._shares)
                outputs[name] = pid.output if value is None else pid.step(goal, value, seconds, integrate)
        return outputs

    def _allot(self, outputs: Mapping[str, float], actuators: Mapping[str, Actuator]) -> dict[str, float]:
        """The commands for what the loops put out, by actuator."""
        totals: dict[str, float] = {}
        wrench: dict[str, float] = {}
        for name, output in outputs.items():
            if name in self._shares:
                for part, share in self._shares[name].items():
                    totals[part] = totals.get(part, 0.0) + share * output
            else:
                axis, sign = AXIS_OF[name]
                wrench[axis] = wrench.get(axis, 0.0) + sign * output
        self._is_cut = False
        if wrench and self.config.allocation is not None:
            if self._allocation is None:
                self._allocation = Allocation(self.config.allocation, actuators)
            commands, self._is_cut = self._allocation.share_out(wrench)
            for part, command in commands.items():
                totals[part] = totals.get(part, 0.0) + command - actuators[part].reset_value
        return totals

    def _command(self, outputs: Mapping[str, float], actuators: Mapping[str, Actuator]) -> None:
        totals = self._allot(outputs, actuators)
        let_go = self._commanded - totals.keys()
        self._commanded = set()
        heard = True
        for part in sorted(let_go | totals.keys()):
            actuator = actuators[part]
            value = actuator.reset_value + totals.get(part, 0.0)
            if actuator.command(**{actuator.keyword: value}):
                self._commanded |= {part} & totals.keys()
            else:
                heard = False
        self._stopping = False
        if not heard:  # or its integrals would wind up while somebody else drives
            for pid in self._pids.values():
                pid.reset()

    def state(self) -> bytes:
        pids = {name: pid.state() for name, pid in self._pids.items()}
        return json.dumps([self.setpoints, pids, sorted(self._commanded), self._stopping, self._is_cut]).encode()

    def set_state(self, state: bytes) -> None:
        self.setpoints, pids, commanded, self._stopping, self._is_cut = json.loads(state)
        self._commanded = set(commanded)
        for name, kept in pids.items():
            self._pids[name].set_state(kept)


class HoldSettings(ControllerConfig):
    """Settings of all that hold set-points."""

    link: str = Field("base_link", description="whose motion it controls, where it is told the truth")
    navigation: NavigationConfig = NavigationConfig()
    loops: LoopsConfig = LoopsConfig()
    allocation: AllocationConfig | None = Field(None, description="thrusters of loops without actuators")
    dive: DiveConfig | None = Field(None, description="pitch to change depth under way; null stays level")
    setpoints: dict[str, float] = Field({}, description="what it holds from the start; idle by default")

    @model_validator(mode="after")
    def _is_whole(self) -> HoldSettings:
        shares = self.loops.shares()
        for name in (name for name in self.loops.present() if name not in shares):
            axes = self.needs_axes if name == "position" else (AXIS_OF[name][0],)
            if self.allocation is None:
                raise ValueError(f"the loop of the {name} needs `actuators`, or an `allocation` to thrusters")
            if missing := [axis for axis in axes if axis not in self.allocation.axes]:
                raise ValueError(f"the loop of the {name} needs {missing[0]} among the `axes` of the allocation")
        if self.dive is not None and self.loops.pitch is None:
            raise ValueError("`dive` needs a loop for the pitch")
        try:
            self.check(self.setpoints)
        except SkerryError as error:
            raise ValueError(str(error)) from None
        return self

    def check(self, setpoints: Mapping[str, float]) -> None:
        """Raise an error if these cannot be held."""
        loops = self.loops.present()
        allotted = "speed" in loops and "speed" not in self.loops.shares()
        check_setpoints(setpoints, loops, self.dive is not None, allotted)

    @property
    def needs_axes(self) -> tuple[str, ...]:
        """Those that the loop of the position pushes along."""
        return ("surge", "sway")

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        own = {part: None for actuators in self.loops.shares().values() for part in actuators}
        return tuple(own | dict.fromkeys(self.allocation.thrusters if self.allocation else ()))

    @property
    def needs_sensors(self) -> tuple[str, ...]:
        return self.navigation.sensors


class Hold(HoldSettings):
    """Settings of an autopilot that holds set-points."""

    kind: Literal["hold"] = "hold"

    def build(self) -> HoldController:
        return HoldController(self)
