"""Settings of a rope: material, attachment, pulley, and buoy or hook at its end."""

from __future__ import annotations

from math import pi
from typing import Annotated, Literal

from pydantic import Field, model_validator

from skerry.core.config import Config, NonNegative, Positive, Vector3

Share = Annotated[float, Field(ge=0, le=1)]

# Young's modulus of a braided synthetic rope over its whole cross-section, Pa; ropes have 0.5 to 5 GPa (estimate).
MODULUS = 1e9
MAX_SEGMENTS = 5000  # per rope


class Buoy(Config):
    """Settings of a ball at the end of a rope."""

    mass: Positive = Field(description="mass, kg")
    radius: Positive = Field(0.075, description="radius, m")
    drag_coefficient: NonNegative = Field(
        0.5, description="drag coefficient of a sphere at Reynolds numbers from 1e3 to 1e5 (Hoerner 1965)"
    )


class Hook(Config):
    """Settings of a hook at the end of a rope: a ring with a gate.

    It catches ropes that come into the ring. They then run over it as over a pulley.
    """

    mass: Positive = Field(0.1, description="mass, kg")
    radius: Positive = Field(0.05, description="radius of the hook as a sphere, m; the hook displaces no water")
    reach: Positive = Field(
        0.1,
        description="radius of its ring, m: a rope that comes as close to its centre is caught and held there",
    )
    drag_coefficient: NonNegative = Field(1.0, description="drag coefficient on the area of its sphere")
    pulley_mass: Positive = Field(0.02, description="inertia of the pulley over its radius squared, kg")
    pulley_drag: NonNegative = Field(0.5, description="resistance against rope that runs over the hook, N s/m")


class Pulley(Config):
    """Settings of a pulley that a rope runs over, from the load at its start to the load at its end."""

    at: str | Vector3 = Field(description="attachment of the pulley, as for `start`")
    point: Vector3 = Field((0.0, 0.0, 0.0), description="point on `at`, in its frame, m")
    mass: Positive = Field(0.02, description="inertia of the pulley over its radius squared, kg")
    drag: NonNegative = Field(0.5, description="resistance against rope that runs over it, N s/m")


class RopeConfig(Config):
    """Settings of a rope. Its start is always tied; its end is tied, free, or has a buoy or a hook.

    In a vehicle `start` and `end` are its links; in a scenario "robot/link", a robot, an object, or a point [x, y, z].
    """

    start: str | Vector3 = Field(description="attachment of the start; a winch winds the rope in there")
    start_point: Vector3 = Field((0.0, 0.0, 0.0), description="point on `start`, in its frame, m")
    end: str | Vector3 | None = Field(None, description="attachment of the end; free by default")
    end_point: Vector3 = Field((0.0, 0.0, 0.0), description="point on `end`, in its frame, m")
    direction: Vector3 = Field(
        (1.0, 0.0, 0.0), description="initial direction of a rope with a free end, in the frame of `start`"
    )
    length: Positive | None = Field(None, description="length at rest, m; a rope on a winch gets it from the winch")
    diameter: Positive = Field(0.01, description="diameter, m")
    mass_per_metre: Positive | None = Field(None, description="mass per metre, kg/m; from `density` by default")
    density: Positive = Field(
        910.0, description="density, kg/m³; polypropylene, which floats; polyamide has 1140 and sinks"
    )
    segment_length: Positive = Field(
        0.1, description="approximate length of a segment, m; the rope has a whole number of segments"
    )
    stiffness: Positive | None = Field(
        None, description="axial stiffness EA, N; 1 GPa times the cross-section by default"
    )
    damping: NonNegative = Field(0.0, description="axial damping, N s: tension per strain rate")
    bending_stiffness: NonNegative = Field(0.0, description="bending stiffness EI, N m²; nearly 0 for ropes")
    normal_drag: NonNegative = Field(1.2, description="drag coefficient across the rope (Hoerner 1965, a cylinder)")
    tangential_drag: NonNegative = Field(0.02, description="drag coefficient along the rope, on its surface")
    added_mass: NonNegative = Field(1.0, description="added-mass coefficient across the rope (Lamb 1932, a cylinder)")
    friction: NonNegative = Field(0.5, description="friction coefficient on the ground and on bodies")
    collision_diameter: Positive | None = Field(
        None, description="diameter for contacts with bodies, m; `diameter` by default"
    )
    tightness_tolerance: float = Field(
        0.02, ge=0, le=0.05, description="share of its length by which a tight rope may exceed the straight line"
    )
    buoy: Buoy | None = Field(None, description="buoy at the end")
    hook: Hook | None = Field(None, description="hook at the end")
    pulley: Pulley | None = Field(None, description="pulley that the rope runs over, between its two ends")
    maximum_force: Positive | None = Field(
        None, description="tension at which the rope breaks off or slips, N; without it the rope holds any tension"
    )
    overload: Literal["break", "slip"] = Field(
        "break",
        description="effect of `maximum_force`: it breaks off where it is tied, or slips on its winch at that tension",
    )
    winch: str | None = Field(None, description="winch that pays it out, an actuator of the same vehicle")
    catchable: bool = Field(True, description="whether hooks may catch it while its end is free")
    setup_on_start: bool = Field(
        True, description="whether the rope exists at the start; otherwise `attach` creates it"
    )
    colour: tuple[Share, Share, Share] = Field((0.9, 0.5, 0.1), description="red, green and blue, 0 to 1")

    @model_validator(mode="after")
    def _check_consistency(self) -> RopeConfig:
        ends = [name for name in ("end", "buoy", "hook") if getattr(self, name) is not None]
        if len(ends) > 1:
            raise ValueError(f"a rope can have only one of these at its end: {', '.join(ends)}")
        if self.pulley is not None and self.end is None:
            raise ValueError("a rope over a `pulley` needs two loads: give `end`, the load on the other side")
        if self.pulley is not None and self.winch is not None:
            raise ValueError("a rope over a `pulley` cannot be on a `winch` too; give its `length`")
        if self.overload == "slip" and (self.winch is None or self.maximum_force is None):
            missing = "winch" if self.winch is None else "maximum_force"
            raise ValueError(f"`overload: slip` needs a `{missing}`: a rope slips on its winch at `maximum_force`")
        if (self.length is None) == (self.winch is None):
            raise ValueError("give either `length` or `winch`; a rope on a winch gets its length from the winch")
        if self.length is not None and self.segment_length > self.length:
            raise ValueError(f"`segment_length` {self.segment_length} m is more than `length` {self.length} m")
        if self.length is not None and self.length / self.segment_length > MAX_SEGMENTS:
            raise ValueError(
                f"`segment_length` gives {self.length / self.segment_length:.0f} segments, more than {MAX_SEGMENTS}; "
                "use longer segments"
            )
        if not any(self.direction):
            raise ValueError("`direction` must not be zero")
        return self

    @property
    def area(self) -> float:
        """Area of the cross-section, m²."""
        return 0.25 * pi * self.diameter**2

    @property
    def linear_mass(self) -> float:
        """Mass per metre, kg/m."""
        return self.mass_per_metre or self.density * self.area

    @property
    def axial_stiffness(self) -> float:
        """Axial stiffness EA, N."""
        return self.stiffness or MODULUS * self.area
