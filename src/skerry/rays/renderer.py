"""Ray-traced images: linear colour, depth, bodies and labels in one pass, with sun, shadows, sky and water."""

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
from skerry.rays.light import FOCUS, light_array
from skerry.rays.packets import allocate_packet
from skerry.rays.pixel_block import (
    BLOCK,
    COLOUR,
    FLOAT_ROWS,
    GLOW,
    INT_ROWS,
    LABEL,
    MATERIAL_COLUMNS,
    TEXTURE,
    aim_rays,
    trace_block,
)
from skerry.rays.ray_caster import RayCaster, tile_order
from skerry.rays.scene import Frame, RayScene
from skerry.rays.sea_view import SeaView
from skerry.rays.shading import (
    add_sunlight_and_skylight,
    apply_caustics,
    cast_shadows,
    find_sun_incidence,
    paint,
    paint_sky,
    write_pixels,
)
from skerry.rays.smooth_normals import corner_normals
from skerry.rays.surface import HIGH, LEVEL
from skerry.rays.textures import draw_patterns, texture_parameters
from skerry.rays.threads import processors, run_on_tiles
from skerry.rays.tiles import new_tile_counter, next_tile
from skerry.rays.water_path import attenuate_first_leg, attenuate_second_leg, cross_surface, intersect_surface
from skerry.water.daylight import Daylight
from skerry.water.optics import Optics

TILE: Final = 4 * BLOCK  # pixels; takes a third of a millisecond, after which the thread yields


