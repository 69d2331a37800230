"""Write the tables of topics in docs/ros.md, from the topics that the interface creates for each vehicle."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import skerry
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import SubscriberQueue
from skerry.runner import Runner
from skerry.scenario.vehicle import shipped_vehicles

PAGE = Path(__file__).parents[2] / "docs" / "ros.md"
TABLES = (
    ("sam", "smarc"),
    ("lolo", "smarc"),
    ("quadrotor", "smarc"),
    ("evolo", "smarc"),
    ("sam", "smarc-interface"),
    ("all vehicles", "smarc-interface"),
)
INNER = ("/_action/", "/skerry/")  # topics that are not used by hand
# Names of the SMaRC AUV interface, by namespace.
SENSORS = ("imu", "pressure", "gps", "compass", "dvl", "leak", "battery")
TARGETS = ("heading", "depth", "altitude", "speed", "pitch", "roll")
ESTIMATES = ("odom", "lat_lon", "depth", "yaw", "pitch", "roll")


@contextmanager
def built_interface(vehicles: Sequence[str], profile: str) -> Iterator[tuple[RosInterface, Runner]]:
    """Yield the ROS interface of a world with one robot per vehicle, named after the vehicle."""
    heights = {vehicle: 0 if vehicle in {"evolo", "quadrotor"} else -1 for vehicle in vehicles}
    poses = {vehicle: {"position": [50 * index, 0, z]} for index, (vehicle, z) in enumerate(heights.items())}
    scenario = {
        "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
        "terrain": {"kind": "flat", "depth": 30},
        "robots": {vehicle: {"vehicle": vehicle, "pose": pose} for vehicle, pose in poses.items()},
    }
    ros = Ros(profile=profile).build()
    assert isinstance(ros, RosInterface)
    with skerry.load(scenario) as world, Runner(world, None, {"ros": ros}) as runner:
        runner.run(0.0)
        yield ros, runner


def fleet(profile: str) -> str:
    """Return a table of the topics and services of the SMaRC AUV interface that each vehicle has."""
    lines = [
        "| vehicle | `core/` | `core/thruster{N}_cmd`, `_fb` | `core/…_cmd`, `_fb` | `ctrl/` | `dr/` | `payload/` |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    with built_interface(shipped_vehicles(), profile) as (ros, _):
        bus = ros.bus
        for vehicle in shipped_vehicles():
            own = f"/{vehicle}"
            thrusters = sum(bool(re.fullmatch(rf"{own}/core/thruster\d+_cmd", name)) for name in bus.subscriptions)
            action = ["goto_waypoint"] if f"{own}/ctrl/goto_waypoint" in bus.actions else []
            cells = [
                [word for word in SENSORS if f"{own}/core/{word}" in bus.topics],
                [] if not thrusters else [f"1 to {thrusters}" if thrusters > 1 else "1"],
                [word for word in ("vbs", "lcg", "tcg") if f"{own}/core/{word}_cmd" in bus.subscriptions],
                [word for word in TARGETS if f"{own}/ctrl/toggle_{word}_ctrl" in bus.services] + action,
                [word for word in ESTIMATES if f"{own}/dr/{word}" in bus.topics],
                [word for word in ("sidescan", "ctd") if f"{own}/payload/{word}" in bus.topics],
            ]
            lines.append(f"| `{vehicle}` | " + " | ".join(", ".join(cell) for cell in cells) + " |")
    return "\n".join(lines)


def tables(vehicle: str, profile: str) -> str:
    """Return tables of the published topics, subscribed topics and services of a vehicle in a profile."""
    if vehicle == "all vehicles":
        return fleet(profile)
    frames: dict[str, str] = {}
    with built_interface([vehicle], profile) as (ros, runner):
        queue = SubscriberQueue()
        ros.bus.set_subscriptions(queue, ros.bus.topics)
        for _ in range(3):
            runner.run(0.2)
            frames |= {lazy.topic.name: _frame(lazy.message) for lazy in queue.drain(0)}
        rates = {item.topic.name: item.rate.frequency for item in [*ros.schedule.timed, *ros.schedule.interval]}
        for (robot, sensor), publishers in ros.schedule.sensors.items():
            own_frequency = runner.world.robots[robot].vehicle.config.sensors[sensor].frequency
            for publisher in publishers:
                rates[publisher.topic.name] = own_frequency if publisher.rate is None else publisher.rate.frequency
        own = f"/{vehicle}/"
        lines = ["| topic | type | Hz | frame |", "|---|---|---|---|"]
        for name, topic in sorted(ros.bus.topics.items()):
            if name.startswith((own, "/Evolo")) and not any(word in name for word in INNER):
                rate, frame = rates.get(name), frames.get(name, "")
                lines.append(f"| `{name}` | {_short(topic.type)} | {'' if rate is None else rate} | {_code(frame)} |")
        lines += ["", "| command | type |", "|---|---|"]
        for name, found in sorted(ros.bus.subscriptions.items()):
            if name.startswith((own, f"/{vehicle}_")):
                lines.append(f"| `{name}` | {_short(found[0].type)} |")
        served = {name: service.type for name, service in ros.bus.services.items() if name.startswith(own)}
        served = {name: kind for name, kind in served.items() if not any(word in name for word in INNER)}
        served |= {name: server.type.name for name, server in ros.bus.actions.items()}
        if served:
            lines += ["", "| service or action | type |", "|---|---|"]
            lines += [f"| `{name}` | {_short(kind)} |" for name, kind in sorted(served.items())]
    return "\n".join(lines)


def _frame(message: object) -> str:
    header = getattr(message, "header", None)
    return "" if header is None else str(header.frame_id)


def _short(type_name: str) -> str:
    return re.sub("/(msg|srv|action)/", "/", type_name)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def mark(vehicle: str, profile: str) -> str:
    """Return the comment that marks the start of the tables of a vehicle."""
    return f"<!-- topics of {vehicle} in {profile} -->"


def write(page: str, vehicle: str, profile: str) -> str:
    """Return the page with new tables of a vehicle."""
    begin, end = mark(vehicle, profile), "<!-- end -->"
    pattern = re.escape(begin) + r".*?" + re.escape(end)
    return re.sub(pattern, lambda _: f"{begin}\n\n{tables(vehicle, profile)}\n\n{end}", page, flags=re.DOTALL)


def main() -> None:
    """Update all tables of the page."""
    text = PAGE.read_text(encoding="utf-8")
    for vehicle, profile in TABLES:
        text = write(text, vehicle, profile)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
