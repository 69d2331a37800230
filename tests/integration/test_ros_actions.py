"""Actions of ROS: goals are taken, told of, reached, called off and refused."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.actions import MAX_GOALS, ActionGoal, ActionServer, GoalStatus
from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.transports.rosbridge.protocol import RosbridgeSession
from skerry.interfaces.ros.transports.rosbridge.rosapi import RosApi
from skerry.runner import Runner

CODEC = Codec(TypeStore())
FIX = "sam_msgs/action/GetGPSFix"
NUMBER = np.arange(16, dtype=np.uint8)


class Worker:
    """Action server whose goals the test finishes; it rejects goals without a timeout."""

    def __init__(self) -> None:
        self.bus = Bus(CODEC)
        self.goals: list[ActionGoal] = []
        self.server = ActionServer(self.bus, "/fix", FIX, self._now, self._start, self._cancel)

    def _now(self) -> Message:
        return CODEC.make("builtin_interfaces/Time", sec=len(self.goals) + 1)

    def _start(self, goal: ActionGoal) -> None:
        if goal.message.timeout <= 0:
            raise SkerryError("a timeout is needed")
        self.goals.append(goal)

    def _cancel(self, goal: ActionGoal) -> None:
        goal.finish(GoalStatus.CANCELED, status="called off")

    def call(self, word: str, type_name: str, **values: Any) -> Any:
        return self.bus.call(f"/fix/_action/{word}", CODEC.make(type_name, **values))

    def send(self, number: Any = NUMBER, timeout: float = 5.0) -> bool:
        values = {"goal_id": {"uuid": number}, "goal": {"timeout": timeout}}
        answer = self.call("send_goal", f"{FIX}_SendGoal_Request", **values).result()
        return bool(answer.accepted)


@pytest.fixture
def worker() -> Worker:
    return Worker()


def test_a_goal_goes_its_way_by_the_services_and_topics_of_ros_2(worker: Worker) -> None:
    box = SubscriberQueue()
    worker.bus.set_subscriptions(box, ["/fix/_action/feedback", "/fix/_action/status"])
    assert worker.send()
    result = worker.call("get_result", f"{FIX}_GetResult_Request", goal_id={"uuid": NUMBER})
    assert not result.done()
    worker.goals[0].publish_feedback(status="searching")
    worker.goals[0].finish(GoalStatus.SUCCEEDED, status="fixed")
    worker.goals[0].finish(GoalStatus.ABORTED)  # too late
    assert (result.result().status, result.result().result.status) == (4, "fixed")
    said = [outgoing.message for outgoing in box.drain(0)]
    feedback = [message for message in said if hasattr(message, "feedback")]
    assert feedback[0].feedback.status == "searching"
    assert feedback[0].goal_id.uuid.tolist() == list(range(16))
    assert said[-1].status_list[0].status == 4
    assert not worker.send(), "the same number twice"


def test_a_goal_is_called_off_by_number_or_with_all_others(worker: Worker) -> None:
    def cancel(**info: Any) -> Any:
        return worker.call("cancel_goal", "action_msgs/srv/CancelGoal_Request", goal_info=info).result()

    assert worker.send()
    assert len(cancel(goal_id={"uuid": NUMBER}).goals_canceling) == 1
    assert worker.goals[0].status is GoalStatus.CANCELED
    assert cancel(goal_id={"uuid": NUMBER}).return_code == 3
    assert cancel(goal_id={"uuid": NUMBER[::-1]}).return_code == 2
    assert worker.send(NUMBER + 1)
    assert worker.send(NUMBER + 2)
    assert len(cancel(stamp={"sec": 2}).goals_canceling) == 1  # those up to that time
    assert len(cancel().goals_canceling) == 1


def test_a_goal_that_makes_no_sense_is_refused_and_an_unknown_one_has_no_result(worker: Worker) -> None:
    assert not worker.send(timeout=0.0)
    result = worker.call("get_result", f"{FIX}_GetResult_Request", goal_id={"uuid": NUMBER}).result()
    assert result.status == 0


def test_goals_that_have_ended_are_forgotten_at_last(worker: Worker) -> None:
    for _ in range(MAX_GOALS + 20):
        worker.server.accept(CODEC.make(f"{FIX}_Goal", timeout=1.0)).finish(GoalStatus.SUCCEEDED)
    assert len(worker.server._goals) <= MAX_GOALS + 1


# ------------------------------------------------------------------------------------------------ to a waypoint


class Bay:
    """SAM with the interface that all vehicles of SMaRC share."""

    def __init__(self, distribution: Any = "humble") -> None:
        scenario = {
            "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
            "robots": {"sam": {"vehicle": "sam", "pose": {"position": [0, 0, -2], "yaw_deg": 0}}},
        }
        self.world = skerry.load(scenario)
        built = Ros(profile="smarc-interface", distribution=distribution).build()
        assert isinstance(built, RosInterface)
        self.ros = built
        self.runner = Runner(self.world, None, {"ros": built})
        self.runner.run(0.0)
        self.server = built.bus.actions["/sam/ctrl/goto_waypoint"]
        self.heard: list[Message] = []

    def send(self, x: float, y: float = 0.0, frame: str = "map", **values: Any) -> ActionGoal:
        origin = self.ros.frames.projection.origin if frame == "utm" else (0.0, 0.0)  # type: ignore[union-attr]
        position = {"x": float(origin[0] + x), "y": float(origin[1] + y)}
        pose = {"header": {"frame_id": frame}, "pose": {"position": position}}
        wanted = {"goal_tolerance": 2.0, "speed_control_mode": 1, "travel_rpm": 900.0, **values}
        message = self.ros.bus.codec.make(self.server.type.goal.name, waypoint_pose=pose, **wanted)
        goal: ActionGoal = self.server.accept(message, on_feedback=self.heard.append)
        return goal


@pytest.fixture
def bay() -> Iterator[Bay]:
    made = Bay()
    yield made
    made.runner.close()
    made.world.close()


@pytest.mark.parametrize("frame", ["map", "utm"])
def test_sam_goes_to_a_waypoint_and_says_how_far_it_is(bay: Bay, frame: str) -> None:
    goal = bay.send(12.0, frame=frame)
    bay.runner.run(20.0)
    assert goal.status is GoalStatus.SUCCEEDED
    assert goal.outcome.result().reached_waypoint
    assert bay.world.robots["sam"].control == "external"  # there is nothing left to do for the autopilot
    assert len(bay.heard) > 5
    assert "m to go" in bay.heard[0].feedback_message
    assert bay.heard[0].ETA.sec < 1000


def test_a_goal_is_called_off_or_gives_way_to_a_new_one(bay: Bay) -> None:
    first = bay.send(50.0)
    bay.runner.run(1.0)
    second = bay.send(60.0)
    bay.runner.run(1.0)
    assert first.status is GoalStatus.ABORTED
    assert second.status is GoalStatus.EXECUTING
    bay.server.cancel(second)
    bay.runner.run(0.5)
    assert second.status is GoalStatus.CANCELED
    assert not second.outcome.result().reached_waypoint
    third = bay.send(60.0)
    bay.runner.run(0.5)
    bay.world.robots["sam"].controllers["autopilot"].stop()
    bay.runner.run(1.5)
    assert third.status is GoalStatus.ABORTED


@pytest.mark.parametrize(
    ("frame", "values"),
    [
        ("map", {"speed_control_mode": 0}),
        ("map", {"speed_control_mode": 3}),
        ("map", {"z_control_mode": 7}),
        ("map", {"goal_tolerance": -1.0}),
        ("map", {"goal_tolerance": float("nan")}),
        ("utm_ned", {}),
        ("sam/odom", {}),
    ],
)
def test_a_waypoint_that_cannot_be_gone_to_is_refused(bay: Bay, frame: str, values: dict[str, Any]) -> None:
    with pytest.raises(SkerryError, match=r"goal|frame|control_mode"):
        bay.send(5.0, frame=frame, **values)


def test_a_goal_that_the_controller_refuses_is_aborted(bay: Bay) -> None:
    goal = bay.send(5.0, z_control_mode=1, travel_depth=float("nan"))
    bay.runner.run(0.5)
    assert goal.status is GoalStatus.ABORTED


def test_ros_1_has_five_topics_for_an_action() -> None:
    bay, box = Bay("noetic"), SubscriberQueue()
    bus, name = bay.ros.bus, "/sam/ctrl/goto_waypoint"
    assert bus.subscribed_type(f"{name}/goal") == "smarc_msgs/msg/GotoWaypointActionGoal"
    topics = [f"{name}/{word}" for word in ("feedback", "result", "status")]
    bus.set_subscriptions(box, topics)

    def hear(x: float, number: str, **values: Any) -> None:
        pose = {"header": {"frame_id": "map"}, "pose": {"position": {"x": x}}}
        goal = {"waypoint_pose": pose, "speed_control_mode": 1, "travel_rpm": 900.0, "goal_tolerance": 2.0, **values}
        whole = bus.codec.make("smarc_msgs/GotoWaypointActionGoal", goal_id={"id": number}, goal=goal)
        read = bus.codec.from_ros1(bus.codec.to_ros1(whole), whole.__msgtype__)
        bus.on_message(f"{name}/goal", read)

    def said(seconds: float) -> dict[str, list[Any]]:
        bay.runner.run(seconds)
        found: dict[str, list[Any]] = {topic: [] for topic in topics}
        for outgoing in box.drain(0):
            assert outgoing.ros1
            found[outgoing.topic.name].append(outgoing.message)
        return found

    hear(60.0, "far")
    found = said(2.0)
    assert found[f"{name}/status"][-1].status_list[0].status == 1
    assert found[f"{name}/feedback"][0].status.goal_id.id == "far"
    bus.on_message(f"{name}/cancel", bus.codec.make("actionlib_msgs/GoalID", id="far"))
    assert [item.status.status for item in said(0.5)[f"{name}/result"]] == [2]
    hear(60.0, "slow", speed_control_mode=0)
    (refused,) = said(0.1)[f"{name}/result"]
    assert (refused.status.status, refused.status.goal_id.id) == (5, "slow")
    hear(10.0, "near")
    (reached,) = said(20.0)[f"{name}/result"]
    assert (reached.status.status, reached.result.reached_waypoint) == (3, True)
    bay.runner.close()
    bay.world.close()


def test_rosbridge_has_words_of_its_own_for_actions(bay: Bay) -> None:
    answers: list[Any] = []
    bus = bay.ros.bus
    client = RosbridgeSession(bus, RosApi(bus), set(), lambda name: True, SubscriberQueue(), answers.append)
    pose = '{"header": {"frame_id": "map"}, "pose": {"position": {"x": 60}}}'
    args = f'{{"waypoint_pose": {pose}, "speed_control_mode": 1, "travel_rpm": 900}}'
    head = '"id": "g1", "action": "/sam/ctrl/goto_waypoint"'
    client.receive(f'{{"op": "send_action_goal", {head}, "feedback": true, "args": {args}}}')
    bay.runner.run(2.0)
    assert {answer["op"] for answer in answers} == {"action_feedback"}
    client.receive(f'{{"op": "cancel_action_goal", {head}}}')
    bay.runner.run(0.5)
    assert (answers[-1]["op"], answers[-1]["status"], answers[-1]["result"]) == ("action_result", 5, False)
    client.receive('{"op": "send_action_goal", "id": "g2", "action": "/nothing"}')
    assert answers[-1]["result"] is False
    client.receive('{"op": "cancel_action_goal", "id": "g3"}')
    assert answers[-1]["op"] == "status"