@dataclass(eq=False)
class RenderedImage:
    """Image before exposure and sensor noise."""

    light: NDArray[np.float32]  # (height, width, 3), linear; 1 is a white surface under a sun at the zenith
    depth: NDArray[np.float32]  # (height, width), m along the optical axis; infinite where nothing was hit
    bodies: NDArray[np.int16]  # (height, width), indices into the scene's names; −1 nothing, −2 the water surface
    labels: NDArray[np.uint8]  # (height, width), the labels of materials


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions of an image: daylight, optical properties of the water, and its surface."""

    daylight: Daylight
    optics: Optics
    sea: SeaView
    time: float = 0.0  # time for the motion of caustics, s
    caustics: float = 0.0  # strength of caustics, 0 to 1


@kernel
def render(
    context: Any,
    packet: Any,
    mask: int,
    origin: Any,
    rotation: Any,
    port: float,
    numbers: Any,
    heights: Any,
    slopes: Any,
    far: float,
    pixel: float,
    light: Any,
    directions: Any,
    order: Any,
    rotations: Any,
    transforms: Any,
    first_faces: Any,
    face_materials: Any,
    corners: Any,
    materials: Any,
    patterns: Any,
    shadows: bool,
    tiled: bool,
    add: bool,
    image: Any,
    depth: Any,
    bodies: Any,
    labels: Any,
    tiles: Any,
) -> None:
    """Render pixels in the order of `directions`, tile by tile."""
    one = np.float32
    floats = np.zeros((FLOAT_ROWS, BLOCK), np.float32)
    ints = np.zeros((INT_ROWS, BLOCK), np.int32)
    surface = np.empty(BLOCK, np.float32)
    end, level, cell = one(far), one(numbers[LEVEL]), one(pixel)
    dry = origin[2] - port > numbers[HIGH]
    count = directions.shape[1]
    low = next_tile(tiles, TILE)
    while low < count:
        high = min(low + TILE, count)
        for first in range(low, high, BLOCK):
            n = min(BLOCK, high - first)
            aim_rays(floats, ints, directions, first, n, origin, rotation, one(port), numbers, heights, end)
            trace_block(
                context, packet, mask, floats, ints, n, True, origin, rotations, first_faces, face_materials, corners
            )
            intersect_surface(floats, ints, n, numbers, heights, surface)
            if not dry:
                attenuate_first_leg(floats, ints, light, n, level, surface)
            bent = cross_surface(floats, ints, light, n, surface, numbers, slopes, end, patterns)
            if bent > 0:
                trace_block(
                    context,
                    packet,
                    mask,
                    floats,
                    ints,
                    bent,
                    bent == n,
                    origin,
                    rotations,
                    first_faces,
                    face_materials,
                    corners,
                )
                attenuate_second_leg(floats, ints, light, n)
            paint_sky(floats, ints, light, n, patterns)
            if len(rotations) > 0:
                paint(floats, ints, n, cell, materials, patterns, rotations, transforms)
            find_sun_incidence(floats, ints, light, n, level)
            if shadows:
                cast_shadows(context, packet, floats, ints, light, n, end, tiled)
            if light[FOCUS] > 0.0:
                apply_caustics(floats, ints, light, n, level, cell, patterns)
            add_sunlight_and_skylight(floats, ints, light, n, level)
            write_pixels(floats, ints, n, materials, directions, order, first, add, image, depth, bodies, labels)
        low = next_tile(tiles, TILE)


@dataclass(eq=False)
class _Appearance:
    """Normals and materials of a scene for the renderer."""

    corners: NDArray[np.int16]  # (faces, 9), `corner_normals`
    materials: NDArray[np.float32]  # (materials, MATERIAL_COLUMNS)


_APPEARANCES: WeakKeyDictionary[RayScene, _Appearance] = WeakKeyDictionary()
_LOCK = Lock()


def _appearance(scene: RayScene) -> _Appearance:
    """Return the appearance of a scene, built on first use."""
    with _LOCK:
        if scene not in _APPEARANCES:
            corners = [corner_normals(body.mesh) for body in scene.bodies]
            table = np.zeros((len(scene.materials), MATERIAL_COLUMNS), np.float32)
            for row, named, glow in zip(table, scene.materials, scene.glows, strict=True):
                row[COLOUR : COLOUR + 3] = linear_light(np.array(named.colour))
                row[TEXTURE : TEXTURE + 3] = texture_parameters(named.material.texture, named.material.texture_size)
                row[LABEL] = named.material.label
                row[GLOW] = glow
            _APPEARANCES[scene] = _Appearance(np.concatenate(corners) if corners else np.zeros((0, 9), np.int16), table)
        return _APPEARANCES[scene]


def linear_light(srgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the linear light of sRGB values from 0 to 1 (IEC 61966-2-1)."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


class Renderer:
    """Renderer of images through one lens. Each image overwrites the `light` array of the previous one, no other array.

    Args:
        lens: Lens of the camera.
        far: Distance up to which bodies are visible, m.
        port: Radius of the dome in front of the lens, where rays start, m.
        shadows: Whether bodies cast shadows.
    """

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
        self._packet = allocate_packet()

    def render(
        self,
        caster: RayCaster,
        pose: Pose,
        conditions: Conditions,
        see_self: bool = False,
        threads: int = 0,
        add: bool = False,
    ) -> RenderedImage:
        """Render an image.

        Args:
            view: Ray caster of the camera's robot.
            pose: Optical pose of the camera in the world: x right, y down, z forward.
            conditions: Daylight and water.
            see_self: Whether the robot that carries the camera is visible.
            threads: 1 for the calling thread only; 0 for all processors. The result is the same.
            add: Whether to add the light to the light of the last image. Depth, bodies and labels are always new.
        """
        scene, frame = caster.scene, caster.frame
        appearance = _appearance(scene)
        light = light_array(conditions.daylight, conditions.optics, conditions.caustics, conditions.time)
        rotation = np.ascontiguousarray(pose.rotation.astype(np.float32))
        mask = caster.mask(see_self)
        count = len(self._light)
        # new arrays for each image, because copies of them would hold the interpreter lock
        depth, bodies, labels = np.empty(count, np.float32), np.empty(count, np.int16), np.empty(count, np.uint8)

        def run(packet: NDArray[np.float32], tiles: NDArray[np.int64]) -> None:
            self._run(
                frame,
                scene,
                appearance,
                packet,
                mask,
                pose,
                rotation,
                conditions.sea,
                light,
                add,
                depth,
                bodies,
                labels,
                tiles,
            )

        if threads == 1 or count < 2 * TILE or processors() == 1:
            run(self._packet, new_tile_counter(shared=False))
        else:
            run_on_tiles(run)
        shape = (self.lens.height, self.lens.width)
        return RenderedImage(
            self._light.reshape(*shape, 3),
            depth.reshape(shape),
            bodies.reshape(shape),
            labels.reshape(shape),
        )

    def _run(
        self,
        frame: Frame,
        scene: RayScene,
        appearance: _Appearance,
        packet: NDArray[np.float32],
        mask: int,
        pose: Pose,
        rotation: NDArray[np.float32],
        sea: SeaView,
        light: NDArray[np.float32],
        add: bool,
        depth: NDArray[np.float32],
        bodies: NDArray[np.int16],
        labels: NDArray[np.uint8],
        tiles: NDArray[np.int64],
    ) -> None:
        render(
            frame.context,
            packet,
            mask,
            pose.position,
            rotation,
            self._port,
            sea.patch.numbers,
            sea.patch.heights,
            sea.slopes,
            self._far,
            self.lens.pixel_angle,
            light,
            self._directions,
            self._order,
            frame.rotations,
            frame.transforms,
            scene.first_faces,
            scene.face_materials,
            appearance.corners,
            appearance.materials,
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
