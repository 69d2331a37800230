"""What a picture shows of each thing: its box, how many of its pixels are seen, and how many there would be of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import Pose
from skerry.core.kernels import kernel
from skerry.rays.lens import Lens
from skerry.rays.scene import Frame, RayScene

NEAREST: Final = 0.01  # m; triangles that come closer to the camera than this are left out


@dataclass(frozen=True)
class Detection:
    """A thing in a picture, as it truly is."""

    name: str  # of the robot or object
    category: str
    x: int  # box of its visible pixels: left, top, width and height, pixels
    y: int
    width: int
    height: int
    pixels: int  # of it that are seen
    visible: float  # share of its pixels that are seen, of those that would be if nothing stood before it
    distance: float  # mean depth of what is seen of it, m along the optical axis
    transmission: float  # share of its green light that the water lets through


@kernel
def _boxes(bodies: Any, depth: Any, owners: Any, boxes: Any, sums: Any) -> None:
    """Of each owner: left, top, right, bottom and count; and the sum of its depths."""
    for y in range(bodies.shape[0]):
        for x in range(bodies.shape[1]):
            if bodies[y, x] >= 0:
                o = owners[bodies[y, x]]
                if o >= 0:
                    boxes[o, 0], boxes[o, 1] = min(boxes[o, 0], x), min(boxes[o, 1], y)
                    boxes[o, 2], boxes[o, 3] = max(boxes[o, 2], x), max(boxes[o, 3], y)
                    boxes[o, 4] += 1
                    sums[o] += depth[y, x]


@kernel
def _fill(pixels: Any, faces: Any, covered: Any) -> None:
    """Mark the pixels whose middle lies in a triangle; `pixels` are NaN for corners that are not before the camera."""
    height, width = covered.shape
    for f in range(len(faces)):
        ax, ay = pixels[faces[f, 0], 0], pixels[faces[f, 0], 1]
        bx, by = pixels[faces[f, 1], 0], pixels[faces[f, 1], 1]
        cx, cy = pixels[faces[f, 2], 0], pixels[faces[f, 2], 1]
        if not np.isfinite(ax + ay + bx + by + cx + cy):
            continue
        left, right = max(min(ax, bx, cx), 0.0), min(max(ax, bx, cx), width - 1.0)
        top, bottom = max(min(ay, by, cy), 0.0), min(max(ay, by, cy), height - 1.0)
        for y in range(int(np.ceil(top)), int(np.floor(bottom)) + 1):
            for x in range(int(np.ceil(left)), int(np.floor(right)) + 1):
                u = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
                v = (cx - bx) * (y - by) - (cy - by) * (x - bx)
                w = (ax - cx) * (y - cy) - (ay - cy) * (x - cx)
                if (u >= 0 and v >= 0 and w >= 0) or (u <= 0 and v <= 0 and w <= 0):
                    covered[y, x] = True


def _silhouette(scene: RayScene, frame: Frame, parts: list[int], lens: Lens, pose: Pose) -> int:
    """How many pixels the bodies cover if nothing stands before them; as through air, without refraction."""
    covered = np.zeros((lens.height, lens.width), np.bool_)
    back = pose.inverse()
    for part in parts:
        mesh = scene.bodies[part].mesh
        place = frame.places[part].reshape(3, 4).astype(np.float64)
        points = back.transform(mesh.vertices @ place[:, :3].T + place[:, 3])
        points[points[:, 2] < NEAREST] = np.nan
        _fill(lens.project(points), np.ascontiguousarray(mesh.faces, np.int64), covered)
    return int(covered.sum())


def detect(
    scene: RayScene,
    frame: Frame,
    lens: Lens,
    pose: Pose,
    bodies: NDArray[np.int16],
    depth: NDArray[np.float32],
    attenuation: float,
) -> tuple[Detection, ...]:
    """The robots and objects of which a picture shows at least a pixel; `attenuation` is 0 in air, 1/m."""
    names = list(dict.fromkeys(body.owner for body in scene.bodies if body.owner))
    owners = np.full(len(scene.names), -1)  # ropes are nobody's
    owners[: len(scene.bodies)] = [names.index(body.owner) if body.owner else -1 for body in scene.bodies]
    boxes = np.tile(np.array([lens.width, lens.height, -1, -1, 0]), (len(names), 1))
    sums = np.zeros(len(names))
    _boxes(bodies, depth, owners, boxes, sums)
    found = []
    for number, name in enumerate(names):
        left, top, right, bottom, count = (int(value) for value in boxes[number])
        if count == 0:
            continue
        parts = [i for i, body in enumerate(scene.bodies) if body.owner == name]
        whole = max(count, _silhouette(scene, frame, parts, lens, pose))
        distance = float(sums[number]) / count
        found.append(
            Detection(
                name,
                scene.bodies[parts[0]].category or name,
                left,
                top,
                right - left + 1,
                bottom - top + 1,
                count,
                count / whole,
                distance,
                float(np.exp(-attenuation * distance)),
            )
        )
    return tuple(found)
