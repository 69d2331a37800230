"""Camera: colour, depth, body and label images in air, at the water surface and under water."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
import simplejpeg
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from skerry.core.config import Config, NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.core.frames import OPTICAL_IN_BODY, Pose, multiply
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Display, Image
from skerry.parts.sensor import SampleView, SensorConfig, SimpleSensor
from skerry.rays.detections import ImageDetection, detect
from skerry.rays.exposure import encode_srgb, metered_gain
from skerry.rays.lens import Lens
from skerry.rays.ray_caster import RayCaster
from skerry.rays.renderer import Conditions, RenderedImage, Renderer
from skerry.rays.sea_view import SeaView, wave_spacing
from skerry.rays.surface import LEVEL
from skerry.water import Water

MAX_PIXELS = 4096  # along each side of an image
BACKGROUND_PIXELS = 8192  # images with more pixels take milliseconds and are rendered in a thread
FieldOfView = Annotated[float, Field(gt=0, lt=170)]


@dataclass(frozen=True, eq=False)
class CameraReading:
    """Image, with depth, bodies and labels of its pixels."""

    time: float = unit("s")
    image: NDArray[np.uint8] = unit("")  # (height, width, 3), sRGB
    depth: NDArray[np.float32] = unit("m")  # (height, width), along the optical axis; infinite where nothing was hit
    bodies: NDArray[np.int16] = unit("")  # (height, width), indices into `body_names`; −1 nothing, −2 water surface
    labels: NDArray[np.uint8] = unit("")  # (height, width), labels of materials
    body_names: tuple[str, ...] = unit("")
    matrix: NDArray[np.float64] = unit("px")  # K, (3, 3)
    distortion: NDArray[np.float64] = unit("")  # D, (5,): k1, k2, p1, p2, k3 of `plumb_bob`
    gain: float = unit("")  # factor on the linear light
    detections: tuple[ImageDetection, ...] = unit("")  # empty unless the camera's `detections` is set
    jpeg_quality: int = unit("")

    def jpeg(self, quality: int | None = None) -> bytes:
        """Encode the image as JPEG.

        Args:
            quality: JPEG quality from 1 to 100; None uses the camera's setting.
        """
        chosen = self.jpeg_quality if quality is None else quality
        if not 1 <= chosen <= 100:
            raise SkerryError(f"the JPEG quality must be from 1 to 100, not {chosen}")
        encoded: bytes = simplejpeg.encode_jpeg(self.image, quality=chosen, colorspace="RGB", colorsubsampling="420")
        return encoded


class Intrinsics(Config):
    """Camera matrix, in pixels. The centre of the first pixel is (0, 0), as in OpenCV and ROS."""

    fx: Positive
    fy: Positive
    cx: float
    cy: float


class PreviewConfig(Config):
    """Window with the image over the 3-D view of the page."""

    left: int = Field(100, ge=0, le=MAX_PIXELS, description="distance from the left edge of the view, pixels")
    top: int = Field(30, ge=0, le=MAX_PIXELS, description="distance from the upper edge of the view, pixels")
    width: int = Field(320, ge=16, le=MAX_PIXELS, description="pixels")
    height: int | None = Field(
        None, ge=16, le=MAX_PIXELS, description="pixels; by default that of an image that is not distorted"
    )


class CameraSensor(SimpleSensor[CameraReading]):
    """Camera that renders an image per reading."""

    def __init__(self, config: Camera) -> None:
        self._config = config
        self.lens = config.lens()
        offset = config.offset()
        self._offset = Pose(offset.position, multiply(offset.orientation, OPTICAL_IN_BODY))
        self._spacing: float | None = None
        self.execution = "thread" if config.width * config.height > BACKGROUND_PIXELS else "now"

    @cached_property
    def renderer(self) -> Renderer:
        """Renderer, created on first use because it takes 50 ms and about 15 MB."""
        config = self._config
        return Renderer(self.lens, config.range, config.port_radius, config.shadows)

    def measure_one(self, sample: SampleView, noise: Noise) -> CameraReading:
        config = self._config
        pose = self.optical_pose(sample)
        caster = sample.rays
        conditions = self.conditions(sample, pose)
        image = self.expose(sample, caster, pose, conditions)
        seed = int(noise.uniform(sample.tick) * 2**52) if config.shot_noise or config.read_noise else 0
        return self.make_reading(sample.time, caster, pose, conditions, image, seed)

    def optical_pose(self, sample: SampleView) -> Pose:
        """Return the pose of the camera's optical frame in the world: x right, y down, z forward."""
        return Pose.of(sample.motion(self._config.link, self._offset)[:7])

    def conditions(self, sample: SampleView, pose: Pose) -> Conditions:
        """Return the daylight, the water and its surface around the camera."""
        sea = self.sea(sample.water, sample.surface_height, pose)
        return Conditions(sample.daylight, sample.water.optics, sea, sample.time, self._config.caustics)

    def sea(self, water: Water, height: Callable[[ArrayLike], NDArray[np.float64]], pose: Pose) -> SeaView:
        """Return the water surface around the camera; `height` returns its z at points (…, 3)."""
        if self._spacing is None:
            waves = water.waves
            self._spacing = 0.0
            if waves is not None:
                self._spacing = wave_spacing(2 * np.pi / np.hypot(*waves.wavenumber.T), waves.amplitude)
        return SeaView.around(height, pose.position, self._spacing)

    def expose(self, sample: SampleView, caster: RayCaster, pose: Pose, conditions: Conditions) -> RenderedImage:
        """Render the image. With a shutter time, average images along the camera's current motion."""
        config = self._config
        samples = config.blur_samples if config.shutter > 0 else 1
        motion = sample.motion(config.link, self._offset)
        for k in range(samples):
            ago = config.shutter * (samples - 1 - k) / max(samples - 1, 1)
            at = _moved(pose, motion[7:10], motion[10:], -ago) if ago > 0 else pose
            image = self.renderer.render(caster, at, conditions, config.see_self, add=k > 0)
        if samples > 1:
            image.light /= np.float32(samples)
        return image

    def detect(
        self, caster: RayCaster, pose: Pose, conditions: Conditions, image: RenderedImage
    ) -> tuple[ImageDetection, ...]:
        """Return the robots and objects in an image."""
        wet = pose.position[2] < conditions.sea.patch.numbers[LEVEL]
        beam = float(conditions.optics.attenuation[1]) if wet else 0.0
        return detect(caster.scene, caster.frame, self.lens, pose, image.bodies, image.depth, beam)

    def make_reading(
        self, time: float, caster: RayCaster, pose: Pose, conditions: Conditions, image: RenderedImage, seed: int
    ) -> CameraReading:
        """Return the reading of an image. It keeps the image's arrays except `light`.

        Args:
            time: Time of the reading, s.
            view: Ray caster of the image.
            pose: Optical pose of the camera.
            conditions: Daylight and water.
            image: Rendered image.
            seed: Seed of the sensor noise.
        """
        config = self._config
        gain = metered_gain(image.light) if config.exposure == "auto" else 2.0**config.exposure
        detections = self.detect(caster, pose, conditions, image) if config.detections else ()
        return CameraReading(
            time,
            encode_srgb(image.light, gain, config.shot_noise, config.read_noise, seed),
            image.depth,
            image.bodies,
            image.labels,
            caster.scene.names,
            self.lens.matrix,
            np.array(self.lens.distortion),
            gain,
            detections,
            config.jpeg_quality,
        )


