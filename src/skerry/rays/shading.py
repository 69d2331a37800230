"""Kernels of the renderer: a block of pixels goes through tracing, water's surface, shadows and shading, in rows.

A block is `lane`, rows of single-precision numbers, and `whole`, rows of integers, one column per pixel. Each pixel's
light comes by one path: from the camera to a thing, or to the water's surface and from there, refracted or totally
reflected, to a thing. Its colour is ADD + FACTOR × what the thing at the path's end sends back.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import call4, kernel
from skerry.rays.light import (
    AMBIENT,
    BEAM,
    FADING,
    GLOW,
    ONE,
    RATIO,
    SPREADING,
    SUN,
    SUN_LIGHT,
    WET_AMBIENT,
    WET_SUN,
    WET_SUN_LIGHT,
    ZERO,
    fade,
    reflected_share,
    sky,
    through_water,
)
from skerry.rays.packets import (
    ARGUMENTS,
    DIRECTION,
    FACE,
    FAR,
    GEOMETRY,
    INSTANCE,
    INTERSECT,
    MISS,
    NEAR,
    NORMAL,
    OCCLUDED,
    ORIGIN,
    ROWS,
    SCENE,
    WIDEST,
    WIDTH,
    U,
    V,
    clear_packet,
)
from skerry.rays.sea_view import leave_water, meet_water, sea_normal
from skerry.rays.surface import HIGH, LEVEL, LOW, surface_height
from skerry.rays.textures import texture

BLOCK: Final = 512
"""Pixels that are worked on at once: their rows stay in the second cache."""

# rows of `lane`
DX, DY, DZ, OX, OY, OZ = range(6)  # the ray, in the world
END: Final = 6  # how far it may go, m
HIT: Final = 7  # how far it went, m; infinite if it hit nothing
NX, NY, NZ = 8, 9, 10  # of what it hit, of length 1, towards the ray
ADD: Final = 11  # 3
FACTOR: Final = 14  # 3
ALBEDO: Final = 17  # 3
SUNLIT: Final = 20  # cosine between normal and sun, 0 in shadow
BEFORE: Final = 21  # length of the path up to the surface, m
LANE_ROWS: Final = 22
# rows of `whole`
BODY, MATERIAL, WET, PATH, LIST, WANT = range(6)  # WANT: whether the sun may shine there
WHOLE_ROWS: Final = 6
STRAIGHT, REFRACTED, MIRRORED = range(3)  # values of PATH
# columns of the materials' table
COLOUR: Final = 0  # 3: linear reflectance
TEXTURE: Final = 3  # 3: `texture_numbers`
LABEL: Final = 6
MATERIAL_COLUMNS: Final = 7

NOTHING: Final = -1
SURFACE: Final = -2
FURTHEST: Final = np.float32(1e6)
ENDLESS: Final = np.float32(np.inf)
FAINT: Final = np.float32(0.004)  # light of which less than this is left is not followed


@kernel
def trace_lanes(
    words: Any,
    packet: Any,
    mask: int,
    lane: Any,
    whole: Any,
    count: int,
    all_lanes: bool,
    turns: Any,
    first_faces: Any,
    face_materials: Any,
    corners: Any,
) -> None:
    """Trace the pixels that LIST names, or the first `count` if they are all lanes."""
    w = words[WIDTH]
    tracer, scene, arguments = words[INTERSECT], words[SCENE], words[ARGUMENTS]
    bits = packet.view(np.uint32)
    valid = packet[ROWS * WIDEST :].view(np.int32)
    packet_at, valid_at = packet.ctypes.data, valid.ctypes.data
    clear_packet(words, packet, mask)
    chosen = whole[LIST]
    for j in range(w):
        packet[NEAR * w + j] = ZERO
    for k in range(0, count, w):
        n = min(w, count - k)
        if all_lanes and n == w:
            for axis in range(3):
                to, ray = packet[(ORIGIN + axis) * w :], lane[OX + axis, k:]
                for j in range(w):
                    to[j] = ray[j]
                to, ray = packet[(DIRECTION + axis) * w :], lane[DX + axis, k:]
                for j in range(w):
                    to[j] = ray[j]
            to, ray = packet[FAR * w :], lane[END, k:]
            for j in range(w):
                to[j] = ray[j]
            for j in range(w):
                valid[j] = -1
        else:
            for j in range(w):
                i = min(k + j, count - 1) if all_lanes else chosen[min(k + j, count - 1)]
                valid[j] = -1 if j < n else 0
                for axis in range(3):
                    packet[(ORIGIN + axis) * w + j] = lane[OX + axis, i]
                    packet[(DIRECTION + axis) * w + j] = lane[DX + axis, i]
                packet[FAR * w + j] = lane[END, i]
        for j in range(w):
            bits[GEOMETRY * w + j] = MISS
        call4(tracer, valid_at, scene, packet_at, arguments)
        for j in range(n):
            i = k + j if all_lanes else chosen[k + j]
            if bits[GEOMETRY * w + j] == MISS:
                lane[HIT, i] = np.inf
                whole[BODY, i] = NOTHING
                continue
            body = bits[INSTANCE * w + j]
            face = first_faces[body] + bits[FACE * w + j]
            u, v = packet[U * w + j], packet[V * w + j]
            a, b, c = packet[NORMAL * w + j], packet[(NORMAL + 1) * w + j], packet[(NORMAL + 2) * w + j]
            rest = ONE - u - v
            x = rest * corners[face, 0] + u * corners[face, 3] + v * corners[face, 6]
            y = rest * corners[face, 1] + u * corners[face, 4] + v * corners[face, 7]
            z = rest * corners[face, 2] + u * corners[face, 5] + v * corners[face, 8]
            dx, dy, dz = lane[DX, i], lane[DY, i], lane[DZ, i]
            away = (
                (turns[body, 0] * a + turns[body, 1] * b + turns[body, 2] * c) * dx
                + (turns[body, 3] * a + turns[body, 4] * b + turns[body, 5] * c) * dy
                + (turns[body, 6] * a + turns[body, 7] * b + turns[body, 8] * c) * dz
            )
            scale = ONE / np.sqrt(x * x + y * y + z * z)
            if away > ZERO:
                scale = -scale
            lane[HIT, i] = packet[FAR * w + j]
            lane[NX, i] = (turns[body, 0] * x + turns[body, 1] * y + turns[body, 2] * z) * scale
            lane[NY, i] = (turns[body, 3] * x + turns[body, 4] * y + turns[body, 5] * z) * scale
            lane[NZ, i] = (turns[body, 6] * x + turns[body, 7] * y + turns[body, 8] * z) * scale
            whole[BODY, i] = body
            whole[MATERIAL, i] = face_materials[face]


@kernel
def aim(
    lane: Any,
    whole: Any,
    directions: Any,
    low: int,
    n: int,
    origin: Any,
    turn: Any,
    port: Any,
    numbers: Any,
    heights: Any,
    far: Any,
) -> None:
    """Set up the rays of pixels low…low + n: from the camera's port, in the medium that is there."""
    x, y, z = directions[0, low:], directions[1, low:], directions[2, low:]
    for axis in range(3):
        a, b, c = turn[axis, 0], turn[axis, 1], turn[axis, 2]
        start = np.float32(origin[axis])
        ray, begin = lane[DX + axis], lane[OX + axis]
        for i in range(n):
            ray[i] = a * x[i] + b * y[i] + c * z[i]
            begin[i] = start + port * ray[i]
        add, factor, albedo = lane[ADD + axis], lane[FACTOR + axis], lane[ALBEDO + axis]
        for i in range(n):
            add[i] = ZERO
            factor[i] = ONE
            albedo[i] = ZERO
    before, lit, upward = lane[BEFORE], lane[SUNLIT], lane[NZ]
    for i in range(n):
        before[i] = port
        lit[i] = ZERO
        upward[i] = ZERO
    wet, path = whole[WET], whole[PATH]
    for i in range(n):
        path[i] = STRAIGHT
    ox, oy, oz, dz, end = lane[OX], lane[OY], lane[OZ], lane[DZ], lane[END]
    if origin[2] + port < numbers[LOW]:
        for i in range(n):
            wet[i] = 1
    elif origin[2] - port > numbers[HIGH]:
        for i in range(n):
            wet[i] = 0
    else:
        for i in range(n):
            wet[i] = 1 if oz[i] < surface_height(numbers, heights, ox[i], oy[i]) else 0
    for i in range(n):
        end[i] = leave_water(numbers, oz[i], dz[i], wet[i], far)


