"""What happens in a world, in words: control that changes hands, collisions, hooks, leaks, sound that is sent."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from skerry.parts.acoustics import Signal
from skerry.sensors.leak import LeakReading
from skerry.ui.streams import SensorName
from skerry.world import World

MAX_KEPT: Final = 200  # until somebody takes them; the oldest go
MAX_TEXT: Final = 500  # characters of a packet that are shown

Event = dict[str, Any]


class EventDetector:
    """Compares the world with what it was when it last looked; in the simulator's thread."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._events: deque[Event] = deque(maxlen=MAX_KEPT)
        self._control: dict[str, str | None] = {name: robot.control for name, robot in world.robots.items()}
        self._touching: dict[str, frozenset[str]] = {}
        self._ropes = {name: (rope.phase, rope.loaded) for name, rope in world.ropes.items()}
        self._leaks: set[SensorName] = set()
        world.acoustics.on_signal = self._on_signal

    def close(self) -> None:
        """Watch no more."""
        self._world.acoustics.on_signal = None

    def drain(self) -> list[Event]:
        """What has happened since this was last called."""
        events = list(self._events)
        self._events.clear()
        return events

    def add(self, kind: str, text: str, **more: Any) -> None:
        """Say that something has happened now."""
        self._events.append({"kind": kind, "time": self._world.time, "text": text, **more})

    def update(self, latest: Mapping[SensorName, Any]) -> None:
        """See what has changed."""
        for name, robot in self._world.robots.items():
            if (control := robot.control) != self._control[name]:
                self.add("control", f"{control or 'nobody'} has control of {name}", robot=name)
                self._control[name] = control
            touches = robot.engine.contacts(robot.world, name)
            others = frozenset(_other(name, touch.first, touch.second) for touch in touches)
            for other in sorted(others - self._touching.get(name, frozenset())):
                self.add("collision", f"{name} touches {other}", robot=name, other=other)
            self._touching[name] = others
        self._update_ropes()
        for (robot_name, sensor), reading in latest.items():
            if isinstance(reading, LeakReading):
                if reading.leaked and (robot_name, sensor) not in self._leaks:
                    self.add("leak", f"{robot_name} leaks", robot=robot_name, sensor=sensor)
                (self._leaks.add if reading.leaked else self._leaks.discard)((robot_name, sensor))

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
                self.add("rope", f"{name} {'holds something' if loaded else 'has let go'}", rope=name, **robot)

    def _on_signal(self, signal: Signal) -> None:
        if signal.purpose == "ping":
            return
        paths = self._world.acoustics.paths(signal.source)
        heard = [
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
            heard=heard,
        )


class LogBuffer(logging.Handler):
    """Keeps the latest lines of Skerry's log until they are shown; any thread may log."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[tuple[str, str]] = deque(maxlen=MAX_KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append((record.levelname.lower(), record.getMessage()[:MAX_TEXT]))

    def drain(self, time: float) -> list[Event]:
        """What was logged since, as events of this time."""
        count = len(self._lines)
        lines = [self._lines.popleft() for _ in range(count)]
        return [{"kind": "log", "time": time, "text": text, "level": level} for level, text in lines]


HOOK_PHASES: Final = {"hanging": "free", "pulley": "caught on a rope", "carrying": "carrying its load"}


def _other(name: str, first: str, second: str) -> str:
    """What a robot touches: itself by another link, or the owner of the other link."""
    owners = [each.partition("/")[0] for each in (first, second)]
    return owners[1] if owners[0] == name else owners[0]
