"""The mass matrix with the water in it, as contacts and explicit integrators must know it when a model is built."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.parts.law import Law
from skerry.physics.mujoco import mujoco

# RK4 is stable on the negative real axis up to 2.785 (Hairer & Wanner, Solving ODEs II, §IV.2); some room is left.
RK4_LIMIT = 2.5


def _mass_with_water(compiled: Any, added: dict[int, NDArray[np.float64]]) -> tuple[NDArray[np.float64], Any]:
    """The full mass matrix at the model's own pose with all added mass in it, and the data it belongs to."""
    data = mujoco.MjData(compiled)
    mujoco.mj_fwdPosition(compiled, data)
    mass = np.zeros((compiled.nv, compiled.nv))
    mujoco.mj_fullM(compiled, data, mass)
    for body, matrix in added.items():
        jacobian = _jacobian(compiled, data, body, data.xpos[body], data.xmat[body].reshape(3, 3))
        mass += jacobian.T @ matrix @ jacobian
    return mass, data


def _jacobian(
    compiled: Any, data: Any, body: int, point: NDArray[np.float64], rotation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The 6×n Jacobian of a point of a body, in the body's axes."""
    linear, angular = np.zeros((3, compiled.nv)), np.zeros((3, compiled.nv))
    mujoco.mj_jac(compiled, data, linear, angular, point, body)
    return np.vstack([rotation.T @ linear, rotation.T @ angular])


def joint_inertias(compiled: Any, added: dict[int, NDArray[np.float64]]) -> NDArray[np.float64]:
    """The inertia that each joint axis feels with all others free, water and all: 1/(M⁻¹)ᵢᵢ."""
    if compiled.nv == 0:
        return np.zeros(0)
    mass, _ = _mass_with_water(compiled, added)
    return np.asarray(1.0 / np.diag(np.linalg.inv(mass)))


def soften_contacts(compiled: Any, added: dict[int, NDArray[np.float64]]) -> None:
    """Let contacts know of added mass: MuJoCo scales their softness by the inverse inertia at the model's own pose.

    The same means as mj_setConst takes, of J M⁻¹ Jᵀ at each body's centre of mass and of M⁻¹ for each joint.
    """
    if not added or compiled.nv == 0:
        return
    mass, data = _mass_with_water(compiled, added)
    inverse = np.linalg.inv(mass)
    for body in range(1, compiled.nbody):
        jacobian = _jacobian(compiled, data, body, data.xipos[body], np.eye(3))
        weight = np.einsum("ij,jk,ik->i", jacobian, inverse, jacobian)
        compiled.body_invweight0[body] = weight[:3].mean(), weight[3:].mean()
    diagonal = np.diag(inverse)
    for joint in range(compiled.njnt):
        start, kind = int(compiled.jnt_dofadr[joint]), compiled.jnt_type[joint]
        groups = {mujoco.mjtJoint.mjJNT_FREE: (3, 3), mujoco.mjtJoint.mjJNT_BALL: (3,)}.get(kind, (1,))
        for size in groups:
            compiled.dof_invweight0[start : start + size] = diagonal[start : start + size].mean()
            start += size
    compiled.stat.meaninertia = np.trace(mass) / compiled.nv


def check_explicit_step(
    compiled: Any,
    step: Fraction,
    on_links: dict[int, list[Law]],
    on_joints: dict[int, Law],
    added: dict[int, NDArray[np.float64]],
) -> None:
    """Refuse RK4 with a step that is too long for the damping, all links and joints together, in water or in air."""
    if compiled.nv == 0:
        return
    wet, data = _mass_with_water(compiled, added)
    dry, _ = _mass_with_water(compiled, {})
    in_water, in_air = np.diag(compiled.dof_damping), np.diag(compiled.dof_damping)
    for axis, law in on_joints.items():
        for damping, mass in ((in_water, wet), (in_air, dry)):
            damping[axis, axis] += law.joint_damping / np.linalg.inv(mass)[axis, axis]
    for body, acting in on_links.items():
        jacobian = _jacobian(compiled, data, body, data.xpos[body], data.xmat[body].reshape(3, 3))
        for law in acting:
            if law.damping is not None:
                in_water += jacobian.T @ law.damping @ jacobian
            if law.air_damping is not None:
                in_air += jacobian.T @ law.air_damping @ jacobian
    for mass, damping in ((wet, in_water), (dry, in_air)):
        rates, directions = np.linalg.eig(np.linalg.solve(mass, damping))
        fastest = int(np.argmax(rates.real))
        rate = float(rates.real[fastest])
        if rate * float(step) > RK4_LIMIT:
            axis = int(np.argmax(np.abs(directions[:, fastest])))
            name = compiled.body(int(compiled.dof_bodyid[axis])).name
            raise SkerryError(
                f"the step {step} s is too long for RK4 with the damping of {name!r}, which slows it within "
                f"{1 / rate:.2g} s (drag at 5 m/s); use a step of at most {RK4_LIMIT / rate:.2g} s, or the integrator "
                "implicitfast, which takes any step"
            )
