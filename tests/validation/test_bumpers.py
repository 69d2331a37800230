"""Contact sensor: forces in balance with weight and thrust, and the names of the touched bodies."""

from __future__ import annotations

import numpy as np
import pytest

import skerry

BOX = '<box size="0.4 0.4 0.2"/>'
MASS = 12.0
CUBE = {"mass": MASS, "inertia": [0.5, 0.5, 0.5], "collision": BOX}
BUMPER = {"link": "base", "frequency": 200, "kind": "contact"}


def robot(folder, position, **sensors):
    parts = {name: BUMPER | settings for name, settings in (sensors or {"bumper": {}}).items()}
    return {"vehicle": folder, "pose": {"position": position}, "overrides": {"sensors": parts}}


def sum_of(reading):
    return np.sum([contact.force for contact in reading.contacts], axis=0)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_contact_forces_carry_the_weight_of_a_body_at_rest(load, vehicle, integrator):
    """ΣF = m g, straight up, at the four corners. The solver ends at a relative 1e-8."""
    world = load(
        {
            "integrator": integrator,
            "terrain": {"kind": "flat", "depth": 20.0},
            "robots": {"cube": robot(vehicle({"base": CUBE}), [0, 0, -19.9])},
        }
    )
    world.advance(3.0)
    reading = world.robots["cube"].sensors["bumper"].reading
    assert reading.touching
    assert sum_of(reading) == pytest.approx([0, 0, MASS * 9.81], abs=1e-4)
    assert reading.force == pytest.approx(MASS * 9.81, rel=1e-6)
    assert {contact.other for contact in reading.contacts} == {"terrain"}
    corners = sorted(tuple(np.round(contact.position, 3)) for contact in reading.contacts)
    assert corners == [(-0.2, -0.2, -20), (-0.2, 0.2, -20), (0.2, -0.2, -20), (0.2, 0.2, -20)]


def test_a_body_in_the_water_that_touches_nothing_feels_nothing(load, vehicle):
    world = load(
        {
            "terrain": {"kind": "flat", "depth": 20.0},
            "robots": {"cube": robot(vehicle({"base": CUBE}), [0, 0, -15])},
        }
    )
    bumper = world.robots["cube"].sensors["bumper"]
    assert (bumper.reading.touching, bumper.reading.force, bumper.reading.contacts) == (False, 0.0, ())
    world.advance(3.0)
    assert bumper.reading.touching


def test_wet_bodies_weigh_less_on_their_ground(load, vehicle):
    """ΣF = (m − ρ V) g, with added mass."""
    volume = 0.005
    forces = {
        "buoyancy": {"kind": "force_points", "link": "base", "volume": volume, "points": [[0, 0, 0]]},
        "water": {"kind": "added_mass", "link": "base", "matrix": [9, 9, 9, 1, 1, 1]},
        "drag": {"kind": "damping", "link": "base", "linear": [30, 30, 30, 5, 5, 5]},
    }
    world = load(
        {
            "terrain": {"kind": "flat", "depth": 20.0},
            "robots": {"cube": robot(vehicle({"base": CUBE}, forces), [0, 0, -19.9])},
        }
    )
    world.advance(5.0)
    weight = (MASS - 1025.0 * volume) * 9.81
    assert sum_of(world.robots["cube"].sensors["bumper"].reading) == pytest.approx([0, 0, weight], abs=1e-3)


def test_two_robots_feel_each_other_with_opposite_forces(load, vehicle):
    """Newton's third law, with the name of the other robot in each reading; the lower one carries both."""
    folder = vehicle({"base": CUBE})
    world = load(
        {
            "terrain": {"kind": "flat", "depth": 20.0},
            "robots": {"low": robot(folder, [0, 0, -19.9]), "high": robot(folder, [0, 0, -19.7])},
        }
    )
    world.advance(3.0)
    low, high = (world.robots[name].sensors["bumper"].reading for name in ("low", "high"))
    assert {contact.other for contact in high.contacts} == {"low/base"}
    assert {contact.other for contact in low.contacts} == {"high/base", "terrain"}
    assert sum_of(high) == pytest.approx([0, 0, MASS * 9.81], abs=1e-3)
    pressed = np.sum([contact.force for contact in low.contacts if contact.other == "high/base"], axis=0)
    assert pressed == pytest.approx(-sum_of(high), abs=1e-12)
    carried = np.sum([contact.force for contact in low.contacts if contact.other == "terrain"], axis=0)
    assert carried == pytest.approx([0, 0, 2 * MASS * 9.81], abs=1e-3)


