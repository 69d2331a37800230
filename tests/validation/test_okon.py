"""Okoń through its protocol: floating depth, thrust, and positions of objects in camera images."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.interfaces.okon.images import LatestImage
from skerry.interfaces.okon.packets import OkonPacket
from skerry.interfaces.okon.robot import OkonRobot
from skerry.interfaces.okon.session import THRUSTERS, ImageQuality, OkonSession
from skerry.parts.interface import Command
from skerry.runner import Runner


class ImmediateInbox:
    """Inbox that executes a command immediately, as the loop does between two steps."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def put(self, command: Command) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        future.set_result(command.apply(self.runner))
        return future


def test_without_thrust_it_floats_at_the_depth_of_the_protocols_example() -> None:
    """The example of GET_ORIEN: "y":-0.19980505. By the ramp of its lift, −0.2 · 12.55 / (997 · 0.0126).

    The example was read 1 µm above the rest position; the tolerance is 10 µm.
    """
    sent: list[bytes] = []
    with skerry.load("okon_pool") as world:
        robot = OkonRobot(world, ImmediateInbox(Runner(world, None)), "okon", THRUSTERS, "camera", LatestImage(40.0))
        session = OkonSession(robot, ImageQuality(85), False, sent.append)
        session.receive(OkonPacket(0xC3, b'{"rot":{"x":0,"y":0,"z":0},"pos":{"x":-1.24,"y":-0.19,"z":-2.71}}'))
        world.advance(150.0)  # the heave oscillation halves every 6 s: ln 2 · 2 m / K1
        robot.update()
        session.receive(OkonPacket(0xC2))
    found = json.loads(sent[-1][5:])
    assert found["pos"]["y"] == pytest.approx(-0.2 * 12.55 / (997 * 0.0126), abs=1e-5)
    assert found["pos"]["y"] == pytest.approx(-0.19980505108833314, abs=1e-5)
    assert (found["pos"]["x"], found["pos"]["z"]) == pytest.approx((-1.24, -2.71), abs=1e-3)
    assert [(angle + 180) % 360 - 180 for angle in found["rot"].values()] == pytest.approx([0, 0, 0], abs=1e-6)


KGF = 9.80665  # N
FILLS = (-5.0, -1.0, -0.75, -0.25, -0.07, 0.0, 0.05, 0.1, 0.5, 0.88, 1.0)


@pytest.mark.parametrize("fill", FILLS)
def test_set_mtr_gives_the_thrust_of_the_protocols_cubic(fill: float) -> None:
    """a x³ + b x² + c x + d kgf with x = 1500 + 400 fill µs, never below 0, of the sign of fill; beyond ±1 as at ±1.

    Tolerance: the curve is a table with steps of 1 µs and linear interpolation; its error is below 1e-5 kgf.
    """
    x = 1500 + 400 * min(max(fill, -1.0), 1.0)
    cubic = 1.66352902e-8 * x**3 - 0.00003994119 * x**2 + 0.00752234546 * x + 22.4126993334
    with skerry.load("okon_pool") as world:
        robot = OkonRobot(world, ImmediateInbox(Runner(world, None)), "okon", THRUSTERS, "camera", LatestImage(40.0))
        session = OkonSession(robot, ImageQuality(85), False, lambda data: None)
        session.receive(OkonPacket(0xA0, json.dumps(dict.fromkeys(THRUSTERS, fill)).encode()))
        world.advance(0.021)
        thrusts = [world.robots["okon"].actuators[name].thrust for name in THRUSTERS]
    assert thrusts == pytest.approx([np.sign(fill) * max(cubic, 0.0) * KGF] * 5, abs=1e-3)


@pytest.mark.parametrize(
    ("ahead", "right", "up"), [(3.0, 0.0, 0.0), (3.0, 1.5, 0.6), (3.0, -2.5, -0.4), (2.0, 0.8, 1.0), (4.0, -3.0, 0.9)]
)
def test_a_sphere_appears_in_the_image_where_the_pinhole_model_puts_it(ahead: float, right: float, up: float) -> None:
    """A pinhole 2.5507 mm from a sensor 4.8 mm wide: f = 2.5507 / 4.8 · 1280 pixels; the centre is between pixels.

    The mean of a sphere's pixels is known to half a pixel. It is farther from the image centre than the projected
    centre of the sphere by less than a thousandth, (r / d)², of that distance.
    """
    camera = np.array([-20 + 0.3443, 0.0, -1.2 + 0.042])  # the robot looks east
    position = camera + np.array([ahead, -right, up])
    overrides = {
        "robots": {"okon": {"pose": {"position": [-20, 0, -1.2]}}},
        "objects": {"mark": {"geometry": {"kind": "sphere", "radius": 0.04}, "pose": {"position": position.tolist()}}},
    }
    with skerry.load("okon_pool", overrides=overrides) as world:
        reading = world.robots["okon"].sensors["camera"].reading
    number = reading.body_names.index("objects/mark")
    rows, columns = np.nonzero(reading.bodies == number)
    assert len(rows) > 50
    f = 2.5507 / 4.8 * 1280
    assert reading.image.shape == (720, 1280, 3)
    assert reading.matrix[0, 0] == pytest.approx(f, rel=1e-4)
    assert columns.mean() == pytest.approx(639.5 + f * right / ahead, abs=1.0)
    assert rows.mean() == pytest.approx(359.5 - f * up / ahead, abs=1.0)