@kernel
def reach_surface(lane: Any, whole: Any, n: int, numbers: Any, heights: Any, surface: Any) -> None:
    """How far along each ray the water's surface is; what lies beyond it was not hit by that ray."""
    ox, oy, oz, dx, dy, dz = lane[OX], lane[OY], lane[OZ], lane[DX], lane[DY], lane[DZ]
    hit, wet, body = lane[HIT], whole[WET], whole[BODY]
    if heights.shape[0] == 1:
        level = np.float32(numbers[LEVEL])
        for i in range(n):
            rise = level - oz[i]
            away = rise / dz[i] if rise * dz[i] > ZERO else ENDLESS
            surface[i] = away if away < hit[i] else ENDLESS
    else:
        for i in range(n):
            surface[i] = meet_water(numbers, heights, ox[i], oy[i], oz[i], dx[i], dy[i], dz[i], wet[i], hit[i])
    for i in range(n):
        if surface[i] < ENDLESS:
            body[i] = NOTHING
            hit[i] = ENDLESS


@kernel
def dim_first(lane: Any, whole: Any, light: Any, n: int, level: Any, surface: Any) -> None:
    """What water does on the way from the camera to where its rays end."""
    for c in range(3):
        beam, fading, glow = light[BEAM + c], light[FADING + c], light[GLOW + c]
        hit, upwards, z = lane[HIT], lane[DZ], lane[OZ]
        factor, add, wet = lane[FACTOR + c], lane[ADD + c], whole[WET]
        for i in range(n):
            reach = min(hit[i], surface[i])
            rate = beam - fading * upwards[i]
            share = np.float32(wet[i])
            veil = glow * fade(fading * min(z[i] - level, ZERO)) / rate * (ONE - fade(-rate * reach))
            factor[i] = ONE + share * (fade(-beam * reach) - ONE)
            add[i] = share * veil


