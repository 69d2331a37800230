"""Holds depth or altitude, heading, speed, pitch and roll, each by a PID loop that is allotted to actuators."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from math import isfinite, radians
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from skerry.control.navigation import Navigation, NavigationConfig
from skerry.control.pid import Pid, PidConfig
from skerry.core.config import Config, NonNegative
from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.frames import heading_to_yaw
from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller, ControllerConfig
from skerry.parts.sensor import Truth

SETPOINTS: Final = ("depth", "altitude", "heading_deg", "speed", "rpm", "pitch_deg", "roll_deg")
RIVALS: Final = (("depth", "altitude"), ("speed", "rpm"))


class LoopConfig(PidConfig):
    """A loop, and what of its output each actuator gets, on top of its reset value."""

    actuators: dict[str, float] = Field(min_length=1, description="units of its command per unit of output, by name")


class LoopsConfig(Config):
    """The loops that there are; errors in m, m/s and rad."""

    depth: LoopConfig | None = Field(None, description="also for the altitude")
    heading: LoopConfig | None = Field(None, description="positive to starboard")
    speed: LoopConfig | None = Field(None, description="its output is also set directly, by `rpm`")
    pitch: LoopConfig | None = Field(None, description="positive is nose down")
    roll: LoopConfig | None = Field(None, description="positive is starboard down")

    def present(self) -> dict[str, LoopConfig]:
        """Those that are there, by name."""
        named = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: loop for name, loop in named.items() if loop is not None}


class DiveConfig(Config):
    """How depth becomes pitch under way."""

    pitch_deg_per_metre: NonNegative = Field(8.0, description="of the depth's error")
    largest_pitch_deg: float = Field(15.0, ge=0, lt=90)


def check_setpoints(setpoints: Mapping[str, float], loops: Collection[str]) -> None:
    """Raise an error if these cannot be held by these loops."""
    for name, value in setpoints.items():
        if name not in SETPOINTS:
            raise SkerryError(f"there is no set-point {name!r}; {did_you_mean(name, SETPOINTS)}")
        if isinstance(value, bool | str) or not isfinite(value):
            raise SkerryError(f"a set-point must be a number, not {name}={value!r}")
        loop = {"altitude": "depth", "rpm": "speed"}.get(name, name.removesuffix("_deg"))
        if loop not in loops:
            known = ", ".join(loops) or "none"
            raise SkerryError(f"there is no loop for the {loop}, which {name} needs; loops: {known}")
    for one, other in RIVALS:
        if one in setpoints and other in setpoints:
            raise SkerryError(f"give {one} or {other}, not both")


class HoldController(Controller):
    """Idle until `hold` is called. Its set-points are changed by the API, at any time."""

    def __init__(self, config: HoldSettings) -> None:
        self.config = config
        self.setpoints: dict[str, float] = {}
        self._loops = config.loops.present()
        self._pids = {name: Pid(loop, name in ("heading", "pitch", "roll")) for name, loop in self._loops.items()}
        self._commanded: set[str] = set()
        self._stopping = False
        if config.setpoints:
            self.hold(**config.setpoints)

    @property
    def idle(self) -> bool:
        return not self.setpoints and not self._stopping

    def hold(self, **setpoints: float) -> None:
        """Hold these and nothing else: depth or altitude, heading_deg, speed or rpm, pitch_deg, roll_deg."""
        self._check(setpoints)
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
        measured: dict[str, tuple[float | None, float | None]] = {}  # wanted and measured
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
        pitch = self._wanted_pitch(measured.get("depth", (None, None)))
        attitude = here.attitude() if pitch is not None or "roll_deg" in wanted else None
        if pitch is not None:
            measured["pitch"] = (pitch, None if attitude is None else attitude[1])
        if "roll_deg" in wanted:
            measured["roll"] = (radians(wanted["roll_deg"]), None if attitude is None else attitude[0])
        seconds = 1.0 / float(self.config.frequency)
        outputs = {}
        for name, pid in self._pids.items():
            goal, value = measured.get(name, (None, None))
            if name not in measured:
                pid.reset()
            else:  # what cannot be measured now stays as it was
                outputs[name] = pid.output if goal is None or value is None else pid.step(goal, value, seconds)
        if "rpm" in wanted:
            outputs["speed"] = wanted["rpm"]
        return outputs

    def _wanted_pitch(self, depth: tuple[float | None, float | None]) -> float | None:
        if "pitch_deg" in self.setpoints:
            return radians(self.setpoints["pitch_deg"])
        under_way = self.setpoints.get("speed", self.setpoints.get("rpm", 0.0)) > 0.0
        if self.config.dive is None or not under_way or not {"depth", "altitude"} & self.setpoints.keys():
            return None
        goal, value = depth
        error = 0.0 if goal is None or value is None else goal - value
        largest = self.config.dive.largest_pitch_deg
        return radians(min(max(self.config.dive.pitch_deg_per_metre * error, -largest), largest))

    def _command(self, outputs: Mapping[str, float], actuators: Mapping[str, Actuator]) -> None:
        totals: dict[str, float] = {}
        for name, output in outputs.items():
            for part, share in self._loops[name].actuators.items():
                totals[part] = totals.get(part, 0.0) + share * output
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

    def _check(self, setpoints: Mapping[str, float]) -> None:
        check_setpoints(setpoints, self._loops)

    def state(self) -> bytes:
        pids = {name: pid.state() for name, pid in self._pids.items()}
        return json.dumps([self.setpoints, pids, sorted(self._commanded), self._stopping]).encode()

    def set_state(self, state: bytes) -> None:
        self.setpoints, pids, commanded, self._stopping = json.loads(state)
        self._commanded = set(commanded)
        for name, kept in pids.items():
            self._pids[name].set_state(kept)


class HoldSettings(ControllerConfig):
    """Settings of all that hold set-points."""

    link: str = Field("base_link", description="whose motion it controls, where it is told the truth")
    navigation: NavigationConfig = NavigationConfig()
    loops: LoopsConfig = LoopsConfig()
    dive: DiveConfig | None = Field(None, description="pitch to change depth under way; null stays level")
    setpoints: dict[str, float] = Field({}, description="what it holds from the start; idle by default")

    @model_validator(mode="after")
    def _setpoints_can_be_held(self) -> HoldSettings:
        try:
            check_setpoints(self.setpoints, self.loops.present())
        except SkerryError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        return tuple({part: None for loop in self.loops.present().values() for part in loop.actuators})

    @property
    def needs_sensors(self) -> tuple[str, ...]:
        return self.navigation.sensors


class Hold(HoldSettings):
    """Settings of an autopilot that holds set-points."""

    kind: Literal["hold"] = "hold"

    def build(self) -> HoldController:
        return HoldController(self)
