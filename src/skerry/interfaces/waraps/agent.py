"""Agent of WARA-PS for one robot: messages of level 1, and tasks of level 2 if the robot can go to goals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import atan2, degrees, hypot
from typing import TYPE_CHECKING, Any, Final, get_args
from uuid import NAMESPACE_URL, uuid4, uuid5

from skerry.commands import CallController, GiveGoal
from skerry.core.errors import SkerryError
from skerry.core.frames import quaternion_to_rpy, rotate, yaw_to_heading
from skerry.core.geo import Projection
from skerry.interfaces.waraps import Domain
from skerry.interfaces.waraps.tasks import SIGNALS, TASKS, Plan, plan_task
from skerry.parts.controller import CanHold, CanReachGoal
from skerry.parts.interface import Inbox
from skerry.world import Robot

if TYPE_CHECKING:
    from skerry.interfaces.waraps import Waraps

MIN_SPEED: Final = 0.05
"""Speed below which the course is the heading, m/s."""
DOMAINS: Final = get_args(Domain)
Send = Callable[[str, Any, bool], None]  # sub-topic, value for JSON, whether it must arrive


class Task:
    """Task in execution: its plan, and the index of the waypoint that the robot goes to."""

    def __init__(self, name: str, uuid: str, plan: Plan) -> None:
        self.name, self.uuid, self.plan = name, uuid, plan
        self.index = 0
        self.paused = False
        self.has_begun = False  # whether the controller has received the goal


class Agent:
    """Agent of one robot. All methods are called by the loop."""

    def __init__(self, config: Waraps, robot: Robot, projection: Projection | None, inbox: Inbox, send: Send) -> None:
        self.robot = robot
        self._config, self._projection, self._inbox, self._send = config, projection, inbox, send
        goers = ((name, part) for name, part in robot.controllers.items() if isinstance(part, CanReachGoal))
        self._controller_name: str = ""
        self._controller: CanReachGoal | None = None
        if (found := next(goers, None)) is not None:
            self._controller_name, self._controller = found
        self.domain: Domain = config.units.get(robot.name) or domain_of(robot)
        self.base = f"{config.context}/unit/{self.domain}/simulation/{robot.name}"
        self.uuid = str(uuid5(NAMESPACE_URL, f"mqtt:{self.base}"))
        self.task: Task | None = None

    @property
    def has_tasks(self) -> bool:
        """Whether the agent has level 2: the robot accepts goals, and the scenario is on the Earth."""
        return self._controller is not None and self._projection is not None

    # -------------------------------------------------------------------------------------------- level 1

    def send_info(self, now: float) -> None:
        """Send heartbeat, sensor information and task information; `now` is the time since 1970, s."""
        name, rate = self.robot.name, self._config.rate
        common = {"name": name, "rate": rate, "stamp": now}
        levels = ["sensor", "direct_execution"] if self.has_tasks else ["sensor"]
        heartbeat = {"agent-type": self.domain, "agent-uuid": self.uuid, "levels": levels, "type": "HeartBeat"}
        self._send("heartbeat", common | heartbeat, False)
        provided = [topic.removeprefix("sensor/") for topic, _ in self._sensors()]
        self._send("sensor_info", common | {"sensor-data-provided": provided, "type": "SensorInfo"}, False)
        if self.has_tasks:
            available = [{"name": task, "signals": list(SIGNALS)} for task in TASKS]
            task = self.task
            executing = [] if task is None else [{"task-name": task.name, "task-uuid": task.uuid}]
            tasks = {"tasks-available": available, "tasks-executing": executing, "type": "DirectExecutionInfo"}
            self._send("direct_execution_info", common | tasks, False)

    def send_sensors(self) -> None:
        """Send the true state of the robot."""
        for topic, value in self._sensors():
            self._send(topic, value, False)

    def _sensors(self) -> Iterator[tuple[str, Any]]:
        pose = self.robot.pose
        east, north, _ = rotate(pose.orientation, self.robot.twist.linear).tolist()
        roll, pitch, yaw = (float(angle) for angle in quaternion_to_rpy(pose.orientation))
        if self._projection is not None:
            latitude, longitude, altitude = self._projection.to_geodetic(pose.position).tolist()
            point = {"latitude": latitude, "longitude": longitude, "altitude": altitude, "type": "GeoPoint"}
            yield "sensor/position", point
        heading, speed = float(yaw_to_heading(yaw)), hypot(east, north)
        yield "sensor/heading", heading
        yield "sensor/course", heading if speed < MIN_SPEED else float(yaw_to_heading(atan2(north, east)))
        yield "sensor/speed", speed
        if self.domain == "subsurface":
            yield "sensor/depth", -float(pose.position[2])
        yield "sensor/roll", degrees(roll)
        yield "sensor/pitch", degrees(pitch)

    # -------------------------------------------------------------------------------------------- level 2

    def on_command(self, payload: bytes) -> None:
        """Execute a message of `exec/command`.

        Raises:
            SkerryError: If the message cannot be answered, because it is not a JSON object with a `command`.
        """
        try:
            message = json.loads(payload)
        except (ValueError, RecursionError):
            raise SkerryError("a command is not JSON") from None
        if not isinstance(message, dict) or not isinstance(message.get("command"), str):
            raise SkerryError("a command is not an object with a `command`")
        match message["command"]:
            case "ping":
                self._respond(message, "pong")
            case "start-task":
                self._start_task(message)
            case "signal-task":
                self._signal_task(message)
            case other:
                self._respond(message, "failed", f"command {other!r:.60} is not supported")

    def update(self) -> None:
        """Give the next waypoint to the controller, or end the task, when a waypoint is reached."""
        task, controller = self.task, self._controller
        if task is None or controller is None or task.paused or not task.has_begun:
            return
        if controller.reached:
            task.index += 1
            if task.index == len(task.plan.waypoints):
                self._end(task, "finished")
            else:
                self._give_goal(task, partial(self._after_goal, task))
        elif not controller.has_goal:
            self._end(task, "failed")  # another command has stopped the controller

    def _start_task(self, message: Mapping[str, Any]) -> None:
        try:
            task = self._read_task(message)
        except SkerryError as error:
            self._refuse(message, str(error))
            return
        self.task = task

        def on_result(error: str | None) -> None:
            if error is None:
                self._respond(message, "running")
                self._feed_back(task.uuid, "started")
                self._feed_back(task.uuid, "running")
            else:
                self.task = None
                self._refuse(message, error)

        self._give_goal(task, on_result)

    def _read_task(self, message: Mapping[str, Any]) -> Task:
        given, uuid = message.get("task"), message.get("task-uuid")
        if not isinstance(uuid, str) or not uuid:
            raise SkerryError("`task-uuid` is missing")
        if not isinstance(given, dict) or not isinstance(given.get("name"), str):
            raise SkerryError("`task` must be an object with `name` and `params`")
        params = given.get("params", {})
        if not isinstance(params, dict):
            raise SkerryError("`params` must be an object")
        if self._projection is None:
            raise SkerryError("the scenario has no `reference` on the Earth")
        config = self._config
        plan = plan_task(given["name"], params, self._projection, config.speeds, config.search_spacing)
        if self.task is not None:
            raise SkerryError("a task is already running")
        return Task(given["name"], uuid, plan)

    def _signal_task(self, message: Mapping[str, Any]) -> None:
        task, signal = self.task, str(message.get("signal"))
        signal = signal if signal.startswith("$") else f"${signal}"
        if task is None or message.get("task-uuid") != task.uuid:
            self._refuse(message, "invalid task-uuid: the task is not running")
        elif signal not in SIGNALS:
            self._refuse(message, f"signal {signal!r:.60} is not supported; supported: {', '.join(SIGNALS)}")
        elif signal in ("$abort", "$enough"):
            self._respond(message, "ok")
            self._give_up()
            self._end(task, "aborted" if signal == "$abort" else "enough")
        elif signal == "$pause":
            self._respond(message, "ok")
            if not task.paused:
                task.paused = True
                self._give_up()
            self._feed_back(task.uuid, "paused")
        else:
            self._respond(message, "ok")
            if task.paused:
                task.paused = False
                self._feed_back(task.uuid, "resumed")
                self._give_goal(task, partial(self._after_goal, task))
            self._feed_back(task.uuid, "running")

    def _give_goal(self, task: Task, on_result: Callable[[str | None], None]) -> None:
        """Send the robot to the present waypoint; `on_result` gets None, or the reason of the refusal."""
        waypoint = task.plan.waypoints[task.index]
        arguments: dict[str, Any] = {"position": [waypoint.east, waypoint.north], "speed": task.plan.speed}
        if waypoint.tolerance is not None:
            arguments["tolerance"] = waypoint.tolerance
        if isinstance(self._controller, CanHold) and self._controller.can_hold("depth"):
            arguments["depth"] = max(0.0, -waypoint.up)
        task.has_begun = False

        def on_done(done: Any) -> None:
            if self.task is not task:
                return
            error = None if done.cancelled() else done.exception()
            task.has_begun = error is None
            on_result(None if error is None else str(error))

        command = GiveGoal(self.robot.name, self._controller_name, arguments)
        self._inbox.put(command).add_done_callback(on_done)

    def _after_goal(self, task: Task, error: str | None) -> None:
        if error is not None:
            self._end(task, "failed")

    def _give_up(self) -> None:
        self._inbox.put(CallController(self.robot.name, self._controller_name, "give_up", {}))

    def _end(self, task: Task, status: str) -> None:
        self.task = None
        self._feed_back(task.uuid, status)

    def _refuse(self, message: Mapping[str, Any], reason: str) -> None:
        self._respond(message, "failed", reason)
        self._feed_back(message.get("task-uuid"), "failed")

    def _respond(self, message: Mapping[str, Any], response: str, reason: str = "") -> None:
        answer = {
            "agent-uuid": self.uuid,
            "com-uuid": str(uuid4()),
            "fail-reason": reason,
            "response": response,
            "response-to": message.get("com-uuid", ""),
            "task-uuid": message.get("task-uuid", ""),
        }
        self._send("exec/response", answer, True)

    def _feed_back(self, task_uuid: object, status: str) -> None:
        told = {"agent-uuid": self.uuid, "com-uuid": str(uuid4()), "status": status, "task-uuid": task_uuid}
        self._send("exec/feedback", told, True)


def domain_of(robot: Robot) -> Domain:
    """Return the unit type by the parts of a robot: wheels, rotor control, depth control, or none of them."""
    config = robot.vehicle.config
    if any(part.kind == "wheel_motor" for part in config.actuators.values()):
        return "ground"
    if any(part.kind in ("geometric_tracking", "suspended_load") for part in config.controllers.values()):
        return "air"
    holds_depth = any(isinstance(it, CanHold) and it.can_hold("depth") for it in robot.controllers.values())
    measures_depth = any(part.kind == "pressure" for part in config.sensors.values())
    return "subsurface" if holds_depth or measures_depth else "surface"
