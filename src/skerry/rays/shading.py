"""Kernels of the renderer for sky, materials, sunlight and shadows, and for writing the image."""

from __future__ import annotations

from typing import Any

import numpy as np

from skerry.core.kernels import call4, kernel
from skerry.rays.light import (
    AMBIENT,
    FADING,
    FOCUS,
    ONE,
    SPREADING,
    SUN,
    SUN_LIGHT,
    TIME,
    WET_AMBIENT,
    WET_SUN,
    WET_SUN_LIGHT,
    ZERO,
    fade,
    sky,
)
from skerry.rays.packets import (
    ARGUMENTS,
    DIRECTION,
    FAR,
    MAX_WIDTH,
    NEAR,
    OCCLUDED,
    ORIGIN,
    ROPES,
    ROWS,
    SCENE,
    WIDTH,
    clear_packet,
)
from skerry.rays.pixel_block import (
    ADD,
    ALBEDO,
    BODY,
    COLOUR,
    DX,
    DY,
    DZ,
    END,
    FACTOR,
    GLOW,
    HIT,
    INDICES,
    INFINITE,
    LABEL,
    MATERIAL,
    MAX_DISTANCE,
    MAY_BE_SUNLIT,
    MIN_FACTOR,
    MIRRORED,
    NOTHING,
    NX,
    NY,
    NZ,
    OX,
    OY,
    OZ,
    PATH,
    REFRACTED,
    SUNLIT,
    SURFACE,
    SURFACE_DISTANCE,
    TEXTURE,
    WET,
)
from skerry.rays.rope_hits import intersect_ropes
from skerry.rays.textures import BROAD, SIDE, caustics, texture, version


@kernel
def paint_sky(floats: Any, ints: Any, light: Any, n: int, patterns: Any) -> None:
    """Add the sky where a ray in air hit nothing."""
    for i in range(n):
        if ints[BODY, i] == NOTHING and not ints[WET, i]:
            red, green, blue = sky(light, patterns, floats[DX, i], floats[DY, i], floats[DZ, i])
            floats[ADD, i] += floats[FACTOR, i] * red
            floats[ADD + 1, i] += floats[FACTOR + 1, i] * green
            floats[ADD + 2, i] += floats[FACTOR + 2, i] * blue


@kernel
def _find_texture_coordinates(floats: Any, low: int, high: int, pixel: Any, rotation: Any, transform: Any) -> None:
    """Write the texture coordinates of pixels of one body, and the pixel widths there, to the rows of ALBEDO."""
    dx, dy, dz, ox, oy, oz = floats[DX], floats[DY], floats[DZ], floats[OX], floats[OY], floats[OZ]
    nx, ny, nz, hit, before = floats[NX], floats[NY], floats[NZ], floats[HIT], floats[SURFACE_DISTANCE]
    along, across, width = floats[ALBEDO], floats[ALBEDO + 1], floats[ALBEDO + 2]
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = (
        rotation[0],
        rotation[1],
        rotation[2],
        rotation[3],
        rotation[4],
        rotation[5],
        rotation[6],
        rotation[7],
        rotation[8],
    )
    x0, y0, z0 = transform[3], transform[7], transform[11]
    for i in range(low, high):
        reach = min(hit[i], MAX_DISTANCE)
        # position and normal in the body's axes; the texture is projected along the dominant axis of the normal
        px, py, pz = ox[i] + reach * dx[i] - x0, oy[i] + reach * dy[i] - y0, oz[i] + reach * dz[i] - z0
        ax = abs(r0 * nx[i] + r3 * ny[i] + r6 * nz[i])
        ay = abs(r1 * nx[i] + r4 * ny[i] + r7 * nz[i])
        az = abs(r2 * nx[i] + r5 * ny[i] + r8 * nz[i])
        x = r0 * px + r3 * py + r6 * pz
        y = r1 * px + r4 * py + r7 * pz
        z = r2 * px + r5 * py + r8 * pz
        steep = az < max(ax, ay)
        along[i] = y if steep and ax > ay else x
        across[i] = z if steep else y
        facing = max(-(dx[i] * nx[i] + dy[i] * ny[i] + dz[i] * nz[i]), np.float32(0.2))
        width[i] = pixel * (before[i] + reach) / facing


