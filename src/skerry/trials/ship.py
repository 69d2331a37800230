"""Vehicle under trial: alone in deep, still water, controlled by engine and helm, with a motion log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.core.frames import quaternion_to_rpy, yaw_to_heading
from skerry.parts.controller import CanHold
from skerry.scenario import load_scenario
from skerry.scenario.trials import TrialsConfig
from skerry.scenario.vehicle import find_vehicle
from skerry.world import World, build_world
from skerry.world.sampling.trajectory import Trajectory

Floats = NDArray[np.float64]

NAME: Final = "ship"
INTERVAL: Final = 0.01  # s between samples; a quarter of a degree of heading for the most agile vehicle
STEADY_WINDOW: Final = 5.0  # s over which the motion must stay steady
MAX_DURATION: Final = 900.0  # s; longest time to become steady or to reach a condition
STEADY: Final = 1e-3  # largest relative change of speed and turn rate in one window that counts as steady
NO_TURN: Final = 0.01  # °/s; a smaller turn rate counts as zero
STRAIGHT: Final = 0.1  # °/s; largest turn rate of a vehicle that holds its course without helm
STEERED: Final = 0.5  # °/s; largest turn rate of a vehicle that is steered on its course


@dataclass(frozen=True)
class Leg:
    """Log of a manoeuvre from its order on, relative to position and course at the order."""

    time: Floats  # s since the order
    ahead: Floats  # m along the original course
    starboard: Floats  # m to starboard of it
    turned_deg: Floats  # change of heading, positive to starboard, without jumps
    turn_rate_deg: Floats  # °/s
    speed: Floats  # m/s, over ground, horizontally
    surge: Floats  # m/s, forwards
    helm_deg: Floats

    @property
    def travelled(self) -> Floats:
        """Distance along the track, m."""
        steps = np.hypot(np.diff(self.ahead), np.diff(self.starboard))
        return np.concatenate([[0.0], np.cumsum(steps)])

    def at_turn(self, angle_deg: float, series: Floats) -> float:
        """Return a series at the time when the heading first changed by an angle, linearly interpolated."""
        turned = np.abs(self.turned_deg)
        after = int(np.argmax(turned >= angle_deg))
        if turned[after] < angle_deg:
            raise SkerryError(f"the heading never changed by {angle_deg:g}°")
        if after == 0:
            return float(series[0])
        share = (angle_deg - turned[after - 1]) / (turned[after] - turned[after - 1])
        return float(series[after - 1] + share * (series[after] - series[after - 1]))


class Ship:
    """Vehicle under trial. Helm is in degrees, positive to starboard. Close it, or use it in a `with` block."""

    def __init__(self, vehicle: str, overrides: Mapping[str, Any] | None = None) -> None:
        self.vehicle = vehicle
        robot: dict[str, Any] = {"vehicle": vehicle, "overrides": dict(overrides or {})}
        scenario: dict[str, Any] = {
            "reference": {"latitude_deg": 0, "longitude_deg": 0},
            "robots": {NAME: robot},
        }
        if find_vehicle(vehicle, None) is not None:
            robot["pose"] = {"position": [0, 0, -_trials(scenario, vehicle).depth], "heading_deg": 0}
        self.world: World = build_world(scenario)
        self._robot = self.world.robots[NAME]
        config = self._robot.vehicle.config.trials
        assert config is not None
        self.config: TrialsConfig = config
        self._engine: Mapping[str, float] = {}
        self.helm_deg = 0.0
        self._steps = max(round(INTERVAL / float(self.world.scenario.step)), 1)
        self._times: list[float] = []
        self._motions: list[Floats] = []
        self._helms: list[float] = []
        for name, setpoints in config.hold.items():
            controller = self._robot.controllers[name]
            if not isinstance(controller, CanHold):
                raise SkerryError(f"{vehicle}: `trials.hold` names {name!r}, which holds no setpoints")
            controller.hold(**setpoints)
        self.begin_log()

    # -------------------------------------------------------------------------------------------- handling

    def go_ahead(self) -> None:
        """Command full speed ahead."""
        self._engine = self.config.ahead
        self._command()

    def go_astern(self) -> None:
        """Command full astern."""
        self._engine = self.config.astern
        self._command()

    def steer(self, helm_deg: float) -> None:
        """Command a helm angle."""
        if abs(helm_deg) > self.config.hard_over_deg * (1 + 1e-9):
            raise SkerryError(f"helm of {helm_deg:g}° exceeds the hard-over angle of {self.config.hard_over_deg:g}°")
        self.helm_deg = helm_deg
        self._command()

    def _command(self) -> None:
        for name in self.config.commanded:
            value = self._engine.get(name, 0.0) + self.helm_deg * self.config.helm.get(name, 0.0)
            controller, dot, dial = name.partition(".")
            if dot:
                self._robot.controllers[controller].manual_setpoints()[dial].set(value)
            else:
                actuator = self._robot.actuators[name]
                actuator.command(**{actuator.keyword: value})

    # -------------------------------------------------------------------------------------------- motion

    def approach(self) -> float:
        """Go ahead on a straight course until the speed is steady, with helm amidships at the end.

        Returns the speed, m/s.

        A vehicle that does not hold its course by itself is steered.
        """
        start = self.world.snapshot()
        self.steer(0.0)
        self.go_ahead()
        self.settle()
        if abs(self.leg().turn_rate_deg.mean()) > STRAIGHT:
            self.world.restore(start)
            self.go_ahead()
            self.settle(keep_course=True)
        leg = self.leg()
        speed = float(leg.speed[-1])
        if speed < 1e-3 or leg.surge[-1] <= 0.0:
            raise SkerryError(f"{self.vehicle} does not move ahead with `ahead`: {dict(self.config.ahead)}")
        if abs(rate := float(leg.turn_rate_deg.mean())) > STEERED:
            raise SkerryError(
                f"{self.vehicle} cannot be kept on a straight course: it turns by {rate:.3g} °/s; check whether the "
                "`helm` of its `trials` turns it to starboard"
            )
        self.steer(0.0)
        return speed

    def _keep_course(self) -> None:
        """Steer back to the initial course, north: helm is half of the heading error predicted four lengths ahead."""
        pose, twist = self._robot.pose, self._robot.twist
        off = (float(yaw_to_heading(quaternion_to_rpy(pose.orientation)[2])) + 180.0) % 360.0 - 180.0
        ahead = 4.0 * self.config.length / max(float(np.linalg.norm(twist.linear)), 0.1)  # s
        helm = 0.5 * (ahead * float(np.degrees(twist.angular[2])) - off)
        self.steer(min(max(helm, -self.config.hard_over_deg), self.config.hard_over_deg))

    def settle(self, keep_course: bool = False) -> None:
        """Advance until speed and turn rate are steady; return the log of the last window."""
        before = np.array([np.inf, np.inf])
        start = self.world.time
        while self.world.time - start < MAX_DURATION:
            self.begin_log()
            while self.sailed < STEADY_WINDOW:
                self.sail()
                if keep_course:
                    self._keep_course()
            leg = self.leg()
            now = np.array([leg.speed.mean(), leg.turn_rate_deg.mean()])
            small = np.array([1e-4, NO_TURN])
            if (np.abs(now - before) <= np.maximum(STEADY * np.abs(now), small)).all():
                return
            before = now
        raise SkerryError(f"{self.vehicle} does not become steady within {MAX_DURATION:g} s")

    def sail(self) -> None:
        """Advance to the next sample."""
        self.world.advance_steps(self._steps)
        self._sample()

    def _sample(self) -> None:
        self._times.append(self.world.time)
        self._motions.append(self._robot.engine.motion(0, self._robot.root).copy())
        self._helms.append(self.helm_deg)

    def begin_log(self) -> None:
        """Start a new log at the current state."""
        self._times, self._motions, self._helms = [], [], []
        self._sample()

    @property
    def sailed(self) -> float:
        """Time since the start of the log, s."""
        return self._times[-1] - self._times[0]

    def leg(self) -> Leg:
        """Return the log since its start."""
        track = Trajectory(np.array(self._times), np.array(self._motions))
        heading = np.unwrap(track.series("heading_deg"), period=360.0)
        course = np.radians(heading[0])
        east, north = (track.position[:, :2] - track.position[0, :2]).T
        return Leg(
            track.time - track.time[0],
            np.sin(course) * east + np.cos(course) * north,
            np.cos(course) * east - np.sin(course) * north,
            heading - heading[0],
            -track.series("yaw_rate_deg"),
            np.hypot(track.velocity[:, 0], track.velocity[:, 1]),
            track.series("surge"),
            np.array(self._helms),
        )

    @property
    def interval(self) -> float:
        """Time between two samples, s."""
        return self._steps * float(self.world.scenario.step)

    @property
    def surge(self) -> float:
        """Current forward speed, m/s."""
        return float(self._robot.twist.linear[0])

    def turned(self) -> float:
        """Change of heading since the start of the log, °, from −180 to 180."""
        first, last = (quaternion_to_rpy(self._motions[at][3:7])[2] for at in (0, -1))
        return float((np.degrees(first - last) + 180.0) % 360.0 - 180.0)

    def close(self) -> None:
        """Close the world."""
        self.world.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _trials(scenario: dict[str, Any], vehicle: str) -> TrialsConfig:
    config = load_scenario(scenario).vehicles[NAME].config.trials
    if config is None:
        raise SkerryError(
            f"{vehicle}: its vehicle.yaml has no `trials`, which say what ahead, astern and helm mean for it, such as "
            "trials: {length: 2, ahead: {propeller: 900}, astern: {propeller: -900}, helm: {rudder: 0.0175}, "
            "hard_over_deg: 35}"
        )
    return config
