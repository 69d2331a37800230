"""Reader of Gazebo sensors in the <gazebo> elements of a URDF or in SDF: cameras, IMU, GPS, lidars and others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from skerry.core.frames import Pose, normalise, quaternion_to_rpy, rpy_to_quaternion
from skerry.formats.urdf import UrdfRobot
from skerry.importers.vehicle_draft import PartDraft, round_decimals, round_digits

MAX_RATE = 200.0
"""Highest rate of a sensor, Hz: one reading per step, which is 1/200 s by default."""
DEFAULT_RATE = 10.0
"""Rate of a sensor for which the file gives none, Hz."""

CAMERAS = {"camera", "depth", "depth_camera", "rgbd", "rgbd_camera", "wideanglecamera", "wide_angle_camera"}
LIDARS = {"ray", "gpu_ray", "lidar", "gpu_lidar"}
KINDS = {"imu": "imu", "gps": "gps", "navsat": "gps", "dvl": "dvl", "magnetometer": "magnetometer"}


def read_pose(element: Element | None) -> Pose:
    """Return the `<pose>` of an element, `x y z roll pitch yaw`, or the identity if it has none.

    SDF 1.9 allows angles in degrees and quaternions.
    """
    pose = None if element is None else element.find("pose")
    numbers = [float(text) for text in ("" if pose is None else pose.text or "").split()]
    if pose is None or not numbers:
        return Pose.identity()
    if pose.get("rotation_format") == "quat_xyzw":
        return Pose(np.array(numbers[:3]), normalise(np.array(numbers[3:7])))
    angles = np.array(numbers[3:6])
    return Pose(
        np.array(numbers[:3]), rpy_to_quaternion(np.radians(angles) if pose.get("degrees") in {"1", "true"} else angles)
    )


def mount_settings(pose: Pose) -> dict[str, object]:
    """Return a pose on a link as settings of a part: `position`, `roll_deg`, `pitch_deg`, `yaw_deg`."""
    settings: dict[str, object] = {}
    if np.abs(pose.position).max() > 5e-5:
        settings["position"] = [round_decimals(value) for value in pose.position]
    rpy = np.degrees(quaternion_to_rpy(pose.orientation))
    angles = zip(("roll_deg", "pitch_deg", "yaw_deg"), map(round_decimals, rpy), strict=True)
    return settings | {name: angle for name, angle in angles if angle}


def urdf_sensors(root: Element, robot: UrdfRobot, notes: list[str]) -> Iterator[PartDraft]:
    """Yield the sensors of the <gazebo> elements of a URDF."""
    for extension in root.findall("gazebo"):
        link = extension.get("reference", "")
        for sensor in extension.findall("sensor"):
            if link not in robot.links:
                notes.append(f"sensor {sensor.get('name')}: there is no link {link!r}; left out")
            elif part := sensor_part(sensor, link, read_pose(sensor), notes):
                yield part
        plugins = [*extension.findall("plugin"), *extension.findall("sensor/plugin")]
        notes += [f"Gazebo plugin {plugin.get('filename')} left out" for plugin in plugins]


def sensor_part(sensor: Element, link: str, pose: Pose, notes: list[str]) -> PartDraft | None:
    """Return the part for a Gazebo sensor, or None with a note if Skerry has no such sensor.

    Args:
        sensor: Element of the sensor.
        link: Link that carries the sensor.
        pose: Pose of the sensor on the link.
        notes: List to which notes are added.
    """
    name, kind = sensor.get("name", "sensor"), sensor.get("type", "").lower()
    settings: dict[str, object] = {"link": link, "frequency": _rate(sensor, name, notes), **mount_settings(pose)}
    if kind in CAMERAS:
        camera = sensor.find("camera")
        settings = {"kind": "camera", **settings, **(_lens(camera) if camera is not None else {})}
        settings |= mount_settings(pose @ read_pose(camera))
    elif kind in LIDARS:
        settings = {"kind": "lidar", **settings, **_scan(sensor, name, notes)}
    elif kind in KINDS:
        settings = {"kind": KINDS[kind], **settings}
        if kind != "dvl":
            notes.append(f"sensor {name}: Skerry's default noise is used, not that of the file")
    else:
        notes.append(f"sensor {name}: Skerry has no counterpart for the type {kind!r}; left out")
        return None
    if settings["kind"] == "gps":
        notes.append(f"sensor {name} is a GPS: the scenario needs a `reference`, its position on Earth")
    return PartDraft("sensors", name, settings)


def _rate(sensor: Element, name: str, notes: list[str]) -> float | int:
    rate = float(sensor.findtext("update_rate") or 0.0)
    if rate <= 0.0:
        notes.append(f"sensor {name} has no update_rate: {DEFAULT_RATE:g} Hz is used [guess]")
        rate = DEFAULT_RATE
    elif rate > MAX_RATE:
        notes.append(f"sensor {name}: {rate:g} Hz is faster than the default step; {MAX_RATE:g} Hz is used")
        rate = MAX_RATE
    return int(rate) if rate.is_integer() else rate


def _lens(camera: Element) -> dict[str, object]:
    lens: dict[str, object] = {}
    if (fov := camera.findtext("horizontal_fov")) is not None:
        lens["horizontal_fov_deg"] = round_digits(math.degrees(float(fov)), 6)
    for side in ("width", "height"):
        if (count := camera.findtext(f"image/{side}")) is not None:
            lens[side] = int(float(count))
    return lens


def _scan(sensor: Element, name: str, notes: list[str]) -> dict[str, object]:
    """Return the settings of a planar lidar, or of a spinning lidar if it has several channels."""
    ray = next((found for tag in ("ray", "lidar") if (found := sensor.find(tag)) is not None), Element("ray"))

    def number(path: str, default: float) -> float:
        return float(ray.findtext(path) or default)

    low, high = number("scan/horizontal/min_angle", -math.pi), number("scan/horizontal/max_angle", math.pi)
    scan: dict[str, object] = {
        "pattern": "planar",
        "columns": int(number("scan/horizontal/samples", 360)),
        "fov_deg": round_digits(min(math.degrees(high - low), 360.0), 6),
        "min_range": number("range/min", 0.1),
        "max_range": number("range/max", 30.0),
    }
    if abs(high + low) > 1e-3:
        notes.append(f"sensor {name}: its fan is not symmetric about x; it is made symmetric")
    if (channels := int(number("scan/vertical/samples", 1))) > 1:
        lowest, highest = number("scan/vertical/min_angle", 0.0), number("scan/vertical/max_angle", 0.0)
        scan |= {"pattern": "vlp_16", "channels": channels, "lowest_deg": round_digits(math.degrees(lowest), 6)}
        scan["highest_deg"] = round_digits(math.degrees(highest), 6)
    return scan
