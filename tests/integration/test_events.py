"""Events of a scenario happen once at their tick, and again after a restore; unknown names are errors at load."""

from __future__ import annotations

import pytest

import skerry
from skerry.core.errors import SkerryError

BUOY = {"geometry": {"kind": "sphere", "radius": 0.3}, "motion": "kinematic", "pose": {"position": [9, 0, 0]}}
ROCK = {"geometry": {"kind": "sphere", "radius": 0.3}, "pose": {"position": [-9, 0, 0]}}


def load(*events, **scenario):
    robots = {
        "sam": {"vehicle": "sam", "pose": {"position": [0, 0, -3]}},
        "held": {"vehicle": "torpedo", "anchored": True, "pose": {"position": [0, 9, -3]}},
    }
    base = {"robots": robots, "objects": {"buoy": BUOY, "rock": ROCK}}
    reference = {"latitude_deg": 58.8, "longitude_deg": 17.6}
    return skerry.load(base | {"reference": reference, "events": list(events)} | scenario)


def test_a_command_is_given_at_its_tick():
    with load({"at": 0.1, "command": "sam/thruster1", "value": {"rpm": 400}}) as world:
        thruster = world.robots["sam"].actuators["thruster1"]
        world.advance(0.1)
        assert thruster.setpoint == 0.0
        world.advance_steps(1)
        assert thruster.setpoint == 400.0
        assert thruster.feedback > 0.0


def test_events_have_the_effect_of_manual_calls():
    """The same bytes as a world that is advanced to each time and commanded there."""
    events = [
        {"at": 0.0, "command": "sam/thruster1", "value": {"rpm": 300}},
        {"at": 0.5, "command": "sam/thruster1", "value": {"rpm": -200}},
        {"at": 0.5, "move": "buoy", "pose": {"position": [1, 2, 0]}},
        {"at": 0.75, "trigger": "sam/leak"},
        {"at": 0.9, "move": "sam", "pose": {"position": [5, 5, -2], "heading_deg": 90}},
    ]
    with load(*events) as world, load(*events) as other, load() as by_hand:
        world.advance(2.0)
        for _ in range(80):
            other.advance(0.025)
        sam = by_hand.robots["sam"]
        sam.actuators["thruster1"].command(rpm=300)
        by_hand.advance(0.5)
        sam.actuators["thruster1"].command(rpm=-200)
        by_hand.teleport("buoy", skerry.scenario.pose.PoseConfig(position=(1, 2, 0)).build())
        by_hand.advance(0.25)
        sam.sensors["leak"].sensor.trigger()
        by_hand.advance(0.15)
        by_hand.teleport("sam", skerry.scenario.pose.PoseConfig(position=(5, 5, -2), heading_deg=90).build())
        by_hand.advance(1.1)
        assert bytes(world.snapshot()) == bytes(other.snapshot()) == bytes(by_hand.snapshot())
        assert world.robots["sam"].sensors["leak"].reading.leaked
        assert world.objects["buoy"].pose.position.tolist() == [1.0, 2.0, 0.0]


def test_an_event_between_two_ticks_happens_at_the_later_one():
    with load({"at": "1/300", "trigger": "sam/leak"}) as world:
        leak = world.robots["sam"].sensors["leak"].sensor
        world.advance_steps(1)
        assert not leak.leaked
        world.advance_steps(1)
        assert leak.leaked


def test_events_of_one_time_happen_in_the_order_of_the_list():
    commands = [{"at": 0.01, "command": "sam/thruster1", "value": {"rpm": rpm}} for rpm in (100, 300, 200)]
    with load(*commands) as world:
        world.advance(0.1)
        assert world.robots["sam"].actuators["thruster1"].setpoint == 200.0


@pytest.mark.parametrize("when", [0.1, 0.2, 0.205, 0.3])
def test_events_happen_again_after_a_restore(when):
    events = [{"at": 0.2, "trigger": "sam/leak"}, {"at": 0.2, "command": "sam/thruster2", "value": {"rpm": 500}}]
    with load(*events) as world, load(*events) as other:
        leak = world.robots["sam"].sensors["leak"]
        _ = leak.reading
        world.advance(when)
        before = world.snapshot()
        world.advance(1.0)
        after = bytes(world.snapshot())
        assert leak.reading.leaked
        world.restore(before)
        assert leak.sensor.leaked == (when > 0.2)
        world.advance(1.0)
        other.restore(bytes(before))
        other.advance(1.0)
        assert bytes(world.snapshot()) == bytes(other.snapshot()) == after


def test_a_scenario_with_events_dumps_and_loads_back_equal():
    with load({"at": "1/3", "trigger": "sam/leak"}, {"at": 2, "move": "buoy", "pose": {"yaw_deg": 5}}) as world:
        text = world.scenario.dump()
        again = skerry.scenario.Scenario.model_validate(skerry.formats.yaml_documents.yaml.safe_load(text))
        assert again == world.scenario


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (
            {"trigger": "sam/leek"},
            r"events\[0\].trigger: there is no such sensor .*'sam/leek'.* did you mean 'sam/leak'",
        ),
        ({"trigger": "same/leak"}, "did you mean 'sam/leak'"),
        ({"trigger": "sam/imu"}, r"events\[0\].trigger: this sensor has no trigger.* known: sam/leak"),
        ({"trigger": "leak"}, "there is no such sensor"),
        ({"command": "sam/thruster3", "value": {"rpm": 1}}, "no such actuator .* did you mean 'sam/thruster"),
        ({"move": "bouy", "pose": {}}, "no such robot or object .* did you mean 'buoy'"),
        ({"move": "rock", "pose": {}}, "fixed to the world"),
        ({"move": "held", "pose": {}}, "fixed to the world"),
        ({"command": "sam/thruster1", "value": {"percent": 1}}, r"events\[0\]: .*commanded by `rpm=`"),
        ({"command": "sam/thruster1", "value": {"rpm": "fast"}}, "must be a number"),
        ({"command": "sam/thruster1"}, "`command` and `value` need each other"),
        ({"move": "buoy"}, "`move` and `pose` need each other"),
        ({"trigger": "sam/leak", "move": "buoy", "pose": {}}, "needs exactly one of"),
        ({}, "needs exactly one of"),
        ({"triger": "sam/leak"}, "did you mean 'trigger'"),
        ({"at": -1, "trigger": "sam/leak"}, r"events\[0\].at"),
    ],
)
def test_an_invalid_event_is_an_error_with_a_message(event, words):
    with pytest.raises(SkerryError, match=words):
        load({"at": 1} | event)


def test_all_unknown_names_are_listed_in_one_error():
    with pytest.raises(SkerryError, match="2 faults"):
        load({"at": 1, "trigger": "sam/leek"}, {"at": 2, "move": "bouy", "pose": {}})


def test_a_batch_refuses_events_instead_of_ignoring_them():
    scenario = {"robots": {"auv": {"vehicle": "torpedo"}}, "events": [{"at": 1, "move": "auv", "pose": {}}]}
    with pytest.raises(SkerryError, match="cannot run `events`"):
        skerry.load_batch(scenario, seeds=[1, 2])


def test_a_sensor_without_alarm_cannot_be_triggered():
    with load() as world, pytest.raises(SkerryError, match="has no trigger"):
        world.robots["sam"].sensors["imu"].sensor.trigger()
