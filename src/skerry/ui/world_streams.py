"""Streams of the world: poses, ropes, acoustic paths, forces, particles, contacts, GPS lines, frames, goals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.frames import rotate
from skerry.parts.display import ReferenceLine
from skerry.parts.law import WRENCH
from skerry.ui import protocol
from skerry.ui.protocol import Kind
from skerry.ui.scalars import ScalarFields
from skerry.ui.scene import body_rows
from skerry.ui.sensor_streams import sensor_streams
from skerry.ui.streams import PageStream
from skerry.world import Robot, World
from skerry.world.frame_tree import FrameTree, Transform
from skerry.world.particles import FieldParticles

TAUT_COLOUR, SLACK_COLOUR = (230, 60, 40, 255), (60, 190, 90, 255)
SOUND_COLOURS: Final = {"clear": (90, 220, 120, 255), "occluded": (230, 60, 40, 200), "reflected": (120, 160, 220, 60)}
SILENT_COLOUR: Final = (160, 160, 160, 100)  # paths that fail for other reasons, and rays that meet no ground
GPS_COLOUR, GOAL_COLOUR, FORCE_COLOUR = (120, 200, 255, 160), (255, 200, 40, 255), (255, 80, 200, 255)
FIELD_COLOURS: Final = np.array([(230, 60, 40, 255), (60, 190, 90, 255), (70, 140, 255, 255)], np.uint8)
"""Colours of particles in fields that act above water only, anywhere, and under water only."""
MAX_TRAIL_SEGMENTS: Final = 20_000  # segments of the trails of particles that are sent to the page
SOUND_DURATION: Final = 1.0  # s of simulated time for which the paths of a transmission are shown
RING_CORNERS: Final = 32  # corners of the polygon that is drawn as a circle
GOAL_LINE_HEIGHT: Final = 2.0  # m above the water at which the line to a goal starts, as in the SMaRC simulator
METRES_PER_WEIGHT: Final = 1.0  # length of the line, m, for a force equal to the robot's weight


def streams_of(world: World, fields: dict[str, ScalarFields], frames: Frames) -> list[PageStream]:
    """Return all streams of a world. The index of a stream is its number in the protocol.

    Args:
        world: World to show.
        fields: Plotted numbers of each robot.
        frames: Tree of frames.
    """
    found = [_poses(world)]
    for name, robot in world.robots.items():
        found.append(_scalars(robot, fields[name]))
        for sensor in robot.sensors:
            found += sensor_streams(robot, sensor)
        found.append(_forces(robot, float(world.scenario.gravity)))
    found.append(_segments("ropes", "ropes", lambda: _rope_lines(world)))
    found.append(_segments("acoustic", "sound", SoundLines(world)))
    found.append(_segments("gps", "lines to the reference point", lambda: _gps_lines(world)))
    found.append(_segments("waypoints", "goals", lambda: _goal_lines(world)))
    found += _field_streams(world)
    found.append(_points("contacts", "contacts", lambda: _contacts(world)))
    found.append(PageStream("tf", Kind.TF, "frames", lambda inputs: frames.now(), protocol.transforms))
    return found


# ------------------------------------------------------------------------------------------------ frames


class Frames:
    """Tree of frames below `map`. A frame is identified by its index in `names`."""

    def __init__(self, world: World) -> None:
        self._tree = FrameTree(world, "")
        self.names = list(dict.fromkeys(name for each in self._all() for name in (each.parent, each.child)))
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def now(self) -> list[tuple[int, int, list[float]]]:
        """Return the present transforms: index of the parent, index of the child, pose (7,) of the child."""
        return [self._row(each) for each in self._all()]

    def _all(self) -> list[Transform]:
        """Return the present transforms, without the nodes of ropes, whose number changes."""
        found = (each for each in self._tree.transforms() if not each.child.startswith(("utm", "map")))
        return [each for each in found if not self._tree.is_dynamic(each.child)]

    def _row(self, each: Transform) -> tuple[int, int, list[float]]:
        pose = [*each.pose.position.tolist(), *each.pose.orientation.tolist()]
        return self._numbers[each.parent], self._numbers[each.child], pose


# ------------------------------------------------------------------------------------------------ builders


def _poses(world: World) -> PageStream:
    rows = np.array(body_rows(world), np.int64)
    engine = next((tree.engine for tree in (*world.robots.values(), *world.objects.values())), None)
    motion = np.zeros((0, 13)) if engine is None else engine.motions(0)[0]
    return PageStream("pose", Kind.POSE, "poses", lambda inputs: motion[rows, :7].astype(np.float32), protocol.poses)


def _scalars(robot: Robot, fields: ScalarFields) -> PageStream:
    return PageStream(
        f"scalars/{robot.name}",
        Kind.SCALARS,
        f"{robot.name} numbers",
        lambda inputs: fields.values(inputs.latest),
        protocol.scalars,
        robot=robot.name,
        sensors=fields.sensors,
        details={"fields": fields.names, "units": fields.units},
    )


Lines = tuple[NDArray[np.floating], NDArray[np.uint8]]
"""Ends (n, 2, 3) of line segments in the world, m, and their colours (n, 4)."""


def _segments(
    name: str, title: str, sample: Callable[[], Lines], robot: str | None = None, **details: Any
) -> PageStream:
    return PageStream(
        name,
        Kind.SEGMENTS,
        title,
        lambda inputs: sample(),
        lambda lines: protocol.segments(*lines),
        robot,
        details=details,
    )


def _points(name: str, title: str, sample: Callable[[], tuple[Any, ...]], **details: Any) -> PageStream:
    return PageStream(
        name,
        Kind.PARTICLES,
        title,
        lambda inputs: sample(),
        lambda points: protocol.particles(*points),
        details=details,
    )


def _coloured(ends: list[Any], colours: list[Any]) -> Lines:
    return np.array(ends, np.float32).reshape(-1, 2, 3), np.array(colours, np.uint8).reshape(-1, 4)


# ------------------------------------------------------------------------------------------------ samplers


def _rope_lines(world: World) -> Lines:
    ends: list[Any] = [np.zeros((0, 2, 3))]
    colours: list[Any] = [np.zeros((0, 4), np.uint8)]
    for rope in world.ropes.values():
        points = rope.points
        if len(points) > 1:
            ends.append(np.stack([points[:-1], points[1:]], axis=1))
            tight = rope.tightness.any(axis=1, keepdims=True)
            colours.append(np.where(tight, TAUT_COLOUR, SLACK_COLOUR).astype(np.uint8))
    return np.concatenate(ends), np.concatenate(colours)


class SoundLines:
    """Sampler of the rays and paths of the last acoustic transmissions, which are shown for `SOUND_DURATION`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._last: list[Any] = []
        self._since = -np.inf

    def __call__(self) -> Lines:
        paths = self._world.acoustics.signal_lines()
        if paths != self._last:
            self._last, self._since = paths, self._world.time
        shown = paths if 0.0 <= self._world.time - self._since < SOUND_DURATION else []
        pairs = [
            (pair, SOUND_COLOURS.get(path.status, SILENT_COLOUR)) for path in shown for pair in pairwise(path.points)
        ]
        return _coloured([pair for pair, _ in pairs], [colour for _, colour in pairs])


