"""The simulator as a node: a world's parts on a bus, after a profile, and the transports that carry it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from fractions import Fraction
from functools import partial
from itertools import chain
from math import degrees, radians
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from skerry.commands import (
    Actuate,
    AskController,
    Delete,
    Pause,
    Reset,
    Restore,
    SetSpeed,
    Spawn,
    Step,
    TakeSnapshot,
    Teleport,
    TriggerSensor,
)
from skerry.control.loops.limits import LimitsConfig
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose, normalise, quaternion_to_rpy
from skerry.formats.yaml_documents import parse_document
from skerry.interfaces.ros.bridge.context import Context
from skerry.interfaces.ros.bridge.dead_reckoning import Reckoning
from skerry.interfaces.ros.bridge.external_frames import OutsideFrames
from skerry.interfaces.ros.bridge.geodesy import offer_conversions
from skerry.interfaces.ros.bridge.goto_waypoint import GotoWaypoint
from skerry.interfaces.ros.bridge.modems import SoundTopics
from skerry.interfaces.ros.bridge.parameters import ParameterServices
from skerry.interfaces.ros.bridge.profile import (
    ActuatorRow,
    AskRow,
    CommandRow,
    ControllerRow,
    SensorRow,
    load_profile,
    topic_name,
)
from skerry.interfaces.ros.bridge.publishers import (
    ClockOutlet,
    FieldPath,
    GaugesOutlet,
    NotingOutlet,
    ReadingOutlet,
    RepeatingOutlet,
    TimedTogether,
)
from skerry.interfaces.ros.bridge.ropes import add_rope
from skerry.interfaces.ros.bridge.sensor_switches import add_switch
from skerry.interfaces.ros.bridge.setpoints import HelmTopics
from skerry.interfaces.ros.bridge.thrusters import TYPE as THRUSTER
from skerry.interfaces.ros.bridge.thrusters import thruster_feedback
from skerry.interfaces.ros.bridge.transform_publisher import TransformOutlet, TransformWriter
from skerry.interfaces.ros.bridge.waypoint_markers import WaypointMarkers
from skerry.interfaces.ros.bridge.waypoint_settings import WaypointConfig
from skerry.interfaces.ros.bus.actionlib import Actionlib
from skerry.interfaces.ros.bus.bus import LATCHED, LATEST, SENSOR, Bus
from skerry.interfaces.ros.bus.lazy_message import Maker, nanoseconds
from skerry.interfaces.ros.bus.transport import Transport
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoders import Source, conversion, number_of
from skerry.interfaces.ros.messages.type_store import Vocabulary
from skerry.parts.actuator import Actuator
from skerry.parts.interface import Command, Inbox, Interface, ReadingBatches
from skerry.parts.state_channel import Read
from skerry.runner import CommandQueue
from skerry.world import Robot, World
from skerry.world.frame_tree import FrameTree, ros_name

if TYPE_CHECKING:
    from skerry.interfaces.ros import Ros

FEEDBACK_FREQUENCY: Final = Fraction(2)  # Hz, of actions
STATUS_FREQUENCY: Final = Fraction(5)  # Hz, of goals in ROS 1, as actionlib has it
CONTROL: Final = "/skerry"
"""Below it are the services that control the simulation itself."""
PERCENT: Final = "PercentStamped"


class RosInterface(Interface):
    """Says what somebody takes, and hears commands."""

    def __init__(self, config: Ros) -> None:
        self.config = config
        self.bus = Bus(Codec(Vocabulary(config.message_paths, config.distribution)))
        self.transports: dict[str, Transport] = {name: part.build() for name, part in config.transports.items()}
        self._readers: dict[tuple[str, str], list[ReadingOutlet | RepeatingOutlet]] = defaultdict(list)
        # those whose topics somebody takes
        self._taking: dict[tuple[str, str], list[ReadingOutlet | RepeatingOutlet]] = {}
        self._groups: dict[tuple[Rate, bool], TimedTogether] = {}  # by rate, and whether they look back
        self._stopping: list[TimedTogether] = []
        self.observers: tuple[TimedTogether, ...] = ()
        self._changes = -1  # of who takes what, up to which it is known what is wanted
        self._snapshot: Any = None
        self._known: set[str] = set()  # robots, objects and ropes that it speaks for

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
        return min([group.rate.next_due(tick) for group in self._stopping], default=None)

    def next_publish_tick(self, tick: int) -> int | None:
        for voice in self._context.voices:
            voice.begin_at(tick)
        return self._clock.next_publish_tick(tick)

    def publish(self, readings: ReadingBatches) -> None:
        if self.bus.changes != self._changes:
            self._want_what_is_taken()
        tick = self._world.tick
        self.bus.now = nanoseconds(tick, self._world.scenario.step)
        with self.bus.post.held():
            for new in readings.by_sensor:
                for outlet in self._taking.get((new.robot, new.sensor), ()):
                    outlet.take(new)
            for group in self._groups.values():
                group.say_if_due(tick)
                group.speak()
            for voice in self._context.voices:
                voice.say(tick)

    def world_changed(self) -> None:
        self._frames.update_bodies()
        self._add_what_is_new()
        self._say_still_frames()
        self._changes = -1
        for transport in self.transports.values():
            transport.refresh()

    def on_command(self, tick: int, command: Command) -> None:
        if isinstance(command, Reset | Restore):
            self._give_standing_orders()

    @property
    def drawings(self) -> list[dict[str, Any]]:
        """What peers want to be drawn in the world, as plain data: waypoints that robots are on their way to."""
        return [drawing.plain() for drawing in self._markers.drawings.values()]

    @property
    def outside_frames(self) -> list[dict[str, Any]]:
        """Frames that peers say, and where they are in the world now, as plain data."""
        return [] if self._outside is None else [frame.plain() for frame in self._outside.placed()]

    @property
    def status(self) -> str:
        return "; ".join(transport.status for transport in self.transports.values())

    def close(self) -> None:
        for transport in self.transports.values():
            transport.close()

    def warm_up(self) -> None:
        """Have compiled whatever makes the messages that somebody takes, so that the first need not wait for it."""
        for outlet in (*self._context.timers, *chain.from_iterable(self._readers.values())):
            if outlet.topic.taken and isinstance(outlet, Maker):
                outlet.warm_up()

    def _want_what_is_taken(self) -> None:
        """Let those sensors be measured, and those rates be kept, whose topics somebody takes."""
        self._changes = self.bus.changes
        taking = {key: [outlet for outlet in found if outlet.topic.taken] for key, found in self._readers.items()}
        self._taking = {key: outlets for key, outlets in taking.items() if outlets}
        for timer in self._context.timers:
            key = (timer.rate, timer.looks_back)
            if key not in self._groups:
                self._groups[key] = TimedTogether(timer.rate)
        for (rate, looks_back), group in self._groups.items():
            group.timers = [
                timer
                for timer in self._context.timers
                if timer.topic.taken and (timer.rate, timer.looks_back) == (rate, looks_back)
            ]
            group.noting = [timer for timer in group.timers if isinstance(timer, NotingOutlet)]
        spoken = [(looks_back, group) for (_, looks_back), group in self._groups.items() if group.timers]
        self.observers = tuple(group for looks_back, group in spoken if looks_back)
        self._stopping = [group for looks_back, group in spoken if not looks_back]
        self.subscriptions = frozenset(self._taking)

    # -------------------------------------------------------------------------------------------- building

    def _build(self, world: World, inbox: Inbox) -> None:
        self._world, self._inbox = world, inbox
        self._frames = FrameTree(world, self.config.frame_suffix)
        self._context = context = Context(world, self.bus, inbox, self._frames)
        self._profile = load_profile(self.config.profile)
        self._markers = WaypointMarkers(context)
        self._add_clock()
        self._add_control()
        self._add_what_is_new()
        for name, marker in self.config.waypoints.items():
            self._markers.add(name, marker)
        self._add_frames()
        ParameterServices(self.bus)
        self._give_standing_orders()

    def _add_what_is_new(self) -> None:
        """Speak for robots, objects and ropes that came, and no longer for those that went."""
        world, bus = self._world, self.bus
        now = {
            **{f"robots/{name}": partial(self._add_robot, name) for name in world.robots},
            **{f"objects/{name}": partial(self._add_object, name) for name in world.objects},
            **{f"ropes/{name}": partial(self._add_rope, name) for name in world.ropes},
        }
        for owner in self._known - now.keys():
            bus.withdraw(owner)
        for owner, add in now.items():
            if owner not in self._known:
                with bus.owned_by(owner):
                    add()
        self._known = set(now)

    def _add_object(self, name: str) -> None:
        if self._world.scenario.objects[name].motion != "static":
            self._add_teleport(name)

    def _add_rope(self, name: str) -> None:
        if self._profile.ropes is not None:
            owner, _, part = name.rpartition("/")
            where = partial(_rope_topic, owner, part)
            add_rope(self._context, self._world.ropes[name], self._profile.ropes, where)

    def _give_standing_orders(self) -> None:
        for command in self._context.standing:
            self._inbox.put(command)

    def _add_clock(self) -> None:
        topic = self.bus.advertise("/clock", "rosgraph_msgs/Clock")
        rate = self._context.rate(self.config.clock_frequency)
        self._clock = ClockOutlet(topic, rate, self.bus.codec, self._context.step)
        self._context.add_voice(self._clock)

    def _add_frames(self) -> None:
        context, frames = self._context, self._frames
        moving = self.bus.advertise("/tf", "tf2_msgs/TFMessage")
        rate = context.rate(self.config.frame_frequency)
        context.add_timer(TransformOutlet(moving, rate, frames, self._world.scenario.step))
        self._say_still_frames()
        if frames.projection is not None:
            self.bus.parameters["/utm_zone"] = frames.projection.zone
            self.bus.parameters["/utm_band"] = frames.projection.band
        self._outside = OutsideFrames(context) if self.config.hear_frames else None

    def _say_still_frames(self) -> None:
        topic = self.bus.advertise("/tf_static", "tf2_msgs/TFMessage", LATCHED)
        write = TransformWriter(self.bus.codec).write_all
        topic.publish(write(self._world.tick * self._context.step, self._frames.static_transforms()))

    def _add_robot(self, name: str) -> None:
        robot = self._world.robots[name]
        self._add_teleport(name)
        vehicle = Path(self._world.scenario.robots[name].vehicle).name
        config, profile, context = robot.vehicle.config, self._profile, self._context

        def where(part: str, pattern: str, number: int = 1) -> str:
            return topic_name(pattern, name, profile.word(vehicle, part), number)

        for part, settings in config.sensors.items():
            for row in profile.sensor(vehicle, part, settings.kind):
                self._add_sensor(name, part, settings, row, where(part, row.topic))
            if (switch := profile.switch(vehicle, part, settings.kind)) is not None:
                add_switch(context, robot, part, where(part, switch.service), where(part, switch.status))
            if settings.can_be_triggered:
                self._offer_trigger(f"{CONTROL}/trigger/{ros_name(name)}/{ros_name(part)}", TriggerSensor(name, part))
        counted: dict[str, int] = defaultdict(int)
        for part, settings in config.actuators.items():
            counted[settings.kind] += 1
            found = profile.actuator(vehicle, part, settings.kind, "rpm" in robot.actuators[part].keywords)
            self._add_actuator(name, part, robot, found, partial(where, part, number=counted[settings.kind]))
        for part, settings in config.controllers.items():
            asked = profile.controller(vehicle, part, settings.kind)
            self._add_controller(name, part, robot, asked, partial(where, part))
        for part, settings in config.acoustics.items():
            if (sound := profile.sound(vehicle, part, settings.kind)) is not None:
                SoundTopics(context, robot, part, where(part, sound.read), where(part, sound.write))
        if profile.conversions is not None and self._frames.projection is not None:
            names = (profile.conversions.lat_lon_to_utm, profile.conversions.utm_to_lat_lon)
            offer_conversions(self.bus, self._frames.projection, *(topic_name(word, name, "") for word in names))
        if profile.waypoint is not None:
            self._markers.add(name, WaypointConfig(topic=topic_name(profile.waypoint, name, "")))

    def _add_controller(
        self, name: str, part: str, robot: Robot, row: ControllerRow, where: Callable[[str], str]
    ) -> None:
        context = self._context
        for ask in row.asks:
            self._add_ask(name, part, robot, ask, where(ask.topic))
        if row.goto is not None:
            rate = context.rate(FEEDBACK_FREQUENCY)
            action = GotoWaypoint(
                self.bus,
                where(row.goto.topic),
                row.goto.type,
                robot,
                part,
                self._frames,
                self._inbox,
                rate,
                context.now,
            )
            context.add_timer(action)
            if self.config.distribution == "noetic":
                rate = context.rate(STATUS_FREQUENCY)
                context.add_timer(Actionlib(self.bus, action.server, rate, context.now))
        if row.helm is not None:
            HelmTopics(context, robot, part, where(row.helm))
        if row.abort is not None:
            topic, abort = where(row.abort), AskController(name, part, "abort", {})
            self.bus.subscribe(topic, "std_msgs/Empty", lambda message: context.do(topic, abort))
        if row.limits:
            self._add_limits(robot.controllers[part].config.limits, where(""))
        if row.estimates:
            Reckoning(context, robot, part, row.estimates, where)

    def _add_limits(self, limits: LimitsConfig, namespace: str) -> None:
        """As parameters, in the interface's words and units; those that are not set are not there."""
        for name, value in (
            ("max_dive_depth", limits.depth),
            ("min_altitude", limits.altitude),
            ("max_pitch", None if limits.pitch_deg is None else radians(limits.pitch_deg)),
            ("max_roll", None if limits.roll_deg is None else radians(limits.roll_deg)),
            ("max_dive_time", None if limits.dive_time is None else int(limits.dive_time)),
        ):
            if value is not None:
                self.bus.parameters[f"{namespace}{name}"] = value

    def _add_sensor(self, robot: str, part: str, settings: Any, row: SensorRow, where: str) -> None:
        frames = self._frames
        sensor = type(self._world.robots[robot].sensors[part].sensor)
        convert = conversion(settings.kind, row.type) if row.value is None else number_of(row.type, row.value, sensor)
        topic = self.bus.advertise(where, row.type, LATEST if row.latest_only else SENSOR)
        frame = frames.sensor(robot, part, settings)
        link = frames.link(robot, settings.link)
        source = Source(self.bus.codec, settings, frame, link, frames.map, frames.projection)
        outlet: ReadingOutlet | RepeatingOutlet
        if row.ignore_sensor_state:
            rate = self._context.rate(row.frequency or settings.frequency)
            outlet = RepeatingOutlet(topic, convert, source, self._world.scenario.step, rate)
            self._context.add_voice(outlet)
        else:
            slower = row.frequency is not None and row.frequency < settings.frequency
            rate_or_none = self._context.rate(row.frequency) if slower and row.frequency is not None else None
            outlet = ReadingOutlet(topic, convert, source, self._world.scenario.step, rate_or_none)
        self._readers[robot, part].append(outlet)
        self.bus.when_withdrawn(lambda: self._readers[robot, part].remove(outlet))

    def _add_actuator(self, name: str, part: str, robot: Robot, row: ActuatorRow, where: Callable[[str], str]) -> None:
        actuator, codec = robot.actuators[part], self.bus.codec
        if row.command is not None:
            kind = self._type(row.command.type)
            self.bus.subscribe(where(row.command.topic), kind, self._hearer(name, part, actuator, kind, row.command))
        if row.feedback is not None:
            kind, settings = self._type(row.feedback.type), robot.vehicle.config.actuators[part]
            frame = self._frames.link(name, settings.link)
            topic = self.bus.advertise(where(row.feedback.topic), kind)
            rate = self._context.rate(row.feedback.frequency)
            step = self._world.scenario.step
            if kind == THRUSTER and "rpm" in actuator.keywords:
                self._context.add_timer(thruster_feedback(topic, rate, step, self._context.header(frame, 0), actuator))
                return
            field, scale, like = FieldPath(codec, kind, row.feedback.field), row.feedback.scale, codec.make(kind)
            if hasattr(like, "header"):
                like.header.frame_id = frame

            def numbers(read: Read) -> tuple[Any]:
                return (field.number(read(actuator.state_channel) / scale),)

            self._context.add_timer(GaugesOutlet(topic, rate, step, like, [field.path], numbers))

    def _type(self, name: str) -> str:
        """A type as the settings want it: SMaRC has had percentages in two packages."""
        return f"{self.config.percent_package}/{PERCENT}" if name == f"smarc_msgs/{PERCENT}" else name

    def _hearer(
        self, robot: str, part: str, actuator: Actuator, kind: str, row: CommandRow
    ) -> Callable[[Message], None]:
        field, keyword = FieldPath(self.bus.codec, kind, row.field), row.keyword or actuator.keyword

        def hear(message: Message) -> None:
            value = {keyword: row.scale * field.get(message)}
            actuator.check(**value)
            self._inbox.put(Actuate(robot, part, value))

        return hear

    def _add_ask(self, name: str, part: str, robot: Robot, row: AskRow, where: str) -> None:
        if not callable(getattr(robot.controllers[part], row.method, None)):
            raise SkerryError(f"the controller {part!r} of {name!r} has no method {row.method!r}, which {where} needs")
        arguments = {word: _numbers(self.bus.codec, row.type, fields) for word, fields in row.arguments.items()}

        def hear(message: Message) -> None:
            values = {word: read(message) for word, read in arguments.items()}
            self._context.do(where, AskController(name, part, row.method, values))

        self.bus.subscribe(where, row.type, hear)

    def _add_teleport(self, name: str) -> None:
        topic = f"/{ros_name(name)}/teleport"

        def hear(message: Message) -> None:
            p, q = message.position, message.orientation
            pose = Pose([p.x, p.y, p.z], normalise([q.x, q.y, q.z, q.w]))
            self._context.do(topic, Teleport(name, pose))

        self.bus.subscribe(topic, "geometry_msgs/Pose", hear)

    # -------------------------------------------------------------------------------------------- control

    def _add_control(self) -> None:
        bus = self.bus
        self._context.offer(f"{CONTROL}/pause", "std_srvs/SetBool", lambda request: Pause(bool(request.data)))
        self._offer_trigger(f"{CONTROL}/step", Step())
        self._offer_trigger(f"{CONTROL}/reset", Reset())
        bus.offer(f"{CONTROL}/snapshot", "std_srvs/Trigger", self._take_snapshot)
        bus.offer(f"{CONTROL}/restore", "std_srvs/Trigger", self._restore)
        topic = f"{CONTROL}/speed"
        bus.subscribe(
            topic, "std_msgs/Float64", lambda message: self._context.do(topic, SetSpeed(message.data or None))
        )
        self._context.offer(f"{CONTROL}/spawn", "skerry_msgs/Spawn", _spawn)
        self._context.offer(f"{CONTROL}/delete", "skerry_msgs/Delete", lambda request: Delete(request.name))
        speed = "skerry_msgs/SetSpeed"
        self._context.offer(f"{CONTROL}/set_speed", speed, lambda request: SetSpeed(request.speed or None))

    def _take_snapshot(self, request: Message) -> Future[Message]:
        def keep(snapshot: Any) -> None:
            self._snapshot = snapshot

        return self._context.answered(self._inbox.put(TakeSnapshot()), "std_srvs/srv/Trigger_Response", keep)

    def _restore(self, request: Message) -> Future[Message]:
        if self._snapshot is None:
            raise SkerryError(f"there is no snapshot to restore; call {CONTROL}/snapshot before")
        return self._context.answered(self._inbox.put(Restore(self._snapshot)), "std_srvs/srv/Trigger_Response")

    def _offer_trigger(self, name: str, command: Command) -> None:
        self._context.offer(name, "std_srvs/Trigger", lambda request: command)


