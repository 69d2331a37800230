"""Kernels of the renderer for what rays end at: sky, colours, sun and shadows, and the picture itself."""

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
    NEAR,
    OCCLUDED,
    ORIGIN,
    ROPES,
    ROWS,
    SCENE,
    WIDEST,
    WIDTH,
    clear_packet,
)
from skerry.rays.pixel_block import (
    ADD,
    ALBEDO,
    BEFORE,
    BODY,
    COLOUR,
    DX,
    DY,
    DZ,
    END,
    ENDLESS,
    FACTOR,
    FAINT,
    FURTHEST,
    GLOW,
    HIT,
    LABEL,
    LIST,
    MATERIAL,
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
    TEXTURE,
    WANT,
    WET,
)
from skerry.rays.rope_hits import meet_ropes
from skerry.rays.textures import BROAD, SIDE, caustics, texture, version


@kernel
def paint_sky(lane: Any, whole: Any, light: Any, n: int, patterns: Any) -> None:
    """The sky, where a ray in the air hit nothing."""
    for i in range(n):
        if whole[BODY, i] == NOTHING and not whole[WET, i]:
            red, green, blue = sky(light, patterns, lane[DX, i], lane[DY, i], lane[DZ, i])
            lane[ADD, i] += lane[FACTOR, i] * red
            lane[ADD + 1, i] += lane[FACTOR + 1, i] * green
            lane[ADD + 2, i] += lane[FACTOR + 2, i] * blue


@kernel
def _lay(lane: Any, low: int, high: int, pixel: Any, turn: Any, place: Any) -> None:
    """Where pixels lie on the pattern of one body, and how wide they are there; in the rows of ALBEDO."""
    dx, dy, dz, ox, oy, oz = lane[DX], lane[DY], lane[DZ], lane[OX], lane[OY], lane[OZ]
    nx, ny, nz, hit, before = lane[NX], lane[NY], lane[NZ], lane[HIT], lane[BEFORE]
    along, across, width = lane[ALBEDO], lane[ALBEDO + 1], lane[ALBEDO + 2]
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = turn[0], turn[1], turn[2], turn[3], turn[4], turn[5], turn[6], turn[7], turn[8]
    x0, y0, z0 = place[3], place[7], place[11]
    for i in range(low, high):
        reach = min(hit[i], FURTHEST)
        # place and normal in the body's own axes; the pattern lies on the side that it faces most
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
def _colour(lane: Any, low: int, high: int, material: Any, patterns: Any) -> None:
    """The colours of pixels of one material."""
    first, tiles, broad = int(material[TEXTURE]), material[TEXTURE + 1], material[TEXTURE + 2]
    factor, along, across, width = lane[END], lane[ALBEDO], lane[ALBEDO + 1], lane[ALBEDO + 2]
    dots = tiles * np.float32(SIDE)
    start = low
    if first == 0:  # PLAIN, which is 1 everywhere
        for i in range(low, high):
            factor[i] = ONE
        start = high
    while start < high:
        # a stretch that sees the same version of the pattern
        level, stop = version(width[start] * dots), start + 1
        while stop < high and version(width[stop] * dots) == level:
            stop += 1
        coarse = version(width[start] * dots * BROAD)
        for i in range(start, stop):
            factor[i] = texture(patterns, first, tiles, broad, level, coarse, along[i], across[i])
        start = stop
    for c in range(3):
        albedo, colour = lane[ALBEDO + c], material[COLOUR + c]
        for i in range(low, high):
            albedo[i] = colour * factor[i]
        if material[GLOW] > ZERO:
            glow, add, left = material[GLOW], lane[ADD + c], lane[FACTOR + c]
            for i in range(low, high):
                add[i] += left[i] * glow * albedo[i]


@kernel
def paint(lane: Any, whole: Any, n: int, pixel: Any, materials: Any, patterns: Any, turns: Any, places: Any) -> None:
    """The colours of what was hit: by stretches of one body and material, whose loops become vector code."""
    bodies, made_of = whole[BODY], whole[MATERIAL]
    low = 0
    while low < n:
        body, material = bodies[low], made_of[low]
        high = low + 1
        while high < n and bodies[high] == body and (body < 0 or made_of[high] == material):
            high += 1
        if body >= 0:
            _lay(lane, low, high, pixel, turns[body], places[body])
            _colour(lane, low, high, materials[material], patterns)
        low = high