def _gps_lines(world: World) -> Lines:
    reference = world.scenario.reference
    point = np.zeros(3) if reference is None else reference.point
    ends = [
        (robot.link_position(settings.link), point)
        for robot in world.robots.values()
        for settings in robot.vehicle.config.sensors.values()
        if any(isinstance(display, ReferenceLine) for display in settings.display)
    ]
    return _coloured(ends, [GPS_COLOUR] * len(ends))


def _goal_lines(world: World) -> Lines:
    ends: list[Any] = []
    turn = np.linspace(0.0, 2 * np.pi, RING_CORNERS + 1)
    for robot in world.robots.values():
        for controller in robot.controllers.values():
            if controller.waypoint is not None:
                goal, tolerance = np.array(controller.waypoint[0]), controller.waypoint[1]
                ring = goal + tolerance * np.stack([np.cos(turn), np.sin(turn), np.zeros(RING_CORNERS + 1)], axis=1)
                top = float(world.sample_water(goal).height) + GOAL_LINE_HEIGHT
                ends += [*pairwise(ring), ([goal[0], goal[1], max(top, goal[2])], goal)]
    return _coloured(ends, [GOAL_COLOUR] * len(ends))


def _forces(robot: Robot, gravity: float) -> PageStream:
    """Return the stream of the total force of all laws on each body of a robot in the last step."""
    engine = robot.engine
    rows = {handle.body for handle in robot.links.values()}
    blocks = {row: start for row, start in engine.model.blocks.items() if row in rows}
    links = robot.vehicle.robot.links.values()
    weight = max(sum(link.inertial.mass for link in links if link.inertial is not None) * max(gravity, 1.0), 1e-3)

    def sample() -> Lines:
        userdata, motions = engine.part("userdata")[0], engine.motions(0)[0]
        ends = []
        for row, start in blocks.items():
            origin = motions[row, :3].copy()
            force = rotate(motions[row, 3:7], userdata[start + WRENCH : start + WRENCH + 3])
            ends.append((origin, origin + force * (METRES_PER_WEIGHT / weight)))
        return _coloured(ends, [FORCE_COLOUR] * len(ends))

    details = {"newtons_per_metre": weight / METRES_PER_WEIGHT, "unit": "N"}
    return _segments(f"forces/{robot.name}", f"{robot.name} forces", sample, robot.name, **details)