@kernel
def cross_surface(
    lane: Any, whole: Any, light: Any, n: int, surface: Any, numbers: Any, slopes: Any, far: Any, patterns: Any
) -> int:
    """Send on, from the water's surface, the rays that reach it; list them, and say how many there are."""
    count = 0
    for i in range(n):
        if not surface[i] < ENDLESS:
            continue
        if max(lane[FACTOR, i], lane[FACTOR + 1, i], lane[FACTOR + 2, i]) < FAINT:
            whole[PATH, i] = MIRRORED
            lane[BEFORE, i] += surface[i]
            for c in range(3):
                lane[FACTOR + c, i] = ZERO
            continue
        wet = whole[WET, i]
        dx, dy, dz = lane[DX, i], lane[DY, i], lane[DZ, i]
        lane[OX, i] += surface[i] * dx
        lane[OY, i] += surface[i] * dy
        lane[OZ, i] += surface[i] * dz
        nx, ny, nz = sea_normal(numbers, slopes, lane[OX, i], lane[OY, i])
        cosine = -(dx * nx + dy * ny + dz * nz)
        if cosine < ZERO:
            nx, ny, nz, cosine = -nx, -ny, -nz, -cosine
        ratio = RATIO if wet else ONE / RATIO
        squared = ONE - ratio * ratio * (ONE - cosine * cosine)
        mx, my, mz = (
            dx + np.float32(2.0) * cosine * nx,
            dy + np.float32(2.0) * cosine * ny,
            dz + np.float32(2.0) * cosine * nz,
        )
        if squared <= ZERO:
            whole[PATH, i] = MIRRORED
            lane[DX, i], lane[DY, i], lane[DZ, i] = mx, my, mz
        else:
            beyond = np.sqrt(squared)
            bend = ratio * cosine - beyond
            lane[DX, i], lane[DY, i], lane[DZ, i] = (
                ratio * dx + bend * nx,
                ratio * dy + bend * ny,
                ratio * dz + bend * nz,
            )
            inside, outside = (RATIO, ONE) if wet else (ONE, RATIO)
            share = reflected_share(cosine, beyond, inside, outside)
            # radiance grows by the square of the index where its rays are gathered in a narrower cone
            passes = (ONE - share) * (RATIO * RATIO if wet else ONE / (RATIO * RATIO))
            if wet:
                _, red = through_water(light, ZERO, min(mz, ZERO), ENDLESS, 0)
                _, green = through_water(light, ZERO, min(mz, ZERO), ENDLESS, 1)
                _, blue = through_water(light, ZERO, min(mz, ZERO), ENDLESS, 2)
            else:
                red, green, blue = sky(light, patterns, mx, my, max(mz, ZERO))
            lane[ADD, i] += lane[FACTOR, i] * share * red
            lane[ADD + 1, i] += lane[FACTOR + 1, i] * share * green
            lane[ADD + 2, i] += lane[FACTOR + 2, i] * share * blue
            for c in range(3):
                lane[FACTOR + c, i] *= passes
            whole[PATH, i] = REFRACTED
            whole[WET, i] = 1 - wet
        lane[BEFORE, i] += surface[i]
        lane[END, i] = far
        whole[LIST, count] = i
        count += 1
    return count


