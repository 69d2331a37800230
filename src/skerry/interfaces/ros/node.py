"""The simulator as a node: a world's parts on a bus, after a profile, and the transports that carry it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from skerry.commands import (
    Actuate,
    AskController,
    Pause,
    Reset,
    Restore,
    SetSpeed,
    Step,
    TakeSnapshot,
    Teleport,
    TriggerSensor,
)
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose, normalise
from skerry.interfaces.ros.actionlib import Actionlib
from skerry.interfaces.ros.bus import LATCHED, LATEST, SENSOR, Bus, Qos, nanoseconds
from skerry.interfaces.ros.codec import Codec, Message
from skerry.interfaces.ros.conversions import Source, conversion, number_of, stamp
from skerry.interfaces.ros.frames import FrameTree, ros_name
from skerry.interfaces.ros.goto_waypoint import GotoWaypoint
from skerry.interfaces.ros.outlets import (
    FeedbackOutlet,
    FieldPath,
    MadeOutlet,
    ReadingOutlet,
    RepeatingOutlet,
    Timed,
)
from skerry.interfaces.ros.parameters import ParameterServices
from skerry.interfaces.ros.prepared import prepare, stamp_of
from skerry.interfaces.ros.profile import ActuatorRow, AskRow, SensorRow, load_profile, topic_name
from skerry.interfaces.ros.transform_writer import TransformWriter
from skerry.interfaces.ros.transport import Transport
from skerry.interfaces.ros.vocabulary import Vocabulary
from skerry.parts.actuator import Actuator
from skerry.parts.interface import Command, Inbox, Interface, NewReading
from skerry.runner import CommandQueue
from skerry.world import Robot, World

if TYPE_CHECKING:
    from skerry.interfaces.ros import Ros

logger = logging.getLogger("skerry")

FEEDBACK_FREQUENCY: Final = Fraction(2)  # Hz, of actions
STATUS_FREQUENCY: Final = Fraction(5)  # Hz, of goals in ROS 1, as actionlib has it
CONTROL: Final = "/skerry"
"""Below it are the services that control the simulation itself."""


class RosInterface(Interface):
    """Says what somebody takes, and hears commands."""

    def __init__(self, config: Ros) -> None:
        self.config = config
        self.bus = Bus(Codec(Vocabulary(config.message_paths, config.distribution)))
        self.transports: dict[str, Transport] = {name: part.build() for name, part in config.transports.items()}
        self._readers: dict[tuple[str, str], list[ReadingOutlet | RepeatingOutlet]] = defaultdict(list)
        self._timers: dict[Rate, list[Timed]] = defaultdict(list)
        self._counts: dict[Rate, int] = {}
        self._rates: list[Rate] = []  # of timers whose topics somebody takes
        self._changes = -1  # of who takes what, up to which it is known what is wanted
        self._snapshot: Any = None

    # -------------------------------------------------------------------------------------------- of an interface

    def check(self, world: World) -> None:
        self._build(world, CommandQueue())

    def start(self, world: World, inbox: Inbox) -> None:
        self._build(world, inbox)
        for transport in self.transports.values():
            transport.start(self.bus)

    def next_due(self, tick: int) -> int | None:
        if self.bus.changes != self._changes:
            self._want_what_is_taken()
        return min([rate.next_due(tick) for rate in self._rates], default=None)

    def publish(self, readings: Sequence[NewReading]) -> None:
        if self.bus.changes != self._changes:
            self._want_what_is_taken()
        tick = self._world.tick
        self.bus.now = nanoseconds(tick, self._world.scenario.step)
        with self.bus.at_once():
            for new in readings:
                for outlet in self._readers.get((new.robot, new.sensor), ()):
                    outlet.take(new)
            for rate, timers in self._timers.items():
                if (count := rate.count(tick)) != self._counts.get(rate):
                    self._counts[rate] = count
                    for timer in timers:
                        if timer.topic.taken:
                            timer.say(tick)

    @property
    def status(self) -> str:
        return "; ".join(transport.status for transport in self.transports.values())

    def close(self) -> None:
        for transport in self.transports.values():
            transport.close()

    def _want_what_is_taken(self) -> None:
        """Let those sensors be measured, and those rates be kept, whose topics somebody takes."""
        self._changes = self.bus.changes
        self.wanted = frozenset(key for key, outlets in self._readers.items() if _any_taken(outlets))
        self._rates = [rate for rate, timers in self._timers.items() if _any_taken(timers)]

    # -------------------------------------------------------------------------------------------- building

    def _build(self, world: World, inbox: Inbox) -> None:
        self._world, self._inbox = world, inbox
        self._step = float(world.scenario.step)
        self._frames = FrameTree(world, self.config.frame_suffix)
        self._profile = load_profile(self.config.profile)
        self._add_clock_and_frames()
        self._add_control()
        for name, robot in world.robots.items():
            self._add_robot(name, robot)
            self._add_teleport(name)
        for name, thing in world.scenario.objects.items():
            if thing.motion != "static":
                self._add_teleport(name)

    def _rate(self, frequency: Fraction) -> Rate:
        return Rate.of(frequency, self._world.scenario.step, faster_ok=True)

    def _stamp(self, tick: int) -> Message:
        return stamp(self.bus.codec, tick * self._step)

    def _time_now(self) -> Message:
        return self._stamp(self._world.tick)

    def _add_timer(self, timer: Timed) -> None:
        self._timers[timer.rate].append(timer)

    def _add_clock_and_frames(self) -> None:
        codec, frames, config = self.bus.codec, self._frames, self.config
        clock = prepare(codec, codec.make("rosgraph_msgs/Clock"), ())
        topic = self.bus.advertise("/clock", "rosgraph_msgs/Clock", Qos(depth=10))
        rate = self._rate(config.clock_frequency)
        self._add_timer(MadeOutlet(topic, rate, lambda tick: clock(*stamp_of(tick * self._step))))
        moving = self.bus.advertise("/tf", "tf2_msgs/TFMessage")
        rate, write = self._rate(config.frame_frequency), TransformWriter(codec).write
        self._add_timer(MadeOutlet(moving, rate, lambda tick: write(tick * self._step, *frames.moving())))
        still = self.bus.advertise("/tf_static", "tf2_msgs/TFMessage", LATCHED)
        still.publish(TransformWriter(codec).write_all(self._world.tick * self._step, frames.still()))
        if frames.projection is not None:
            self.bus.parameters["/utm_zone"] = frames.projection.zone
            self.bus.parameters["/utm_band"] = frames.projection.band

        ParameterServices(self.bus)

    def _add_robot(self, name: str, robot: Robot) -> None:
        vehicle = Path(self._world.scenario.robots[name].vehicle).name
        config, profile = robot.vehicle.config, self._profile
        for part, settings in config.sensors.items():
            for row in profile.sensor(vehicle, part, settings.kind):
                where = topic_name(row.topic, name, profile.word(vehicle, part))
                self._add_sensor(name, part, settings, row, where)
            if settings.can_be_triggered:
                self._offer_trigger(f"{CONTROL}/trigger/{ros_name(name)}/{ros_name(part)}", TriggerSensor(name, part))
        for part, settings in config.actuators.items():
            found = profile.actuator(vehicle, part, settings.kind)
            self._add_actuator(name, part, robot, found, profile.word(vehicle, part))
        for part, settings in config.controllers.items():
            asked = profile.controller(vehicle, part, settings.kind)
            for ask in asked.asks:
                self._add_ask(name, part, robot, ask, topic_name(ask.topic, name, profile.word(vehicle, part)))
            if (goto := asked.goto) is not None:
                where = topic_name(goto.topic, name, profile.word(vehicle, part))
                rate = self._rate(FEEDBACK_FREQUENCY)
                context = (self._frames, self._inbox, rate, self._time_now)
                action = GotoWaypoint(self.bus, where, goto.type, robot, part, *context)
                self._add_timer(action)
                if self.config.distribution == "noetic":
                    rate = self._rate(STATUS_FREQUENCY)
                    self._add_timer(Actionlib(self.bus, action.server, rate, self._time_now))

    def _add_sensor(self, robot: str, part: str, settings: Any, row: SensorRow, where: str) -> None:
        frames = self._frames
        convert = conversion(settings.kind, row.type) if row.value is None else number_of(row.type, row.value)
        topic = self.bus.advertise(where, row.type, LATEST if row.latest_only else SENSOR)
        frame = frames.sensor(robot, part, settings)
        link = frames.link(robot, settings.link)
        source = Source(self.bus.codec, settings, frame, link, frames.map, frames.projection)
        outlet: ReadingOutlet | RepeatingOutlet
        if row.ignore_sensor_state:
            rate = self._rate(row.frequency or settings.frequency)
            outlet = RepeatingOutlet(topic, convert, source, self._step, rate)
            self._add_timer(outlet)
        else:
            slower = row.frequency is not None and row.frequency < settings.frequency
            rate_or_none = self._rate(row.frequency) if slower and row.frequency is not None else None
            outlet = ReadingOutlet(topic, convert, source, self._step, rate_or_none)
        self._readers[robot, part].append(outlet)

    def _add_actuator(self, name: str, part: str, robot: Robot, row: ActuatorRow, word: str) -> None:
        actuator = robot.actuators[part]
        if row.command is not None:
            field = FieldPath(self.bus.codec, row.command.type, row.command.field)
            hear = partial(self._hear_command, name, part, actuator, field, row.command.scale)
            self.bus.subscribe(topic_name(row.command.topic, name, word), row.command.type, hear)
        if row.feedback is not None:
            topic = self.bus.advertise(topic_name(row.feedback.topic, name, word), row.feedback.type)
            frame = self._frames.link(name, robot.vehicle.config.actuators[part].link)
            self._add_timer(
                FeedbackOutlet(
                    topic,
                    self._rate(row.feedback.frequency),
                    self.bus.codec,
                    frame,
                    self._step,
                    FieldPath(self.bus.codec, row.feedback.type, row.feedback.field),
                    partial(_scaled_feedback, actuator, row.feedback.scale),
                )
            )

    def _hear_command(
        self, robot: str, part: str, actuator: Actuator, field: FieldPath, scale: float, message: Message
    ) -> None:
        value = {actuator.keyword: scale * field.get(message)}
        actuator.check(**value)
        self._inbox.put(Actuate(robot, part, value))

    def _add_ask(self, name: str, part: str, robot: Robot, row: AskRow, where: str) -> None:
        if not callable(getattr(robot.controllers[part], row.method, None)):
            raise SkerryError(f"the controller {part!r} of {name!r} has no method {row.method!r}, which {where} needs")
        arguments = {word: _numbers(self.bus.codec, row.type, fields) for word, fields in row.arguments.items()}

        def hear(message: Message) -> None:
            values = {word: read(message) for word, read in arguments.items()}
            self._inbox.put(AskController(name, part, row.method, values)).add_done_callback(
                partial(_log_failure, where)
            )

        self.bus.subscribe(where, row.type, hear)

    def _add_teleport(self, name: str) -> None:
        def hear(message: Message) -> None:
            p, q = message.position, message.orientation
            pose = Pose([p.x, p.y, p.z], normalise([q.x, q.y, q.z, q.w]))
            self._inbox.put(Teleport(name, pose))

        self.bus.subscribe(f"/{ros_name(name)}/teleport", "geometry_msgs/Pose", hear)

    # -------------------------------------------------------------------------------------------- control

    def _add_control(self) -> None:
        bus = self.bus
        bus.offer(f"{CONTROL}/pause", "std_srvs/SetBool", self._pause)
        self._offer_trigger(f"{CONTROL}/step", Step())
        self._offer_trigger(f"{CONTROL}/reset", Reset())
        bus.offer(f"{CONTROL}/snapshot", "std_srvs/Trigger", self._take_snapshot)
        bus.offer(f"{CONTROL}/restore", "std_srvs/Trigger", self._restore)
        bus.subscribe(f"{CONTROL}/speed", "std_msgs/Float64", self._set_speed)

    def _pause(self, request: Message) -> Future[Message]:
        return self._answered(self._inbox.put(Pause(bool(request.data))), "std_srvs/srv/SetBool_Response")

    def _set_speed(self, message: Message) -> None:
        self._inbox.put(SetSpeed(message.data or None))

    def _take_snapshot(self, request: Message) -> Future[Message]:
        def keep(snapshot: Any) -> None:
            self._snapshot = snapshot

        return self._answered(self._inbox.put(TakeSnapshot()), "std_srvs/srv/Trigger_Response", keep)

    def _restore(self, request: Message) -> Future[Message]:
        if self._snapshot is None:
            raise SkerryError(f"there is no snapshot to restore; call {CONTROL}/snapshot before")
        return self._answered(self._inbox.put(Restore(self._snapshot)), "std_srvs/srv/Trigger_Response")

    def _offer_trigger(self, name: str, command: Command) -> None:
        def answer(request: Message) -> Future[Message]:
            return self._answered(self._inbox.put(command), "std_srvs/srv/Trigger_Response")

        self.bus.offer(name, "std_srvs/Trigger", answer)

    def _answered(
        self, asked: Future[Any], type_name: str, then: Callable[[Any], None] = lambda result: None
    ) -> Future[Message]:
        """A promise of an answer that says whether a command was done, and why not."""
        promise: Future[Message] = Future()

        def finish(done: Future[Any]) -> None:
            problem = "the simulation has ended" if done.cancelled() else str(done.exception() or "")
            if not problem:
                then(done.result())
            promise.set_result(self.bus.codec.make(type_name, success=not problem, message=problem))

        asked.add_done_callback(finish)
        return promise


def _any_taken(outlets: Sequence[ReadingOutlet | RepeatingOutlet] | Sequence[Timed]) -> bool:
    return any(outlet.topic.taken for outlet in outlets)


def _numbers(codec: Codec, type_name: str, fields: str | tuple[str, ...]) -> Callable[[Message], Any]:
    """Reads a number of a message, or a list of them; a minus before a field turns its sign."""
    if isinstance(fields, tuple):
        each = [_numbers(codec, type_name, field) for field in fields]
        return lambda message: [read(message) for read in each]
    sign = -1.0 if fields.startswith("-") else 1.0
    path = FieldPath(codec, type_name, fields.removeprefix("-"))
    return lambda message: sign * path.get(message)


def _log_failure(where: str, done: Future[Any]) -> None:
    if not done.cancelled() and done.exception() is not None:
        logger.warning("%s: %s", where, done.exception())


def _scaled_feedback(actuator: Actuator, scale: float) -> float:
    return actuator.feedback / scale
