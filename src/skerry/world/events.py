"""Events of a scenario by tick. They depend only on the tick, so snapshots need not store them."""

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
from skerry.world.ropes import move_tree

Action = Callable[[], object]


class Events:
    """Actions by tick; actions of the same tick run in the order of the file."""

    def __init__(self, actions: list[tuple[int, Action]]) -> None:
        self._actions: dict[int, list[Action]] = {}
        for tick, action in sorted(actions, key=lambda entry: entry[0]):
            self._actions.setdefault(tick, []).append(action)
        self._ticks = list(self._actions)

    def is_due(self, tick: int) -> bool:
        """Return whether an event is due at this tick."""
        return tick in self._actions

    def run(self, tick: int) -> None:
        """Run the actions of this tick."""
        for action in self._actions[tick]:
            action()

    def next_after(self, tick: int) -> int | None:
        """Return the tick of the next event after `tick`; None if there is none."""
        index = bisect_right(self._ticks, tick)
        return self._ticks[index] if index < len(self._ticks) else None


def build_events(
    scenario: Scenario, robots: Mapping[str, Robot], trees: Mapping[str, BodyTree], ropes: Mapping[str, Rope]
) -> Events:
    """Return the events of a scenario; the names in it have been checked before."""
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
        trigger: Action = robots[robot].sensors[part].trigger
        return trigger
    if event.command is not None and event.value is not None:
        robot, _, part = event.command.partition("/")
        actuator = robots[robot].actuators[part]
        actuator.check(**event.value)
        return partial(actuator.command, **event.value)
    assert event.move is not None and event.pose is not None
    return partial(move_tree, ropes, trees[event.move], event.pose.build())
