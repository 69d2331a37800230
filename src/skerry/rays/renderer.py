"""Pictures by rays: colour in linear light, depth, bodies and labels in one pass, with sun, shadows, sky and water."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import Pose
from skerry.core.kernels import kernel
from skerry.rays.lens import Lens
from skerry.rays.light import FOCUS, light_numbers
from skerry.rays.packets import packet_memory
from skerry.rays.pixel_block import (
    BLOCK,
    COLOUR,
    GLOW,
    LABEL,
    LANE_ROWS,
    MATERIAL_COLUMNS,
    TEXTURE,
    WHOLE_ROWS,
    aim,
    trace_lanes,
)
from skerry.rays.scene import Frame, RayScene
from skerry.rays.sea_view import SeaView
from skerry.rays.shading import cast_shadows, face_sun, focus_sun, light_up, paint, paint_sky, write
from skerry.rays.smooth_normals import corner_normals
from skerry.rays.surface import HIGH, LEVEL
from skerry.rays.textures import draw_patterns, texture_numbers
from skerry.rays.threads import in_tiles, processors
from skerry.rays.tiles import new_tiles, next_tile
from skerry.rays.view import RayView, tile_order
from skerry.rays.water_path import cross_surface, dim_first, dim_second, reach_surface
from skerry.water.daylight import Daylight
from skerry.water.optics import Optics

TILE: Final = 4 * BLOCK  # a third of a millisecond, after which others may have the processor


@dataclass(eq=False)
class Picture:
    """What a camera sees, before its electronics."""

    light: NDArray[np.float32]  # (height, width, 3), linear: 1 is a white surface under a sun in the zenith
    depth: NDArray[np.float32]  # (height, width), m along the optical axis; infinite where nothing is
    bodies: NDArray[np.int16]  # (height, width), places in the scene's names; −1 nothing, −2 the water's surface
    labels: NDArray[np.uint8]  # (height, width), the labels of materials


@dataclass(frozen=True, eq=False)
class Conditions:
    """What a picture is taken in: daylight, water, and where its surface is."""

    daylight: Daylight
    optics: Optics
    sea: SeaView
    time: float = 0.0  # s, by which caustics move
    caustics: float = 0.0  # how strong they are, 0 to 1


@kernel
def render(
    words: Any,
    packet: Any,
    mask: int,
    origin: Any,
    turn: Any,
    port: float,
    numbers: Any,
    heights: Any,
    slopes: Any,
    far: float,
    pixel: float,
    light: Any,
    directions: Any,
    order: Any,
    turns: Any,
    places: Any,
    first_faces: Any,
    face_materials: Any,
    corners: Any,
    materials: Any,
    patterns: Any,
    shadows: bool,
    tiled: bool,
    add: bool,
    picture: Any,
    depth: Any,
    bodies: Any,
    labels: Any,
    tiles: Any,
) -> None:
    """Make pixels, in the order of `directions`, tile by tile."""
    one = np.float32
    lane = np.zeros((LANE_ROWS, BLOCK), np.float32)
    whole = np.zeros((WHOLE_ROWS, BLOCK), np.int32)
    surface = np.empty(BLOCK, np.float32)
    end, level, cell = one(far), one(numbers[LEVEL]), one(pixel)
    dry = origin[2] - port > numbers[HIGH]
    count = directions.shape[1]
    low = next_tile(tiles, TILE)
    while low < count:
        high = min(low + TILE, count)
        for first in range(low, high, BLOCK):
            n = min(BLOCK, high - first)
            aim(lane, whole, directions, first, n, origin, turn, one(port), numbers, heights, end)
            trace_lanes(words, packet, mask, lane, whole, n, True, origin, turns, first_faces, face_materials, corners)
            reach_surface(lane, whole, n, numbers, heights, surface)
            if not dry:
                dim_first(lane, whole, light, n, level, surface)
            bent = cross_surface(lane, whole, light, n, surface, numbers, slopes, end, patterns)
            if bent > 0:
                trace_lanes(
                    words,
                    packet,
                    mask,
                    lane,
                    whole,
                    bent,
                    bent == n,
                    origin,
                    turns,
                    first_faces,
                    face_materials,
                    corners,
                )
                dim_second(lane, whole, light, n)
            paint_sky(lane, whole, light, n, patterns)
            if len(turns) > 0:
                paint(lane, whole, n, cell, materials, patterns, turns, places)
            face_sun(lane, whole, light, n, level)
            if shadows:
                cast_shadows(words, packet, lane, whole, light, n, end, tiled)
            if light[FOCUS] > 0.0:
                focus_sun(lane, whole, light, n, level, cell, patterns)
            light_up(lane, whole, light, n, level)
            write(lane, whole, n, materials, directions, order, first, add, picture, depth, bodies, labels)
        low = next_tile(tiles, TILE)


@dataclass(eq=False)
class _Looks:
    """How the bodies of a scene look."""

    corners: NDArray[np.int16]  # (faces, 9)
    materials: NDArray[np.float32]  # (materials, MATERIAL_COLUMNS)


_KNOWN: WeakKeyDictionary[RayScene, _Looks] = WeakKeyDictionary()
_LOCK = Lock()


def _looks(scene: RayScene) -> _Looks:
    """Made once per scene, when a camera first sees it."""
    with _LOCK:
        if scene not in _KNOWN:
            corners = [corner_normals(body.mesh) for body in scene.bodies]
            table = np.zeros((len(scene.materials), MATERIAL_COLUMNS), np.float32)
            for row, named, glow in zip(table, scene.materials, scene.glows, strict=True):
                row[COLOUR : COLOUR + 3] = linear_light(np.array(named.colour))
                row[TEXTURE : TEXTURE + 3] = texture_numbers(named.material.texture, named.material.texture_size)
                row[LABEL] = named.material.label
                row[GLOW] = glow
            _KNOWN[scene] = _Looks(np.concatenate(corners) if corners else np.zeros((0, 9), np.int16), table)
        return _KNOWN[scene]


def linear_light(srgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """What sRGB values from 0 to 1 stand for (IEC 61966-2-1)."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