@kernel
def dim_second(lane: Any, whole: Any, light: Any, count: int) -> None:
    """What water does on the way on from the surface, where that leads through water."""
    for k in range(count):
        i = whole[LIST, k]
        if whole[WET, i]:
            for c in range(3):
                left, veil = through_water(light, ZERO, min(lane[DZ, i], ZERO), lane[HIT, i], c)
                lane[ADD + c, i] += lane[FACTOR + c, i] * veil
                lane[FACTOR + c, i] *= left


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
    if first > 0:
        for i in range(low, high):
            factor[i] = texture(patterns, first, tiles, broad, along[i], across[i], width[i])
    else:
        for i in range(low, high):
            factor[i] = ONE
    for c in range(3):
        albedo, colour = lane[ALBEDO + c], material[COLOUR + c]
        for i in range(low, high):
            albedo[i] = colour * factor[i]


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
    tracer, scene, arguments = words[OCCLUDED], words[SCENE], words[ARGUMENTS]
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
    red, green, blue = lane[ADD], lane[ADD + 1], lane[ADD + 2]
    for i in range(n):
        o = order[low + i]
        if add:
            picture[o, 0] += red[i]
            picture[o, 1] += green[i]
            picture[o, 2] += blue[i]
        else:
            picture[o, 0], picture[o, 1], picture[o, 2] = red[i], green[i], blue[i]
        body, path, along = whole[BODY, i], whole[PATH, i], directions[2, low + i]
        if path == MIRRORED or (path == REFRACTED and body == NOTHING):
            depth[o], bodies[o], labels[o] = lane[BEFORE, i] * along, SURFACE, 0
        elif body == NOTHING:
            depth[o], bodies[o], labels[o] = ENDLESS, NOTHING, 0
        else:
            depth[o] = (lane[BEFORE, i] + lane[HIT, i]) * along
            bodies[o] = body
            labels[o] = np.uint8(materials[whole[MATERIAL, i], LABEL])
