"""An action as ROS 1 carries it: by five topics (http://wiki.ros.org/actionlib/DetailedDescription)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.actions import ActionServer, Goal, Status
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.messages.codec import Message

REJECTED: Final = 5  # actionlib_msgs/GoalStatus; these have other numbers than those of ROS 2
_STATUS: Final = {
    Status.ACCEPTED: 0,
    Status.EXECUTING: 1,
    Status.CANCELED: 2,
    Status.SUCCEEDED: 3,
    Status.ABORTED: 4,
    Status.CANCELING: 6,
}


class Actionlib:
    """Lets a server of an action hear goals, and says how they go; `say` is called by the loop."""

    looks_back = False

    def __init__(self, bus: Bus, server: ActionServer, rate: Rate, now: Callable[[], Message]) -> None:
        self._codec, self._server, self._now = bus.codec, server, now
        self._goals: dict[str, Goal] = {}
        self.rate = rate
        base = server.type.name.replace("/action/", "/msg/")
        bus.subscribe(f"{server.name}/goal", f"{base}ActionGoal", self._hear_goal)
        bus.subscribe(f"{server.name}/cancel", "actionlib_msgs/GoalID", self._hear_cancel)
        self._feedback = bus.advertise(f"{server.name}/feedback", f"{base}ActionFeedback")
        self._result = bus.advertise(f"{server.name}/result", f"{base}ActionResult")
        self.topic = bus.advertise(f"{server.name}/status", "actionlib_msgs/GoalStatusArray")

    def say(self, tick: int) -> None:
        """How all goals stand."""
        listed = [self._status(name, goal) for name, goal in list(self._goals.items())]
        header = {"stamp": self._now()}
        self.topic.publish(self._codec.make(self.topic.type, header=header, status_list=listed))

    def _hear_goal(self, message: Message) -> None:
        name = message.goal_id.id or f"{self._server.name}-{len(self._goals) + 1}"
        self._goals = {known: goal for known, goal in self._goals.items() if not goal.has_ended}
        try:
            goal = self._server.send(message.goal, hear=partial(self._say_feedback, name))
        except SkerryError as error:
            refused = {"goal_id": {"id": name}, "status": REJECTED, "text": str(error)}
            self._result.publish(self._codec.make(self._result.type, header={"stamp": self._now()}, status=refused))
            return
        self._goals[name] = goal
        goal.outcome.add_done_callback(partial(self._say_result, name, goal))

    def _hear_cancel(self, message: Message) -> None:
        """By name; without one, all, or all up to a time."""
        until = (message.stamp.sec, message.stamp.nanosec)
        for name, goal in list(self._goals.items()):
            by_time = not message.id and (until == (0, 0) or (goal.stamp.sec, goal.stamp.nanosec) <= until)
            if name == message.id or by_time:
                self._server.cancel(goal)

    def _say_feedback(self, name: str, feedback: Message) -> None:
        if self._feedback.taken and (goal := self._goals.get(name)) is not None:
            values = {"header": {"stamp": self._now()}, "status": self._status(name, goal), "feedback": feedback}
            self._feedback.publish(self._codec.make(self._feedback.type, **values))

    def _say_result(self, name: str, goal: Goal, outcome: Future[Message]) -> None:
        values = {"header": {"stamp": self._now()}, "status": self._status(name, goal), "result": outcome.result()}
        self._result.publish(self._codec.make(self._result.type, **values))

    def _status(self, name: str, goal: Goal) -> dict[str, Any]:
        return {"goal_id": {"stamp": goal.stamp, "id": name}, "status": _STATUS[goal.status]}
