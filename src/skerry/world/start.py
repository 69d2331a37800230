"""How a world begins: its first commands, and what another scenario may change without building it anew."""

from __future__ import annotations

from collections.abc import Mapping

from skerry.core.errors import SkerryError
from skerry.parts.actuator import Actuator
from skerry.scenario import Scenario

BEGUN_ANEW = {"name", "description", "seed", "duration", "events", "interfaces"}
"""Of a scenario, what no model is made of; its robots' commands come on top.

Poses do not: MuJoCo works out the softness of joint limits and contacts at the first pose, so that a robot that was
moved there goes on with other rounding than one that was built there.
"""


def structure_key(scenario: Scenario) -> str:
    """All that a world is built of, as text. Two scenarios of one fabric can begin in the same world."""
    robots = {name: {"commands"} for name in scenario.robots}
    return scenario.with_seeds().model_dump_json(exclude={**dict.fromkeys(BEGUN_ANEW, True), "robots": robots})


def give_first_commands(scenario: Scenario, actuators: Mapping[str, Mapping[str, Actuator]]) -> None:
    """Give the commands that a scenario starts with."""
    for name, robot in scenario.robots.items():
        for part, command in robot.commands.items():
            try:
                actuators[name][part].set_initial(**command)
            except SkerryError as error:
                raise SkerryError(f"robots.{name}.commands.{part}: {error}") from None
