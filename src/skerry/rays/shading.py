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
    FADING,
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
from skerry.rays.textures import PLAIN, texture

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
BODY, MATERIAL, WET, PATH, LIST = range(5)
WHOLE_ROWS: Final = 5
STRAIGHT, REFRACTED, MIRRORED = range(3)  # values of PATH
# columns of the materials' table
COLOUR: Final = 0  # 3: linear reflectance
TEXTURE: Final = 3
SIZE: Final = 4
LABEL: Final = 5
MATERIAL_COLUMNS: Final = 6

NOTHING: Final = -1
SURFACE: Final = -2
FAINT: Final = np.float32(0.004)  # light of which less than this is left is not followed


@kernel
def trace_lanes(
    words: Any,
    packet: Any,
    mask: int,
    lane: Any,
    whole: Any,
    count: int,
    turns: Any,
    first_faces: Any,
    face_materials: Any,
    corners: Any,
) -> None:
    """Trace the pixels that LIST names."""
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
        for j in range(w):
            i = chosen[min(k + j, count - 1)]
            valid[j] = -1 if j < n else 0
            for axis in range(3):
                packet[(ORIGIN + axis) * w + j] = lane[OX + axis, i]
                packet[(DIRECTION + axis) * w + j] = lane[DX + axis, i]
            packet[FAR * w + j] = lane[END, i]
            bits[GEOMETRY * w + j] = MISS
        call4(tracer, valid_at, scene, packet_at, arguments)
        for j in range(n):
            i = chosen[k + j]
            if bits[GEOMETRY * w + j] == MISS:
                lane[HIT, i] = np.inf
                whole[BODY, i] = NOTHING
                continue
            body = bits[INSTANCE * w + j]
            face = first_faces[body] + bits[FACE * w + j]
            u, v = packet[U * w + j], packet[V * w + j]
            a, b, c = packet[NORMAL * w + j], packet[(NORMAL + 1) * w + j], packet[(NORMAL + 2) * w + j]
            corner, turn = corners[face], turns[body]
            rest = ONE - u - v
            x = rest * corner[0] + u * corner[3] + v * corner[6]
            y = rest * corner[1] + u * corner[4] + v * corner[7]
            z = rest * corner[2] + u * corner[5] + v * corner[8]
            dx, dy, dz = lane[DX, i], lane[DY, i], lane[DZ, i]
            away = (
                (turn[0] * a + turn[1] * b + turn[2] * c) * dx
                + (turn[3] * a + turn[4] * b + turn[5] * c) * dy
                + (turn[6] * a + turn[7] * b + turn[8] * c) * dz
            )
            scale = ONE / np.sqrt(x * x + y * y + z * z)
            if away > ZERO:
                scale = -scale
            lane[HIT, i] = packet[FAR * w + j]
            lane[NX, i] = (turn[0] * x + turn[1] * y + turn[2] * z) * scale
            lane[NY, i] = (turn[3] * x + turn[4] * y + turn[5] * z) * scale
            lane[NZ, i] = (turn[6] * x + turn[7] * y + turn[8] * z) * scale
            whole[BODY, i] = body
            whole[MATERIAL, i] = face_materials[face]


@kernel
def aim(lane: Any, whole: Any, directions: Any, low: int, n: int, origin: Any, turn: Any, wet: int) -> None:
    """Set up the rays of pixels low…low + n from the camera."""
    x0, y0, z0 = np.float32(origin[0]), np.float32(origin[1]), np.float32(origin[2])
    for i in range(n):
        x, y, z = directions[0, low + i], directions[1, low + i], directions[2, low + i]
        lane[DX, i] = turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z
        lane[DY, i] = turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z
        lane[DZ, i] = turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z
        lane[OX, i], lane[OY, i], lane[OZ, i] = x0, y0, z0
        lane[BEFORE, i] = ZERO
        lane[SUNLIT, i] = ZERO
        whole[WET, i] = wet
        whole[PATH, i] = STRAIGHT
        whole[LIST, i] = i
        for c in range(3):
            lane[ADD + c, i] = ZERO
            lane[FACTOR + c, i] = ONE


