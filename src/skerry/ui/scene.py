"""Description of a world for the page: all that stays the same until the scene changes. Streams send the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from skerry.actuators.winch import WinchActuator
from skerry.control.manual.keyboard import KeyConfig
from skerry.core import meshes
from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.core.geo import Projection
from skerry.formats.mesh_files import read_mesh
from skerry.formats.urdf import Shape
from skerry.parts.acoustics import CanWrite
from skerry.parts.controller import CanGoTo, CanReachGoal
from skerry.terrain.materials import find_material
from skerry.ui.assets import Assets
from skerry.ui.ground import describe_ground
from skerry.ui.protocol import PROTOCOL
from skerry.ui.streams import PageStream
from skerry.world import Robot, World

LABELS: Final = {"up": "↑", "down": "↓", "left": "←", "right": "→", "space": "Space", "shift": "Shift"}
CODES: Final = {
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "space": "Space",
    "shift": "ShiftLeft",
}
"""Codes of keys that are not letters, as browsers name them."""
START_VIEW_OFFSET: Final = np.array([-6.0, -5.0, 4.0])  # first position of the camera relative to the first robot, m


def body_rows(world: World) -> list[int]:
    """Return the engine's row of each movable body. The index in the list is the number of the body on the page."""
    rows = [handle.body for robot in world.robots.values() for handle in robot.links.values()]
    rows += [thing.root for name, thing in world.objects.items() if world.scenario.objects[name].motion != "static"]
    return list(dict.fromkeys(rows))


def describe(world: World, streams: Sequence[PageStream], tf_names: Sequence[str], assets: Assets) -> dict[str, Any]:
    """Return the scene as data for JSON, and add its meshes and grids to the assets.

    Args:
        world: World to describe.
        streams: Streams of the world, in the order of their numbers.
        tf_names: Names of the frames, in the order of their indices in the stream `tf`.
        assets: Store for meshes and grids.
    """
    scenario = world.scenario
    rows = body_rows(world)
    numbers = {row: number for number, row in enumerate(rows)}
    return {
        "proto": PROTOCOL,
        "scenario": scenario.name,
        "title": scenario.name.replace("_", " "),
        "summary": scenario.description,
        "seed": scenario.seed,
        "step": float(scenario.step),
        "start_view": _start_view(world),
        "geo": _geo(world),
        "water": _water(world),
        "daylight": _daylight(world),
        "terrain": [] if world.terrain is None else [describe_ground(world.terrain, scenario, assets)],
        "bodies": _bodies(world, rows, assets),
        "statics": _statics(world, assets),
        "robots": [_robot(robot, numbers, streams) for robot in world.robots.values()],
        "objects": [
            {"name": name, "body": numbers[thing.root]}
            for name, thing in world.objects.items()
            if thing.root in numbers
        ],
        "ropes": _ropes(world),
        "streams": [stream.describe(number) for number, stream in enumerate(streams)],
        "tf_names": list(tf_names),
    }


# ------------------------------------------------------------------------------------------------ environment


def _start_view(world: World) -> dict[str, list[float]]:
    target = next((robot.position for robot in world.robots.values()), np.zeros(3))
    return {"position": (target + START_VIEW_OFFSET).tolist(), "target": target.tolist()}


def _geo(world: World) -> dict[str, Any] | None:
    if world.scenario.reference is None:
        return None
    projection = Projection(world.scenario.reference)
    latitude, longitude, _ = projection.to_geodetic(np.zeros(3)).tolist()
    easting, northing, _ = projection.origin.tolist()
    return {
        "lat": latitude,
        "lon": longitude,
        "utm_zone": projection.zone,
        "utm_band": projection.band,
        "easting": easting,
        "northing": northing,
    }


def _water(world: World) -> dict[str, Any]:
    water = world.water
    waves = water.waves
    rows: list[list[float]] = []
    if waves is not None:
        order = np.argsort(-waves.amplitude)  # largest first, because the page may draw only the first ones
        table = np.column_stack([waves.amplitude, waves.wavenumber, waves.frequency, waves.phase])
        rows = table[order].tolist()
    optics = water.optics
    return {
        "level": water_level(world),
        "waves": rows,
        "absorption": optics.absorption.tolist(),
        "scattering": optics.scattering.tolist(),
    }


def water_level(world: World) -> float:
    """Return the present height of the water without its waves, m. It may follow a tide or an object."""
    if world.water.waves is not None:
        return float(getattr(world.water.config.surface, "level", 0.0))
    return float(world.sample_water(np.zeros(3)).height)


def _daylight(world: World) -> dict[str, Any]:
    daylight = world.scenario.sky.build()
    return {
        "direction": daylight.sun_direction.tolist(),
        "sun": daylight.sun.tolist(),
        "ambient": daylight.ambient.tolist(),
        "zenith": daylight.zenith.tolist(),
        "horizon": daylight.horizon.tolist(),
        "cloud": daylight.cloud,
    }


# ------------------------------------------------------------------------------------------------ bodies


def _pose(pose: Pose) -> dict[str, list[float]]:
    return {"position": pose.position.tolist(), "orientation": pose.orientation.tolist()}


