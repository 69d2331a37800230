"""Kernels of the renderer for water: where rays meet its surface, how they go on, and what it does to their light."""

from __future__ import annotations

from typing import Any

import numpy as np

from skerry.core.kernels import kernel
from skerry.rays.light import (
    BEAM,
    FADING,
    GLOW,
    ONE,
    RATIO,
    ZERO,
    fade,
    reflected_share,
    sky,
    through_water,
)
from skerry.rays.pixel_block import (
    ADD,
    BEFORE,
    BODY,
    DX,
    DY,
    DZ,
    END,
    ENDLESS,
    FACTOR,
    FAINT,
    FURTHEST,
    HIT,
    LIST,
    MIRRORED,
    NOTHING,
    OX,
    OY,
    OZ,
    PATH,
    REFRACTED,
    STRAIGHT,
    WET,
)
from skerry.rays.sea_view import meet_water, sea_normal
from skerry.rays.surface import LEVEL


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
def dim_second(lane: Any, whole: Any, light: Any, n: int) -> None:
    """What water does on the way on from the surface, where that leads through water."""
    hit, upwards, wet, path = lane[HIT], lane[DZ], whole[WET], whole[PATH]
    for c in range(3):
        beam, fading, glow = light[BEAM + c], light[FADING + c], light[GLOW + c]
        factor, add = lane[FACTOR + c], lane[ADD + c]
        for i in range(n):
            reach = min(hit[i], FURTHEST)
            rate = beam - fading * min(upwards[i], ZERO)
            veil = glow / rate * (ONE - fade(-rate * reach))
            dimmed = wet[i] == 1 and path[i] != STRAIGHT
            add[i] += factor[i] * veil if dimmed else ZERO
            factor[i] *= fade(-beam * reach) if dimmed else ONE
