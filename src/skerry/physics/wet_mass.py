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
    compiled: Any, step: Fraction, wet: dict[int, list[Law]], added: dict[int, NDArray[np.float64]]
) -> None:
    """Refuse RK4 with a step that is too long for the drag, which it must take explicitly."""
    mass, data = _mass_with_water(compiled, added)
    for body, acting in wet.items():
        damping = sum((law.damping for law in acting if law.damping is not None), np.zeros((6, 6)))
        jacobian = _jacobian(compiled, data, body, data.xpos[body], data.xmat[body].reshape(3, 3))
        rates = np.linalg.eigvals(np.linalg.solve(mass, jacobian.T @ damping @ jacobian)).real
        stiffest = float(rates.max(initial=0.0))
        if stiffest * float(step) > RK4_LIMIT:
            raise SkerryError(
                f"the step {step} s is too long for RK4 with the drag of {compiled.body(body).name!r}, "
                f"which slows it within {1 / stiffest:.2g} s at 5 m/s; use a step of at most "
                f"{RK4_LIMIT / stiffest:.2g} s, or the integrator implicitfast, which takes any step"
            )
