"""A camera: colour, depth and what is what, as through a lens in air, at the surface or under water; now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
import simplejpeg
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from skerry.core.config import Config, NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.core.frames import OPTICAL_IN_BODY, Pose, multiply
from skerry.core.noise import Noise
from skerry.parts.sensor import SampleView, Sensor, SensorConfig
from skerry.rays.detections import Detection, detect
from skerry.rays.exposure import develop, metered_gain
from skerry.rays.lens import Lens
from skerry.rays.renderer import Conditions, Picture, Renderer
from skerry.rays.sea_view import SeaView, wave_spacing
from skerry.rays.surface import LEVEL
from skerry.rays.view import RayView
from skerry.water import Water

MOST_PIXELS = 4096
HEAVY = 8192  # pixels, which take a millisecond or two
FieldOfView = Annotated[float, Field(gt=0, lt=170)]


@dataclass(frozen=True, eq=False)
class CameraReading:
    """A picture, with what is in it."""

    time: float
    image: NDArray[np.uint8]  # (height, width, 3), sRGB
    depth: NDArray[np.float32]  # (height, width), m along the optical axis; infinite where nothing is
    bodies: NDArray[np.int16]  # (height, width), places in `body_names`; −1 nothing, −2 the water's surface
    labels: NDArray[np.uint8]  # (height, width), labels of materials
    body_names: tuple[str, ...]
    matrix: NDArray[np.float64]  # K, (3, 3)
    distortion: NDArray[np.float64]  # D, (5,): k1, k2, p1, p2, k3 of `plumb_bob`
    gain: float  # by which light was multiplied
    detections: tuple[Detection, ...]  # empty unless the camera's `detections` is set
    jpeg_quality: int

    def jpeg(self, quality: int | None = None) -> bytes:
        """The image as JPEG."""
        chosen = self.jpeg_quality if quality is None else quality
        if not 1 <= chosen <= 100:
            raise SkerryError(f"the quality of a JPEG is 1 to 100, not {chosen}")
        encoded: bytes = simplejpeg.encode_jpeg(self.image, quality=chosen, colorspace="RGB", colorsubsampling="420")
        return encoded


class Intrinsics(Config):
    """The camera matrix, in pixels; the middle of the first pixel is (0, 0), as in OpenCV and ROS."""

    fx: Positive
    fy: Positive
    cx: float
    cy: float


class CameraSensor(Sensor[CameraReading]):
    """Takes pictures."""

    def __init__(self, config: Camera) -> None:
        self._config = config
        self.lens = config.lens()
        offset = config.offset()
        self._offset = Pose(offset.position, multiply(offset.orientation, OPTICAL_IN_BODY))
        self._spacing: float | None = None
        self.execution = "thread" if config.width * config.height > HEAVY else "now"

    @cached_property
    def renderer(self) -> Renderer:
        """Made for the first picture: it takes 50 ms and some 15 MB, and many cameras never take one."""
        config = self._config
        return Renderer(self.lens, config.range, config.port_radius, config.shadows)

    def measure(self, sample: SampleView, noise: Noise) -> CameraReading:
        config = self._config
        pose = self.place(sample)
        view = sample.rays
        conditions = self.conditions(sample, pose)
        picture = self.expose(sample, view, pose, conditions)
        seed = int(noise.uniform(sample.tick) * 2**52) if config.shot_noise or config.read_noise else 0
        return self.develop(sample.time, view, pose, conditions, picture, seed)

    def place(self, sample: SampleView) -> Pose:
        """The camera's pose in the world, in its optical axes: x right, y down, z forward."""
        return Pose.of(sample.motion(self._config.link, self._offset)[:7])

    def conditions(self, sample: SampleView, pose: Pose) -> Conditions:
        """The daylight, the water and its surface around the camera, now."""
        sea = self.sea(sample.water, sample.surface_height, pose)
        return Conditions(sample.daylight, sample.water.optics, sea, sample.time, self._config.caustics)

    def sea(self, water: Water, height: Callable[[ArrayLike], NDArray[np.float64]], pose: Pose) -> SeaView:
        """The water's surface around the camera; `height` gives its z at points, now."""
        if self._spacing is None:
            waves = water.waves
            self._spacing = 0.0
            if waves is not None:
                self._spacing = wave_spacing(2 * np.pi / np.hypot(*waves.wavenumber.T), waves.amplitude)
        return SeaView.around(height, pose.position, self._spacing)

    def expose(self, sample: SampleView, view: RayView, pose: Pose, conditions: Conditions) -> Picture:
        """The light that falls on the sensor while the shutter is open, the camera moving as it does now."""
        config = self._config
        samples = config.blur_samples if config.shutter > 0 else 1
        motion = sample.motion(config.link, self._offset)
        for k in range(samples):
            ago = config.shutter * (samples - 1 - k) / max(samples - 1, 1)
            at = _moved(pose, motion[7:10], motion[10:], -ago) if ago > 0 else pose
            picture = self.renderer.render(view, at, conditions, config.see_self, add=k > 0)
        if samples > 1:
            picture.light /= np.float32(samples)
        return picture

    def detect(self, view: RayView, pose: Pose, conditions: Conditions, picture: Picture) -> tuple[Detection, ...]:
        """What of robots and objects is in a picture."""
        wet = pose.position[2] < conditions.sea.patch.numbers[LEVEL]
        beam = float(conditions.optics.attenuation[1]) if wet else 0.0
        return detect(view.scene, view.frame, self.lens, pose, picture.bodies, picture.depth, beam)

    def develop(
        self, time: float, view: RayView, pose: Pose, conditions: Conditions, picture: Picture, seed: int
    ) -> CameraReading:
        """The reading of a picture, of which it keeps all but the light."""
        config = self._config
        gain = metered_gain(picture.light) if config.exposure == "auto" else 2.0**config.exposure
        detections = self.detect(view, pose, conditions, picture) if config.detections else ()
        return CameraReading(
            time,
            develop(picture.light, gain, config.shot_noise, config.read_noise, seed),
            picture.depth,
            picture.bodies,
            picture.labels,
            view.scene.names,
            self.lens.matrix,
            np.array(self.lens.distortion),
            gain,
            detections,
            config.jpeg_quality,
        )