def _field_streams(world: World) -> list[PageStream]:
    """Return the streams of the particles in force fields and of their trails, with their radius and width, m."""
    pool = world.particles
    size = 0.1 if pool is None else pool.config.size
    return [
        _points("particles", "force fields", lambda: _field_particles(pool), radius=size),
        _segments("particle_trails", "trails in force fields", lambda: _field_trails(pool), width=size),
    ]


def _field_particles(pool: FieldParticles | None) -> tuple[ArrayLike, ArrayLike, NDArray[np.uint8]]:
    if pool is None:
        return np.zeros((0, 3)), np.zeros(0), np.zeros((0, 4), np.uint8)
    alive = pool.alive
    ages = 1.0 - pool.remaining[alive] / np.maximum(pool.lifetimes[alive], 1e-9)
    return pool.positions[alive], ages, FIELD_COLOURS[pool.colours[alive]]


def _field_trails(pool: FieldParticles | None) -> Lines:
    """Return the trails of living and ended particles. Their opacity falls to 0 at the end, and with age."""
    if pool is None or pool.config.trail < 2:
        return np.zeros((0, 2, 3)), np.zeros((0, 4), np.uint8)
    alive, fading = pool.alive, pool.fading > 0.0
    trails = np.concatenate([pool.trails[alive], pool.fading_trails[fading]])
    colours = np.concatenate([pool.colours[alive], pool.fading_colours[fading]])
    share = pool.fading[fading] / np.maximum(pool.fading_lifetimes[fading], 1e-9)
    shown = np.concatenate([np.ones(np.count_nonzero(alive)), share])
    pieces = trails.shape[1] - 1
    most = max(MAX_TRAIL_SEGMENTS // pieces, 1)
    trails, colours, shown = trails[:most], colours[:most], shown[:most]
    ends = np.stack([trails[:, :-1], trails[:, 1:]], axis=2)
    shades = np.repeat(FIELD_COLOURS[colours][:, None], pieces, axis=1)
    shades[..., 3] = 255.0 * shown[:, None] * (1.0 - np.arange(pieces) / pieces)
    return ends.reshape(-1, 2, 3), shades.reshape(-1, 4)


def _contacts(world: World) -> tuple[ArrayLike, ArrayLike]:
    found = [touch.position for name, robot in world.robots.items() for touch in robot.engine.contacts(0, name)]
    return np.array(found).reshape(-1, 3), np.zeros(len(found))
