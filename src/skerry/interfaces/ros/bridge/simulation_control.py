"""Services and a topic that control the simulation: pause, step, reset, snapshot, restore, speed, spawn and delete."""

from __future__ import annotations

from concurrent.futures import Future
from math import degrees
from typing import Any, Final

from skerry.commands import Delete, Pause, Reset, Restore, SetSpeed, Spawn, Step, TakeSnapshot
from skerry.core.errors import SkerryError
from skerry.core.frames import normalise, quaternion_to_rpy
from skerry.formats.yaml_documents import parse_document
from skerry.interfaces.ros.bridge.context import BridgeContext
from skerry.interfaces.ros.bridge.feature import Feature
from skerry.interfaces.ros.messages.codec import Message

CONTROL: Final = "/skerry"
"""Namespace of the services that control the simulation."""
TRIGGER: Final = "std_srvs/srv/Trigger"


class SimulationControlFeature(Feature):
    """Adds the services that control the simulation."""

    def __init__(self, context: BridgeContext) -> None:
        super().__init__(context)
        self._snapshot: Any = None

    def start(self) -> None:
        bus, context = self.bus, self.context
        context.add_command_service(f"{CONTROL}/pause", "std_srvs/SetBool", lambda request: Pause(bool(request.data)))
        context.add_command_service(f"{CONTROL}/step", TRIGGER, lambda request: Step())
        context.add_command_service(f"{CONTROL}/reset", TRIGGER, lambda request: Reset())
        bus.add_service(f"{CONTROL}/snapshot", TRIGGER, self._take_snapshot)
        bus.add_service(f"{CONTROL}/restore", TRIGGER, self._restore)
        topic = f"{CONTROL}/speed"
        bus.subscribe(
            topic, "std_msgs/Float64", lambda message: context.send_command(topic, SetSpeed(message.data or None))
        )
        context.add_command_service(f"{CONTROL}/spawn", "skerry_msgs/Spawn", _spawn)
        context.add_command_service(f"{CONTROL}/delete", "skerry_msgs/Delete", lambda request: Delete(request.name))
        speed = "skerry_msgs/SetSpeed"
        context.add_command_service(f"{CONTROL}/set_speed", speed, lambda request: SetSpeed(request.speed or None))

    def _take_snapshot(self, request: Message) -> Future[Message]:
        def store(snapshot: Any) -> None:
            self._snapshot = snapshot

        return self.context.response_to(self.context.inbox.put(TakeSnapshot()), f"{TRIGGER}_Response", store)

    def _restore(self, request: Message) -> Future[Message]:
        if self._snapshot is None:
            raise SkerryError(f"there is no snapshot to restore; call {CONTROL}/snapshot first")
        return self.context.response_to(self.context.inbox.put(Restore(self._snapshot)), f"{TRIGGER}_Response")


def _spawn(request: Message) -> Spawn:
    settings = parse_document(request.settings or "{}", "settings").data
    if not isinstance(settings, dict):
        raise SkerryError("`settings` must be a YAML mapping, as in a scenario file, such as `prop: buoy_port`")
    p, q = request.pose.position, request.pose.orientation
    orientation = [q.x, q.y, q.z, q.w]
    roll, pitch, yaw = quaternion_to_rpy(normalise(orientation)) if any(orientation) else (0.0, 0.0, 0.0)
    angles = {"roll_deg": degrees(roll), "pitch_deg": degrees(pitch), "yaw_deg": degrees(yaw)}
    pose = {"position": [p.x, p.y, p.z], **angles}
    vehicle = {"vehicle": request.vehicle} if request.vehicle else {}
    return Spawn(request.name, {"pose": pose, **vehicle, **settings})