@kernel
def face_sun(lane: Any, whole: Any, light: Any, n: int, level: Any) -> None:
    """How squarely the sun meets what was hit, and whether it is worth asking if anything stands before it."""
    nx, ny, nz, lit, wet, want = lane[NX], lane[NY], lane[NZ], lane[SUNLIT], whole[WET], whole[WANT]
    oz, dz, hit, body = lane[OZ], lane[DZ], lane[HIT], whole[BODY]
    red, green, blue = lane[FACTOR], lane[FACTOR + 1], lane[FACTOR + 2]
    x, y, z = light[SUN], light[SUN + 1], light[SUN + 2]
    wx, wy, wz = light[WET_SUN] - x, light[WET_SUN + 1] - y, light[WET_SUN + 2] - z
    deepest = np.float32(4.0) / max(light[SPREADING], np.float32(1e-6))  # there 2 % come straight from the sun
    shines = light[SUN_LIGHT] > ZERO
    for i in range(n):
        share = np.float32(wet[i])
        found = nx[i] * (x + share * wx) + ny[i] * (y + share * wy) + nz[i] * (z + share * wz)
        thing = body[i] >= 0
        lit[i] = max(found, ZERO) if thing and shines else ZERO
        deep = share * (level - (oz[i] + min(hit[i], FURTHEST) * dz[i]))
        strongest = max(red[i], max(green[i], blue[i]))
        want[i] = 1 if thing and shines and found > ZERO and strongest >= FAINT and deep < deepest else 0


@kernel
def _shade(words: Any, packet: Any, lane: Any, whole: Any, light: Any, count: int, far: Any) -> None:
    """Take the sun from those of LIST that something stands before."""
    w = words[WIDTH]
    tracer, scene, arguments, ropes = words[OCCLUDED], words[SCENE], words[ARGUMENTS], words[ROPES]
    valid = packet[ROWS * WIDEST :].view(np.int32)
    packet_at, valid_at = packet.ctypes.data, valid.ctypes.data
    for k in range(0, count, w):
        n = min(w, count - k)
        for j in range(w):
            i = whole[LIST, min(k + j, count - 1)]
            valid[j] = -1 if j < n else 0
            hit = lane[HIT, i]
            sun = WET_SUN if whole[WET, i] else SUN
            # off the surface by more than single precision may err, or it would shade itself
            off = np.float32(2e-3) + np.float32(2e-4) * hit
            for axis in range(3):
                packet[(ORIGIN + axis) * w + j] = (
                    lane[OX + axis, i] + hit * lane[DX + axis, i] + off * lane[NX + axis, i]
                )
                packet[(DIRECTION + axis) * w + j] = light[sun + axis]
            packet[NEAR * w + j] = ZERO
            packet[FAR * w + j] = far
        call4(tracer, valid_at, scene, packet_at, arguments)
        if ropes != 0:
            meet_ropes(ropes, valid_at, packet_at, w, True, np.nan, np.nan, np.nan)
        for j in range(n):
            if packet[FAR * w + j] < ZERO:
                lane[SUNLIT, whole[LIST, k + j]] = ZERO