def test_a_bumper_feels_its_own_link_or_the_whole_robot(load, vehicle):
    """Foot and head are fixed to the base, so that all three are one body; the foot alone stands on the ground."""
    shape = '<box size="0.1 0.1 0.1"/>'
    links = {"base": CUBE, "foot": {"collision": shape}, "head": {"collision": shape}}
    joints = {
        "ankle": {"type": "fixed", "parent": "base", "child": "foot", "at": [0, 0, -0.2]},
        "neck": {"type": "fixed", "parent": "base", "child": "head", "at": [0, 0, 0.2]},
    }
    sensors = {"foot": {"link": "foot"}, "head": {"link": "head"}, "all": {"link": "head", "whole_robot": True}}
    world = load(
        {
            "terrain": {"kind": "flat", "depth": 20.0},
            "robots": {"cube": robot(vehicle(links, joints=joints), [0, 0, -19.75], **sensors)},
        }
    )
    world.advance(0.2)
    found = {name: sensor.reading for name, sensor in world.robots["cube"].sensors.items()}
    assert [found[name].touching for name in ("foot", "head", "all")] == [True, False, True]
    assert {contact.link for contact in found["all"].contacts} == {"foot"}
    assert found["all"].force == found["foot"].force


def test_a_threshold_hides_weak_contacts_and_objects_go_by_their_names(load, vehicle):
    wall = {"geometry": {"kind": "box", "size": [4, 4, 0.2]}, "pose": {"position": [0, 0, -20.1]}}
    sensors = {"fine": {}, "coarse": {"threshold": 1000.0}}
    world = load(
        {"objects": {"wall": wall}, "robots": {"cube": robot(vehicle({"base": CUBE}), [0, 0, -19.9], **sensors)}}
    )
    world.advance(2.0)
    found = world.robots["cube"].sensors
    assert {contact.other for contact in found["fine"].reading.contacts} == {"wall"}
    assert (found["coarse"].reading.touching, found["coarse"].reading.force) == (False, 0.0)


def test_reading_contacts_changes_nothing_and_a_restore_gives_the_same_contacts(load, vehicle):
    """Contacts depend only on the state: the same bits in this world and in another world."""
    scenario = {
        "terrain": {"kind": "flat", "depth": 20.0},
        "robots": {"cube": robot(vehicle({"base": CUBE}), [0, 0, -19.8])},
    }
    world, other, unread = load(scenario), load(scenario), load(scenario)
    bumper = world.robots["cube"].sensors["bumper"]
    assert not bumper.reading.touching
    world.advance(0.5)
    before, felt = world.snapshot(), bumper.reading
    world.advance(0.5)
    later = bumper.reading
    other.restore(bytes(before))
    again = other.robots["cube"].sensors["bumper"]
    assert sum_of(again.reading).tolist() == sum_of(felt).tolist()
    other.advance(0.5)
    assert sum_of(again.reading).tolist() == sum_of(later).tolist()
    unread.advance(1.0)
    assert unread._engine.states.tobytes() == world._engine.states.tobytes()


def test_a_bumper_feels_what_a_python_force_presses(load, vehicle):
    """A downward force of 50 N adds to the contact force."""
    scenario = {
        "terrain": {"kind": "flat", "depth": 20.0},
        "robots": {"cube": robot(vehicle({"base": CUBE}), [0, 0, -19.9])},
    }
    with skerry.load(scenario, forces={"cube/base": lambda link: [0, 0, -50.0, 0, 0, 0]}) as world:
        world.advance(1.0)
        reading = world.robots["cube"].sensors["bumper"].reading
        assert sum_of(reading) == pytest.approx([0, 0, MASS * 9.81 + 50.0], abs=1e-3)