def _numbers(codec: Codec, type_name: str, fields: str | tuple[str, ...]) -> Callable[[Message], Any]:
    """Reads a number of a message, or a list of them; a minus before a field turns its sign."""
    if isinstance(fields, tuple):
        each = [_numbers(codec, type_name, field) for field in fields]
        return lambda message: [read(message) for read in each]
    sign = -1.0 if fields.startswith("-") else 1.0
    path = FieldPath(codec, type_name, fields.removeprefix("-"))
    return lambda message: sign * path.get(message)


def _spawn(request: Message) -> Spawn:
    settings = parse_document(request.settings or "{}", "settings").data
    if not isinstance(settings, dict):
        raise SkerryError("the settings must be a mapping, as in a scenario's file, such as `prop: buoy_port`")
    p, q = request.pose.position, request.pose.orientation
    orientation = [q.x, q.y, q.z, q.w]
    roll, pitch, yaw = quaternion_to_rpy(normalise(orientation)) if any(orientation) else (0.0, 0.0, 0.0)
    angles = {"roll_deg": degrees(roll), "pitch_deg": degrees(pitch), "yaw_deg": degrees(yaw)}
    pose = {"position": [p.x, p.y, p.z], **angles}
    vehicle = {"vehicle": request.vehicle} if request.vehicle else {}
    return Spawn(request.name, {"pose": pose, **vehicle, **settings})


def _rope_topic(owner: str, rope: str, pattern: str) -> str:
    """Of a robot's rope below the robot's name; of others at the root."""
    return topic_name(pattern if owner else f"/{pattern}", owner, rope)
