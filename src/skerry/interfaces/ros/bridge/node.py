"""The simulator as a ROS node: assembles the features of the bridge and the transports of one bus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from skerry.commands import Reset, Restore
from skerry.interfaces.ros.bridge.abort import AbortFeature
from skerry.interfaces.ros.bridge.actuator_topics import ActuatorFeature
from skerry.interfaces.ros.bridge.clock import ClockFeature
from skerry.interfaces.ros.bridge.context import BridgeContext
from skerry.interfaces.ros.bridge.controller_calls import ControllerCallFeature
from skerry.interfaces.ros.bridge.dead_reckoning import DeadReckoningFeature
from skerry.interfaces.ros.bridge.external_frames import ExternalFrameFeature
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bridge.frame_topics import FrameFeature
from skerry.interfaces.ros.bridge.geodesy import GeodesyFeature
from skerry.interfaces.ros.bridge.goto_waypoint import GotoWaypointFeature
from skerry.interfaces.ros.bridge.limits import LimitsFeature
from skerry.interfaces.ros.bridge.modems import ModemFeature
from skerry.interfaces.ros.bridge.parameters import ParameterFeature
from skerry.interfaces.ros.bridge.profile import load_profile
from skerry.interfaces.ros.bridge.ropes import RopeFeature
from skerry.interfaces.ros.bridge.sensor_switches import SensorSwitchFeature
from skerry.interfaces.ros.bridge.sensor_topics import SensorFeature
from skerry.interfaces.ros.bridge.sensor_triggers import SensorTriggerFeature
from skerry.interfaces.ros.bridge.setpoints import SetpointFeature
from skerry.interfaces.ros.bridge.simulation_control import SimulationControlFeature
from skerry.interfaces.ros.bridge.teleport import TeleportFeature
from skerry.interfaces.ros.bridge.waypoint_markers import WaypointMarkerFeature
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.bus.lazy_message import nanoseconds
from skerry.interfaces.ros.bus.transport import Transport
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.parts.interface import Command, Inbox, Interface, ReadingBatches
from skerry.runner import CommandQueue
from skerry.world import World
from skerry.world.frame_tree import FrameTree

if TYPE_CHECKING:
    from skerry.interfaces.ros import Ros
    from skerry.interfaces.ros.bridge.schedule import PublisherSchedule

F = TypeVar("F", bound=Feature)

FEATURES: Final[tuple[type[Feature], ...]] = (
    ClockFeature,
    SimulationControlFeature,
    TeleportFeature,
    GeodesyFeature,
    SensorFeature,
    SensorSwitchFeature,
    SensorTriggerFeature,
    ActuatorFeature,
    ControllerCallFeature,
    GotoWaypointFeature,
    SetpointFeature,
    AbortFeature,
    LimitsFeature,
    DeadReckoningFeature,
    ModemFeature,
    WaypointMarkerFeature,
    RopeFeature,
    FrameFeature,
    ExternalFrameFeature,
    ParameterFeature,
)
"""Features of the bridge, in the order in which they add their entries to the bus."""


class RosInterface(Interface):
    """Interface of a world to ROS: publishes the topics that have subscribers, and receives commands."""

    def __init__(self, config: Ros) -> None:
        self.config = config
        self.bus = Bus(Codec(TypeStore(config.message_paths, config.distribution)))
        self.transports: dict[str, Transport] = {name: part.build() for name, part in config.transports.items()}
        self._owners: set[str] = set()  # robots, objects and ropes whose entries are on the bus
        self._features: list[Feature] = []

    # -------------------------------------------------------------------------------------------- interface

    def check(self, world: World) -> None:
        self._build(world, CommandQueue())

    def start(self, world: World, inbox: Inbox) -> None:
        self._build(world, inbox)
        for transport in self.transports.values():
            transport.start(self.bus)

    def next_due(self, tick: int) -> int | None:
        self._update_subscriptions()
        return self.schedule.next_due(tick)

    def next_publish_tick(self, tick: int) -> int | None:
        return self.schedule.start_at(tick)

    def publish(self, readings: ReadingBatches) -> None:
        self._update_subscriptions()
        tick = self._world.tick
        self.bus.time_ns = nanoseconds(tick, self._world.scenario.step)
        self.schedule.publish(tick, readings)

    def world_changed(self) -> None:
        self.frames.update_bodies()
        self._update_owners()
        for feature in self._features:
            feature.world_changed()
        self.schedule.invalidate()
        for transport in self.transports.values():
            transport.refresh()

    def on_command(self, tick: int, command: Command) -> None:
        if isinstance(command, Reset | Restore):
            self._context.send_startup_commands()

    @property
    def drawings(self) -> list[dict[str, Any]]:
        """Drawings that peers request, as JSON values: the waypoints of robots."""
        return [drawing.plain() for drawing in self._feature(WaypointMarkerFeature).drawings.values()]

    @property
    def external_frames(self) -> list[dict[str, Any]]:
        """Frames of peers with their current poses in the world, as JSON values."""
        return [frame.plain() for frame in self._feature(ExternalFrameFeature).placed()]

    @property
    def status(self) -> str:
        return "; ".join(transport.status for transport in self.transports.values())

    def close(self) -> None:
        for transport in self.transports.values():
            transport.close()

    def warm_up(self) -> None:
        """Compile the kernels of the encoders that are in use, so that the first messages are not delayed."""
        self.schedule.warm_up()

    # -------------------------------------------------------------------------------------------- assembly

    @property
    def frames(self) -> FrameTree:
        """Frames of the world."""
        return self._context.frames

    @property
    def schedule(self) -> PublisherSchedule:
        """Publishers of the bus."""
        return self._context.schedule

    def _build(self, world: World, inbox: Inbox) -> None:
        self._world = world
        frames = FrameTree(world, self.config.frame_suffix)
        self._context = BridgeContext(self.config, world, self.bus, inbox, frames, load_profile(self.config.profile))
        self._features = [feature(self._context) for feature in FEATURES]
        for feature in self._features:
            feature.start()
        self._update_owners()
        for feature in self._features:
            feature.finish()
        self._context.send_startup_commands()

    def _feature(self, kind: type[F]) -> F:
        return next(feature for feature in self._features if isinstance(feature, kind))

    def _update_subscriptions(self) -> None:
        """Request the sensors and samples that the publishers with subscribers need."""
        if self.schedule.update():
            self.observers = self.schedule.observers
            self.subscriptions = self.schedule.subscriptions

    def _update_owners(self) -> None:
        """Add the entries of new robots, objects and ropes, and remove those of deleted ones."""
        world, bus = self._world, self.bus
        owners: dict[str, Callable[[], None]] = {
            **{f"robots/{name}": partial(self._add_robot, name) for name in world.robots},
            **{f"objects/{name}": partial(self._add_object, name) for name in world.objects},
            **{f"ropes/{name}": partial(self._add_rope, name) for name in world.ropes},
        }
        for owner in self._owners - owners.keys():
            bus.withdraw(owner)
        for owner, add in owners.items():
            if owner not in self._owners:
                with bus.owned_by(owner):
                    add()
        self._owners = set(owners)

    def _add_robot(self, name: str) -> None:
        robot = BridgedRobot(self._context, name)
        config = robot.robot.vehicle.config
        for feature in self._features:
            feature.add_robot(robot)
        for part, settings in config.sensors.items():
            for type_name, text in settings.ros_definitions.items():
                self.bus.codec.type_store.define(type_name, text, f"{name}.sensors.{part}")
            for feature in self._features:
                feature.add_sensor(robot, part)
        numbers: dict[str, int] = defaultdict(int)
        for part, settings in config.actuators.items():
            numbers[settings.kind] += 1
            for feature in self._features:
                feature.add_actuator(robot, part, numbers[settings.kind])
        for part in config.controllers:
            for feature in self._features:
                feature.add_controller(robot, part)
        for part in config.acoustics:
            for feature in self._features:
                feature.add_acoustic_part(robot, part)

    def _add_object(self, name: str) -> None:
        for feature in self._features:
            feature.add_object(name)

    def _add_rope(self, name: str) -> None:
        for feature in self._features:
            feature.add_rope(name)
