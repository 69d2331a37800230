"""Points on bodies: the inverse inertia at a point."""

from __future__ import annotations

import mujoco
import numpy as np

from skerry.physics.mujoco import DATA_OFFSETS
from skerry.physics.points import body_table, inverse_inertia_of

TREES = """
<mujoco>
  <worldbody>
    <body pos="1 2 3" euler="10 20 30"><freejoint/><geom size="0.2" pos="0.1 0 0"/>
      <body pos="0.3 0 0"><joint axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3" pos="0 0.2 0"/>
        <body pos="0 0.4 0"><joint type="slide" axis="1 0 1"/><geom size="0.1"/></body></body>
      <body pos="0 0 0.5"><joint axis="1 1 0"/><geom size="0.15" pos="0.2 0 0"/></body></body>
    <body pos="5 0 0"><freejoint/><geom size="0.3"/></body>
  </worldbody>
</mujoco>"""


def test_the_inverse_inertia_of_a_body_includes_its_whole_tree() -> None:
    """J M⁻¹ Jᵀ with MuJoCo's Jacobian and mass matrix, for branches and for a body with a diagonal M; to rounding."""
    model = mujoco.MjModel.from_xml_string(TREES)
    data = mujoco.MjData(model)
    data.qpos[7:10] = 0.3, -0.2, 0.5
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    bodies, axes = body_table(model)
    for body in range(1, model.nbody):
        jacobian = np.zeros((6, model.nv))
        mujoco.mj_jacBody(model, data, jacobian[:3], jacobian[3:], body)
        found = np.zeros(36)
        inverse_inertia_of(
            model._address, data._address, DATA_OFFSETS, bodies.ctypes.data, axes.ctypes.data, body, found
        )
        expected = jacobian @ np.linalg.inv(mass) @ jacobian.T
        np.testing.assert_allclose(found.reshape(6, 6), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
