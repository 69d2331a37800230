"""State of every robot, of the interfaces and of the recording, as data for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from operator import attrgetter
from typing import Any

import numpy as np

from skerry.actuators.winch import WinchActuator
from skerry.core.geo import Projection
from skerry.interfaces.recorder.recorder import RecorderInterface
from skerry.parts.display import Alarm, Meter
from skerry.parts.interface import Interface
from skerry.ui.scalars import geodetic_position, motion_of
from skerry.ui.streams import SensorName
from skerry.world import Robot, World


def plain(value: Any) -> Any:
    """Return a copy of a value that JSON can hold: arrays become lists, and numbers that are not finite become None."""
    match value:
        case float():
            return value if isfinite(value) else None
        case Mapping():
            return {str(name): plain(item) for name, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case np.ndarray() | np.generic():
            return plain(value.tolist())
    return value


def shown_in_state(robot: Robot, kind: type[Meter | Alarm]) -> list[tuple[str, Any]]:
    """Return the sensors of a robot with a display of a kind, each with that display."""
    sensors = robot.vehicle.config.sensors.items()
    return [(name, display) for name, part in sensors for display in part.display if isinstance(display, kind)]


class StateReader:
    """Reads the state of the robots of a world. Runs in the simulator's thread."""

    def __init__(self, world: World) -> None:
        self._world = world
        reference = world.scenario.reference
        self._projection = None if reference is None else Projection(reference)
        self._shown = {
            name: shown_in_state(robot, Meter) + shown_in_state(robot, Alarm) for name, robot in world.robots.items()
        }
        self.sensors = frozenset((robot, part) for robot, shown in self._shown.items() for part, _ in shown)
        """Sensors whose readings are part of the state. They are subscribed while any client is connected."""

    def robots(self, latest: Mapping[SensorName, Any]) -> dict[str, Any]:
        """Return the state of every robot, by name.

        Args:
            latest: Latest reading of every sensor.
        """
        return {name: self._robot(robot, latest) for name, robot in self._world.robots.items()}

    def _robot(self, robot: Robot, latest: Mapping[SensorName, Any]) -> dict[str, Any]:
        motion = motion_of(self._world, robot)
        pose = robot.pose
        latitude, longitude = geodetic_position(self._projection, robot)
        owned = [actuator.owner for actuator in robot.actuators.values() if actuator.owner]
        controllers = {owner.partition("/")[2] for owner in owned if owner.startswith("controller/")}
        indicators = {}
        for sensor, display in self._shown[robot.name]:
            reading = latest.get((robot.name, sensor))
            indicators[f"{sensor}.{display.value}"] = None if reading is None else attrgetter(display.value)(reading)
        goals = [part.waypoint for part in robot.controllers.values() if part.waypoint is not None]
        return {
            "control": robot.control,
            "controller": controllers.pop() if len(controllers) == 1 else None,
            "held": list(robot.keyboard.down),
            "position": pose.position.tolist(),
            "orientation": pose.orientation.tolist(),
            "speed": motion["speed"],
            "depth": motion["depth"],
            "altitude": motion["altitude"],
            "heading_deg": motion["heading_deg"],
            "roll_deg": motion["roll_deg"],
            "pitch_deg": motion["pitch_deg"],
            "lat": latitude,
            "lon": longitude,
            "actuators": {
                name: {"target": part.setpoint, "value": part.feedback, "unit": part.unit}
                for name, part in robot.actuators.items()
            },
            "indicators": indicators,
            "waypoint": {"position": goals[0][0], "tolerance": goals[0][1]} if goals else None,
            "winches": {
                name: self._winch(robot, name, part)
                for name, part in robot.actuators.items()
                if isinstance(part, WinchActuator)
            },
        }

    @staticmethod
    def _winch(robot: Robot, name: str, winch: WinchActuator) -> dict[str, Any]:
        wound = (rope for part, rope in robot.ropes.items() if robot.vehicle.config.ropes[part].winch == name)
        rope = next(wound, None)
        tension = None if rope is None else rope.tension
        return {
            "length": winch.length,
            "target": winch.setpoint,
            "speed": winch.rate,
            "tension": float(tension[0]) if tension is not None and len(tension) else None,
            "distance": None if rope is None else rope.distance,
            "loaded": None if rope is None else rope.loaded,
        }


def interface_states(world: World, interfaces: Mapping[str, Interface]) -> list[dict[str, str]]:
    """Return name, kind and status of each interface."""
    kinds = {name: config.kind for name, config in world.scenario.interfaces.items()}
    return [
        {"name": name, "kind": kinds.get(name, name), "status": interface.status}
        for name, interface in interfaces.items()
    ]


def recording_state(world: World, interfaces: Mapping[str, Interface]) -> dict[str, Any] | None:
    """Return path and length, s, of the recording that is being made, or None."""
    for interface in interfaces.values():
        if isinstance(interface, RecorderInterface):
            return {"path": str(interface.config.path), "seconds": max(world.time - interface.began, 0.0)}
    return None
