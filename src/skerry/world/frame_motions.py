"""Relative poses of frames on moving bodies, for all frames of a world in one native call."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import Pose
from skerry.core.kernels import kernel
from skerry.core.rotations import rotate_to_frame, rotate_to_world

NO_BODY = -1
"""Body of a frame that is fixed in the world."""

BodyFrame: TypeAlias = tuple[int, Pose]
"""Frame: the body that carries it, or `NO_BODY`, and its fixed pose on that body or in the world."""


@kernel
def _relate(motion: Any, bodies: Any, offsets: Any, found: Any) -> None:
    """Compute the pose of the second frame of each pair in the first, (samples, n, 7): position and quaternion.

    `motion` (samples, bodies, ≥ 7) holds the poses of the bodies in the world. Each frame is on one of `bodies` (n, 2),
    at the pose `offsets` (n, 2, 7).
    """
    both = np.empty((2, 7))  # in the world
    for i, k in np.ndindex((len(motion), len(bodies))):
        for side in range(2):
            body = bodies[k, side]
            both[side] = offsets[k, side]
            if body >= 0:
                ox, oy, oz, a, b, c, d = both[side]
                px, py, pz, x, y, z, w = motion[i, body, :7]
                tx, ty, tz = rotate_to_world(x, y, z, w, ox, oy, oz)
                both[side, 0], both[side, 1], both[side, 2] = px + tx, py + ty, pz + tz
                both[side, 3] = w * a + x * d + y * c - z * b
                both[side, 4] = w * b - x * c + y * d + z * a
                both[side, 5] = w * c + x * b - y * a + z * d
                both[side, 6] = w * d - x * a - y * b - z * c
        px, py, pz, x, y, z, w = both[0]
        qx, qy, qz, a, b, c, d = both[1]
        found[i, k, 0], found[i, k, 1], found[i, k, 2] = rotate_to_frame(x, y, z, w, qx - px, qy - py, qz - pz)
        found[i, k, 3] = w * a - x * d - y * c + z * b
        found[i, k, 4] = w * b + x * c - y * d - z * a
        found[i, k, 5] = w * c - x * b + y * a - z * d
        found[i, k, 6] = w * d + x * a + y * b + z * c


class MovingFrames:
    """Pairs of frames; the pose of the second is computed relative to the first."""

    def __init__(self, pairs: list[tuple[BodyFrame, BodyFrame]]) -> None:
        self._bodies = np.array([[body for body, _ in pair] for pair in pairs], np.int64).reshape(-1, 2)
        poses = [[[*pose.position, *pose.orientation] for _, pose in pair] for pair in pairs]
        self._offsets = np.array(poses, np.float64).reshape(-1, 2, 7)

    def relative_poses(self, motions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return position and quaternion of the second frame of each pair in the first, (samples, pairs, 7).

        Args:
            motions: Motions of the bodies, (samples, bodies, ≥ 7).
        """
        found = np.empty((len(motions), len(self._bodies), 7))
        _relate(motions, self._bodies, self._offsets, found)
        return found
