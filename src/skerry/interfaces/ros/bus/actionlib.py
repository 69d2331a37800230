"""Actions of ROS 1, which consist of five topics (http://wiki.ros.org/actionlib/DetailedDescription)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.actions import ActionGoal, ActionServer, GoalStatus
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.messages.codec import Message

REJECTED: Final = 5  # status of a rejected goal in actionlib_msgs/GoalStatus
_STATUS: Final = {  # numbers of actionlib_msgs/GoalStatus, which differ from those of ROS 2
    GoalStatus.ACCEPTED: 0,
    GoalStatus.EXECUTING: 1,
    GoalStatus.CANCELED: 2,
    GoalStatus.SUCCEEDED: 3,
    GoalStatus.ABORTED: 4,
    GoalStatus.CANCELING: 6,
}


class ActionlibServer:
    """Topics of ROS 1 for an action server: receives goals and publishes statuses, feedback and results."""

    uses_samples = False

    def __init__(self, bus: Bus, server: ActionServer, rate: Rate, now: Callable[[], Message]) -> None:
        self._codec, self._server, self._now = bus.codec, server, now
        self._goals: dict[str, ActionGoal] = {}
        self.rate = rate
        base = server.type.name.replace("/action/", "/msg/")
        bus.subscribe(f"{server.name}/goal", f"{base}ActionGoal", self._on_goal)
        bus.subscribe(f"{server.name}/cancel", "actionlib_msgs/GoalID", self._on_cancel)
        self._feedback = bus.advertise(f"{server.name}/feedback", f"{base}ActionFeedback")
        self._result = bus.advertise(f"{server.name}/result", f"{base}ActionResult")
        self.topic = bus.advertise(f"{server.name}/status", "actionlib_msgs/GoalStatusArray")

    def on_due(self, tick: int) -> None:
        """Publish the statuses of all goals."""
        listed = [self._status(name, goal) for name, goal in list(self._goals.items())]
        header = {"stamp": self._now()}
        self.topic.publish(self._codec.make(self.topic.type, header=header, status_list=listed))

    def _on_goal(self, message: Message) -> None:
        name = message.goal_id.id or f"{self._server.name}-{len(self._goals) + 1}"
        self._goals = {known: goal for known, goal in self._goals.items() if not goal.has_ended}
        try:
            goal = self._server.accept(message.goal, on_feedback=partial(self._publish_feedback, name))
        except SkerryError as error:
            refused = {"goal_id": {"id": name}, "status": REJECTED, "text": str(error)}
            self._result.publish(self._codec.make(self._result.type, header={"stamp": self._now()}, status=refused))
            return
        self._goals[name] = goal
        goal.outcome.add_done_callback(partial(self._publish_result, name, goal))

    def _on_cancel(self, message: Message) -> None:
        """Cancel the goal of the given id; without an id, all goals, or those accepted up to the given time."""
        until = (message.stamp.sec, message.stamp.nanosec)
        for name, goal in list(self._goals.items()):
            by_time = not message.id and (until == (0, 0) or (goal.stamp.sec, goal.stamp.nanosec) <= until)
            if name == message.id or by_time:
                self._server.cancel(goal)

    def _publish_feedback(self, name: str, feedback: Message) -> None:
        if self._feedback.has_subscribers and (goal := self._goals.get(name)) is not None:
            values = {"header": {"stamp": self._now()}, "status": self._status(name, goal), "feedback": feedback}
            self._feedback.publish(self._codec.make(self._feedback.type, **values))

    def _publish_result(self, name: str, goal: ActionGoal, outcome: Future[Message]) -> None:
        values = {"header": {"stamp": self._now()}, "status": self._status(name, goal), "result": outcome.result()}
        self._result.publish(self._codec.make(self._result.type, **values))

    def _status(self, name: str, goal: ActionGoal) -> dict[str, Any]:
        return {"goal_id": {"stamp": goal.stamp, "id": name}, "status": _STATUS[goal.status]}
