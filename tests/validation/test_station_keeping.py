"""Station keeping of the Otter, which cannot push sideways: how far current and wind take it, and how near it stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import quaternion_to_rpy, yaw_to_heading

RADIUS = 3.0  # m, never left in 0.3 m/s of current and 5 m/s of wind, from any heading
STEADY = 0.3  # m, after a minute
# The Otter model has no windage; these are estimates for mast, payload and pontoons: 0.3 m² ahead and 0.7 m² aside
AIR = {
    "kind": "wind_drag",
    "link": "base_link",
    "position": [0, 0, 0.3],
    "area": [0.3, 0.7, 1.0],
    "drag_coefficient": [0.8, 1.0, 1.0],
}


def boat_in(flow_deg: float, wind_deg: float | None, heading_deg: float, **water: Any) -> Any:
    """Return a world with the Otter at rest, in a current of 0.3 m/s and a wind of 5 m/s towards given headings."""
    flow, blow = np.radians([flow_deg, wind_deg or 0.0])
    water["currents"] = {"it": {"kind": "uniform", "velocity": [0.3 * np.sin(flow), 0.3 * np.cos(flow), 0.0]}}
    if wind_deg is not None:
        water["winds"] = {"it": {"kind": "uniform", "velocity": [5.0 * np.sin(blow), 5.0 * np.cos(blow), 0.0]}}
    boat = {"vehicle": "otter", "pose": {"heading_deg": heading_deg}, "overrides": {"forces": {"air": AIR}}}
    reference = {"latitude_deg": 58.8, "longitude_deg": 17.6}
    return skerry.load({"reference": reference, "water": water, "robots": {"it": boat}}, seed=3)


def distances(world: Any, seconds: float, place: tuple[float, float] = (0.0, 0.0)) -> Any:
    robot, found = world.robots["it"], []
    for _ in range(round(seconds * 10)):
        world.advance(0.1)
        found.append(np.hypot(*(robot.pose.position[:2] - np.array(place))))
    return np.array(found)


@pytest.mark.parametrize("heading_deg", [0.0, 90.0, 200.0])
@pytest.mark.parametrize("wind_deg", [None, 90.0, 180.0, 300.0])
def test_it_stays_within_its_radius_in_current_and_wind(heading_deg, wind_deg) -> None:
    """Sudden current to the east. The boat turns first, which takes about 6 s: 1.8 m of drift, plus
    the force of the wind over the drag of 77.55 N s/m, 0.05 m/s from ahead to 0.14 m/s from abeam."""
    with boat_in(90.0, wind_deg, heading_deg) as world:
        station = world.robots["it"].controllers["station"]
        station.keep((0.0, 0.0))
        found = distances(world, 120.0)
        assert station.distance == pytest.approx(found[-1], abs=0.05)
    assert found.max() < RADIUS
    assert found[600:].max() < STEADY


def test_it_heads_into_the_current() -> None:
    """A current to the east alone: the bow points west, and the thrust equals the drag, 77.55 N s/m × 0.3 m/s."""
    with boat_in(90.0, None, 0.0) as world:
        boat = world.robots["it"]
        boat.controllers["station"].keep()
        distances(world, 120.0)
        assert float(yaw_to_heading(quaternion_to_rpy(boat.pose.orientation)[2])) == pytest.approx(270.0, abs=1.0)
        thrust = sum(boat.actuators[f"propeller_{side}"].thrust for side in ("port", "starboard"))
        assert thrust == pytest.approx(77.55 * 0.3, rel=0.03)


def test_it_stays_in_waves_and_gusts() -> None:
    """Waves of 0.4 m and 4 s, and a wind of 5 m/s that shifts by 1.5 m/s: within 1 m after a minute."""
    surface = {"kind": "waves", "height": 0.4, "period": 4, "heading_deg": 60}
    gusts = {"kind": "gauss_markov", "sigma": [1.5, 1.5, 0.0], "correlation_time": 20}
    with boat_in(90.0, 45.0, 0.0, surface=surface) as calm:
        winds = {**calm.scenario.water.model_dump(mode="json")["winds"], "gusts": gusts}
    with skerry.load(calm.scenario, seed=3, overrides={"water": {"winds": winds}}) as world:
        world.robots["it"].controllers["station"].keep((0.0, 0.0))
        found = distances(world, 180.0)
    assert found.max() < RADIUS
    assert found[600:].max() < 1.0


def test_it_arrives_from_a_distance_with_little_overshoot() -> None:
    """Start at 18 m: overshoot at most 15 %, and within 1 m after a minute."""
    with boat_in(90.0, None, 0.0) as world:
        world.robots["it"].controllers["station"].keep((15.0, 10.0))
        found = distances(world, 120.0, (15.0, 10.0))
    near = int(np.argmax(found < 1.0))
    assert near < 600
    assert found[near:].max() < 0.15 * np.hypot(15.0, 10.0)
    assert found[600:].max() < 1.0


def test_in_still_water_it_does_nothing() -> None:
    with skerry.load(
        {"reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}, "robots": {"it": {"vehicle": "otter"}}}
    ) as w:
        w.robots["it"].controllers["station"].keep()
        assert distances(w, 30.0).max() < 0.01
        assert w.robots["it"].actuators["propeller_port"].setpoint == pytest.approx(0.0, abs=30.0)


def test_an_invalid_position_is_refused_and_stop_releases_the_actuators() -> None:
    with boat_in(90.0, None, 0.0) as world:
        station = world.robots["it"].controllers["station"]
        assert station.idle
        for place in ((1.0,), (1.0, 2.0, 3.0), (1.0, float("nan"))):
            with pytest.raises(SkerryError, match="two numbers"):
                station.keep(place)
        with pytest.raises(SkerryError, match="omit heading_deg"):
            station.hold(east=1.0, north=2.0, heading_deg=90.0)
        assert station.idle
        station.keep((1.0, 2.0))
        world.advance(2.0)
        assert station.distance is not None
        station.stop()
        world.advance(0.5)
        assert (station.idle, station.distance) == (True, None)
        assert world.robots["it"].actuators["propeller_port"].setpoint == 0.0


def test_a_snapshot_in_the_middle_continues_bit_identically() -> None:
    with boat_in(90.0, 180.0, 0.0) as world:
        station, ends = world.robots["it"].controllers["station"], []
        station.keep()
        middle = world.snapshot()
        for pause in (0.0, 6.03):
            world.restore(middle)
            world.advance(pause)
            middle = world.snapshot()
            for _ in range(2):
                world.restore(middle)
                world.advance(5.0)
                ends.append(bytes(world.snapshot()))
                station.stop()
                world.advance(1.0)
    assert ends[0] == ends[1]
    assert ends[2] == ends[3]
