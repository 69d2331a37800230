"""Okoń as its clients see it: where it floats, and where its camera shows what is where."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.interfaces.okon.craft import Craft
from skerry.interfaces.okon.packets import Packet
from skerry.interfaces.okon.pictures import Pictures
from skerry.interfaces.okon.session import THRUSTERS, Dialogue, Quality
from skerry.parts.interface import Command
from skerry.runner import Runner


class AtOnce:
    """An inbox that does a command when it comes, as the loop does between two steps."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def put(self, command: Command) -> Future[Any]:
        promise: Future[Any] = Future()
        promise.set_running_or_notify_cancel()
        promise.set_result(command.apply(self.runner))
        return promise


def test_left_alone_it_floats_where_the_protocols_example_has_it() -> None:
    """The example of GET_ORIEN: "y":-0.19980505. By the ramp of its lift, −0.2 · 12.55 / (997 · 0.0126).

    The example was read before it had quite come to rest, 1 µm above; 10 µm of tolerance.
    """
    sent: list[bytes] = []
    with skerry.load("okon_pool") as world:
        craft = Craft(world, AtOnce(Runner(world, None)), "okon", THRUSTERS, "camera", Pictures(40.0))
        dialogue = Dialogue(craft, Quality(85), False, sent.append)
        dialogue.receive(Packet(0xC3, b'{"rot":{"x":0,"y":0,"z":0},"pos":{"x":-1.24,"y":-0.19,"z":-2.71}}'))
        world.advance(150.0)  # it bobs, and loses half of it in 6 s: ln 2 · 2 m / K1
        craft.see()
        dialogue.receive(Packet(0xC2))
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

    Tolerance: the curve is kept at every µs, straight between; its bend makes that less than 1e-5 kgf.
    """
    x = 1500 + 400 * min(max(fill, -1.0), 1.0)
    cubic = 1.66352902e-8 * x**3 - 0.00003994119 * x**2 + 0.00752234546 * x + 22.4126993334
    with skerry.load("okon_pool") as world:
        craft = Craft(world, AtOnce(Runner(world, None)), "okon", THRUSTERS, "camera", Pictures(40.0))
        dialogue = Dialogue(craft, Quality(85), False, lambda data: None)
        dialogue.receive(Packet(0xA0, json.dumps(dict.fromkeys(THRUSTERS, fill)).encode()))
        world.advance(0.021)
        thrusts = [world.robots["okon"].actuators[name].thrust for name in THRUSTERS]
    assert thrusts == pytest.approx([np.sign(fill) * max(cubic, 0.0) * KGF] * 5, abs=1e-3)


@pytest.mark.parametrize(
    ("ahead", "right", "up"), [(3.0, 0.0, 0.0), (3.0, 1.5, 0.6), (3.0, -2.5, -0.4), (2.0, 0.8, 1.0), (4.0, -3.0, 0.9)]
)
def test_a_mark_is_in_the_picture_where_the_lens_puts_it(ahead: float, right: float, up: float) -> None:
    """A pinhole behind a chip 4.8 mm wide, 2.5507 mm away: f = 2.5507 / 4.8 · 1280 pixels, the middle between pixels.

    The middle of a ball's pixels is known to half a pixel, and lies outwards of its centre by less than a thousandth,
    (r / d)², of its distance from the picture's middle.
    """
    camera = np.array([-20 + 0.3443, 0.0, -1.2 + 0.042])  # the robot looks east
    place = camera + np.array([ahead, -right, up])
    overrides = {
        "robots": {"okon": {"pose": {"position": [-20, 0, -1.2]}}},
        "objects": {"mark": {"geometry": {"kind": "sphere", "radius": 0.04}, "pose": {"position": place.tolist()}}},
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
