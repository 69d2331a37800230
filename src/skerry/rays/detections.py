"""Ground-truth detections of an image: bounding box, visible pixels and visible share of each robot and object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import Pose
from skerry.core.kernels import kernel
from skerry.rays.lens import Lens
from skerry.rays.scene import Frame, RayScene

MIN_DEPTH: Final = 0.01  # m; triangles with a corner closer to the camera than this are omitted


@dataclass(frozen=True)
class ImageDetection:
    """Robot or object in an image, from ground truth."""

    name: str  # name of the robot or object
    category: str  # class of the robot or object
    x: int  # left edge of the box of its visible pixels, pixels
    y: int  # top edge of the box, pixels
    width: int  # width of the box, pixels
    height: int  # height of the box, pixels
    pixels: int  # number of its visible pixels
    visible: float  # visible pixels divided by the pixels that it would cover if nothing occluded it
    distance: float  # mean depth of its visible pixels, m along the optical axis
    transmission: float  # share of its green light that passes through the water


@kernel
def _boxes(bodies: Any, depth: Any, owners: Any, boxes: Any, sums: Any) -> None:
    """Write left, top, right, bottom and pixel count of each owner, and the sum of its depths."""
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
    """Mark the pixels whose centre lies in a triangle. `pixels` is NaN for corners behind the camera."""
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


def _count_covered_pixels(scene: RayScene, frame: Frame, parts: list[int], lens: Lens, pose: Pose) -> int:
    """Return the number of pixels that the bodies would cover without occlusion and refraction."""
    covered = np.zeros((lens.height, lens.width), np.bool_)
    back = pose.inverse()
    for part in parts:
        mesh = scene.bodies[part].mesh
        transform = frame.transforms[part].reshape(3, 4).astype(np.float64)
        points = back.transform(mesh.vertices @ transform[:, :3].T + transform[:, 3])
        points[points[:, 2] < MIN_DEPTH] = np.nan
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
) -> tuple[ImageDetection, ...]:
    """Return the robots and objects of which at least one pixel is visible.

    Args:
        scene: Scene of the image.
        frame: Frame of the image.
        lens: Lens of the camera.
        pose: Optical pose of the camera in the world.
        bodies: Body index of each pixel, (height, width).
        depth: Depth of each pixel, (height, width), m.
        attenuation: Beam attenuation of green light, 1/m; 0 in air.
    """
    names = list(dict.fromkeys(body.owner for body in scene.bodies if body.owner))
    owners = np.full(len(scene.names), -1)  # ropes have no owner
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
        whole = max(count, _count_covered_pixels(scene, frame, parts, lens, pose))
        distance = float(sums[number]) / count
        found.append(
            ImageDetection(
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
