"""Light in air and water for the renderer: illumination, attenuation and scattering in water, sky, and reflection.

Along a path of length d in water, the radiance J becomes J exp(−c d) + V. The veil V is daylight that the water along
the path scatters towards the camera, evenly in all directions: V = (b/4) E / (c − K_d u) · (1 − exp(−(c − K_d u) d)),
with E the daylight at the start of the path and u the upward component of its direction, because E grows with
exp(K_d u) along it. For a level path this is B∞ (1 − exp(−c d)) with B∞ = b E / 4c: the model of Jaffe 1990 (IEEE J.
Oceanic Eng. 15, 101–111) without forward scatter, with the two coefficients of Akkaynak & Treibitz 2018 (CVPR, eq.
3–6). Daylight at a depth D is E₀ exp(−K_d D). The share exp(−b (1 − g) D / cos θ) of the sunlight still comes from the
direction of the sun; the rest has become diffuse (g = 0.924, the mean cosine of Petzold's phase function; Mobley 1994,
Light and Water, ch. 3).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.rays.textures import GRAIN, SIDE, TEXELS, texture, version
from skerry.water.daylight import Daylight
from skerry.water.optics import Optics

REFRACTION: Final = 4.0 / 3.0  # refractive index of sea water; 1.33 to 1.35 for visible light (Mobley 1994, table 3.8)
SKY_TRANSMITTANCE: Final = 0.934  # share of a uniform sky's light that passes the surface (Mobley 1994, sec. 4.2)
MEAN_COSINE: Final = 0.924  # g

# fields of the light array that kernels read
SUN: Final = 0  # 3: direction towards the sun, in air
SUN_LIGHT: Final = 3  # 3: irradiance of the sun, in air
AMBIENT: Final = 6  # 3: irradiance of the sky, in air
WET_SUN: Final = 9  # 3: direction towards the sun, under water
WET_SUN_LIGHT: Final = 12  # 3: irradiance of the sun just below the surface
WET_AMBIENT: Final = 15  # 3: irradiance of the sky just below the surface
BEAM: Final = 18  # 3: c, 1/m
FADING: Final = 21  # 3: K_d, 1/m
GLOW: Final = 24  # 3: b E₀ / 4, the veil of a metre of water just below the surface
SPREADING: Final = 27  # b (1 − g) / cos θ of green light, 1/m
ZENITH: Final = 28  # 3: radiance of the sky at the zenith
HORIZON: Final = 31  # 3: radiance of the sky at the horizon
CLOUDS: Final = 34  # 3: radiance of clouds
CLOUD: Final = 37  # share of the sky that clouds cover
FOCUS: Final = 38  # strength of caustics, 0 to 1
TIME: Final = 39  # s
LIGHT_SIZE: Final = 40
DISC: Final = np.float32(60.0)  # radiance of the sun's disc over its irradiance; the true 46 000 looks the same

ZERO: Final = np.float32(0.0)
ONE: Final = np.float32(1.0)
HALF: Final = np.float32(0.5)
RATIO: Final = np.float32(REFRACTION)


def light_array(daylight: Daylight, optics: Optics, focus: float = 0.0, time: float = 0.0) -> NDArray[np.float32]:
    """Return the light array of sun, sky and water, (LIGHT_SIZE,).

    Args:
        daylight: Sun and sky.
        optics: Optical properties of the water.
        focus: Strength of caustics, 0 to 1.
        time: Time of the caustics, s.
    """
    out = np.zeros(LIGHT_SIZE)
    sun = daylight.sun_direction
    out[SUN : SUN + 3], out[SUN_LIGHT : SUN_LIGHT + 3] = sun, daylight.sun
    out[AMBIENT : AMBIENT + 3] = daylight.ambient
    height = max(float(sun[2]), 0.0)
    level = np.sqrt(1.0 - height**2)
    wet_height = np.sqrt(1.0 - (level / REFRACTION) ** 2)
    out[WET_SUN : WET_SUN + 3] = *(sun[:2] / REFRACTION if level > 0 else (0.0, 0.0)), wet_height
    entering = (1.0 - reflected_share(np.float32(height), np.float32(wet_height), ONE, RATIO)) * height / wet_height
    out[WET_SUN_LIGHT : WET_SUN_LIGHT + 3] = daylight.sun * entering
    out[WET_AMBIENT : WET_AMBIENT + 3] = daylight.ambient * SKY_TRANSMITTANCE
    out[BEAM : BEAM + 3], out[FADING : FADING + 3] = optics.attenuation, optics.diffuse_attenuation
    below = daylight.sun * entering * wet_height + daylight.ambient * SKY_TRANSMITTANCE
    out[GLOW : GLOW + 3] = 0.25 * optics.scattering * below
    out[SPREADING] = optics.scattering[1] * (1.0 - MEAN_COSINE) / wet_height
    out[ZENITH : ZENITH + 3], out[HORIZON : HORIZON + 3] = daylight.zenith, daylight.horizon
    out[CLOUDS : CLOUDS + 3] = daylight.clouds
    out[CLOUD] = daylight.cloud
    out[FOCUS], out[TIME] = focus, time
    return out.astype(np.float32)


@kernel
def fade(x: Any) -> Any:
    """Return e^x for x ≤ 0 with a relative error of 2e-5; values below 2e-9 are returned as 2e-9."""
    y = max(x, np.float32(-20.0)) * np.float32(1.0 / 64.0)
    e = ONE + y * (ONE + y * (HALF + y * (np.float32(1 / 6) + y * np.float32(1 / 24))))
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    return e * e


@kernel
def reflected_share(cosine: Any, beyond: Any, inside: Any, outside: Any) -> Any:
    """Return Fresnel's reflectance of unpolarised light.

    Args:
        cosine: Cosine of the angle of incidence.
        beyond: Cosine of the angle of refraction.
        inside: Refractive index on the side of incidence.
        outside: Refractive index on the other side.
    """
    s = (inside * cosine - outside * beyond) / (inside * cosine + outside * beyond)
    p = (inside * beyond - outside * cosine) / (inside * beyond + outside * cosine)
    return HALF * (s * s + p * p)


@kernel
def through_water(light: Any, depth: Any, upwards: Any, distance: Any, channel: int) -> tuple[Any, Any]:
    """Return the transmittance and the veil of a path in water that starts at a depth."""
    beam, fading = light[BEAM + channel], light[FADING + channel]
    rate = beam - fading * upwards
    glow = light[GLOW + channel] * fade(-fading * depth) / rate
    return fade(-beam * distance), glow * (ONE - fade(-rate * distance))


@kernel
def cloud_share(light: Any, patterns: Any, x: Any, y: Any, z: Any) -> Any:
    """Return the cloud cover in a direction, 0 to 1, from a layer of cloud patches overhead."""
    cloud = light[CLOUD]
    if cloud <= ZERO or z <= ZERO:
        return ZERO
    far = np.float32(0.005) / (z + np.float32(0.08))
    level = version(np.float32(0.0005 * SIDE) * far)
    density = texture(patterns, TEXELS * GRAIN, ONE, ONE, level, 0, x * far, y * far)
    edge = (density - ONE - np.float32(0.35) * (ONE - cloud - cloud)) * np.float32(2.5) + HALF
    edge = min(max(edge, ZERO), ONE)
    return edge * edge * (np.float32(3.0) - np.float32(2.0) * edge)


@kernel
def _sky_channel(light: Any, c: int, haze: Any, cloud: Any, beam: Any) -> Any:
    value = light[ZENITH + c] + (light[HORIZON + c] - light[ZENITH + c]) * haze
    return value + (light[CLOUDS + c] - value) * cloud + light[SUN_LIGHT + c] * beam


@kernel
def sky(light: Any, patterns: Any, x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
    """Return the radiance of the sky in a direction as red, green and blue, with clouds, sun and the sun's glow."""
    cloud = cloud_share(light, patterns, x, y, z)
    low = ONE - max(z, ZERO)
    haze = low * low
    haze *= haze
    near = max(x * light[SUN] + y * light[SUN + 1] + z * light[SUN + 2], ZERO)
    broad = near * near
    broad *= broad
    broad *= broad
    broad *= broad
    glow = broad * broad
    glow *= glow
    glow *= glow
    beam = np.float32(0.06) * broad + np.float32(0.35) * glow
    if near > np.float32(0.99999):  # 0.26°, the sun's radius
        beam += DISC * (ONE - cloud)
    return (
        _sky_channel(light, 0, haze, cloud, beam),
        _sky_channel(light, 1, haze, cloud, beam),
        _sky_channel(light, 2, haze, cloud, beam),
    )