@kernel
def _apply_material(floats: Any, low: int, high: int, material: Any, patterns: Any) -> None:
    """Write the reflectance of pixels of one material, and add the material's glow."""
    first, tiles, broad = int(material[TEXTURE]), material[TEXTURE + 1], material[TEXTURE + 2]
    factor, along, across, width = floats[END], floats[ALBEDO], floats[ALBEDO + 1], floats[ALBEDO + 2]
    texels_per_metre = tiles * np.float32(SIDE)
    start = low
    if first == 0:  # PLAIN, which is 1 everywhere
        for i in range(low, high):
            factor[i] = ONE
        start = high
    while start < high:
        # run of pixels that use the same version of the texture
        level, stop = version(width[start] * texels_per_metre), start + 1
        while stop < high and version(width[stop] * texels_per_metre) == level:
            stop += 1
        coarse = version(width[start] * texels_per_metre * BROAD)
        for i in range(start, stop):
            factor[i] = texture(patterns, first, tiles, broad, level, coarse, along[i], across[i])
        start = stop
    for c in range(3):
        albedo, colour = floats[ALBEDO + c], material[COLOUR + c]
        for i in range(low, high):
            albedo[i] = colour * factor[i]
        if material[GLOW] > ZERO:
            glow, add, left = material[GLOW], floats[ADD + c], floats[FACTOR + c]
            for i in range(low, high):
                add[i] += left[i] * glow * albedo[i]


@kernel
def paint(
    floats: Any, ints: Any, n: int, pixel: Any, materials: Any, patterns: Any, rotations: Any, transforms: Any
) -> None:
    """Write the reflectance of the bodies that were hit, by runs of one body and material, which are vectorised."""
    bodies, materials_hit = ints[BODY], ints[MATERIAL]
    low = 0
    while low < n:
        body, material = bodies[low], materials_hit[low]
        high = low + 1
        while high < n and bodies[high] == body and (body < 0 or materials_hit[high] == material):
            high += 1
        if body >= 0:
            _find_texture_coordinates(floats, low, high, pixel, rotations[body], transforms[body])
            _apply_material(floats, low, high, materials[material], patterns)
        low = high


@kernel
def find_sun_incidence(floats: Any, ints: Any, light: Any, n: int, level: Any) -> None:
    """Write the cosine between normal and sun to SUNLIT, and whether a shadow test is worthwhile to MAY_BE_SUNLIT."""
    nx, ny, nz, lit, wet, may_be_lit = (
        floats[NX],
        floats[NY],
        floats[NZ],
        floats[SUNLIT],
        ints[WET],
        ints[MAY_BE_SUNLIT],
    )
    oz, dz, hit, body = floats[OZ], floats[DZ], floats[HIT], ints[BODY]
    red, green, blue = floats[FACTOR], floats[FACTOR + 1], floats[FACTOR + 2]
    x, y, z = light[SUN], light[SUN + 1], light[SUN + 2]
    wx, wy, wz = light[WET_SUN] - x, light[WET_SUN + 1] - y, light[WET_SUN + 2] - z
    deepest = np.float32(4.0) / max(
        light[SPREADING], np.float32(1e-6)
    )  # below this depth less than 2 % of the sunlight is direct
    shines = light[SUN_LIGHT] > ZERO
    for i in range(n):
        share = np.float32(wet[i])
        found = nx[i] * (x + share * wx) + ny[i] * (y + share * wy) + nz[i] * (z + share * wz)
        on_body = body[i] >= 0
        lit[i] = max(found, ZERO) if on_body and shines else ZERO
        deep = share * (level - (oz[i] + min(hit[i], MAX_DISTANCE) * dz[i]))
        strongest = max(red[i], max(green[i], blue[i]))
        may_be_lit[i] = 1 if on_body and shines and found > ZERO and strongest >= MIN_FACTOR and deep < deepest else 0