@kernel
def dim_first(lane: Any, light: Any, n: int, depth: Any, surface: Any) -> None:
    """What water does on the way from a camera at a depth to where its rays end."""
    for c in range(3):
        for i in range(n):
            reach = min(lane[HIT, i], surface[i])
            left, veil = through_water(light, depth, lane[DZ, i], reach, c)
            lane[FACTOR + c, i] = left
            lane[ADD + c, i] = veil


@kernel
def cross_surface(lane: Any, whole: Any, light: Any, n: int, surface: Any, normals: Any, far: Any) -> int:
    """Send on, from the water's surface, the rays that reach it; list them, and say how many there are."""
    count = 0
    endless = np.float32(np.inf)
    for i in range(n):
        if whole[BODY, i] != NOTHING or not surface[i] < endless:
            continue
        if max(lane[FACTOR, i], lane[FACTOR + 1, i], lane[FACTOR + 2, i]) < FAINT:
            whole[PATH, i] = MIRRORED
            lane[BEFORE, i] = surface[i]
            for c in range(3):
                lane[FACTOR + c, i] = ZERO
            continue
        wet = whole[WET, i]
        nx, ny, nz = normals[0, i], normals[1, i], normals[2, i]
        dx, dy, dz = lane[DX, i], lane[DY, i], lane[DZ, i]
        cosine = -(dx * nx + dy * ny + dz * nz)
        if cosine < ZERO:
            nx, ny, nz, cosine = -nx, -ny, -nz, -cosine
        for axis, d in enumerate((dx, dy, dz)):
            lane[OX + axis, i] += surface[i] * d
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
            lane[DX, i], lane[DY, i], lane[DZ, i] = ratio * dx + bend * nx, ratio * dy + bend * ny, ratio * dz + bend * nz
            inside, outside = (RATIO, ONE) if wet else (ONE, RATIO)
            share = reflected_share(cosine, beyond, inside, outside)
            # radiance grows by the square of the index where its rays are gathered in a narrower cone
            passes = (ONE - share) * (RATIO * RATIO if wet else ONE / (RATIO * RATIO))
            for c in range(3):
                if wet:
                    _, mirrored = through_water(light, ZERO, min(mz, ZERO), endless, c)
                else:
                    mirrored = sky(light, mx, my, max(mz, ZERO), c)
                lane[ADD + c, i] += lane[FACTOR + c, i] * share * mirrored
                lane[FACTOR + c, i] *= passes
            whole[PATH, i] = REFRACTED
            whole[WET, i] = 1 - wet
        lane[BEFORE, i] = surface[i]
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
def surfaces_of(
    lane: Any,
    whole: Any,
    light: Any,
    n: int,
    level: Any,
    pixel: Any,
    materials: Any,
    turns: Any,
    places: Any,
) -> int:
    """Sky where nothing was hit; else the colour there. List the pixels that the sun may shine on, and count them."""
    count = 0
    for i in range(n):
        body = whole[BODY, i]
        if body == NOTHING:
            if not whole[WET, i]:
                for c in range(3):
                    lane[ADD + c, i] += lane[FACTOR + c, i] * sky(light, lane[DX, i], lane[DY, i], lane[DZ, i], c)
            continue
        dx, dy, dz, hit = lane[DX, i], lane[DY, i], lane[DZ, i], lane[HIT, i]
        x, y, z = lane[OX, i] + hit * dx, lane[OY, i] + hit * dy, lane[OZ, i] + hit * dz
        nx, ny, nz = lane[NX, i], lane[NY, i], lane[NZ, i]
        row = materials[whole[MATERIAL, i]]
        factor = ONE
        kind = int(row[TEXTURE])
        if kind != PLAIN:
            turn, place = turns[body], places[body]
            px, py, pz = x - place[3], y - place[7], z - place[11]
            ax = abs(turn[0] * nx + turn[3] * ny + turn[6] * nz)
            ay = abs(turn[1] * nx + turn[4] * ny + turn[7] * nz)
            az = abs(turn[2] * nx + turn[5] * ny + turn[8] * nz)
            u = turn[0] * px + turn[3] * py + turn[6] * pz
            v = turn[1] * px + turn[4] * py + turn[7] * pz
            if az < ax or az < ay:
                if ax > ay:
                    u = v
                v = turn[2] * px + turn[5] * py + turn[8] * pz
            facing = max(-(dx * nx + dy * ny + dz * nz), np.float32(0.2))
            factor = texture(kind, row[SIZE], u, v, pixel * (lane[BEFORE, i] + hit) / facing)
        for c in range(3):
            lane[ALBEDO + c, i] = row[COLOUR + c] * factor
        wet = whole[WET, i]
        sun = WET_SUN if wet else SUN
        lit = nx * light[sun] + ny * light[sun + 1] + nz * light[sun + 2]
        if lit <= ZERO or light[SUN_LIGHT] <= ZERO:
            continue
        lane[SUNLIT, i] = lit
        strongest = max(lane[FACTOR, i], lane[FACTOR + 1, i], lane[FACTOR + 2, i])
        if strongest < FAINT or (wet and fade(-light[SPREADING] * (level - z)) < np.float32(0.02)):
            continue
        whole[LIST, count] = i
        count += 1
    return count


