"""Actions: goals that take time, with feedback, a result, and a way to call them off.

ROS 2 carries an action by three services and two topics (https://design.ros2.org/articles/actions.html), which are on
the bus like any other; transports with words of their own for actions ask the server itself.
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

MOST_GOALS: Final = 100  # that are remembered, so that their results can still be asked for


class Status(IntEnum):
    """action_msgs/msg/GoalStatus."""

    UNKNOWN = 0
    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6


ENDED: Final = (Status.SUCCEEDED, Status.CANCELED, Status.ABORTED)


@dataclass(eq=False)
class Goal:
    """One goal on its way; whoever pursues it says how it goes, by `tell` and `finish`."""

    server: ActionServer
    id: bytes
    message: Message
    stamp: Message
    hear: Callable[[Message], None]
    status: Status = Status.EXECUTING
    outcome: Future[Message] = field(default_factory=Future)
    """The result; `status` says which it is."""

    @property
    def has_ended(self) -> bool:
        """Whether there is a result."""
        return self.status in ENDED

    def tell(self, **feedback: Any) -> None:
        """Say how it goes."""
        self.server.tell(self, feedback)

    def finish(self, status: Status, /, **result: Any) -> None:
        """End it; only the first end counts."""
        self.server.finish(self, status, result)


class ActionServer:
    """Takes goals. `start` begins to pursue one, or raises why not; `cancel` is asked to give one up."""

    def __init__(
        self,
        bus: Bus,
        name: str,
        type_name: str,
        now: Callable[[], Message],
        start: Callable[[Goal], None],
        cancel: Callable[[Goal], None],
    ) -> None:
        self.name = name
        self.type = bus.codec.vocabulary.action(type_name)
        self._codec, self._now, self._start, self._cancel = bus.codec, now, start, cancel
        self._goals: dict[bytes, Goal] = {}
        self._lock = RLock()
        hidden = f"{name}/_action"
        bus.offer(f"{hidden}/send_goal", self.type.send_goal.name, self._answer_goal)
        bus.offer(f"{hidden}/get_result", self.type.get_result.name, self._answer_result)
        bus.offer(f"{hidden}/cancel_goal", "action_msgs/CancelGoal", self._answer_cancel)
        self._feedback = bus.advertise(f"{hidden}/feedback", self.type.feedback_message.name)
        self.statuses = bus.advertise(f"{hidden}/status", "action_msgs/GoalStatusArray", LATCHED)
        bus.act(name, self)
        self._say_statuses()

    # -------------------------------------------------------------------------------------------- for transports

    def send(
        self,
        message: Message,
        number: bytes | None = None,
        hear: Callable[[Message], None] = lambda feedback: None,
    ) -> Goal:
        """Take a goal, or raise why not."""
        goal = Goal(self, number or uuid.uuid4().bytes, message, self._now(), hear)
        with self._lock:
            if goal.id in self._goals:
                raise SkerryError(f"{self.name}: there is a goal of this number already")
            self._start(goal)
            self._goals[goal.id] = goal
            for old in [key for key, known in self._goals.items() if known.has_ended][: len(self._goals) - MOST_GOALS]:
                del self._goals[old]
        self._say_statuses()
        return goal

    def cancel(self, goal: Goal) -> bool:
        """Ask for a goal to be given up; False if it has ended."""
        with self._lock:
            if goal.has_ended:
                return False
            goal.status = Status.CANCELING
            self._cancel(goal)
        self._say_statuses()
        return True

    # -------------------------------------------------------------------------------------------- for goals

    def tell(self, goal: Goal, values: dict[str, Any]) -> None:
        """Say feedback to whoever takes it."""
        feedback = self._codec.make(self.type.feedback.name, **values)
        goal.hear(feedback)
        if self._feedback.taken:
            whole = self._codec.make(self.type.feedback_message.name, goal_id=self._uuid(goal.id), feedback=feedback)
            self._feedback.publish(whole)

    def finish(self, goal: Goal, status: Status, values: dict[str, Any]) -> None:
        """End a goal."""
        with self._lock:
            if goal.has_ended:
                return
            goal.status = status
        goal.outcome.set_result(self._codec.make(self.type.result.name, **values))
        self._say_statuses()

    # -------------------------------------------------------------------------------------------- as services

    def _answer_goal(self, request: Message) -> Message:
        name = self.type.send_goal.response.name
        try:
            goal = self.send(request.goal, bytes(request.goal_id.uuid))
        except SkerryError as error:
            logger.warning("%s: a goal is refused: %s", self.name, error)
            return self._codec.make(name, accepted=False, stamp=self._now())
        return self._codec.make(name, accepted=True, stamp=goal.stamp)

    def _answer_result(self, request: Message) -> Message | Future[Message]:
        name = self.type.get_result.response.name
        goal = self._goals.get(bytes(request.goal_id.uuid))
        if goal is None:
            return self._codec.make(name, status=int(Status.UNKNOWN))
        promise: Future[Message] = Future()

        def answer(outcome: Future[Message]) -> None:
            promise.set_result(self._codec.make(name, status=int(goal.status), result=outcome.result()))

        goal.outcome.add_done_callback(answer)
        return promise

    def _answer_cancel(self, request: Message) -> Message:
        """By number; without one, all, or all up to a time."""
        number, until = bytes(request.goal_info.goal_id.uuid), request.goal_info.stamp
        name = "action_msgs/srv/CancelGoal_Response"
        if any(number):
            goal = self._goals.get(number)
            if goal is None or goal.has_ended:
                word = "ERROR_UNKNOWN_GOAL_ID" if goal is None else "ERROR_GOAL_TERMINATED"
                return self._codec.make(name, return_code=self._codec.constant(name, word))
            chosen = [goal]
        else:
            limit = (until.sec, until.nanosec) if until.sec or until.nanosec else (2**31, 0)
            chosen = [g for g in list(self._goals.values()) if (g.stamp.sec, g.stamp.nanosec) <= limit]
        given_up = [goal for goal in chosen if self.cancel(goal)]
        return self._codec.make(name, goals_canceling=[self._info(goal) for goal in given_up])

    def _say_statuses(self) -> None:
        with self._lock:
            listed = [{"goal_info": self._info(goal), "status": int(goal.status)} for goal in self._goals.values()]
        self.statuses.publish(self._codec.make("action_msgs/GoalStatusArray", status_list=listed))

    def _info(self, goal: Goal) -> dict[str, Any]:
        return {"goal_id": self._uuid(goal.id), "stamp": goal.stamp}

    def _uuid(self, number: bytes) -> dict[str, Any]:
        return {"uuid": np.frombuffer(number, np.uint8)}
