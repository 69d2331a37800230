"""Fin: lift and drag with stall, from the flow at the fin, a propeller's slipstream included.

The fin is a plane: x of its mount points to its leading edge, y along its span, z out of its face. Flow along the span
has no effect. With (u, w) the velocity of its centre of pressure through the water along x and z and α = atan2(−w, u),

    F = ½ ρ A V (C_L (−w, u) − C_D (u, w)),    V² = u² + w².

Up to the stall C_L = C_Lα α, with C_Lα = 2 π Λ/(Λ + 2) of an elliptic wing of aspect ratio Λ by lifting-line theory
(Anderson, Fundamentals of Aerodynamics, §5.3) unless given, and C_D = C_D0 + C_L²/(π e Λ). Beyond the stall the fin
acts as a flat plate, without a jump at the stall (Viterna & Corrigan 1982, NASA CP-2230, p. 69):

    C_L = B sin α cos α + K_L cos² α/sin α,    C_D = B sin² α + K_D cos α,    B = 1.11 + 0.018 Λ,

K_L and K_D follow from the values at the stall. With flow from behind, |α| > 90°, both are 0.

In a slipstream the speed along the propeller's axis is √(u² + 2 T/(ρ A_p)) instead of u: Rankine's momentum theory far
behind a disc of area A_p, T = ½ ρ A_p (u_w² − u²) (Principles of Naval Architecture, 1988, vol. II, ch. VI). T is the
thrust of the previous force evaluation, if positive. The force is scaled by the share of the fin under water. The slope
of the lift with velocity, times the step, is added to the mass matrix, as for all damping.
"""

from __future__ import annotations

from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive
from skerry.core.frames import Pose
from skerry.core.kernels import floats, kernel, load_word, stack_floats
from skerry.parts.law import (
    DENSITY,
    INERTIA,
    JET_AREA,
    JET_AXIS,
    JET_BLOCK,
    JET_SIZE,
    JET_THRUST,
    POSITION,
    RELATIVE,
    ROTATION,
    STEP,
    SURFACE,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    block_of,
    constants_of,
    law,
    turned_shift,
)
from skerry.physics.laws.damping import REFERENCE_SPEED

# Offsets in the constants: area, its square root, lift slope, stall angle, drag without lift, 1/(π e Λ), B, K_L, K_D.
AREA, HEIGHT, SLOPE, STALL, DRAG, INDUCED, BROADSIDE, STALLED_LIFT, STALLED_DRAG = range(9)
# Rows of the 6×6 shift to the fin for its x and z axes, position of the fin on the body, and slipstream.
ALONG: Final = 9
ACROSS: Final = 15
FIN_POSITION: Final = 21
JET: Final = 24
CONSTANTS: Final = JET + JET_SIZE


@kernel
def lift_and_drag(c: Any, angle: float) -> tuple[float, float]:
    """Return C_L and C_D at an angle of attack from −π to π."""
    size = abs(angle)
    if size <= c[STALL]:
        lift = c[SLOPE] * angle
        return lift, c[DRAG] + c[INDUCED] * lift * lift
    sine, cosine = np.sin(size), np.cos(size)
    lift = c[BROADSIDE] * sine * cosine
    drag = c[BROADSIDE] * sine * sine
    if cosine > 0.0:
        lift += c[STALLED_LIFT] * cosine * cosine / sine
        drag += c[STALLED_DRAG] * cosine
    drag = max(drag, c[DRAG])
    return (lift if angle > 0.0 else -lift), drag


@kernel
def add_slipstream(c: Any, userdata: int, block: Any, velocity: Any) -> None:
    """Add the slipstream to the velocity of a point through the water, (3,), in the axes of its body."""
    thrust = floats(userdata + 8 * int(c[JET + JET_THRUST]), 1)[0]
    if thrust <= 0.0:
        return
    there = floats(userdata + 8 * int(c[JET + JET_BLOCK]) + 8 * ROTATION, 9)
    here = block[ROTATION : ROTATION + 9]
    a = c[JET + JET_AXIS : JET + JET_AXIS + 3]
    wx = there[0] * a[0] + there[1] * a[1] + there[2] * a[2]
    wy = there[3] * a[0] + there[4] * a[1] + there[5] * a[2]
    wz = there[6] * a[0] + there[7] * a[1] + there[8] * a[2]
    x = here[0] * wx + here[3] * wy + here[6] * wz
    y = here[1] * wx + here[4] * wy + here[7] * wz
    z = here[2] * wx + here[5] * wy + here[8] * wz
    inflow = max(x * velocity[0] + y * velocity[1] + z * velocity[2], 0.0)
    gain = np.sqrt(inflow * inflow + 2.0 * thrust / (block[DENSITY] * c[JET + JET_AREA])) - inflow
    velocity[0] += gain * x
    velocity[1] += gain * y
    velocity[2] += gain * z