def _moved(pose: Pose, velocity: NDArray[np.float64], angular: NDArray[np.float64], seconds: float) -> Pose:
    """Return the pose after `seconds` at constant velocity and turn rate."""
    angle = float(np.linalg.norm(angular)) * seconds
    if angle == 0.0:
        return Pose(pose.position + seconds * velocity, pose.orientation)
    axis = angular / np.linalg.norm(angular)
    rotation = np.array([*(np.sin(0.5 * angle) * axis), np.cos(0.5 * angle)])
    return Pose(pose.position + seconds * velocity, multiply(rotation, pose.orientation))


class Camera(SensorConfig):
    """Camera that points along its mount's x axis; the top of the image is towards the mount's z axis."""

    perfect = {"shot_noise": 0.0, "read_noise": 0.0}

    kind: Literal["camera"] = "camera"
    width: int = Field(640, ge=1, le=MAX_PIXELS, description="pixels")
    height: int = Field(480, ge=1, le=MAX_PIXELS, description="pixels")
    horizontal_fov_deg: FieldOfView | None = Field(None, description="field of view, with square pixels")
    vertical_fov_deg: FieldOfView | None = Field(
        None, description="field of view, with square pixels; 60 if the lens is not given in another way"
    )
    sensor_size_mm: tuple[Positive, Positive] | None = Field(
        None, description="width and height of the sensor chip, which the image fills; requires `focal_length_mm`"
    )
    focal_length_mm: Positive | None = Field(None, description="focal length of the lens; requires `sensor_size_mm`")
    intrinsics: Intrinsics | None = Field(None, description="fx, fy, cx and cy, pixels")
    distortion: tuple[float, float, float, float, float] = Field(
        (0.0, 0.0, 0.0, 0.0, 0.0),
        description="k1, k2, p1, p2, k3 of Brown and Conrady, as in ROS's plumb_bob",
    )
    range: Positive = Field(1000.0, le=20_000, description="distance up to which bodies are visible, m")
    port_radius: NonNegative = Field(
        0.03, le=1, description="radius of the dome in front of the lens, m; rays, and water outside, start there"
    )
    see_self: bool = Field(False, description="show the robot that carries the camera")
    shadows: bool = Field(True, description="let bodies cast shadows")
    caustics: float = Field(0.0, ge=0, le=1, description="strength of the light pattern under waves, tuned by eye")
    exposure: Literal["auto"] | float = Field(
        "auto", description="auto, or stops; at 0 a white surface that faces a sun at the zenith is just white"
    )
    shutter: NonNegative = Field(0.0, le=1, description="exposure time, s; above 0 the camera's motion blurs the image")
    blur_samples: int = Field(4, ge=2, le=64, description="images that are averaged into one if `shutter` is above 0")
    shot_noise: NonNegative = Field(
        0.0, le=1, description="standard deviation of a white pixel in linear light; white is 1"
    )
    read_noise: NonNegative = Field(
        0.0, le=1, description="standard deviation of a black pixel in linear light; white is 1"
    )
    detections: bool = Field(False, description="report bounding boxes of robots and objects, with their visible share")
    jpeg_quality: int = Field(75, ge=1, le=100, description="quality of JPEG images")
    preview: PreviewConfig | None = Field(
        None, description="window with the image over the page's view; none by default"
    )

    @model_validator(mode="after")
    def _one_lens(self) -> Camera:
        if (self.sensor_size_mm is None) != (self.focal_length_mm is None):
            raise ValueError("`sensor_size_mm` and `focal_length_mm` must be given together")
        choices = {
            "horizontal_fov_deg": self.horizontal_fov_deg,
            "vertical_fov_deg": self.vertical_fov_deg,
            "sensor_size_mm and focal_length_mm": self.sensor_size_mm,
            "intrinsics": self.intrinsics,
        }
        given = [name for name, value in choices.items() if value is not None]
        if len(given) > 1:
            raise ValueError(f"the lens is given in {len(given)} ways ({', '.join(given)}); keep one of them")
        if any(self.distortion):
            try:
                self.lens().directions()
            except SkerryError as error:
                raise ValueError(str(error)) from None
        return self

    def lens(self) -> Lens:
        """Return the lens that the settings describe."""
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

    @property
    def display(self) -> tuple[Display, ...]:  # type: ignore[override]
        focal_length = float(self.lens().matrix[1, 1])
        fov_deg = float(np.degrees(2 * np.arctan(0.5 * self.height / focal_length)))
        preview = None
        if (window := self.preview) is not None:
            height = window.height or max(round(window.width * self.height / self.width), 1)
            preview = (window.left, window.top, window.width, height)
        return (Image("image", quality="jpeg_quality", vertical_fov_deg=fov_deg, preview=preview),)

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(
            **{"width": 12, "height": 8, "detections": True, "read_noise": 0.01, "shutter": 0.01} | settings
        )

    def build(self) -> CameraSensor:
        return CameraSensor(self)
