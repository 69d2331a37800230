"""Events of a scenario: at a given time, trigger an alarm, command an actuator, or move a robot or object."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, model_validator

from skerry.core.config import Config, Rational
from skerry.core.document import Document
from skerry.core.errors import Fault, did_you_mean
from skerry.scenario.pose import PoseConfig
from skerry.scenario.vehicle import Vehicle

ACTIONS = ("trigger", "command", "move")


class EventConfig(Config):
    """Event at a given time. Its effect equals that of a user who advances the world to that time and acts then."""

    at: Rational = Field(ge=0, description="time, s; the event happens at the first tick at or after it")
    trigger: str | None = Field(None, description="alarm sensor to trigger, as robot/sensor")
    command: str | None = Field(None, description="actuator to command, as robot/actuator")
    value: dict[str, float] | None = Field(None, description="value of the command, such as {rpm: 0}")
    move: str | None = Field(None, description="robot or object to move; it is at rest afterwards")
    pose: PoseConfig | None = Field(None, description="new pose of the moved robot or object")

    @model_validator(mode="after")
    def _one_action(self) -> EventConfig:
        if sum(getattr(self, action) is not None for action in ACTIONS) != 1:
            raise ValueError("an event needs exactly one of `trigger`, `command` and `move`")
        if (self.command is None) != (self.value is None):
            raise ValueError("`command` and `value` need each other: {command: sam/thruster1, value: {rpm: 0}}")
        if (self.move is None) != (self.pose is None):
            raise ValueError("`move` and `pose` need each other: {move: buoy, pose: {position: [1, 2, 0]}}")
        return self


def event_faults(
    document: Document,
    events: tuple[EventConfig, ...],
    vehicles: Mapping[str, Vehicle],
    movable: Mapping[str, bool],
) -> list[Fault]:
    """Return a fault for each event that names an unknown or unsuitable sensor, actuator, robot or object.

    Args:
        document: Scenario document, for the lines of the faults.
        events: Events of the scenario.
        vehicles: Vehicles by the name of their robot.
        movable: All robots and objects by name, with whether they can be moved.
    """
    faults = []
    alarms = {
        f"{robot}/{name}": part.can_be_triggered
        for robot, vehicle in vehicles.items()
        for name, part in vehicle.config.sensors.items()
    }
    actuators = [f"{robot}/{name}" for robot, vehicle in vehicles.items() for name in vehicle.config.actuators]
    for number, event in enumerate(events):
        for action, found, known, refusal in (
            (
                "trigger",
                event.trigger,
                alarms,
                "this sensor has no trigger; only alarm sensors such as `leak` can be triggered",
            ),
            ("command", event.command, dict.fromkeys(actuators, True), ""),
            ("move", event.move, movable, "is fixed to the world and cannot be moved"),
        ):
            if found is None or known.get(found):
                continue
            what = {"trigger": "sensor", "command": "actuator", "move": "robot or object"}[action]
            problem = refusal if found in known else f"there is no such {what}"
            hint = did_you_mean(found, [name for name, fits in known.items() if fits])
            faults.append(document.fault(("events", number, action), problem, found, hint))
    return faults