@law
def apply_fin_force(model: int, data: int, table: int) -> None:
    """Apply lift and drag of a fin."""
    block = block_of(data, table)
    c = constants_of(table)
    x, y, z = c[FIN_POSITION], c[FIN_POSITION + 1], c[FIN_POSITION + 2]
    height = block[POSITION + 2] + block[ROTATION + 6] * x + block[ROTATION + 7] * y + block[ROTATION + 8] * z
    share = min(max((block[SURFACE] - height) / c[HEIGHT] + 0.5, 0.0), 1.0)
    if share == 0.0:
        return
    v = block[RELATIVE : RELATIVE + 6]
    velocity = floats(stack_floats(3), 3)
    velocity[0] = v[0] + v[4] * z - v[5] * y
    velocity[1] = v[1] + v[5] * x - v[3] * z
    velocity[2] = v[2] + v[3] * y - v[4] * x
    if c[JET + JET_AREA] > 0.0:
        add_slipstream(c, load_word(data + load_word(table)), block, velocity)
    u = c[ALONG] * velocity[0] + c[ALONG + 1] * velocity[1] + c[ALONG + 2] * velocity[2]
    w = c[ACROSS] * velocity[0] + c[ACROSS + 1] * velocity[1] + c[ACROSS + 2] * velocity[2]
    speed = np.sqrt(u * u + w * w)
    if speed == 0.0:
        return
    angle = np.arctan2(-w, u)
    lift, drag = lift_and_drag(c, angle)
    scale = 0.5 * share * block[DENSITY] * c[AREA] * speed
    along = -scale * (lift * w + drag * u)
    across = scale * (lift * u - drag * w)
    # Bounds on the slopes −∂F/∂(u, w): that of the lift while the flow is attached, that of a plate beyond the stall
    attached = abs(angle) <= c[STALL]
    step = block[STEP] * scale
    stiff_along = step * 2.0 * drag
    stiff_across = step * (c[SLOPE] + drag if attached else 2.0 * c[BROADSIDE])
    for i in range(6):
        block[WRENCH + i] += along * c[ALONG + i] + across * c[ACROSS + i]
        for j in range(6):
            block[INERTIA + 6 * i + j] += (
                stiff_along * c[ALONG + i] * c[ALONG + j] + stiff_across * c[ACROSS + i] * c[ACROSS + j]
            )


class FinShape(Config):
    """Shape of a fin, fixed or movable."""

    area: Positive = Field(description="area of one face, m²")
    aspect_ratio: Positive = Field(description="span²/area; twice that for a fin whose root is close to the hull")
    lift_slope: Positive | None = Field(None, description="lift coefficient per rad; 2 π Λ/(Λ + 2) by default")
    stall_deg: Positive = Field(15.0, le=45, description="angle of attack at which the flow separates, °")
    drag: NonNegative = Field(0.01, description="drag coefficient without lift")
    efficiency: Positive = Field(0.9, le=1, description="Oswald's efficiency e of the induced drag")
    broadside_drag: Positive | None = Field(
        None, description="drag coefficient across the flow; 1.11 + 0.018 Λ by default"
    )
    in_wash_of: str | None = Field(None, description="propeller or thruster of the vehicle in whose wash the fin is")

    def law_at(self, pose: Pose, density: float) -> Law:
        """Return the law of the fin at a pose on a body, in water of a density in kg/m³."""
        c = self._constants(pose)
        bound = 0.5 * density * self.area * REFERENCE_SPEED
        along, across = c[ALONG : ALONG + 6], c[ACROSS : ACROSS + 6]
        drag = c[DRAG] + c[INDUCED] * (c[SLOPE] * c[STALL]) ** 2
        stiffest = max(c[SLOPE] + drag, 2.0 * c[BROADSIDE])
        damping = bound * (2.0 * drag * np.outer(along, along) + stiffest * np.outer(across, across))
        return Law(c, force=apply_fin_force, damping=damping, in_jet_of=self.in_wash_of, jet_index=JET)

    def _constants(self, pose: Pose) -> NDArray[np.float64]:
        ratio, stall = self.aspect_ratio, np.radians(self.stall_deg)
        c = np.zeros(CONSTANTS)
        c[AREA], c[HEIGHT], c[STALL], c[DRAG] = self.area, np.sqrt(self.area), stall, self.drag
        c[SLOPE] = self.lift_slope or 2.0 * np.pi * ratio / (ratio + 2.0)
        c[INDUCED] = 1.0 / (np.pi * self.efficiency * ratio)
        c[BROADSIDE] = self.broadside_drag or 1.11 + 0.018 * ratio
        lift = c[SLOPE] * stall
        drag = c[DRAG] + c[INDUCED] * lift**2
        sine, cosine = np.sin(stall), np.cos(stall)
        c[STALLED_LIFT] = (lift - c[BROADSIDE] * sine * cosine) * sine / cosine**2
        c[STALLED_DRAG] = (drag - c[BROADSIDE] * sine**2) / cosine
        to_fin = turned_shift(pose)
        c[ALONG : ALONG + 6], c[ACROSS : ACROSS + 6] = to_fin[0], to_fin[2]
        c[FIN_POSITION : FIN_POSITION + 3] = pose.position
        return c


class Fin(LawConfig, FinShape):
    """Settings of a fixed fin. `position` is its centre of pressure; x points to the leading edge, y along the span."""

    kind: Literal["fin"] = "fin"

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"area": 0.02, "aspect_ratio": 2} | settings)

    def build(self, at: Attachment) -> Law:
        return self.law_at(self.pose_on_body(at), at.water_density)
