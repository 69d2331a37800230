"""Events of a world as text: changes of control, collisions, hooks, alarms, acoustic transmissions, log lines."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

from skerry.parts.acoustics import Signal
from skerry.parts.display import Alarm
from skerry.ui.state import shown_in_state
from skerry.ui.streams import SensorName
from skerry.world import World

MAX_KEPT: Final = 200  # events that wait to be drained; the oldest ones are dropped
MAX_TEXT: Final = 500  # characters of a packet or log line that are shown
HOOK_PHASES: Final = {"hanging": "free", "pulley": "caught on a rope", "carrying": "carrying its load"}

Event = dict[str, Any]


class EventDetector:
    """Finds events by comparing the world with its state at the last update. Runs in the simulator's thread."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._events: deque[Event] = deque(maxlen=MAX_KEPT)
        self._control: dict[str, str | None] = {name: robot.control for name, robot in world.robots.items()}
        self._touching: dict[str, frozenset[str]] = {}
        self._ropes = {name: (rope.phase, rope.loaded) for name, rope in world.ropes.items()}
        self._alarms = {
            (name, sensor): display
            for name, robot in world.robots.items()
            for sensor, display in shown_in_state(robot, Alarm)
        }
        self._active_alarms: set[SensorName] = set()
        world.acoustics.on_signal = self._on_signal

    def close(self) -> None:
        """Unregister the callback for acoustic transmissions."""
        self._world.acoustics.on_signal = None

    def drain(self) -> list[Event]:
        """Return the events since the last call, and forget them."""
        events = list(self._events)
        self._events.clear()
        return events

    def add(self, kind: str, text: str, **more: Any) -> None:
        """Add an event at the present simulated time.

        Args:
            kind: Kind of event, such as "control" or "collision".
            text: Description for the operator.
            more: Further fields of the event, such as `robot`.
        """
        self._events.append({"kind": kind, "time": self._world.time, "text": text, **more})

    def update(self, latest: Mapping[SensorName, Any]) -> None:
        """Add an event for each change since the last update.

        Args:
            latest: Latest reading of every sensor.
        """
        for name, robot in self._world.robots.items():
            if (control := robot.control) != self._control[name]:
                self.add("control", f"{control or 'no source'} has control of {name}", robot=name)
                self._control[name] = control
            touches = robot.engine.contacts(robot.world, name)
            others = frozenset(_other(name, touch.first, touch.second) for touch in touches)
            for other in sorted(others - self._touching.get(name, frozenset())):
                self.add("collision", f"{name} touches {other}", robot=name, other=other)
            self._touching[name] = others
        self._update_ropes()
        for (robot_name, sensor), display in self._alarms.items():
            key, reading = (robot_name, sensor), latest.get((robot_name, sensor))
            if reading is None or not attrgetter(display.value)(reading):
                self._active_alarms.discard(key)
            elif key not in self._active_alarms:
                self._active_alarms.add(key)
                self.add("alarm", f"{robot_name}: {display.on}", robot=robot_name, sensor=sensor)

    def _update_ropes(self) -> None:
        for name, rope in self._world.ropes.items():
            phase, loaded = rope.phase, rope.loaded
            before = self._ropes[name]
            if (phase, loaded) == before:
                continue
            self._ropes[name] = (phase, loaded)
            robot = {"robot": name.partition("/")[0]} if "/" in name else {}
            if phase is not None and phase != before[0]:
                self.add("rope", f"the hook of {name} is {HOOK_PHASES[phase]}", rope=name, **robot)
            elif loaded != before[1]:
                self.add("rope", f"{name} {'holds a load' if loaded else 'has released its load'}", rope=name, **robot)

    def _on_signal(self, signal: Signal) -> None:
        if signal.purpose == "ping":
            return
        paths = self._world.acoustics.paths(signal.source)
        receivers = [
            {"receiver": path.receiver, "path": path.path, "status": path.status, "length_m": path.length}
            for path in paths
            if path.path == "direct"
        ]
        text = signal.data.decode(errors="replace") if signal.purpose == "packet" else signal.purpose
        self.add(
            "acoustic",
            text[:MAX_TEXT],
            robot=signal.source.partition("/")[0],
            source=signal.source,
            to=signal.to,
            bytes=len(signal.data),
            purpose=signal.purpose,
            receivers=receivers,
        )


class LogBuffer(logging.Handler):
    """Log handler that keeps the latest lines of Skerry's log until they are drained. Any thread may log."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[tuple[str, str]] = deque(maxlen=MAX_KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append((record.levelname.lower(), record.getMessage()[:MAX_TEXT]))

    def drain(self, time: float) -> list[Event]:
        """Return the lines that were logged since the last call, as events at a simulated time."""
        count = len(self._lines)
        lines = [self._lines.popleft() for _ in range(count)]
        return [{"kind": "log", "time": time, "text": text, "level": level} for level, text in lines]


def _other(name: str, first: str, second: str) -> str:
    """Return the owner of the other link in a contact; for a self-collision, that is the robot itself."""
    owners = [each.partition("/")[0] for each in (first, second)]
    return owners[1] if owners[0] == name else owners[0]