@kernel
def _test_shadows(context: Any, packet: Any, floats: Any, ints: Any, light: Any, count: int, far: Any) -> None:
    """Set SUNLIT to 0 for the pixels in INDICES that lie in a shadow."""
    w = context[WIDTH]
    tracer, scene, arguments, ropes = context[OCCLUDED], context[SCENE], context[ARGUMENTS], context[ROPES]
    valid = packet[ROWS * MAX_WIDTH :].view(np.int32)
    packet_at, valid_at = packet.ctypes.data, valid.ctypes.data
    for k in range(0, count, w):
        n = min(w, count - k)
        for j in range(w):
            i = ints[INDICES, min(k + j, count - 1)]
            valid[j] = -1 if j < n else 0
            hit = floats[HIT, i]
            sun = WET_SUN if ints[WET, i] else SUN
            # start off the surface by more than the rounding error, so that it does not shade itself
            off = np.float32(2e-3) + np.float32(2e-4) * hit
            for axis in range(3):
                packet[(ORIGIN + axis) * w + j] = (
                    floats[OX + axis, i] + hit * floats[DX + axis, i] + off * floats[NX + axis, i]
                )
                packet[(DIRECTION + axis) * w + j] = light[sun + axis]
            packet[NEAR * w + j] = ZERO
            packet[FAR * w + j] = far
        call4(tracer, valid_at, scene, packet_at, arguments)
        if ropes != 0:
            intersect_ropes(ropes, valid_at, packet_at, w, True, np.nan, np.nan, np.nan)
        for j in range(n):
            if packet[FAR * w + j] < ZERO:
                floats[SUNLIT, ints[INDICES, k + j]] = ZERO


@kernel
def cast_shadows(context: Any, packet: Any, floats: Any, ints: Any, light: Any, n: int, far: Any, tiled: bool) -> None:
    """Set SUNLIT to 0 for pixels in a shadow.

    If the pixels are in tiles of 2 × 4 (`tiled`), every other pixel is tested first, in a chessboard pattern. A pixel
    between them is tested only if its neighbours differ or belong to another body.
    """
    clear_packet(context, packet, 0xFFFFFFFF)
    may_be_lit, lit, body = ints[MAY_BE_SUNLIT], floats[SUNLIT], ints[BODY]
    count = 0
    for i in range(n):
        j = i & 7
        if may_be_lit[i] and (not tiled or ((j ^ (j >> 2)) & 1) == 0):
            ints[INDICES, count] = i
            count += 1
    if count > 0:
        _test_shadows(context, packet, floats, ints, light, count, far)
    if not tiled:
        return
    count = 0
    for i in range(n):
        j = i & 7
        if not may_be_lit[i] or ((j ^ (j >> 2)) & 1) == 0:
            continue
        across = i ^ 4
        near = i - 1 if j & 3 else i + 1
        if (
            across < n
            and near < n
            and may_be_lit[across]
            and may_be_lit[near]
            and body[across] == body[i]
            and body[near] == body[i]
            and (lit[across] > ZERO) == (lit[near] > ZERO)
        ):
            if lit[near] <= ZERO:
                lit[i] = ZERO
        else:
            ints[INDICES, count] = i
            count += 1
    if count > 0:
        _test_shadows(context, packet, floats, ints, light, count, far)


