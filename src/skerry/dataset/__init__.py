"""Pictures with labels, for those who teach a network to see: random views, water and light, the same for a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.core.frames import OPTICAL_IN_BODY, Pose, multiply, rpy_to_quaternion
from skerry.formats.yaml_documents import dump_document
from skerry.rays.detections import ImageDetection
from skerry.rays.renderer import Conditions
from skerry.sensors.camera import CameraReading, CameraSensor
from skerry.water.daylight import SkyConfig
from skerry.water.optics import optics_of
from skerry.world import World, build_world

TRIES: Final = 20  # views that are drawn for a picture at most, until one shows what it is to show
JITTER: Final = 20.0  # degrees by which a view misses what it is to show
CLEARANCE: Final = 0.3  # m that a camera keeps from the ground and the surface
BLANK: Final = 0.1  # share of pictures that look anywhere


@dataclass(frozen=True)
class DatasetOptions:
    """What a dataset is to be like."""

    count: int
    seed: int = 0
    nearest: float = 1.5  # m from what a picture is to show
    farthest: float = 8.0
    turbidity: tuple[float, float] = (0.3, 3.0)  # times that of the scenario
    least_visible: float = 0.2  # share of a thing that must be seen for a label
    least_transmission: float = 0.05  # share of its light that must come through the water
    least_side: int = 4  # pixels of its box

    def __post_init__(self) -> None:
        if not 1 <= self.count <= 1_000_000:
            raise SkerryError(f"a dataset has 1 to 1000000 pictures, not {self.count}")
        if not 0 < self.nearest <= self.farthest:
            raise SkerryError(f"views from {self.nearest:g} m to {self.farthest:g} m away are none")


def write_dataset(
    source: Any,
    camera: str,
    folder: str | Path,
    options: DatasetOptions,
    overrides: Mapping[str, Any] | None = None,
    watch: Callable[[int], None] = lambda done: None,
) -> int:
    """Write pictures, YOLO labels, train.txt and data.yaml into a new folder; say how many labels there are."""
    out = Path(folder).expanduser()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SkerryError(f"{out} is not empty; give the name of a new folder")
    with build_world(source, overrides=overrides) as world:
        sensor = _camera(world, camera)
        studio = _Studio(world, sensor, options)
        if not studio.places:
            raise SkerryError("there is nothing to take pictures of: the scenario has no objects and no other robots")
        (out / "images").mkdir(parents=True)
        (out / "labels").mkdir()
        labels = 0
        for number in range(options.count):
            reading = studio.take(number)
            lines = [studio.line(found) for found in reading.detections if studio.counts(found)]
            (out / "images" / f"{number:06d}.jpg").write_bytes(reading.jpeg(95))
            (out / "labels" / f"{number:06d}.txt").write_text("".join(f"{line}\n" for line in lines))
            labels += len(lines)
            watch(number + 1)
        names = [f"./images/{number:06d}.jpg\n" for number in range(options.count)]
        (out / "train.txt").write_text("".join(names))
        classes = dict(enumerate(studio.classes))
        (out / "data.yaml").write_text(
            dump_document({"path": ".", "train": "train.txt", "val": "train.txt", "nc": len(classes), "names": classes})
        )
    return labels


def _camera(world: World, name: str) -> CameraSensor:
    found = {
        f"{robot}/{part}": mounted.sensor
        for robot, parts in world.robots.items()
        for part, mounted in parts.sensors.items()
        if isinstance(mounted.sensor, CameraSensor)
    }
    if name not in found:
        raise UnknownName(f"there is no camera {name!r}; {did_you_mean(name, found)}")
    return found[name]


class _Studio:
    """A world in which nothing moves, and a camera that may be anywhere."""

    def __init__(self, world: World, sensor: CameraSensor, options: DatasetOptions) -> None:
        self._world = world
        self._sensor = sensor
        self._options = options
        self._view = world.ray_scene.view()
        bodies = [body for body in self._view.scene.bodies if body.owner]
        self.classes = sorted({body.category or body.owner for body in bodies})
        trees = {**world.objects, **world.robots}
        self.places = [trees[name].pose.position for name in dict.fromkeys(body.owner for body in bodies)]

    def take(self, number: int) -> CameraReading:
        """The picture of a number; it depends on the seed and the number alone."""
        random = np.random.default_rng([self._options.seed, number])
        light = self._light(random)
        blank = random.uniform() < BLANK
        wanted = self.places[random.integers(len(self.places))]
        for _ in range(TRIES):
            pose = self._pose(random, wanted, blank)
            if pose is None:
                continue
            reading = self._expose(pose, light, number)
            if blank or any(self.counts(found) for found in reading.detections):
                break
        else:
            if pose is None:
                pose = Pose(wanted + np.array([0.0, 0.0, self._options.nearest]), _looking(0.0, 90.0))
            reading = self._expose(pose, light, number)
        return reading

    def counts(self, found: ImageDetection) -> bool:
        """Whether enough of a thing is seen to be labelled."""
        options = self._options
        return (
            found.visible >= options.least_visible
            and found.transmission >= options.least_transmission
            and min(found.width, found.height) >= options.least_side
        )

    def line(self, found: ImageDetection) -> str:
        """A label: class, then middle and size of the box as shares of the picture."""
        width, height = self._sensor.lens.width, self._sensor.lens.height
        x, y = (found.x + 0.5 * found.width) / width, (found.y + 0.5 * found.height) / height
        place = self.classes.index(found.category)
        return f"{place} {x:.6f} {y:.6f} {found.width / width:.6f} {found.height / height:.6f}"

    def _light(self, random: np.random.Generator) -> tuple[SkyConfig, float]:
        low, high = (np.log(value) for value in self._options.turbidity)
        sky = SkyConfig(
            sun_elevation_deg=float(random.uniform(8.0, 85.0)),
            sun_heading_deg=float(random.uniform(0.0, 360.0)),
            brightness=float(random.uniform(0.4, 1.2)),
            cloud=float(random.uniform(0.0, 1.0)),
        )
        return sky, float(np.exp(random.uniform(low, high)))

    def _pose(self, random: np.random.Generator, wanted: NDArray[np.float64], blank: bool) -> Pose | None:
        """A view from somewhere around a thing, on its side of the surface; None if the ground is in the way."""
        options, world = self._options, self._world
        away = options.nearest * (options.farthest / options.nearest) ** random.uniform()
        heading, height = random.uniform(-np.pi, np.pi), np.radians(random.uniform(-25.0, 50.0))
        turn, tilt = random.uniform(-JITTER, JITTER, 2)
        place = wanted + away * np.array(
            [np.cos(heading) * np.cos(height), np.sin(heading) * np.cos(height), np.sin(height)]
        )
        level = float(world.sample_water(place).height)
        if wanted[2] < level:
            place[2] = min(place[2], level - CLEARANCE)
        elif place[2] < level + CLEARANCE:
            return None
        if world.terrain is not None:
            ground = float(world.terrain.height(place[:2]))
            if np.isfinite(ground) and place[2] < ground + CLEARANCE:
                return None
        to = wanted - place
        yaw, pitch = np.degrees(np.arctan2(to[1], to[0])), np.degrees(np.arctan2(-to[2], np.hypot(to[0], to[1])))
        if blank:
            yaw += random.uniform(90.0, 270.0)
        return Pose(place, _looking(yaw + turn, pitch + tilt))

    def _expose(self, pose: Pose, light: tuple[SkyConfig, float], number: int) -> CameraReading:
        world, sensor = self._world, self._sensor
        sky, turbidity = light
        water = world.water.config
        conditions = Conditions(
            sky.build(),
            optics_of(water.optical_type, turbidity * water.turbidity),
            sensor.sea(world.water, lambda points: world.sample_water(points).height, pose),
        )
        picture = sensor.renderer.render(self._view, pose, conditions, see_self=True)
        reading = sensor.make_reading(world.time, self._view, pose, conditions, picture, number)
        return replace(reading, detections=sensor.detect(self._view, pose, conditions, picture))


def _looking(yaw_deg: float, pitch_deg: float) -> NDArray[np.float64]:
    return multiply(rpy_to_quaternion(np.radians([0.0, pitch_deg, yaw_deg])), OPTICAL_IN_BODY)
