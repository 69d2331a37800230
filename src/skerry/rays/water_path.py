"""Kernels of the renderer for water: intersection with the surface, refraction, attenuation and veil."""

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
    BODY,
    DX,
    DY,
    DZ,
    END,
    FACTOR,
    HIT,
    INDICES,
    INFINITE,
    MAX_DISTANCE,
    MIN_FACTOR,
    MIRRORED,
    NOTHING,
    OX,
    OY,
    OZ,
    PATH,
    REFRACTED,
    STRAIGHT,
    SURFACE_DISTANCE,
    WET,
)
from skerry.rays.sea_view import intersect_water, sea_normal
from skerry.rays.surface import LEVEL


@kernel
def intersect_surface(floats: Any, ints: Any, n: int, numbers: Any, heights: Any, surface: Any) -> None:
    """Write the distance of the water surface along each ray, and discard hits beyond the surface."""
    ox, oy, oz, dx, dy, dz = floats[OX], floats[OY], floats[OZ], floats[DX], floats[DY], floats[DZ]
    hit, wet, body = floats[HIT], ints[WET], ints[BODY]
    if heights.shape[0] == 1:
        level = np.float32(numbers[LEVEL])
        for i in range(n):
            rise = level - oz[i]
            away = rise / dz[i] if rise * dz[i] > ZERO else INFINITE
            surface[i] = away if away < hit[i] else INFINITE
    else:
        for i in range(n):
            surface[i] = intersect_water(numbers, heights, ox[i], oy[i], oz[i], dx[i], dy[i], dz[i], wet[i], hit[i])
    for i in range(n):
        if surface[i] < INFINITE:
            body[i] = NOTHING
            hit[i] = INFINITE


@kernel
def attenuate_first_leg(floats: Any, ints: Any, light: Any, n: int, level: Any, surface: Any) -> None:
    """Apply attenuation and veil from the camera to the hit or the water surface."""
    for c in range(3):
        beam, fading, glow = light[BEAM + c], light[FADING + c], light[GLOW + c]
        hit, upwards, z = floats[HIT], floats[DZ], floats[OZ]
        factor, add, wet = floats[FACTOR + c], floats[ADD + c], ints[WET]
        for i in range(n):
            reach = min(hit[i], surface[i])
            rate = beam - fading * upwards[i]
            share = np.float32(wet[i])
            veil = glow * fade(fading * min(z[i] - level, ZERO)) / rate * (ONE - fade(-rate * reach))
            factor[i] = ONE + share * (fade(-beam * reach) - ONE)
            add[i] = share * veil


@kernel
def cross_surface(
    floats: Any, ints: Any, light: Any, n: int, surface: Any, numbers: Any, slopes: Any, far: Any, patterns: Any
) -> int:
    """Refract or reflect the rays that reach the water surface, list them in INDICES, and return their number."""
    count = 0
    for i in range(n):
        if not surface[i] < INFINITE:
            continue
        if max(floats[FACTOR, i], floats[FACTOR + 1, i], floats[FACTOR + 2, i]) < MIN_FACTOR:
            ints[PATH, i] = MIRRORED
            floats[SURFACE_DISTANCE, i] += surface[i]
            for c in range(3):
                floats[FACTOR + c, i] = ZERO
            continue
        wet = ints[WET, i]
        dx, dy, dz = floats[DX, i], floats[DY, i], floats[DZ, i]
        floats[OX, i] += surface[i] * dx
        floats[OY, i] += surface[i] * dy
        floats[OZ, i] += surface[i] * dz
        nx, ny, nz = sea_normal(numbers, slopes, floats[OX, i], floats[OY, i])
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
            ints[PATH, i] = MIRRORED
            floats[DX, i], floats[DY, i], floats[DZ, i] = mx, my, mz
        else:
            beyond = np.sqrt(squared)
            bend = ratio * cosine - beyond
            floats[DX, i], floats[DY, i], floats[DZ, i] = (
                ratio * dx + bend * nx,
                ratio * dy + bend * ny,
                ratio * dz + bend * nz,
            )
            inside, outside = (RATIO, ONE) if wet else (ONE, RATIO)
            share = reflected_share(cosine, beyond, inside, outside)
            # radiance scales with the square of the refractive index
            passes = (ONE - share) * (RATIO * RATIO if wet else ONE / (RATIO * RATIO))
            if wet:
                _, red = through_water(light, ZERO, min(mz, ZERO), INFINITE, 0)
                _, green = through_water(light, ZERO, min(mz, ZERO), INFINITE, 1)
                _, blue = through_water(light, ZERO, min(mz, ZERO), INFINITE, 2)
            else:
                red, green, blue = sky(light, patterns, mx, my, max(mz, ZERO))
            floats[ADD, i] += floats[FACTOR, i] * share * red
            floats[ADD + 1, i] += floats[FACTOR + 1, i] * share * green
            floats[ADD + 2, i] += floats[FACTOR + 2, i] * share * blue
            for c in range(3):
                floats[FACTOR + c, i] *= passes
            ints[PATH, i] = REFRACTED
            ints[WET, i] = 1 - wet
        floats[SURFACE_DISTANCE, i] += surface[i]
        floats[END, i] = far
        ints[INDICES, count] = i
        count += 1
    return count


@kernel
def attenuate_second_leg(floats: Any, ints: Any, light: Any, n: int) -> None:
    """Apply attenuation and veil from the water surface to the hit, where that leg is in water."""
    hit, upwards, wet, path = floats[HIT], floats[DZ], ints[WET], ints[PATH]
    for c in range(3):
        beam, fading, glow = light[BEAM + c], light[FADING + c], light[GLOW + c]
        factor, add = floats[FACTOR + c], floats[ADD + c]
        for i in range(n):
            reach = min(hit[i], MAX_DISTANCE)
            rate = beam - fading * min(upwards[i], ZERO)
            veil = glow / rate * (ONE - fade(-rate * reach))
            dimmed = wet[i] == 1 and path[i] != STRAIGHT
            add[i] += factor[i] * veil if dimmed else ZERO
            factor[i] *= fade(-beam * reach) if dimmed else ONE