def _moved(pose: Pose, velocity: NDArray[np.float64], angular: NDArray[np.float64], seconds: float) -> Pose:
    """The pose after some time of a steady motion."""
    angle = float(np.linalg.norm(angular)) * seconds
    if angle == 0.0:
        return Pose(pose.position + seconds * velocity, pose.orientation)
    axis = angular / np.linalg.norm(angular)
    turn = np.array([*(np.sin(0.5 * angle) * axis), np.cos(0.5 * angle)])
    return Pose(pose.position + seconds * velocity, multiply(turn, pose.orientation))


class Camera(SensorConfig):
    """A camera that looks along its mount's x axis, its picture's top towards the mount's z."""

    kind: Literal["camera"] = "camera"
    width: int = Field(640, ge=1, le=MOST_PIXELS, description="pixels")
    height: int = Field(480, ge=1, le=MOST_PIXELS, description="pixels")
    horizontal_fov_deg: FieldOfView | None = Field(None, description="field of view, with square pixels")
    vertical_fov_deg: FieldOfView | None = Field(
        None, description="field of view, with square pixels; 60 if nothing else says what the lens is"
    )
    sensor_size_mm: tuple[Positive, Positive] | None = Field(
        None, description="width and height of the chip, which the picture fills; with `focal_length_mm`"
    )
    focal_length_mm: Positive | None = Field(None, description="with `sensor_size_mm`")
    intrinsics: Intrinsics | None = Field(None, description="fx, fy, cx and cy, pixels")
    distortion: tuple[float, float, float, float, float] = Field(
        (0.0, 0.0, 0.0, 0.0, 0.0),
        description="k1, k2, p1, p2, k3 of Brown and Conrady, as of ROS's plumb_bob",
    )
    range: Positive = Field(1000.0, le=20_000, description="m to which things are seen")
    port_radius: NonNegative = Field(
        0.03, le=1, description="of the dome before the lens, m: where rays begin, and water may"
    )
    see_self: bool = Field(False, description="show the robot that carries it")
    shadows: bool = True
    caustics: float = Field(0.0, ge=0, le=1, description="strength of the web of light that waves cast; by eye")
    exposure: Literal["auto"] | float = Field(
        "auto", description="auto, or stops; at 0 a white surface that faces a sun in the zenith is just white"
    )
    shutter: NonNegative = Field(0.0, le=1, description="s that it is open; with `blur_samples`, its motion blurs")
    blur_samples: int = Field(4, ge=2, le=64, description="pictures that make up one with a `shutter`")
    shot_noise: NonNegative = Field(0.0, le=1, description="standard deviation of a white pixel, of white, linear")
    read_noise: NonNegative = Field(0.0, le=1, description="standard deviation of a black pixel, of white, linear")
    detections: bool = Field(False, description="give boxes of robots and objects, with how much of them is seen")
    jpeg_quality: int = Field(75, ge=1, le=100)

    @model_validator(mode="after")
    def _one_lens(self) -> Camera:
        if (self.sensor_size_mm is None) != (self.focal_length_mm is None):
            raise ValueError("`sensor_size_mm` and `focal_length_mm` go together")
        ways = {
            "horizontal_fov_deg": self.horizontal_fov_deg,
            "vertical_fov_deg": self.vertical_fov_deg,
            "sensor_size_mm and focal_length_mm": self.sensor_size_mm,
            "intrinsics": self.intrinsics,
        }
        given = [name for name, value in ways.items() if value is not None]
        if len(given) > 1:
            raise ValueError(f"the lens is given in {len(given)} ways ({', '.join(given)}); leave one")
        if any(self.distortion):
            try:
                self.lens().directions()
            except SkerryError as error:
                raise ValueError(str(error)) from None
        return self

    def lens(self) -> Lens:
        """What the settings say of the lens."""
        width, height, distortion = self.width, self.height, self.distortion
        cx, cy = (width - 1) / 2, (height - 1) / 2
        if (given := self.intrinsics) is not None:
            return Lens(width, height, given.fx, given.fy, given.cx, given.cy, distortion)
        if self.sensor_size_mm is not None and self.focal_length_mm is not None:
            fx, fy = (
                self.focal_length_mm * count / side
                for count, side in zip((width, height), self.sensor_size_mm, strict=True)
            )
            return Lens(width, height, fx, fy, cx, cy, distortion)
        if self.horizontal_fov_deg is not None:
            f = 0.5 * width / np.tan(np.radians(0.5 * self.horizontal_fov_deg))
        else:
            f = 0.5 * height / np.tan(np.radians(0.5 * (self.vertical_fov_deg or 60.0)))
        return Lens(width, height, float(f), float(f), cx, cy, distortion)

    def build(self) -> CameraSensor:
        return CameraSensor(self)
