"""Settings of a rope: what it is made of, where it is tied, what hangs at its end."""

from __future__ import annotations

from math import pi
from typing import Annotated

from pydantic import Field, model_validator

from skerry.core.config import Config, NonNegative, Positive, Vector3

Share = Annotated[float, Field(ge=0, le=1)]

MODULUS = 1e9  # Pa, of a braided synthetic rope over its whole cross-section; ropes have 0.5 to 5 GPa (estimate)
MAX_SEGMENTS = 5000


class Buoy(Config):
    """A ball at the end of a rope."""

    mass: Positive = Field(description="kg")
    radius: Positive = Field(0.075, description="m")
    drag_coefficient: NonNegative = Field(
        0.5, description="of a ball, at Reynolds numbers from 1e3 to 1e5 (Hoerner 1965)"
    )


class Hook(Config):
    """A hook at the end of a rope, that catches other ropes; they run over it as over a pulley."""

    mass: Positive = Field(0.1, description="kg")
    radius: Positive = Field(0.05, description="of the hook as a ball, m; it displaces no water")
    reach: Positive = Field(0.1, description="m from its middle within which it catches a rope")
    drag_coefficient: NonNegative = Field(1.0, description="over the area of its ball")
    pulley_mass: Positive = Field(0.02, description="inertia of its sheave over the radius squared, kg")
    pulley_drag: NonNegative = Field(0.5, description="N s/m against rope that runs over it")


class RopeConfig(Config):
    """A rope. Its start is tied to something; its end to something too, or to a buoy or hook, or to nothing.

    In a vehicle `start` and `end` are its links; in a scenario "robot/link", a robot, an object, or a point [x, y, z].
    """

    start: str | Vector3 = Field(description="what it is tied to; a winch winds it in there")
    start_point: Vector3 = Field((0.0, 0.0, 0.0), description="on that, in its axes, m")
    end: str | Vector3 | None = Field(None, description="what its other end is tied to; nothing by default")
    end_point: Vector3 = Field((0.0, 0.0, 0.0), description="on that, in its axes, m")
    direction: Vector3 = Field(
        (1.0, 0.0, 0.0), description="in which a rope with a free end lies at first, in the axes of its start"
    )
    length: Positive | None = Field(None, description="m; of a rope on a winch, the winch's")
    diameter: Positive = Field(0.01, description="m")
    mass_per_metre: Positive | None = Field(None, description="kg/m; from the density by default")
    density: Positive = Field(910.0, description="kg/m³; polypropylene, which floats; polyamide has 1140 and sinks")
    segment_length: Positive = Field(0.1, description="m; about: a whole number of segments makes the length")
    stiffness: Positive | None = Field(None, description="EA, N; 1 GPa times the cross-section by default")
    damping: NonNegative = Field(0.0, description="of stretching, N s: tension per relative stretch rate")
    bending_stiffness: NonNegative = Field(0.0, description="EI, N m²; ropes have nearly none")
    normal_drag: NonNegative = Field(1.2, description="coefficient across the rope (Hoerner 1965, a cylinder)")
    tangential_drag: NonNegative = Field(0.02, description="coefficient along the rope, over its surface")
    added_mass: NonNegative = Field(1.0, description="coefficient across the rope (Lamb 1932, a cylinder)")
    friction: NonNegative = Field(0.5, description="sliding coefficient on the ground and on bodies")
    collision_diameter: Positive | None = Field(
        None, description="at which bodies touch it, m; its diameter by default"
    )
    tightness_tolerance: float = Field(
        0.02, ge=0, le=0.05, description="share of a length by which it may sag and still be tight"
    )
    buoy: Buoy | None = Field(None, description="a ball at its end")
    hook: Hook | None = Field(None, description="a hook at its end")
    winch: str | None = Field(None, description="the winch, an actuator of the robot at its start, that feeds it")
    catchable: bool = Field(True, description="whether hooks may catch it, while its end is free")
    setup_on_start: bool = Field(True, description="whether it is there at the start, or comes when it is attached")
    colour: tuple[Share, Share, Share] = Field((0.9, 0.5, 0.1), description="red, green and blue, 0 to 1")

    @model_validator(mode="after")
    def _consistent(self) -> RopeConfig:
        ends = [name for name in ("end", "buoy", "hook") if getattr(self, name) is not None]
        if len(ends) > 1:
            raise ValueError(f"one thing is at its end: {', '.join(ends)}")
        if (self.length is None) == (self.winch is None):
            raise ValueError("give either `length`, or the `winch` whose rope it is")
        if self.length is not None and self.segment_length > self.length:
            raise ValueError(f"`segment_length` {self.segment_length} m is more than `length` {self.length} m")
        if self.length is not None and self.length / self.segment_length > MAX_SEGMENTS:
            raise ValueError(
                f"{self.length / self.segment_length:.0f} segments are more than {MAX_SEGMENTS}; "
                "take a longer `segment_length`"
            )
        if not any(self.direction):
            raise ValueError("`direction` must point somewhere")
        return self

    @property
    def area(self) -> float:
        """Of its cross-section, m²."""
        return 0.25 * pi * self.diameter**2

    @property
    def linear_mass(self) -> float:
        """kg/m."""
        return self.mass_per_metre or self.density * self.area

    @property
    def axial_stiffness(self) -> float:
        """EA, N."""
        return self.stiffness or MODULUS * self.area
