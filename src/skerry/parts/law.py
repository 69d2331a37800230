"""A native law: a force, inertia or state change on one link, as a C function and a table of constants.

Every link on which a law acts has a *block* of numbers in `mjData.userdata`. Before the laws of a pass run, the engine
fills it with the link's motion and the water around it; the laws add their wrench and their 6×6 inertia in the link's
own axes, about the link's origin; then the engine carries both to the joints. So a law knows nothing of joints, trees
or other laws.

6-vectors are (linear, angular) in the link's axes (FLU), SI units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.config import Family, Vector3
from skerry.core.frames import Pose
from skerry.core.kernels import floats, kernel, load_float, load_word, native, words
from skerry.formats import urdf
from skerry.parts.component import Component, ComponentConfig, Mount

LAWS = Family("forces", "skerry.physics.laws")

# ------------------------------------------------------------------------------------------------ the block of a link
POSITION: Final = 0  # 3: the link's origin in the world
ROTATION: Final = 3  # 9: link to world, row by row
VELOCITY: Final = 12  # 6: of the link
RELATIVE: Final = 18  # 6: velocity through the water
BIAS: Final = 24  # 6: the link's acceleration (rate of change of VELOCITY) if no joint accelerated
FLOW_RATE: Final = 30  # 3: the water's acceleration
SURFACE: Final = 33  # height of the water surface above or below the link's origin, in the world
DENSITY: Final = 34  # of the water at the link's origin
SUBMERGED: Final = 35  # share of the body under water, 0 to 1
TOUCHING: Final = 36  # 1 if any part of the body is under water, else 0
STEP: Final = 37  # the length of the implicit part of a step: the step, or 0 under RK4
GRAVITY: Final = 38  # m/s², positive
TIME: Final = 39  # s
WRENCH: Final = 40  # 6: sum of the laws' forces and torques
INERTIA: Final = 46  # 36: sum of the laws' inertias, and of step × ∂(−wrench)/∂velocity for drag
VOLUME: Final = 82  # m³ that the points of the body stand for,
WET_VOLUME: Final = 83  # and of it what is under water
BLOCK: Final = 84

# ------------------------------------------------------------------------------------------------ the table of a law
# 64-bit words, then the law's own constants as float64.
USERDATA_OFFSET: Final = 0  # of the pointer to userdata in mjData, bytes
BLOCK_START: Final = 1  # index in userdata
STATE_START: Final = 2  # index in userdata
CONSTANTS: Final = 3  # number of constants
WATER: Final = 4  # address of the water's native function
WATER_TABLE: Final = 5  # address of its table
TIME_OFFSET: Final = 6  # of time in mjData, bytes
BODY: Final = 7  # MuJoCo's number of the link
LAYOUT: Final = 8  # address of the engine's list of offsets
JOINT_POSITION: Final = 9  # for a law on a joint: its place among positions,
JOINT_AXIS: Final = 10  # among velocities and forces,
JOINT_INERTIA: Final = 11  # and on the diagonal of the mass matrix
WIND: Final = 12  # address of the wind's native function
WIND_TABLE: Final = 13  # address of its table
FIELDS: Final = 14  # address of the table of force fields, or 0
OWNER: Final = 15  # number of the robot or object
HEADER: Final = 16  # words

LAW = types.void(types.int64, types.int64, types.int64)
law = native(LAW)
"""Decorator of a law's function (model, data, table), all three addresses."""

# The order in which laws of a pass run.
GATHER, IMMERSION, FORCE, APPLY, FINISH, MEASURE = range(6)


@kernel
def block_of(data: int, table: int) -> Any:
    """The block of the link that the law acts on."""
    userdata = load_word(data + load_word(table))
    return floats(userdata + 8 * load_word(table + 8 * BLOCK_START), BLOCK)


