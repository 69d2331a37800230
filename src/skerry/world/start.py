"""Start of a world: its initial commands, and the structure key that decides whether a reset is possible."""

from __future__ import annotations

from collections.abc import Mapping

from skerry.core.errors import SkerryError
from skerry.parts.actuator import Actuator
from skerry.scenario import Scenario

RESET_FIELDS = {"name", "description", "seed", "duration", "events", "interfaces"}
"""Fields of a scenario that the physics model does not depend on; the commands of robots belong to them too.

Poses do not belong to them. MuJoCo computes the softness of joint limits and contacts at the first pose, so that a
robot that was moved to a pose would continue with other rounding than a robot that was built there.
"""


def structure_key(scenario: Scenario) -> str:
    """Return all settings that a world is built from, as text; a world accepts scenarios with an equal key."""
    robots = {name: {"commands"} for name in scenario.robots}
    return scenario.with_seeds().model_dump_json(exclude={**dict.fromkeys(RESET_FIELDS, True), "robots": robots})


def set_initial_commands(scenario: Scenario, actuators: Mapping[str, Mapping[str, Actuator]]) -> None:
    """Set the initial commands of robots, whose actuators are given by robot and name."""
    for name, parts in actuators.items():
        for part, command in scenario.robots[name].commands.items():
            try:
                parts[part].set_initial(**command)
            except SkerryError as error:
                raise SkerryError(f"robots.{name}.commands.{part}: {error}") from None
