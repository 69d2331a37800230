"""Sensors as Gazebo describes them, in a URDF's <gazebo> or in SDF: cameras, IMU, GPS, planar and turning lidars."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from skerry.core.frames import Pose, normalise, quaternion_to_rpy, rpy_to_quaternion
from skerry.formats.urdf import UrdfRobot
from skerry.importers.draft import Part, rounded, tidy

HIGHEST_RATE = 200.0
"""Hz: a sensor cannot be faster than the step, which is 1/200 s unless a scenario says otherwise."""
USUAL_RATE = 10.0  # Hz, where the file does not say

CAMERAS = {"camera", "depth", "depth_camera", "rgbd", "rgbd_camera", "wideanglecamera", "wide_angle_camera"}
LIDARS = {"ray", "gpu_ray", "lidar", "gpu_lidar"}
KINDS = {"imu": "imu", "gps": "gps", "navsat": "gps", "dvl": "dvl", "magnetometer": "magnetometer"}


def pose_of(element: Element | None) -> Pose:
    """The `<pose>` of an element, `x y z roll pitch yaw`; the identity where there is none.

    Angles may be degrees, or the rotation a quaternion (SDF 1.9).
    """
    pose = None if element is None else element.find("pose")
    numbers = [float(word) for word in ("" if pose is None else pose.text or "").split()]
    if pose is None or not numbers:
        return Pose.identity()
    if pose.get("rotation_format") == "quat_xyzw":
        return Pose(np.array(numbers[:3]), normalise(np.array(numbers[3:7])))
    angles = np.array(numbers[3:6])
    return Pose(
        np.array(numbers[:3]), rpy_to_quaternion(np.radians(angles) if pose.get("degrees") in {"1", "true"} else angles)
    )


def mount(pose: Pose) -> dict[str, object]:
    """A pose on a link, as a part's settings have it."""
    place: dict[str, object] = {}
    if np.abs(pose.position).max() > 5e-5:
        place["position"] = [tidy(value) for value in pose.position]
    rpy = np.degrees(quaternion_to_rpy(pose.orientation))
    angles = zip(("roll_deg", "pitch_deg", "yaw_deg"), map(tidy, rpy), strict=True)
    return place | {word: angle for word, angle in angles if angle}


def urdf_sensors(root: Element, robot: UrdfRobot, notes: list[str]) -> Iterator[Part]:
    """Sensors of the <gazebo> extensions of a URDF."""
    for extension in root.findall("gazebo"):
        link = extension.get("reference", "")
        for sensor in extension.findall("sensor"):
            if link not in robot.links:
                notes.append(f"sensor {sensor.get('name')} sits on {link!r}, which is no link; left out")
            elif part := sensor_part(sensor, link, pose_of(sensor), notes):
                yield part
        plugins = [*extension.findall("plugin"), *extension.findall("sensor/plugin")]
        notes += [f"Gazebo plugin {plugin.get('filename')} left out" for plugin in plugins]


def sensor_part(sensor: Element, link: str, place: Pose, notes: list[str]) -> Part | None:
    """A sensor that Skerry has too; of others a note is made."""
    name, kind = sensor.get("name", "sensor"), sensor.get("type", "").lower()
    settings: dict[str, object] = {"link": link, "frequency": _rate(sensor, name, notes), **mount(place)}
    if kind in CAMERAS:
        camera = sensor.find("camera")
        settings = {"kind": "camera", **settings, **(_lens(camera) if camera is not None else {})}
        settings |= mount(place @ pose_of(camera))
    elif kind in LIDARS:
        settings = {"kind": "lidar", **settings, **_scan(sensor, name, notes)}
    elif kind in KINDS:
        settings = {"kind": KINDS[kind], **settings}
        if kind != "dvl":
            notes.append(f"sensor {name}: its noise is Skerry's own, not that of the file")
    else:
        notes.append(f"sensor {name}: Skerry has nothing simple for the type {kind!r}; left out")
        return None
    if settings["kind"] == "gps":
        notes.append(f"sensor {name} is a GPS: the scenario needs a `reference`, its place on Earth")
    return Part("sensors", name, settings)


def _rate(sensor: Element, name: str, notes: list[str]) -> float | int:
    rate = float(sensor.findtext("update_rate") or 0.0)
    if rate <= 0.0:
        notes.append(f"sensor {name} has no update_rate: {USUAL_RATE:g} Hz [guess]")
        rate = USUAL_RATE
    elif rate > HIGHEST_RATE:
        notes.append(f"sensor {name}: {rate:g} Hz is faster than the usual step allows; {HIGHEST_RATE:g} Hz instead")
        rate = HIGHEST_RATE
    return int(rate) if rate.is_integer() else rate


def _lens(camera: Element) -> dict[str, object]:
    lens: dict[str, object] = {}
    if (fov := camera.findtext("horizontal_fov")) is not None:
        lens["horizontal_fov_deg"] = rounded(math.degrees(float(fov)), 6)
    for word in ("width", "height"):
        if (count := camera.findtext(f"image/{word}")) is not None:
            lens[word] = int(float(count))
    return lens


def _scan(sensor: Element, name: str, notes: list[str]) -> dict[str, object]:
    """A planar scanner by its rays, one of several channels by their spread."""
    ray = next((found for word in ("ray", "lidar") if (found := sensor.find(word)) is not None), Element("ray"))

    def number(path: str, otherwise: float) -> float:
        return float(ray.findtext(path) or otherwise)

    low, high = number("scan/horizontal/min_angle", -math.pi), number("scan/horizontal/max_angle", math.pi)
    scan: dict[str, object] = {
        "pattern": "planar",
        "columns": int(number("scan/horizontal/samples", 360)),
        "fov_deg": rounded(min(math.degrees(high - low), 360.0), 6),
        "min_range": number("range/min", 0.1),
        "max_range": number("range/max", 30.0),
    }
    if abs(high + low) > 1e-3:
        notes.append(f"sensor {name}: its fan is not even about x; Skerry's is")
    if (channels := int(number("scan/vertical/samples", 1))) > 1:
        lowest, highest = number("scan/vertical/min_angle", 0.0), number("scan/vertical/max_angle", 0.0)
        scan |= {"pattern": "vlp_16", "channels": channels, "lowest_deg": rounded(math.degrees(lowest), 6)}
        scan["highest_deg"] = rounded(math.degrees(highest), 6)
    return scan