@kernel
def cast_shadows(words: Any, packet: Any, lane: Any, whole: Any, light: Any, n: int, far: Any, tiled: bool) -> None:
    """Take the sun from pixels that something stands before.

    If all are in tiles of 2 × 4, every other one is asked first, as on a chessboard; one between them is asked only
    where its neighbours do not agree, or show another body.
    """
    clear_packet(words, packet, 0xFFFFFFFF)
    want, lit, body = whole[WANT], lane[SUNLIT], whole[BODY]
    count = 0
    for i in range(n):
        j = i & 7
        if want[i] and (not tiled or ((j ^ (j >> 2)) & 1) == 0):
            whole[LIST, count] = i
            count += 1
    if count > 0:
        _shade(words, packet, lane, whole, light, count, far)
    if not tiled:
        return
    count = 0
    for i in range(n):
        j = i & 7
        if not want[i] or ((j ^ (j >> 2)) & 1) == 0:
            continue
        across = i ^ 4
        near = i - 1 if j & 3 else i + 1
        if (
            across < n
            and near < n
            and want[across]
            and want[near]
            and body[across] == body[i]
            and body[near] == body[i]
            and (lit[across] > ZERO) == (lit[near] > ZERO)
        ):
            if lit[near] <= ZERO:
                lit[i] = ZERO
        else:
            whole[LIST, count] = i
            count += 1
    if count > 0:
        _shade(words, packet, lane, whole, light, count, far)


@kernel
def focus_sun(lane: Any, whole: Any, light: Any, n: int, level: Any, pixel: Any, patterns: Any) -> None:
    """Caustics: gather and spread the sun's light under waves; most at some metres, not right below the surface."""
    slant_x, slant_y = light[WET_SUN] / light[WET_SUN + 2], light[WET_SUN + 1] / light[WET_SUN + 2]
    for i in range(n):
        if whole[WET, i] and lane[SUNLIT, i] > ZERO:
            hit = lane[HIT, i]
            deep = max(level - (lane[OZ, i] + hit * lane[DZ, i]), ZERO)
            x, y = lane[OX, i] + hit * lane[DX, i] + slant_x * deep, lane[OY, i] + hit * lane[DY, i] + slant_y * deep
            share = light[FOCUS] * (ONE - fade(-deep)) * fade(np.float32(-0.1) * deep)
            width = pixel * (lane[BEFORE, i] + hit)
            lane[SUNLIT, i] *= ONE + share * (caustics(patterns, x, y, light[TIME], width) - ONE)


@kernel
def light_up(lane: Any, whole: Any, light: Any, n: int, level: Any) -> None:
    """Add to each pixel what the thing that it shows sends back of sun and sky."""
    hit, z, dz, up = lane[HIT], lane[OZ], lane[DZ], lane[NZ]
    lit, below, wet, straight = lane[SUNLIT], lane[END], whole[WET], lane[NX]
    spreading = light[SPREADING]
    for i in range(n):
        deep = max(level - (z[i] + min(hit[i], FURTHEST) * dz[i]), ZERO) * np.float32(wet[i])
        below[i] = deep
        straight[i] = fade(-spreading * deep)
    wet_height = light[WET_SUN + 2]
    for c in range(3):
        add, factor, albedo = lane[ADD + c], lane[FACTOR + c], lane[ALBEDO + c]
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
def write(
    lane: Any,
    whole: Any,
    n: int,
    materials: Any,
    directions: Any,
    order: Any,
    low: int,
    add: bool,
    picture: Any,
    depth: Any,
    bodies: Any,
    labels: Any,
) -> None:
    """Write the block's colours, depths and labels; with `add`, colours are added to those that are there."""
    red, green, blue, before, hit = lane[ADD], lane[ADD + 1], lane[ADD + 2], lane[BEFORE], lane[HIT]
    seen, paths, made_of, along, places = whole[BODY], whole[PATH], whole[MATERIAL], directions[2, low:], order[low:]
    for i in range(n):
        o = np.uint64(places[i])  # unsigned, or numba would ask of each whether it counts from the end
        if add:
            picture[o, 0] += red[i]
            picture[o, 1] += green[i]
            picture[o, 2] += blue[i]
        else:
            picture[o, 0], picture[o, 1], picture[o, 2] = red[i], green[i], blue[i]
        body, path = seen[i], paths[i]
        if path == MIRRORED or (path == REFRACTED and body == NOTHING):
            depth[o], bodies[o], labels[o] = before[i] * along[i], SURFACE, 0
        elif body == NOTHING:
            depth[o], bodies[o], labels[o] = ENDLESS, NOTHING, 0
        else:
            depth[o] = (before[i] + hit[i]) * along[i]
            bodies[o] = body
            labels[o] = np.uint8(materials[made_of[i], LABEL])