@kernel
def cast_shadows(words: Any, packet: Any, lane: Any, whole: Any, light: Any, count: int, far: Any) -> None:
    """Take the sun from those of LIST that something stands before."""
    w = words[WIDTH]
    tracer, scene, arguments = words[OCCLUDED], words[SCENE], words[ARGUMENTS]
    valid = packet[ROWS * WIDEST :].view(np.int32)
    packet_at, valid_at = packet.ctypes.data, valid.ctypes.data
    clear_packet(words, packet, 0xFFFFFFFF)
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
def finish(
    lane: Any,
    whole: Any,
    light: Any,
    n: int,
    level: Any,
    materials: Any,
    directions: Any,
    order: Any,
    low: int,
    picture: Any,
    depth: Any,
    bodies: Any,
    labels: Any,
    add: bool,
) -> None:
    """Write the block's colours, depths and labels; with `add`, colours are added to those that are there."""
    for i in range(n):
        o = order[low + i]
        body, path, wet = whole[BODY, i], whole[PATH, i], whole[WET, i]
        red, green, blue = lane[ADD, i], lane[ADD + 1, i], lane[ADD + 2, i]
        along = directions[2, low + i]
        if body != NOTHING:
            upper = np.float32(0.55) + np.float32(0.45) * lane[NZ, i]
            lit = lane[SUNLIT, i]
            if wet:
                below = max(level - (lane[OZ, i] + lane[HIT, i] * lane[DZ, i]), ZERO)
                straight = fade(-light[SPREADING] * below)
                sun = straight * lit + (ONE - straight) * light[WET_SUN + 2] * upper
                for c in range(3):
                    lane[ALBEDO + c, i] *= fade(-light[FADING + c] * below) * (
                        light[WET_SUN_LIGHT + c] * sun + light[WET_AMBIENT + c] * upper
                    )
            else:
                for c in range(3):
                    lane[ALBEDO + c, i] *= light[SUN_LIGHT + c] * lit + light[AMBIENT + c] * upper
            red += lane[FACTOR, i] * lane[ALBEDO, i]
            green += lane[FACTOR + 1, i] * lane[ALBEDO + 1, i]
            blue += lane[FACTOR + 2, i] * lane[ALBEDO + 2, i]
        if path == MIRRORED or (path == REFRACTED and body == NOTHING):
            depth[o], bodies[o], labels[o] = lane[BEFORE, i] * along, SURFACE, 0
        elif body == NOTHING:
            depth[o], bodies[o], labels[o] = np.inf, NOTHING, 0
        else:
            depth[o] = (lane[BEFORE, i] + lane[HIT, i]) * along
            bodies[o] = body
            labels[o] = np.uint8(materials[whole[MATERIAL, i], LABEL])
        if add:
            picture[o, 0] += red
            picture[o, 1] += green
            picture[o, 2] += blue
        else:
            picture[o, 0], picture[o, 1], picture[o, 2] = red, green, blue
