"""Actions: goals that take time, with feedback, a result and cancellation.

In ROS 2 an action consists of three services and two topics (https://design.ros2.org/articles/actions.html), which
`ActionServer` adds to the bus. Transports with their own operations for actions call the server directly.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from threading import RLock
from typing import Any, Final

import numpy as np

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import LATCHED, Bus
from skerry.interfaces.ros.messages.codec import Message

logger = logging.getLogger("skerry")

MAX_GOALS: Final = 100  # goals that a server keeps, so that peers can request the results of goals that have ended


class GoalStatus(IntEnum):
    """Status of a goal, with the numbers of action_msgs/msg/GoalStatus."""

    UNKNOWN = 0
    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6


ENDED: Final = (GoalStatus.SUCCEEDED, GoalStatus.CANCELED, GoalStatus.ABORTED)


@dataclass(eq=False)
class ActionGoal:
    """Goal of an action. The code that executes it calls `publish_feedback` and `finish`."""

    server: ActionServer
    id: bytes
    message: Message
    stamp: Message
    on_feedback: Callable[[Message], None]
    status: GoalStatus = GoalStatus.EXECUTING
    outcome: Future[Message] = field(default_factory=Future)
    """Result message; `status` tells whether the goal succeeded."""

    @property
    def has_ended(self) -> bool:
        """Whether the goal has a result."""
        return self.status in ENDED

    def publish_feedback(self, **feedback: Any) -> None:
        """Publish feedback with these fields."""
        self.server.publish_feedback(self, feedback)

    def finish(self, status: GoalStatus, /, **result: Any) -> None:
        """End the goal with these result fields; only the first call has an effect."""
        self.server.finish(self, status, result)


class ActionServer:
    """Server of one action.

    Args:
        bus: Bus to which the services and topics of the action are added.
        name: Name of the action.
        type_name: Type of the action.
        now: Function that returns the simulated time as a message.
        start: Function that starts the execution of a goal, or raises `SkerryError` to reject it.
        cancel: Function that stops the execution of a goal.
    """

    def __init__(
        self,
        bus: Bus,
        name: str,
        type_name: str,
        now: Callable[[], Message],
        start: Callable[[ActionGoal], None],
        cancel: Callable[[ActionGoal], None],
    ) -> None:
        self.name = name
        self.type = bus.codec.type_store.action(type_name)
        self._codec, self._now, self._start, self._cancel = bus.codec, now, start, cancel
        self._goals: dict[bytes, ActionGoal] = {}
        self._lock = RLock()
        hidden = f"{name}/_action"
        bus.add_service(f"{hidden}/send_goal", self.type.send_goal.name, self._handle_send_goal)
        bus.add_service(f"{hidden}/get_result", self.type.get_result.name, self._handle_get_result)
        bus.add_service(f"{hidden}/cancel_goal", "action_msgs/CancelGoal", self._handle_cancel_goal)
        self._feedback = bus.advertise(f"{hidden}/feedback", self.type.feedback_message.name)
        self.statuses = bus.advertise(f"{hidden}/status", "action_msgs/GoalStatusArray", LATCHED)
        bus.add_action(name, self)
        self._publish_statuses()

    # -------------------------------------------------------------------------------------------- for transports

    def accept(
        self,
        message: Message,
        goal_id: bytes | None = None,
        on_feedback: Callable[[Message], None] = lambda feedback: None,
    ) -> ActionGoal:
        """Start a goal.

        Args:
            message: Goal message.
            goal_id: UUID of the goal, 16 bytes; a random one by default.
            on_feedback: Function that is called with each feedback message.

        Raises:
            SkerryError: The goal is rejected.
        """
        goal = ActionGoal(self, goal_id or uuid.uuid4().bytes, message, self._now(), on_feedback)
        with self._lock:
            if goal.id in self._goals:
                raise SkerryError(f"{self.name}: a goal with the id {goal.id.hex()} exists already")
            self._start(goal)
            self._goals[goal.id] = goal
            for old in [key for key, known in self._goals.items() if known.has_ended][: len(self._goals) - MAX_GOALS]:
                del self._goals[old]
        self._publish_statuses()
        return goal

    def cancel(self, goal: ActionGoal) -> bool:
        """Request the cancellation of a goal; return False if the goal has ended."""
        with self._lock:
            if goal.has_ended:
                return False
            goal.status = GoalStatus.CANCELING
            self._cancel(goal)
        self._publish_statuses()
        return True

    # -------------------------------------------------------------------------------------------- for goals

    def publish_feedback(self, goal: ActionGoal, values: dict[str, Any]) -> None:
        """Publish feedback on a goal."""
        feedback = self._codec.make(self.type.feedback.name, **values)
        goal.on_feedback(feedback)
        if self._feedback.has_subscribers:
            whole = self._codec.make(self.type.feedback_message.name, goal_id=self._uuid(goal.id), feedback=feedback)
            self._feedback.publish(whole)

    def finish(self, goal: ActionGoal, status: GoalStatus, values: dict[str, Any]) -> None:
        """End a goal, unless it has ended already."""
        with self._lock:
            if goal.has_ended:
                return
            goal.status = status
        goal.outcome.set_result(self._codec.make(self.type.result.name, **values))
        self._publish_statuses()

    # -------------------------------------------------------------------------------------------- services

    def _handle_send_goal(self, request: Message) -> Message:
        name = self.type.send_goal.response.name
        try:
            goal = self.accept(request.goal, bytes(request.goal_id.uuid))
        except SkerryError as error:
            logger.warning("%s: goal rejected: %s", self.name, error)
            return self._codec.make(name, accepted=False, stamp=self._now())
        return self._codec.make(name, accepted=True, stamp=goal.stamp)

    def _handle_get_result(self, request: Message) -> Message | Future[Message]:
        name = self.type.get_result.response.name
        goal = self._goals.get(bytes(request.goal_id.uuid))
        if goal is None:
            return self._codec.make(name, status=int(GoalStatus.UNKNOWN))
        response: Future[Message] = Future()

        def respond(outcome: Future[Message]) -> None:
            response.set_result(self._codec.make(name, status=int(goal.status), result=outcome.result()))

        goal.outcome.add_done_callback(respond)
        return response

    def _handle_cancel_goal(self, request: Message) -> Message:
        """Cancel the goal of the given id; without an id, all goals, or those accepted up to the given time."""
        goal_id, until = bytes(request.goal_info.goal_id.uuid), request.goal_info.stamp
        name = "action_msgs/srv/CancelGoal_Response"
        if any(goal_id):
            goal = self._goals.get(goal_id)
            if goal is None or goal.has_ended:
                code = "ERROR_UNKNOWN_GOAL_ID" if goal is None else "ERROR_GOAL_TERMINATED"
                return self._codec.make(name, return_code=self._codec.constant(name, code))
            chosen = [goal]
        else:
            limit = (until.sec, until.nanosec) if until.sec or until.nanosec else (2**31, 0)
            chosen = [g for g in list(self._goals.values()) if (g.stamp.sec, g.stamp.nanosec) <= limit]
        canceled = [goal for goal in chosen if self.cancel(goal)]
        return self._codec.make(name, goals_canceling=[self._info(goal) for goal in canceled])

    def _publish_statuses(self) -> None:
        with self._lock:
            listed = [{"goal_info": self._info(goal), "status": int(goal.status)} for goal in self._goals.values()]
        self.statuses.publish(self._codec.make("action_msgs/GoalStatusArray", status_list=listed))

    def _info(self, goal: ActionGoal) -> dict[str, Any]:
        return {"goal_id": self._uuid(goal.id), "stamp": goal.stamp}

    def _uuid(self, goal_id: bytes) -> dict[str, Any]:
        return {"uuid": np.frombuffer(goal_id, np.uint8)}
