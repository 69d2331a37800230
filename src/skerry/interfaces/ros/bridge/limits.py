"""Parameters with the safety limits of controllers."""

from __future__ import annotations

from math import radians

from skerry.control.hold import HoldSettings
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature


class LimitsFeature(Feature):
    """Sets the limits of a controller as parameters, with the names and units of the SMaRC AUV interface."""

    def add_controller(self, robot: BridgedRobot, part: str) -> None:
        config = robot.robot.vehicle.config.controllers[part]
        if not robot.profile.controller(robot.vehicle, part, config.kind).limits:
            return
        if not isinstance(config, HoldSettings):
            raise SkerryError(f"the profile publishes `limits` of {robot.name}/{part}, but it has no limits")
        limits, namespace = config.limits, robot.topic(part, "")
        for name, value in (
            ("max_dive_depth", limits.depth),
            ("min_altitude", limits.altitude),
            ("max_pitch", None if limits.pitch_deg is None else radians(limits.pitch_deg)),
            ("max_roll", None if limits.roll_deg is None else radians(limits.roll_deg)),
            ("max_dive_time", None if limits.dive_time is None else int(limits.dive_time)),
        ):
            if value is not None:
                self.bus.parameters[f"{namespace}{name}"] = value
