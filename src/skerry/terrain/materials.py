"""Materials of terrain and objects: how they scatter sound and light, and their appearance.

Sound: the scattering strength of a surface follows Lambert's law, S = 10 log μ + 20 log sin(grazing angle) (Urick 1983,
Principles of Underwater Sound, ch. 8). The values of 10 log μ are estimates, accurate to about 5 dB: −27 dB is Urick's
mean for the deep sea floor; rock and gravel are above it, mud below. Light: diffuse reflectances of red, green and
blue, as sRGB, and of the near infrared of a lidar; all estimated by eye.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from skerry.core.config import Config
from skerry.core.errors import UnknownName, did_you_mean

Share = Annotated[float, Field(ge=0, le=1)]
Colour = tuple[Share, Share, Share]
Texture = Literal["plain", "grain", "ripples", "rock", "planks", "tiles"]


class Material(Config):
    """Material; a scenario can define its own."""

    backscatter_db: float = Field(
        -20.0,
        ge=-80,
        le=10,
        description="10 log μ of Lambert's law for sound, dB, for 1 m² of the surface at normal incidence",
    )
    reflectance: Share = Field(0.3, description="diffuse reflectance in the near infrared of a lidar")
    colour: Colour = Field((0.6, 0.6, 0.6), description="sRGB")
    texture: Texture = Field("plain", description="pattern of the colour on the surface, for cameras")
    texture_size: float = Field(1.0, gt=0, description="length of the pattern, m")
    label: int = Field(0, ge=0, le=255, description="class number in labels of sonars and cameras")


@dataclass(frozen=True)
class NamedMaterial:
    """Material of a surface for rays: its name, its properties, and the colour of the surface."""

    name: str
    material: Material
    colour: Colour


def _made(db: float, nir: float, colour: Colour, texture: Texture, size: float, label: int) -> Material:
    return Material(backscatter_db=db, reflectance=nir, colour=colour, texture=texture, texture_size=size, label=label)


# Labels as in the SMaRC simulator: ground 1, plants 2, buoys 3, ropes 4; others 0.
MATERIALS: Final[dict[str, Material]] = {
    "default": Material(),
    "sand": _made(-24, 0.35, (0.76, 0.70, 0.55), "ripples", 0.4, 1),
    "mud": _made(-32, 0.20, (0.40, 0.36, 0.29), "grain", 1.5, 1),
    "gravel": _made(-17, 0.30, (0.55, 0.53, 0.50), "grain", 0.15, 1),
    "rock": _made(-13, 0.25, (0.45, 0.43, 0.41), "rock", 1.2, 1),
    "soil": _made(-25, 0.25, (0.42, 0.33, 0.23), "grain", 0.5, 1),
    "grass": _made(-27, 0.50, (0.33, 0.45, 0.20), "grain", 0.2, 1),
    "concrete": _made(-20, 0.40, (0.62, 0.61, 0.58), "grain", 0.3, 0),
    "tiles": _made(-25, 0.50, (0.55, 0.75, 0.82), "tiles", 0.15, 0),
    "wood": _made(-20, 0.40, (0.52, 0.39, 0.26), "planks", 0.2, 0),
    "metal": _made(-12, 0.50, (0.60, 0.61, 0.63), "plain", 1.0, 0),
    "plastic": _made(-18, 0.50, (0.70, 0.70, 0.70), "plain", 1.0, 0),
    "rubber": _made(-25, 0.10, (0.10, 0.10, 0.10), "plain", 1.0, 0),
    "buoy": _made(-10, 0.60, (0.95, 0.35, 0.10), "plain", 1.0, 3),
    "algae": _made(-26, 0.45, (0.25, 0.35, 0.12), "grain", 0.1, 2),
    "rope": _made(-22, 0.50, (0.85, 0.55, 0.15), "plain", 1.0, 4),
    "hull": _made(-15, 0.50, (0.75, 0.75, 0.75), "plain", 1.0, 0),
}


def find_material(
    name: str, own: Mapping[str, Material] | None = None, colour: Colour | None = None, instead: str | None = None
) -> NamedMaterial:
    """Return a material by name.

    Args:
        name: Name of the material.
        own: Materials of the scenario; they take precedence over the shipped ones.
        colour: Colour of the surface; that of the material by default.
        instead: Name of the material to use if `name` is unknown.

    Raises:
        UnknownName: The material is unknown and `instead` is not given.
    """
    known = {**MATERIALS, **(own or {})}
    if name not in known and instead is not None:
        name = instead
    if name not in known:
        raise UnknownName(f"there is no material {name!r}; {did_you_mean(name, known)}")
    return NamedMaterial(name, known[name], known[name].colour if colour is None else colour)
