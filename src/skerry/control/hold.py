"""Autopilot that holds depth or altitude, heading, speed or position, pitch and roll with PID loops."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from math import cos, radians, sin
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from skerry.control.loops.allocation import Allocation, AllocationConfig
from skerry.control.loops.limits import SUBMERGED, LimitsConfig, clamp_pitch, clamp_setpoints
from skerry.control.loops.loops import SETPOINTS, DiveConfig, LoopsConfig, check_setpoints
from skerry.control.loops.navigation import Navigation, NavigationConfig
from skerry.control.loops.pid import Pid
from skerry.control.loops.setpoints import Setpoints
from skerry.core.errors import SkerryError
from skerry.core.frames import heading_to_yaw
from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller, ControllerConfig
from skerry.parts.ownership import current_source
from skerry.parts.sensor import SampleView

logger = logging.getLogger("skerry")

EXTERNAL_OWNER: Final = "external"  # owner whose actuators it takes for external setpoints
# Axis and sign of the wrench (x forward, y left, z up) for the output of each loop without `actuators`
AXIS_OF: Final = {
    "depth": ("heave", -1.0),
    "heading": ("yaw", -1.0),
    "speed": ("surge", 1.0),
    "pitch": ("pitch", 1.0),
    "roll": ("roll", 1.0),
    "surge": ("surge", 1.0),
    "sway": ("sway", 1.0),
}


class HoldController(Controller):
    """Autopilot that is idle until `hold` is called. The API may change its setpoints at any time.

    An external interface can enable and disable additional setpoints one by one (`external_setpoints`).
    """

    def __init__(self, config: HoldSettings) -> None:
        self.config = config
        self.setpoints: dict[str, float] = {}
        self.external_setpoints = Setpoints()
        self.return_owner: str | None = None
        """Owner that gets an actuator back when it is no longer needed; None if the controller keeps it."""
        self.aborted = False
        """Whether the mission is aborted: the vehicle surfaces, and commands are refused."""
        self.commands_accepted = True
        """Whether all actuators accepted the last commands."""
        self._takes_all = False  # whether it becomes the owner of all actuators at the next act
        self._dived = 0  # number of consecutive acts under water
        self._by_altitude = False  # whether the depth loop controls the altitude
        self._column: float | None = None  # last measured height of the water column, m
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
        self._is_limited = False  # whether the last wrench was scaled down by the allocation
        self._commanded: set[str] = set()
        self._stopping = False
        if config.setpoints:
            self.hold(**config.setpoints)

    @property
    def idle(self) -> bool:
        waits = self.config.limits.dive_time is None and not self.aborted
        return waits and not self.setpoints and self.external_setpoints.is_empty and not self._stopping

    def hold(self, **setpoints: float) -> None:
        """Hold these setpoints and no others.

        Args:
            setpoints: depth or altitude (m); heading_deg; speed (m/s), rpm, or east and north (m); pitch_deg; roll_deg.

        Raises:
            SkerryError: If no setpoint is given, they cannot be held together, or the mission is aborted.
        """
        self.config.check(setpoints)
        if not setpoints:
            raise SkerryError(f"nothing to hold; give one or more of {', '.join(SETPOINTS)}, or call stop()")
        self._check_not_aborted()
        self.setpoints = {name: float(value) for name, value in setpoints.items()}
        self.external_setpoints.clear()
        self.return_owner = None

    def can_hold(self, *names: str) -> bool:
        """Return whether setpoints with these names can be held together."""
        try:
            self.config.check(dict.fromkeys(names, 0.0))
        except SkerryError:
            return False
        return True

    def stop(self) -> None:
        """Set the commanded actuators to their reset values and become idle."""
        self.setpoints = {}
        self.external_setpoints.clear()
        self._start_stopping()

    @property
    def status(self) -> str:
        if self.aborted:
            return "aborted"
        held = ", ".join(f"{name}={value:g}" for name, value in self._active_setpoints.items())
        return f"holds {held}" if held else super().status

    # -------------------------------------------------------------------------------------------- external setpoints

    def enable(self, name: str) -> None:
        """Enable a setpoint; `aim` then sets its value.

        Raises:
            SkerryError: If it cannot be held together with the other setpoints, or the mission is aborted.
        """
        self._check_compatible(name, 0.0)
        self.external_setpoints.enabled.setdefault(name, None)
        self.return_owner = EXTERNAL_OWNER

    def aim(self, name: str, value: float) -> None:
        """Set the value of an enabled setpoint."""
        if name not in self.external_setpoints.enabled:
            raise SkerryError(f"the setpoint {name} is not enabled; enable it first")
        self._check_compatible(name, value)
        self.external_setpoints.enabled[name] = float(value)

    def repeat(self, name: str, value: float, seconds: float) -> None:
        """Hold a setpoint for a duration (s); call it again before the end to hold it longer."""
        if name in self.external_setpoints.enabled:
            raise SkerryError(f"the setpoint {name} is enabled and cannot be repeated; disable it first")
        self._check_compatible(name, value)
        self.external_setpoints.repeat(name, float(value), round(seconds * self.config.frequency))
        self.return_owner = EXTERNAL_OWNER

    def disable(self, name: str) -> None:
        """Remove an external setpoint."""
        self.external_setpoints.drop(name)
        self._start_stopping()

    def abort(self) -> None:
        """Abort the mission: take all actuators, surface, and refuse commands until `recover`."""
        if not self.aborted:
            logger.warning(
                "mission aborted: the vehicle surfaces; commands are refused until `recover()` of the controller"
            )
            self.stop()
            self.aborted = self._takes_all = True
            self.return_owner = None

    def recover(self) -> None:
        """Accept commands again after an abort."""
        self.aborted = self._takes_all = False
        self._dived = 0
        self._start_stopping()

    def _check_not_aborted(self) -> None:
        if self.aborted:
            raise SkerryError("the mission is aborted; call `recover()` of the controller to accept commands again")

    def _check_compatible(self, name: str, value: float) -> None:
        self._check_not_aborted()
        if name in self.setpoints:
            raise SkerryError(f"the setpoint {name} is already held by a goal or by `hold`; stop that first")
        self.config.check({**self.setpoints, **self.external_setpoints.reserved, name: value})

    def _start_stopping(self) -> None:
        self._stopping = bool(self._commanded) or self.return_owner is not None

    # -------------------------------------------------------------------------------------------- acting

    @property
    def _active_setpoints(self) -> dict[str, float]:
        """All setpoints to hold now."""
        if not self.aborted:
            return self.setpoints | self.external_setpoints.setpoints
        return {} if self.config.surface or "depth" not in self._loops else {"depth": 0.0}

    def act(self, sample: SampleView, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        here = Navigation(self.config.navigation, self.config.link, sample, sensors)
        self.external_setpoints.count_down()
        if self.config.limits.dive_time is not None:
            self._check_dive_time(here, self.config.limits.dive_time)
        self.update_setpoints(here, sample)
        self._command(self._outputs(here), actuators)

    def update_setpoints(self, here: Navigation, sample: SampleView) -> None:
        """Update the setpoints before the loops run; guidance controllers override this."""
        return

    def _outputs(self, here: Navigation) -> dict[str, float]:
        """Return the outputs of the loops that have a setpoint, by loop."""
        limits = self.config.limits
        if limits.depth is not None or limits.altitude is not None:
            self._update_water_depth(here)
        wanted = clamp_setpoints(limits, self._active_setpoints, self._column)
        measured: dict[str, tuple[float, float | None]] = {}  # setpoint and measurement of each loop
        if ("altitude" in wanted) != self._by_altitude:  # otherwise the loop sees a jump
            self._by_altitude = not self._by_altitude
            for name in ("depth", "dive"):
                if name in self._pids:
                    self._pids[name].reset()
        if "depth" in wanted:
            measured["depth"] = (wanted["depth"], here.depth())
        elif "altitude" in wanted:  # the loop is positive downwards
            altitude = here.altitude()
            measured["depth"] = (-wanted["altitude"], None if altitude is None else -altitude)
        if "heading_deg" in wanted:
            yaw = here.yaw()
            measured["heading"] = (-float(heading_to_yaw(wanted["heading_deg"])), None if yaw is None else -yaw)
        if "speed" in wanted:
            measured["speed"] = (wanted["speed"], here.speed())
        if "east" in wanted:
            position = here.position()
            for number, axis in enumerate(("east", "north")):
                measured[axis] = (wanted[axis], None if position is None else position[number])
        under_way = wanted.get("speed", wanted.get("rpm", 0.0)) > 0.0
        if "dive" in self._pids and under_way and "depth" in measured and "pitch_deg" not in wanted:
            measured["dive"] = measured["depth"]
        outputs = self._step(measured)
        pitch = radians(wanted["pitch_deg"]) if "pitch_deg" in wanted else outputs.pop("dive", None)
        pitch = None if pitch is None else clamp_pitch(limits, pitch)
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
                outputs |= self.horizontal_outputs(*force, yaw)
        return outputs

    def horizontal_outputs(self, east: float, north: float, yaw: float) -> dict[str, float]:
        """Return the outputs (surge and sway, N) for a force east and north (N) at a yaw (rad)."""
        return {"surge": cos(yaw) * east + sin(yaw) * north, "sway": cos(yaw) * north - sin(yaw) * east}

    def _step(self, measured: Mapping[str, tuple[float, float | None]]) -> dict[str, float]:
        """Step these loops and return their outputs; a loop without a measurement keeps its output.

        Args:
            measured: Setpoint and measurement, by loop.
        """
        seconds = 1.0 / float(self.config.frequency)
        outputs = {}
        for name, (goal, value) in measured.items():
            if name in self._pids:
                pid = self._pids[name]
                integrate = not (self._is_limited and name not in self._shares)
                outputs[name] = pid.output if value is None else pid.step(goal, value, seconds, integrate)
        return outputs

    def _sum_outputs(self, outputs: Mapping[str, float], actuators: Mapping[str, Actuator]) -> dict[str, float]:
        """Return the sum of the loop outputs for each actuator, relative to its reset value."""
        totals: dict[str, float] = {}
        wrench: dict[str, float] = {}
        for name, output in outputs.items():
            if name in self._shares:
                for part, share in self._shares[name].items():
                    totals[part] = totals.get(part, 0.0) + share * output
            else:
                axis, sign = AXIS_OF[name]
                wrench[axis] = wrench.get(axis, 0.0) + sign * output
        self._is_limited = False
        if wrench and self.config.allocation is not None:
            if self._allocation is None:
                self._allocation = Allocation(self.config.allocation, actuators)
            commands, self._is_limited = self._allocation.allocate(wrench)
            for part, command in commands.items():
                totals[part] = totals.get(part, 0.0) + command - actuators[part].reset_value
        return totals

    def _command(self, outputs: Mapping[str, float], actuators: Mapping[str, Actuator]) -> None:
        totals = self._sum_outputs(outputs, actuators)
        released = self._commanded - totals.keys()
        if self.aborted:
            totals |= {part: value - actuators[part].reset_value for part, value in self.config.surface.items()}
            released = actuators.keys() - totals.keys()
        self._claim_actuators(totals, actuators)
        self._commanded = set()
        self.commands_accepted = True
        for part in sorted(released | totals.keys()):
            actuator = actuators[part]
            value = actuator.reset_value + totals.get(part, 0.0)
            if actuator.command(**{actuator.keyword: value}):
                self._commanded |= {part} & totals.keys()
            else:
                self.commands_accepted = False
        self._return_actuators(totals, actuators)
        self._stopping = False
        if not self.commands_accepted:  # otherwise the integrals wind up while another owner commands
            for pid in self._pids.values():
                pid.reset()

    def _claim_actuators(self, needed: Mapping[str, float], actuators: Mapping[str, Actuator]) -> None:
        for part, actuator in actuators.items():
            is_external = self.return_owner is not None and actuator.owner == self.return_owner
            if self._takes_all or (part in needed and is_external):
                actuator.owner = current_source()
        self._takes_all = False

    def _return_actuators(self, needed: Mapping[str, float], actuators: Mapping[str, Actuator]) -> None:
        if self.return_owner is not None:
            for part, actuator in actuators.items():
                if part not in needed and actuator.owner == current_source():
                    actuator.owner = self.return_owner

    def _update_water_depth(self, here: Navigation) -> None:
        """Measure the height of the water column; without a measurement of the ground it keeps its last value."""
        depth, altitude = here.depth(), here.altitude()
        if depth is not None and altitude is not None:
            self._column = depth + altitude

    def _check_dive_time(self, here: Navigation, longest: float) -> None:
        """Abort a dive that lasts longer than `longest` seconds; during a dive, missing readings count as submerged."""
        depth = here.depth()
        if depth is not None and depth <= SUBMERGED:
            self._dived = 0
        elif depth is not None or self._dived:
            self._dived += 1
        if self._dived > longest * self.config.frequency:
            self.abort()

    def state(self) -> bytes:
        pids = {name: pid.state() for name, pid in self._pids.items()}
        own = [self.setpoints, pids, sorted(self._commanded), self._stopping, self._is_limited]
        external = [self.external_setpoints.state(), self.return_owner]
        status = [self.aborted, self.commands_accepted, self._takes_all]
        return json.dumps([*own, *external, *status, self._dived, self._column, self._by_altitude]).encode()

    def set_state(self, state: bytes) -> None:
        self.setpoints, pids, commanded, self._stopping, self._is_limited, external, *rest = json.loads(state)
        self.return_owner, self.aborted, self.commands_accepted, self._takes_all, *dive = rest
        self._dived, self._column, self._by_altitude = dive
        self._commanded = set(commanded)
        self.external_setpoints.set_state(external)
        for name, kept in pids.items():
            self._pids[name].set_state(kept)


class HoldSettings(ControllerConfig):
    """Settings of controllers that hold setpoints."""

    link: str = Field(
        "base_link", description="link whose motion is controlled, for quantities taken from the true state"
    )
    navigation: NavigationConfig = NavigationConfig()
    loops: LoopsConfig = LoopsConfig()
    allocation: AllocationConfig | None = Field(None, description="thrusters for the loops without `actuators`")
    dive: DiveConfig | None = Field(
        None, description="control of the depth by pitch while the vehicle has speed; null: it stays level"
    )
    limits: LimitsConfig = LimitsConfig()
    surface: dict[str, float] = Field(
        {},
        description="commands after an abort, by actuator, that make the vehicle surface; other actuators go to their "
        "reset values. Empty: the depth loop, if there is one, goes to depth 0",
    )
    setpoints: dict[str, float] = Field({}, description="setpoints from the start; idle by default")

    @model_validator(mode="after")
    def _check_loops(self) -> HoldSettings:
        shares = self.loops.shares()
        for name in (name for name in self.loops.present() if name not in shares):
            axes = self.needs_axes if name == "position" else (AXIS_OF[name][0],)
            if self.allocation is None:
                raise ValueError(f"the loop `{name}` needs `actuators` or an `allocation`")
            if missing := [axis for axis in axes if axis not in self.allocation.axes]:
                raise ValueError(f"the loop `{name}` needs the axis {missing[0]}; add it to `axes` of the allocation")
        if self.dive is not None and self.loops.pitch is None:
            raise ValueError("`dive` needs the loop `pitch`")
        try:
            self.check(self.setpoints)
        except SkerryError as error:
            raise ValueError(str(error)) from None
        return self

    def check(self, setpoints: Mapping[str, float]) -> None:
        """Raise a `SkerryError` if the setpoints cannot be held together."""
        loops = self.loops.present()
        allotted = "speed" in loops and "speed" not in self.loops.shares()
        check_setpoints(setpoints, loops, self.dive is not None, allotted)

    @property
    def needs_axes(self) -> tuple[str, ...]:
        """Axes of the wrench that the position loop needs."""
        return ("surge", "sway")

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        own = [part for actuators in self.loops.shares().values() for part in actuators]
        return tuple(dict.fromkeys([*own, *self.surface, *(self.allocation.thrusters if self.allocation else ())]))

    @property
    def needs_sensors(self) -> tuple[str, ...]:
        return self.navigation.sensors


class Hold(HoldSettings):
    """Settings of an autopilot that holds setpoints."""

    kind: Literal["hold"] = "hold"

    def build(self) -> HoldController:
        return HoldController(self)