class Renderer:
    """Makes pictures through one lens; the light of a picture is overwritten by the next, all else is the picture's."""

    def __init__(self, lens: Lens, far: float = 1000.0, port: float = 0.0, shadows: bool = True) -> None:
        self.lens = lens
        self._far = far
        self._port = port
        self._shadows = shadows
        self._order = tile_order(lens.height, lens.width)
        rays = lens.directions().reshape(-1, 3)[self._order]
        self._directions = np.ascontiguousarray(rays.T.astype(np.float32))
        count = lens.width * lens.height
        self._light = np.zeros((count, 3), np.float32)
        self._packet = packet_memory()

    def render(
        self,
        view: RayView,
        pose: Pose,
        conditions: Conditions,
        see_self: bool = False,
        threads: int = 0,
        add: bool = False,
    ) -> Picture:
        """The picture from a pose, whose axes are the camera's own: x right, y down, z forward.

        With `add`, light is added to that of the picture before; depth, bodies and labels are always the new ones. The
        result does not depend on `threads`; 0 means all processors.
        """
        scene, frame = view.scene, view.frame
        looks = _looks(scene)
        light = light_numbers(conditions.daylight, conditions.optics, conditions.caustics, conditions.time)
        turn = np.ascontiguousarray(pose.rotation.astype(np.float32))
        mask = view.mask(see_self)
        count = len(self._light)
        # new ones, as to copy them would hold up whoever waits for the interpreter
        depth, bodies, labels = np.empty(count, np.float32), np.empty(count, np.int16), np.empty(count, np.uint8)

        def run(packet: NDArray[np.float32], tiles: NDArray[np.int64]) -> None:
            self._run(
                frame, scene, looks, packet, mask, pose, turn, conditions.sea, light, add, depth, bodies, labels, tiles
            )

        if threads == 1 or count < 2 * TILE or processors() == 1:
            run(self._packet, new_tiles(shared=False))
        else:
            in_tiles(run)
        shape = (self.lens.height, self.lens.width)
        return Picture(
            self._light.reshape(*shape, 3),
            depth.reshape(shape),
            bodies.reshape(shape),
            labels.reshape(shape),
        )

    def _run(
        self,
        frame: Frame,
        scene: RayScene,
        looks: _Looks,
        packet: NDArray[np.float32],
        mask: int,
        pose: Pose,
        turn: NDArray[np.float32],
        sea: SeaView,
        light: NDArray[np.float32],
        add: bool,
        depth: NDArray[np.float32],
        bodies: NDArray[np.int16],
        labels: NDArray[np.uint8],
        tiles: NDArray[np.int64],
    ) -> None:
        render(
            frame.words,
            packet,
            mask,
            pose.position,
            turn,
            self._port,
            sea.patch.numbers,
            sea.patch.heights,
            sea.slopes,
            self._far,
            self.lens.pixel_angle,
            light,
            self._directions,
            self._order,
            frame.turns,
            frame.places,
            scene.first_faces,
            scene.face_materials,
            looks.corners,
            looks.materials,
            draw_patterns(),
            self._shadows,
            self.lens.width % 4 == 0 and self.lens.height % 2 == 0,
            add,
            self._light,
            depth,
            bodies,
            labels,
            tiles,
        )