@kernel
def apply_caustics(floats: Any, ints: Any, light: Any, n: int, level: Any, pixel: Any, patterns: Any) -> None:
    """Scale the sunlight under waves by caustics. They are strongest at a few metres of depth."""
    slant_x, slant_y = light[WET_SUN] / light[WET_SUN + 2], light[WET_SUN + 1] / light[WET_SUN + 2]
    for i in range(n):
        if ints[WET, i] and floats[SUNLIT, i] > ZERO:
            hit = floats[HIT, i]
            deep = max(level - (floats[OZ, i] + hit * floats[DZ, i]), ZERO)
            x, y = (
                floats[OX, i] + hit * floats[DX, i] + slant_x * deep,
                floats[OY, i] + hit * floats[DY, i] + slant_y * deep,
            )
            share = light[FOCUS] * (ONE - fade(-deep)) * fade(np.float32(-0.1) * deep)
            width = pixel * (floats[SURFACE_DISTANCE, i] + hit)
            floats[SUNLIT, i] *= ONE + share * (caustics(patterns, x, y, light[TIME], width) - ONE)


@kernel
def add_sunlight_and_skylight(floats: Any, ints: Any, light: Any, n: int, level: Any) -> None:
    """Add to each pixel the sunlight and skylight that its body reflects."""
    hit, z, dz, up = floats[HIT], floats[OZ], floats[DZ], floats[NZ]
    lit, below, wet, straight = floats[SUNLIT], floats[END], ints[WET], floats[NX]
    spreading = light[SPREADING]
    for i in range(n):
        deep = max(level - (z[i] + min(hit[i], MAX_DISTANCE) * dz[i]), ZERO) * np.float32(wet[i])
        below[i] = deep
        straight[i] = fade(-spreading * deep)
    wet_height = light[WET_SUN + 2]
    for c in range(3):
        add, factor, albedo = floats[ADD + c], floats[FACTOR + c], floats[ALBEDO + c]
        fading, dry_sun, dry_sky = light[FADING + c], light[SUN_LIGHT + c], light[AMBIENT + c]
        wet_sun, wet_sky = light[WET_SUN_LIGHT + c], light[WET_AMBIENT + c]
        for i in range(n):
            share = np.float32(wet[i])
            upper = np.float32(0.55) + np.float32(0.45) * up[i]
            sun = straight[i] * lit[i] + (ONE - straight[i]) * wet_height * upper
            beam = dry_sun + share * (wet_sun - dry_sun)
            ambient = dry_sky + share * (wet_sky - dry_sky)
            add[i] += factor[i] * albedo[i] * fade(-fading * below[i]) * (beam * sun + ambient * upper)


@kernel
def write_pixels(
    floats: Any,
    ints: Any,
    n: int,
    materials: Any,
    directions: Any,
    order: Any,
    low: int,
    add: bool,
    image: Any,
    depth: Any,
    bodies: Any,
    labels: Any,
) -> None:
    """Write the block's colours, depths, bodies and labels to the image. With `add`, colours are added to the image."""
    red, green, blue, before, hit = floats[ADD], floats[ADD + 1], floats[ADD + 2], floats[SURFACE_DISTANCE], floats[HIT]
    bodies_hit, paths, materials_hit, along, targets = (
        ints[BODY],
        ints[PATH],
        ints[MATERIAL],
        directions[2, low:],
        order[low:],
    )
    for i in range(n):
        o = np.uint64(targets[i])  # unsigned, so that numba does not test for negative indices
        if add:
            image[o, 0] += red[i]
            image[o, 1] += green[i]
            image[o, 2] += blue[i]
        else:
            image[o, 0], image[o, 1], image[o, 2] = red[i], green[i], blue[i]
        body, path = bodies_hit[i], paths[i]
        if path == MIRRORED or (path == REFRACTED and body == NOTHING):
            depth[o], bodies[o], labels[o] = before[i] * along[i], SURFACE, 0
        elif body == NOTHING:
            depth[o], bodies[o], labels[o] = INFINITE, NOTHING, 0
        else:
            depth[o] = (before[i] + hit[i]) * along[i]
            bodies[o] = body
            labels[o] = np.uint8(materials[materials_hit[i], LABEL])
