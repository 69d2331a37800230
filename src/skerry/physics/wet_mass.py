"""Mass matrix including added mass, used at build time for contacts, joint drives and the check of explicit steps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.parts.law import Law
from skerry.physics.mujoco import mujoco

# Largest rate times step for RK4. The stability limit on the negative real axis is 2.785 (Hairer & Wanner, Solving
# ODEs II, §IV.2); the rest is a margin.
RK4_LIMIT = 2.5


def _mass_with_water(compiled: Any, added: dict[int, NDArray[np.float64]]) -> tuple[NDArray[np.float64], Any]:
    """Return the full mass matrix at the model's initial pose, added mass included, and its mjData."""
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
    """Return the 6×n Jacobian (linear, angular) of a point of a body, in the axes of `rotation`."""
    linear, angular = np.zeros((3, compiled.nv)), np.zeros((3, compiled.nv))
    mujoco.mj_jac(compiled, data, linear, angular, point, body)
    return np.vstack([rotation.T @ linear, rotation.T @ angular])


def joint_inertias(compiled: Any, added: dict[int, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the inertia at each joint axis while all other axes are free, added mass included: 1/(M⁻¹)ᵢᵢ."""
    if compiled.nv == 0:
        return np.zeros(0)
    mass, _ = _mass_with_water(compiled, added)
    return np.asarray(1.0 / np.diag(np.linalg.inv(mass)))


def soften_contacts(compiled: Any, added: dict[int, NDArray[np.float64]]) -> None:
    """Include added mass in the inverse inertia by which MuJoCo scales the softness of contacts.

    The formulas are those of mj_setConst: means of J M⁻¹ Jᵀ at each body's centre of mass, and of M⁻¹ for each joint,
    at the model's initial pose.
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
    """Check that RK4 is stable with the damping of all links and joints, in water and in air.

    Args:
        compiled: the compiled model.
        step: length of a step, s.
        on_links: laws by body number.
        on_joints: laws by joint axis.
        added: added mass by body number, (6, 6).

    Raises:
        SkerryError: the step is too long.
    """
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
                f"the step {step} s is too long for RK4: the damping of {name!r} has a time constant of "
                f"{1 / rate:.2g} s (drag at 5 m/s); use a step of at most {RK4_LIMIT / rate:.2g} s, or the integrator "
                "implicitfast, which is stable at any step"
            )
