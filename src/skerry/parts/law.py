"""Native law: a force, inertia or state change on one link, as a C function and a table of constants.

Every link on which a law acts has a *block* of numbers in `mjData.userdata`. Before the laws of a pass run, the engine
writes the motion of the link and the state of the water to the block. The laws add their wrench and their 6×6 inertia,
in the axes of the link and about its origin. Then the engine transfers both to the joints. A law therefore does not
depend on joints, body trees or other laws.

6-vectors are (linear, angular) in the link's axes (FLU), SI units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
VELOCITY: Final = 12  # 6: velocity of the link
RELATIVE: Final = 18  # 6: velocity through the water
BIAS: Final = 24  # 6: the link's acceleration (rate of change of VELOCITY) if no joint accelerated
FLOW_RATE: Final = 30  # 3: the water's acceleration
SURFACE: Final = 33  # height z of the water surface at the origin of the link, in the world
DENSITY: Final = 34  # density of the water at the origin of the link
SUBMERGED: Final = 35  # share of the body under water, 0 to 1
TOUCHING: Final = 36  # 1 if any part of the body is under water, else 0
STEP: Final = 37  # the length of the implicit part of a step: the step, or 0 under RK4
GRAVITY: Final = 38  # m/s², positive
TIME: Final = 39  # s
WRENCH: Final = 40  # 6: sum of the laws' forces and torques
INERTIA: Final = 46  # 36: sum of the laws' inertias, and of step × ∂(−wrench)/∂velocity for drag
VOLUME: Final = 82  # volume of the force points of the body, m³
WET_VOLUME: Final = 83  # volume of the force points under water, m³
BLOCK: Final = 84

# ------------------------------------------------------------------------------------------------ the table of a law
# The header has 64-bit fields. The constants of the law follow as float64.
USERDATA_OFFSET: Final = 0  # offset of the pointer to userdata in mjData, bytes
BLOCK_START: Final = 1  # index of the block in userdata
STATE_START: Final = 2  # index of the law's state in userdata
CONSTANTS: Final = 3  # number of constants
WATER: Final = 4  # address of the water's native function
WATER_TABLE: Final = 5  # address of the water's table
TIME_OFFSET: Final = 6  # offset of time in mjData, bytes
BODY: Final = 7  # MuJoCo's number of the link
LAYOUT: Final = 8  # address of the engine's list of offsets
JOINT_POSITION: Final = 9  # for a law on a joint: index in the positions
JOINT_AXIS: Final = 10  # for a law on a joint: index in the velocities and forces
JOINT_INERTIA: Final = 11  # for a law on a joint: index of the diagonal element in the mass matrix
WIND: Final = 12  # address of the wind's native function
WIND_TABLE: Final = 13  # address of the wind's table
FIELDS: Final = 14  # address of the table of force fields, or 0
OWNER: Final = 15  # number of the robot or object
HEADER: Final = 16  # number of fields of the header

LAW = types.void(types.int64, types.int64, types.int64)
law = native(LAW)
"""Decorator for the function of a law: (model, data, table), all three addresses."""

# The order in which laws of a pass run.
GATHER, IMMERSION, FORCE, APPLY, FINISH, MEASURE = range(6)


@kernel
def block_of(data: int, table: int) -> Any:
    """Return the block of the link that the law acts on."""
    userdata = load_word(data + load_word(table))
    return floats(userdata + 8 * load_word(table + 8 * BLOCK_START), BLOCK)


@kernel
def state_of(data: int, table: int, count: int) -> Any:
    """Return the state of the law."""
    userdata = load_word(data + load_word(table))
    return floats(userdata + 8 * load_word(table + 8 * STATE_START), count)


@kernel
def constants_of(table: int) -> Any:
    """Return the constants of the law."""
    return floats(table + 8 * HEADER, words(table, HEADER)[CONSTANTS])


@kernel
def time_of(data: int, table: int) -> float:
    """Return the time of this pass, s."""
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
    """Add a share of a 6×6 inertia (row by row), moving with velocity v, to the link.

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
# Constants of a law in a slipstream: index in userdata of the block of the body that carries the propeller, index of
# its thrust, axis on that body, and area of the disc, m². An area of 0 means that there is no slipstream.
JET_BLOCK, JET_THRUST, JET_AXIS, JET_AREA, JET_SIZE = 0, 1, 2, 5, 6


# ------------------------------------------------------------------------------------------------ laws as parts


@dataclass(frozen=True)
class Attachment:
    """Properties of the link that a part is attached to, known when the part is built.

    Links that are fixed to each other move as one body. Mass, centre of mass and inertia are those of that body, in its
    frame.
    """

    robot: str
    link: str
    offset: Pose  # pose of the link in the body that carries it
    mass: float
    center_of_mass: NDArray[np.float64]  # (3,), m
    inertia: NDArray[np.float64]  # (3, 3), kg m², about the centre of mass
    geometry: urdf.UrdfLink  # visual and collision shapes of the link, in the frame of the link
    joint: urdf.UrdfJoint | None  # joint that moves the link; None for the root
    robot_mass: float  # mass of all links, kg
    hanging_mass: float  # mass of all that hangs on the robot by ropes at the start, kg
    neutral_volume: float  # volume that the robot displaces in neutral trim, m³
    water_density: float
    water_accelerates: bool  # whether forces must include the acceleration of the flow
    gravity: float
    step: float


