"""The events of a scenario by tick: what happens is a function of the tick alone, so that no snapshot holds it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import partial
from math import ceil

from skerry.core.errors import SkerryError
from skerry.ropes.rope import Rope
from skerry.scenario import Scenario
from skerry.scenario.events import EventConfig
from skerry.world.robot import BodyTree, Robot
from skerry.world.ropes import put

Action = Callable[[], None]


class Events:
    """Actions in the order of their ticks; those of one tick in the order of the file."""

    def __init__(self, actions: list[tuple[int, Action]]) -> None:
        self._actions: dict[int, list[Action]] = {}
        for tick, action in sorted(actions, key=lambda entry: entry[0]):
            self._actions.setdefault(tick, []).append(action)
        self._ticks = list(self._actions)

    def is_due(self, tick: int) -> bool:
        """Whether something happens at this tick."""
        return tick in self._actions

    def happen(self, tick: int) -> None:
        """Do what is due at this tick."""
        for action in self._actions[tick]:
            action()

    def next_after(self, tick: int) -> int | None:
        """The next tick at which something happens."""
        place = bisect_right(self._ticks, tick)
        return self._ticks[place] if place < len(self._ticks) else None


def build_events(
    scenario: Scenario, robots: Mapping[str, Robot], trees: Mapping[str, BodyTree], ropes: Mapping[str, Rope]
) -> Events:
    """The events of a scenario whose names have been checked."""
    found = []
    for number, event in enumerate(scenario.events):
        try:
            found.append((ceil(event.at / scenario.step), _action(event, robots, trees, ropes)))
        except SkerryError as error:
            raise SkerryError(f"events[{number}]: {error}") from None
    return Events(found)


def _action(
    event: EventConfig, robots: Mapping[str, Robot], trees: Mapping[str, BodyTree], ropes: Mapping[str, Rope]
) -> Action:
    if event.trigger is not None:
        robot, _, part = event.trigger.partition("/")
        trigger: Action = robots[robot].sensors[part].sensor.trigger
        return trigger
    if event.command is not None and event.value is not None:
        robot, _, part = event.command.partition("/")
        actuator = robots[robot].actuators[part]
        actuator.check(**event.value)
        return partial(actuator.command, **event.value)
    assert event.move is not None and event.pose is not None
    return partial(put, ropes, trees[event.move], event.pose.build())
