"""Writes the tables of topics in docs/ros.md: what vehicles say and hear, found by asking the interface itself."""

from __future__ import annotations

import re
from pathlib import Path

import skerry
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bus import Outbox
from skerry.interfaces.ros.node import RosInterface
from skerry.interfaces.ros.outlets import ReadingOutlet
from skerry.runner import Runner

PAGE = Path(__file__).parents[2] / "docs" / "ros.md"
TABLES = (
    ("sam", "smarc"),
    ("lolo", "smarc"),
    ("quadrotor", "smarc"),
    ("evolo", "smarc"),
    ("sam", "smarc-interface"),
)
INNER = ("/goto_waypoint/", "/skerry/")  # of which nobody makes use by hand


def tables(vehicle: str, profile: str) -> str:
    """Tables of what a robot named after its vehicle says, hears and answers, in a profile."""
    pose = {"position": [0, 0, 0 if vehicle in {"evolo", "quadrotor"} else -1]}
    scenario = {
        "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
        "terrain": {"kind": "flat", "depth": 30},
        "robots": {vehicle: {"vehicle": vehicle, "pose": pose}},
    }
    ros = Ros(profile=profile).build()
    assert isinstance(ros, RosInterface)
    frames: dict[str, str] = {}
    with skerry.load(scenario) as world, Runner(world, None, {"ros": ros}) as runner:
        runner.run(0.0)
        box = Outbox()
        ros.bus.takers(box, ros.bus.topics)
        for _ in range(3):
            runner.run(0.2)
            frames |= {out.topic.name: _frame(out.message) for out in box.take(0)}
        rates = {timer.topic.name: rate.frequency for rate, timers in ros._context.timers.items() for timer in timers}
        for outlets in ros._readers.values():
            for outlet in outlets:
                if isinstance(outlet, ReadingOutlet):
                    rates[outlet.topic.name] = outlet.frequency
        own = f"/{vehicle}/"
        lines = ["| topic | type | Hz | frame |", "|---|---|---|---|"]
        for name, topic in sorted(ros.bus.topics.items()):
            if name.startswith((own, "/Evolo")) and not any(word in name for word in INNER):
                rate, frame = rates.get(name), frames.get(name, "")
                lines.append(f"| `{name}` | {_short(topic.type)} | {'' if rate is None else rate} | {_code(frame)} |")
        lines += ["", "| command | type |", "|---|---|"]
        for name, heard in sorted(ros.bus.subscriptions.items()):
            if name.startswith((own, f"/{vehicle}_")):
                lines.append(f"| `{name}` | {_short(heard[0].type)} |")
        answered = {name: service.type for name, service in ros.bus.services.items() if name.startswith(own)}
        answered = {name: kind for name, kind in answered.items() if not any(word in name for word in INNER)}
        answered |= {name: server.type.name for name, server in ros.bus.actions.items()}
        if answered:
            lines += ["", "| service or action | type |", "|---|---|"]
            lines += [f"| `{name}` | {_short(kind)} |" for name, kind in sorted(answered.items())]
    return "\n".join(lines)


def _frame(message: object) -> str:
    header = getattr(message, "header", None)
    return "" if header is None else str(header.frame_id)


def _short(type_name: str) -> str:
    return re.sub("/(msg|srv|action)/", "/", type_name)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def mark(vehicle: str, profile: str) -> str:
    """Where the tables of a vehicle begin."""
    return f"<!-- topics of {vehicle} in {profile} -->"


def write(page: str, vehicle: str, profile: str) -> str:
    """The page with the tables of a vehicle made anew."""
    begin, end = mark(vehicle, profile), "<!-- end -->"
    pattern = re.escape(begin) + r".*?" + re.escape(end)
    return re.sub(pattern, lambda _: f"{begin}\n\n{tables(vehicle, profile)}\n\n{end}", page, flags=re.DOTALL)


def main() -> None:
    """Write them all."""
    text = PAGE.read_text(encoding="utf-8")
    for vehicle, profile in TABLES:
        text = write(text, vehicle, profile)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