@kernel
def state_of(data: int, table: int, count: int) -> Any:
    """The law's own state."""
    userdata = load_word(data + load_word(table))
    return floats(userdata + 8 * load_word(table + 8 * STATE_START), count)


@kernel
def constants_of(table: int) -> Any:
    """The law's own constants."""
    return floats(table + 8 * HEADER, words(table, HEADER)[CONSTANTS])


@kernel
def time_of(data: int, table: int) -> float:
    """The time of this pass, s."""
    return load_float(data + load_word(table + 8 * TIME_OFFSET))


@kernel
def add_force_at(block: Any, x: float, y: float, z: float, fx: float, fy: float, fz: float) -> None:
    """Add a force in the link's axes that acts at a point in the link's frame."""
    block[WRENCH] += fx
    block[WRENCH + 1] += fy
    block[WRENCH + 2] += fz
    block[WRENCH + 3] += y * fz - z * fy
    block[WRENCH + 4] += z * fx - x * fz
    block[WRENCH + 5] += x * fy - y * fx


@kernel
def add_inertia(block: Any, inertia: Any, share: float, v: Any, bias: Any) -> None:
    """Give the link a share of a 6×6 inertia (row by row) that moves with velocity v.

    −(I v̇ + C(v) v): of v̇ = J q̈ + bias the first part goes into the mass matrix and the second into the force, and
    C(v) v = (ω × p, ω × h + v × p) with (p, h) = I v: Kirchhoff's equations (Fossen 2021, §3.3 and §6.3).
    """
    force = block[WRENCH : WRENCH + 6]
    matrix = block[INERTIA : INERTIA + 36]
    p0 = p1 = p2 = h0 = h1 = h2 = 0.0
    for j in range(6):
        p0 += inertia[j] * v[j]
        p1 += inertia[6 + j] * v[j]
        p2 += inertia[12 + j] * v[j]
        h0 += inertia[18 + j] * v[j]
        h1 += inertia[24 + j] * v[j]
        h2 += inertia[30 + j] * v[j]
    force[0] -= share * (v[4] * p2 - v[5] * p1)
    force[1] -= share * (v[5] * p0 - v[3] * p2)
    force[2] -= share * (v[3] * p1 - v[4] * p0)
    force[3] -= share * (v[4] * h2 - v[5] * h1 + v[1] * p2 - v[2] * p1)
    force[4] -= share * (v[5] * h0 - v[3] * h2 + v[2] * p0 - v[0] * p2)
    force[5] -= share * (v[3] * h1 - v[4] * h0 + v[0] * p1 - v[1] * p0)
    for i in range(6):
        total = 0.0
        for j in range(6):
            total += inertia[6 * i + j] * bias[j]
            matrix[6 * i + j] += share * inertia[6 * i + j]
        force[i] -= share * total


# ------------------------------------------------------------------------------------------------ slipstreams
# What a law in a slipstream gets among its constants: the places in userdata of the block of the body that carries the
# propeller and of its thrust, then the axis on that body, and the area of the disc; an area of 0 is no slipstream.
JET_BLOCK, JET_THRUST, JET_AXIS, JET_AREA, JET_SIZE = 0, 1, 2, 5, 6


# ------------------------------------------------------------------------------------------------ laws as parts


@dataclass(frozen=True)
class Attachment:
    """What a part may know of the link it is attached to when it is built.

    Links that are fixed to each other move as one body; mass, centre and inertia are that body's, in its own frame.
    """

    robot: str
    link: str
    offset: Pose  # of the link in the body that carries it
    mass: float
    center_of_mass: NDArray[np.float64]  # (3,), m
    inertia: NDArray[np.float64]  # (3, 3), kg m², about the centre of mass
    joint: urdf.Joint | None  # that moves the link; None for the root
    robot_mass: float  # of all links
    neutral_volume: float  # m³ that the robot must displace to float freely in its trim
    water_density: float
    water_accelerates: bool  # whether the flow has a rate of change that forces must ask for
    gravity: float
    step: float


