"""What a scenario lets happen at given times: an alarm, a command, a thing moved."""

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
    """One event, as if the world had been advanced to its time and somebody had done it by hand."""

    at: Rational = Field(ge=0, description="s; it happens at the first tick that is not before")
    trigger: str | None = Field(None, description="robot/sensor that is set off")
    command: str | None = Field(None, description="robot/actuator that is commanded")
    value: dict[str, float] | None = Field(None, description="of the command: {rpm: 0}")
    move: str | None = Field(None, description="robot or object that is put elsewhere, at rest")
    pose: PoseConfig | None = Field(None, description="where it is put")

    @model_validator(mode="after")
    def _one_action(self) -> EventConfig:
        if sum(getattr(self, action) is not None for action in ACTIONS) != 1:
            raise ValueError("an event needs one of `trigger`, `command` and `move`")
        if (self.command is None) != (self.value is None):
            raise ValueError("`command` and `value` go together: {command: sam/thruster1, value: {rpm: 0}}")
        if (self.move is None) != (self.pose is None):
            raise ValueError("`move` and `pose` go together: {move: buoy, pose: {position: [1, 2, 0]}}")
        return self


def event_faults(
    document: Document,
    events: tuple[EventConfig, ...],
    vehicles: Mapping[str, Vehicle],
    movable: Mapping[str, bool],
) -> list[Fault]:
    """Names that nothing answers to. `movable` are all robots and objects, with whether they can be put elsewhere."""
    faults = []
    alarms = {
        f"{robot}/{name}": part.can_be_triggered
        for robot, vehicle in vehicles.items()
        for name, part in vehicle.config.sensors.items()
    }
    actuators = [f"{robot}/{name}" for robot, vehicle in vehicles.items() for name in vehicle.config.actuators]
    for number, event in enumerate(events):
        for action, found, known, refusal in (
            ("trigger", event.trigger, alarms, "this sensor warns of nothing that could be triggered"),
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