def _bodies(world: World, rows: list[int], assets: Assets) -> list[dict[str, Any]]:
    bodies: dict[int, dict[str, Any]] = {}
    for name, robot in world.robots.items():
        frozen = {joint.child: joint for joint in robot.vehicle.robot.joints.values() if joint.kind == "continuous"}
        for link in robot.vehicle.robot.links.values():
            handle = robot.links[link.name]
            body = bodies.setdefault(handle.body, {"robot": name, "link": link.name, "shapes": []})
            shapes = [_shape(world, shape, handle.offset, "hull", assets) for shape in link.visuals]
            joint = frozen.get(link.name)
            if joint is not None and joint.name not in robot.joints:
                spin = {"axis": handle.offset.rotation @ np.array(joint.axis), "origin": handle.offset.position}
                driver = next((a for a, part in robot.vehicle.config.actuators.items() if part.link == link.name), None)
                for shape in shapes:
                    shape["spin"] = {"actuator": driver, **{key: value.tolist() for key, value in spin.items()}}
            body["shapes"] += shapes
    for name, thing in world.objects.items():
        if thing.root in rows:
            bodies[thing.root] = {"robot": None, "link": name, "shapes": _object_shapes(world, name, assets)}
    return [
        {"id": number, "name": f"{bodies[row]['robot'] or 'objects'}/{bodies[row]['link']}", **bodies[row]}
        for number, row in enumerate(rows)
    ]


def _statics(world: World, assets: Assets) -> list[dict[str, Any]]:
    return [
        {"name": name, **_pose(thing.pose), "shapes": _object_shapes(world, name, assets)}
        for name, thing in world.objects.items()
        if world.scenario.objects[name].motion == "static"
    ]


def _object_shapes(world: World, name: str, assets: Assets) -> list[dict[str, Any]]:
    visuals = world.scenario.objects[name].robot(name).links["body"].visuals
    return [_shape(world, shape, Pose.identity(), None, assets) for shape in visuals]


def _shape(world: World, shape: Shape, offset: Pose, instead: str | None, assets: Assets) -> dict[str, Any]:
    own = None if shape.colour is None else shape.colour[:3]
    colour = find_material(shape.material, world.scenario.materials, own, instead).colour
    opacity = 1.0 if shape.colour is None else shape.colour[3]
    pose = offset @ Pose(np.array(shape.position), rpy_to_quaternion(shape.rpy))
    found: dict[str, Any] = {"kind": shape.kind, **_pose(pose), "colour": [*colour, opacity]}
    if shape.glow:
        found["glow"] = shape.glow
    match shape.kind:
        case "box":
            found["size"] = list(shape.size)
        case "sphere":
            found["radius"] = shape.radius
        case "cylinder" | "capsule":
            found |= {"radius": shape.radius, "length": shape.length}
        case _:
            assert shape.mesh is not None
            found["asset"] = assets.add_mesh(meshes.transform(read_mesh(shape.mesh), scale=shape.scale))
    return found


def _ropes(world: World) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "robot": name.partition("/")[0] if "/" in name else None,
            "radius": rope.config.diameter / 2,
            "colour": list(rope.config.colour),
            "points": len(rope.points),
        }
        for name, rope in world.ropes.items()
    ]


# ------------------------------------------------------------------------------------------------ robots


def _robot(robot: Robot, numbers: dict[int, int], streams: Sequence[PageStream]) -> dict[str, Any]:
    config = robot.vehicle.config
    bodies = dict.fromkeys(numbers[handle.body] for handle in robot.links.values())
    return {
        "name": robot.name,
        "vehicle": robot.vehicle.robot.name,
        "title": config.description or robot.name,
        "body": numbers[robot.root],
        "bodies": list(bodies),
        "frames": [
            {"name": link, "body": numbers[handle.body], **_pose(handle.offset)} for link, handle in robot.links.items()
        ],
        "keys": [_key(name, key) for name, key in robot.keys.items()],
        "actuators": [_actuator(robot, name) for name in robot.actuators],
        "sensors": [_sensor(robot, name, numbers, streams) for name in robot.sensors],
        "controllers": [
            {"name": name, "kind": config.controllers[name].kind, "waypoints": isinstance(part, CanGoTo | CanReachGoal)}
            for name, part in robot.controllers.items()
        ],
        "winches": [
            {"name": name, "rope": rope, "low": actuator.limits[0], "high": actuator.limits[1]}
            for name, actuator in robot.actuators.items()
            if isinstance(actuator, WinchActuator)
            for rope in [next((rope for rope, part in config.ropes.items() if part.winch == name), None)]
        ],
        "ropes": list(robot.ropes),
        "transceivers": [name for name, part in robot.acoustics.items() if isinstance(part, CanWrite)],
    }


def _key(name: str, key: KeyConfig) -> dict[str, Any]:
    parts = ", ".join(dict.fromkeys(target.partition(".")[0].replace("_", " ") for target in key.commands))
    code = CODES.get(name, f"Digit{name}" if name.isdigit() else f"Key{name.upper()}")
    return {
        "key": name,
        "code": code,
        "label": LABELS.get(name, name.upper()),
        "does": key.does,
        "mode": key.mode,
        "group": parts,
    }


def _actuator(robot: Robot, name: str) -> dict[str, Any]:
    actuator, settings = robot.actuators[name], robot.vehicle.config.actuators[name]
    low, high = actuator.limits
    return {
        "name": name,
        "kind": settings.kind,
        "keyword": actuator.keyword,
        "unit": actuator.unit,
        "low": low,
        "high": high,
        "reset": actuator.reset_value,
        "link": settings.link,
    }


def _sensor(robot: Robot, name: str, numbers: dict[int, int], streams: Sequence[PageStream]) -> dict[str, Any]:
    settings = robot.vehicle.config.sensors[name]
    handle = robot.links[settings.link]
    reading = robot.sensors[name].sensor.reading_type()
    return {
        "name": name,
        "kind": settings.kind,
        "rate": float(settings.frequency),
        "link": settings.link,
        "streams": [stream.name for stream in streams if (stream.robot, stream.sensor) == (robot.name, name)],
        "pose": {"body": numbers[handle.body], **_pose(handle.offset @ settings.offset())},
        "can_be_triggered": settings.can_be_triggered,
        "display": [display.describe(reading) for display in settings.display],
    }