Attach = Callable[[str], Attachment]
"""Finds a link by its name; raises an error that guesses the right one."""


@dataclass(frozen=True)
class Jet:
    """The slipstream that a law makes, as fins behind it feel it."""

    axis: NDArray[np.float64]  # (3,): of the thrust, in the axes of the body that carries it
    diameter: float  # of the disc, m
    thrust: int  # its place in the law's state


@dataclass
class Law(Component):
    """One law on one link: native functions, constants, and the first values of its state in userdata."""

    constants: NDArray[np.float64]
    force: Any = None  # called whenever the integrator asks for forces
    update: Any = None  # called once a step, before the forces
    initial_state: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    phase: int = FORCE
    added_mass: NDArray[np.float64] | None = None  # (6, 6): constant inertia that contacts must know of
    damping: NDArray[np.float64] | None = None  # (6, 6): largest drag slope in water, to check explicit steps
    air_damping: NDArray[np.float64] | None = None  # (6, 6): the same in air
    joint_damping: float = 0.0  # 1/s: the same of a drive, over the inertia that its joint feels
    center_of_mass: Vector3 | None = None  # where the law puts the link's centre of mass
    weightless: bool = False  # the law supplies the link's weight itself
    wash: tuple[NDArray[np.float64], int] | None = (
        None  # a field that it makes: its row, and the thrust's place in state
    )
    jet: Jet | None = None  # a slipstream that it makes
    in_jet_of: str | None = None  # the actuator of the same vehicle whose slipstream it is in;
    jet_place: int = 0  # and where its constants take it: `JET_BLOCK` and so on
    joint: str | None = None  # a law on this joint instead of on the link: it has no block
    joint_start: float = 0.0  # where that joint stands at the start
    second_joint: tuple[str, int] | None = None  # another joint that it acts on, right below or above the first; and
    # from which constant on it finds that one's place among positions, velocities, on the diagonal, and of M₁₂
    points_place: tuple[int, int] | None = None  # its force points, and the constant that takes those of the whole body
    estimate: str = ""  # if its numbers were estimated: by which method, and how well
    armature: float = 0.0  # inertia of the drive that turns with the joint, kg m² or kg
    inertia_place: int | None = None  # of the constant that takes the inertia that the joint feels
    memory: NDArray[np.float64] = field(init=False, repr=False)  # the state: (n,), or (worlds, n) in a batch

    def __post_init__(self) -> None:
        self.constants = np.ascontiguousarray(self.constants, np.float64).ravel()
        self.initial_state = np.ascontiguousarray(self.initial_state, np.float64).ravel()
        self.memory = self.initial_state.copy()


class LawConfig(ComponentConfig, Mount):
    """Settings of a law on a link."""

    def build(self, at: Attachment) -> Law:
        """The law, for the link it is attached to."""
        raise NotImplementedError

    def place(self, at: Attachment) -> Pose:
        """Where it sits on the body that carries its link."""
        return at.offset @ self.offset()


def shift(position: Vector3 | NDArray[np.float64]) -> NDArray[np.float64]:
    """The 6×6 matrix that turns a velocity at the link's origin into the velocity at a point of the link."""
    x, y, z = position
    matrix = np.eye(6)
    matrix[:3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return matrix


def turned_shift(place: Pose) -> NDArray[np.float64]:
    """The 6×6 matrix from a velocity at a body's origin to the velocity at a place on it, in the axes of that place."""
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = place.rotation.T
    return np.asarray(turn @ shift(place.position))


def spatial_inertia(
    mass: float, center: Vector3 | NDArray[np.float64], inertia: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The 6×6 inertia about a link's origin of a body with its own inertia about its centre."""
    own = np.zeros((6, 6))
    own[:3, :3] = mass * np.eye(3)
    own[3:, 3:] = inertia
    to_center = shift(center)
    return np.asarray(to_center.T @ own @ to_center)
