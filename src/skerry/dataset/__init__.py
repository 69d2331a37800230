"""Labelled images for training detectors: random views, water and light, reproducible by seed."""

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

MAX_TRIES: Final = 20  # largest number of views drawn for an image, until one shows a labelled body
JITTER: Final = 20.0  # largest random offset of the view direction from the target, degrees
CLEARANCE: Final = 0.3  # smallest distance of the camera from the ground and the water surface, m
BLANK: Final = 0.1  # share of images that point away from the target


@dataclass(frozen=True)
class DatasetOptions:
    """Options of a dataset."""

    count: int
    seed: int = 0
    nearest: float = 1.5  # smallest distance to the target, m
    farthest: float = 8.0  # largest distance to the target, m
    turbidity: tuple[float, float] = (0.3, 3.0)  # range of factors on the turbidity of the scenario
    min_visible: float = 0.2  # smallest visible share of a body with a label
    min_transmission: float = 0.05  # smallest share of its light that passes the water
    min_side: int = 4  # smallest side of its box, pixels

    def __post_init__(self) -> None:
        if not 1 <= self.count <= 1_000_000:
            raise SkerryError(f"a dataset has 1 to 1000000 images, not {self.count}")
        if not 0 < self.nearest <= self.farthest:
            raise SkerryError(
                f"the distances {self.nearest:g} m to {self.farthest:g} m are not a range; give 0 < nearest <= farthest"
            )


def write_dataset(
    source: Any,
    camera: str,
    folder: str | Path,
    options: DatasetOptions,
    overrides: Mapping[str, Any] | None = None,
    watch: Callable[[int], None] = lambda done: None,
) -> int:
    """Write images, YOLO labels, train.txt and data.yaml into a new folder.

    Args:
        source: Scenario, as for `skerry.load`.
        camera: Camera as "robot/part".
        folder: New or empty folder.
        options: Options of the dataset.
        overrides: Replaced values of the scenario.
        watch: Called with the number of finished images.

    Returns:
        The number of labels.
    """
    out = Path(folder).expanduser()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SkerryError(f"{out} is not empty; give the name of a new folder")
    with build_world(source, overrides=overrides) as world:
        sensor = _camera(world, camera)
        images = _ImageSource(world, sensor, options)
        if not images.targets:
            raise SkerryError("the scenario has no objects or robots to take images of; add some")
        (out / "images").mkdir(parents=True)
        (out / "labels").mkdir()
        labels = 0
        for number in range(options.count):
            reading = images.render(number)
            lines = [images.label(found) for found in reading.detections if images.has_label(found)]
            (out / "images" / f"{number:06d}.jpg").write_bytes(reading.jpeg(95))
            (out / "labels" / f"{number:06d}.txt").write_text("".join(f"{line}\n" for line in lines))
            labels += len(lines)
            watch(number + 1)
        names = [f"./images/{number:06d}.jpg\n" for number in range(options.count)]
        (out / "train.txt").write_text("".join(names))
        classes = dict(enumerate(images.classes))
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


class _ImageSource:
    """Images of a world at rest, from random camera poses."""

    def __init__(self, world: World, sensor: CameraSensor, options: DatasetOptions) -> None:
        self._world = world
        self._sensor = sensor
        self._options = options
        self._view = world.ray_scene.view()
        bodies = [body for body in self._view.scene.bodies if body.owner]
        self.classes = sorted({body.category or body.owner for body in bodies})
        trees = {**world.objects, **world.robots}
        self.targets = [trees[name].pose.position for name in dict.fromkeys(body.owner for body in bodies)]

    def render(self, number: int) -> CameraReading:
        """Return the image of this number; it depends only on the seed and the number."""
        random = np.random.default_rng([self._options.seed, number])
        light = self._light(random)
        blank = random.uniform() < BLANK
        target = self.targets[random.integers(len(self.targets))]
        for _ in range(MAX_TRIES):
            pose = self._pose(random, target, blank)
            if pose is None:
                continue
            reading = self._measure(pose, light, number)
            if blank or any(self.has_label(found) for found in reading.detections):
                break
        else:
            if pose is None:
                pose = Pose(target + np.array([0.0, 0.0, self._options.nearest]), _looking(0.0, 90.0))
            reading = self._measure(pose, light, number)
        return reading

    def has_label(self, found: ImageDetection) -> bool:
        """Return whether enough of a body is visible for a label."""
        options = self._options
        return (
            found.visible >= options.min_visible
            and found.transmission >= options.min_transmission
            and min(found.width, found.height) >= options.min_side
        )

    def label(self, found: ImageDetection) -> str:
        """Return a YOLO label: class, then centre and size of the box as shares of the image."""
        width, height = self._sensor.lens.width, self._sensor.lens.height
        x, y = (found.x + 0.5 * found.width) / width, (found.y + 0.5 * found.height) / height
        index = self.classes.index(found.category)
        return f"{index} {x:.6f} {y:.6f} {found.width / width:.6f} {found.height / height:.6f}"

    def _light(self, random: np.random.Generator) -> tuple[SkyConfig, float]:
        low, high = (np.log(value) for value in self._options.turbidity)
        sky = SkyConfig(
            sun_elevation_deg=float(random.uniform(8.0, 85.0)),
            sun_heading_deg=float(random.uniform(0.0, 360.0)),
            brightness=float(random.uniform(0.4, 1.2)),
            cloud=float(random.uniform(0.0, 1.0)),
        )
        return sky, float(np.exp(random.uniform(low, high)))

    def _pose(self, random: np.random.Generator, target: NDArray[np.float64], blank: bool) -> Pose | None:
        """Return a random pose around the target, on its side of the water surface; None if it is in the ground."""
        options, world = self._options, self._world
        away = options.nearest * (options.farthest / options.nearest) ** random.uniform()
        heading, height = random.uniform(-np.pi, np.pi), np.radians(random.uniform(-25.0, 50.0))
        turn, tilt = random.uniform(-JITTER, JITTER, 2)
        position = target + away * np.array(
            [np.cos(heading) * np.cos(height), np.sin(heading) * np.cos(height), np.sin(height)]
        )
        level = float(world.sample_water(position).height)
        if target[2] < level:
            position[2] = min(position[2], level - CLEARANCE)
        elif position[2] < level + CLEARANCE:
            return None
        if world.terrain is not None:
            ground = float(world.terrain.height(position[:2]))
            if np.isfinite(ground) and position[2] < ground + CLEARANCE:
                return None
        to = target - position
        yaw, pitch = np.degrees(np.arctan2(to[1], to[0])), np.degrees(np.arctan2(-to[2], np.hypot(to[0], to[1])))
        if blank:
            yaw += random.uniform(90.0, 270.0)
        return Pose(position, _looking(yaw + turn, pitch + tilt))

    def _measure(self, pose: Pose, light: tuple[SkyConfig, float], number: int) -> CameraReading:
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