Attach = Callable[[str], Attachment]
"""Function that finds a link by name; its error for an unknown name suggests the nearest one."""


@dataclass(frozen=True)
class Jet:
    """Slipstream of a propeller law, for fins behind the propeller."""

    axis: NDArray[np.float64]  # (3,): direction of the thrust, in the axes of the body that carries the propeller
    diameter: float  # diameter of the disc, m
    thrust: int  # index of the thrust in the state of the law


@dataclass(frozen=True, eq=False)
class PointSet:
    """Force points of a law, with the data that all force points of a body or of a robot have in common."""

    points: NDArray[np.float64]  # (points, 3), in the frame of the body, m
    fields_index: int  # index of the constant that gets the number of force points of the whole robot
    mass_index: int  # index of the constant that gets the mass that each point carries, kg
    carries_weight: bool  # whether the points carry weight instead of the body
    mass: float | None  # mass that they carry, kg; None for the mass of the body that no other set carries
    moves_center: bool  # whether the centre of mass of the body is the mean of the points of all such sets


@dataclass
class Law(Component):
    """Law on one link: native functions, constants, and the initial state in userdata."""

    constants: NDArray[np.float64]
    force: Any = None  # called whenever the integrator needs forces
    update: Any = None  # called once per step, before the forces
    record: Any = None  # called once per step, after it, to read the forces of contacts
    initial_state: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    phase: int = FORCE
    added_mass: NDArray[np.float64] | None = None  # (6, 6): constant inertia, also used by contacts
    damping: NDArray[np.float64] | None = None  # (6, 6): largest drag slope in water, to check explicit steps
    air_damping: NDArray[np.float64] | None = None  # (6, 6): largest drag slope in air
    joint_damping: float = 0.0  # 1/s: damping of a joint drive divided by the inertia at the joint
    point_set: PointSet | None = None  # force points of the law
    wash: tuple[NDArray[np.float64], int] | None = None  # force field of the law: its row, and index of thrust in state
    jet: Jet | None = None  # slipstream that the law produces
    in_jet_of: str | None = None  # actuator of the same vehicle whose slipstream reaches this law
    jet_index: int = 0  # first of the constants of the slipstream, `JET_BLOCK` and so on
    joint: str | None = None  # joint that the law acts on instead of the link; the law then has no block
    joint_start: float = 0.0  # initial position of that joint, rad or m
    # Second joint that the law acts on, directly below or above the first, and the index of the first of its four
    # constants: index in the positions, in the velocities, on the diagonal of the mass matrix, and of M₁₂.
    second_joint: tuple[str, int] | None = None
    # Numbers in the state of other laws of the vehicle that the law reads: index of the constant that gets the index in
    # userdata → (name of the law, name of the number there)
    reads: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    state_names: Mapping[str, int] = field(default_factory=dict)  # indices in the state that other laws may read
    tyre_friction: float | None = None  # friction of the link if the law, not MuJoCo, computes its friction forces
    estimate: str = ""  # method and quality, if the constants were estimated
    armature: float = 0.0  # inertia of the drive that turns with the joint, kg m² or kg
    inertia_index: int | None = None  # index of the constant that gets the inertia at the joint
    memory: NDArray[np.float64] = field(init=False, repr=False)  # state: (n,), or (worlds, n) in a batch

    def __post_init__(self) -> None:
        self.constants = np.ascontiguousarray(self.constants, np.float64).ravel()
        self.initial_state = np.ascontiguousarray(self.initial_state, np.float64).ravel()
        self.memory = self.initial_state.copy()


class LawConfig(ComponentConfig, Mount):
    """Settings of a law on a link."""

    def build(self, at: Attachment) -> Law:
        """Return the law for the link that it is attached to."""
        raise NotImplementedError

    def pose_on_body(self, at: Attachment) -> Pose:
        """Return the pose of the law on the body that carries its link."""
        return at.offset @ self.offset()


def shift(position: Vector3 | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the 6×6 matrix from the velocity at the origin of a link to the velocity at a point of the link."""
    x, y, z = position
    matrix = np.eye(6)
    matrix[:3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return matrix


def turned_shift(pose: Pose) -> NDArray[np.float64]:
    """Return the 6×6 matrix from the velocity of a body to the velocity of a frame on it, in the frame's axes."""
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = pose.rotation.T
    return np.asarray(turn @ shift(pose.position))


def spatial_inertia(
    mass: float, center: Vector3 | NDArray[np.float64], inertia: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the 6×6 inertia about a link's origin, from mass, centre of mass and the inertia about that centre."""
    own = np.zeros((6, 6))
    own[:3, :3] = mass * np.eye(3)
    own[3:, 3:] = inertia
    to_center = shift(center)
    return np.asarray(to_center.T @ own @ to_center)
