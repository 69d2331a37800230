"""Session of a client in the later dialects: flags, arming, modes, images on the control channel, zones.

There are two later dialects: that of versions 2.2 and 2.3, and that of versions 2.0 and 2.1, which is called early
here. Clients of the early one know fewer packets and expect some answers in the form of the documented dialect.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final

from skerry.commands import Teleport
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.interfaces.okon.autopilot import NONE, OkonAutopilot
from skerry.interfaces.okon.course import CourseProgress
from skerry.interfaces.okon.packets import Framing, OkonPacket, read_json, read_number, read_vector, write_json
from skerry.interfaces.okon.robot import OkonRobot
from skerry.interfaces.okon.session import GROUPS as EARLY_GROUPS
from skerry.interfaces.okon.session import ImageQuality, answer_ping
from skerry.rays.detections import ImageDetection

logger = logging.getLogger("skerry")

THRUSTERS: Final = ("FLH", "FLV", "BLV", "BLH", "FRH", "FRV", "BRV", "BRH")
GROUPS: Final = ("rot", "rotSpeed", "accel", "angularAccel")
ECHO: Final = 1
"""Bit of the flag that requests an additional ACK with the body of the request."""
TEST: Final = 128
"""Bit of the flag in the answer to an ACK."""
MIN_TRANSMISSION: Final = 0.15
"""Lowest transmission of the water at which an object counts as visible, as in the original."""
MARGIN: Final = 0.01
"""Margin around a bounding box as a share of the image, as in the original."""
EDGE: Final = 0.0001
"""Smallest distance of a bounding box from the edge as a share of the image, as in the original."""
POOL: Final = "wall"
"""Category of the pool itself, which is never detected."""
MUZZLE: Final = Pose([0.6, 0.0, -0.04], [0.0, 0.0, 0.0, 1.0])
"""Pose in which the torpedo starts, in the body's axes, m; it does not touch the hull."""
MUZZLE_SPEED: Final = 10.0
"""Speed of the torpedo at the start, m/s."""


class LaterPacketType(IntEnum):
    """Packet types of the later dialects."""

    SET_MTR = 0xA0
    ARM_MTR = 0xA1
    DISARM_MTR = 0xA2
    SET_CONTROL_MODE = 0xA3
    SET_ACRO = 0xA4
    SET_STABLE = 0xA5
    SET_PID = 0xA6
    GET_SENS = 0xB0
    GET_DEPTH = 0xB1
    GET_DEPTH_BYTES = 0xB2
    GET_VIDEO_BYTES = 0xB3
    GET_VIDEO = 0xB4
    SET_SIM = 0xC0
    ACK = 0xC1
    GET_ORIEN = 0xC2
    SET_ORIEN = 0xC3
    RST_SIM = 0xC4
    PING = 0xC5
    GET_CPS = 0xC6
    HIT_NGZ = 0xC7
    HIT_FZ = 0xC8
    CHK_AP = 0xC9
    ERROR = 0xCA
    REC_STRT = 0xD0
    REC_ST = 0xD1
    REC_RST = 0xD2
    GET_REC = 0xD3
    GET_DETE = 0xDE
    TORPEDO = 0xE0


def class_name(category: str) -> str:
    """Return a category in the spelling of the original: `flare_red` becomes `flareRed`."""
    first, *rest = category.split("_")
    return first + "".join(part.capitalize() for part in rest)


def detection_body(found: ImageDetection, width: int, height: int) -> dict[str, Any]:
    """Return a detection as GET_DETE sends it: box as shares of the image, with y from the bottom up.

    Args:
        found: Detection in pixels.
        width: Width of the image, pixels.
        height: Height of the image, pixels.
    """
    left, right = found.x / width, (found.x + found.width) / width
    top, bottom = 1.0 - found.y / height, 1.0 - (found.y + found.height) / height
    return {
        "visibleInFrame": found.transmission >= MIN_TRANSMISSION,
        "min": {"x": max(left - MARGIN, EDGE), "y": max(bottom - MARGIN, EDGE)},
        "max": {"x": min(right + MARGIN, 1.0 - EDGE), "y": min(top + MARGIN, 1.0 - EDGE)},
        "fill": (right - left) * (top - bottom),
        "className": class_name(found.category),
        "distance": found.distance,
        "colorPercentVisible": found.transmission,
    }


class LaterOkonSession:
    """Session of one client: executes its packets and sends the answers."""

    framing = Framing(flagged=True)

    def __init__(
        self,
        robot: OkonRobot,
        quality: ImageQuality,
        autopilot: OkonAutopilot,
        course: CourseProgress,
        torpedo: str | None,
        early: bool,
        send: Callable[[bytes], None],
        broadcast: Callable[[bytes], None],
    ) -> None:
        """Create a session.

        Args:
            robot: Robot that the client drives.
            quality: JPEG quality that all clients share.
            autopilot: Autopilot that all clients share.
            course: Course that all clients share.
            torpedo: Name of the object that TORPEDO launches.
            early: Whether the client uses the dialect of versions 2.0 and 2.1.
            send: Function that sends a packet to the client in one write.
            broadcast: Function that sends a packet to all clients.
        """
        self._robot, self._quality, self._autopilot, self._course = robot, quality, autopilot, course
        self._torpedo, self._early, self._send, self._broadcast = torpedo, early, send, broadcast
        self._warned: set[int] = set()
        self._answers: dict[int, Callable[[bytes], bytes | None]] = {
            LaterPacketType.SET_MTR: self._set_motors,
            LaterPacketType.ARM_MTR: lambda body: autopilot.arm(),
            LaterPacketType.DISARM_MTR: lambda body: autopilot.disarm(),
            LaterPacketType.SET_CONTROL_MODE: self._set_mode,
            LaterPacketType.SET_ACRO: self._set_acro,
            LaterPacketType.SET_STABLE: self._set_stable,
            LaterPacketType.SET_PID: self._set_loops,
            LaterPacketType.GET_SENS: lambda body: write_json(robot.state.sensors(EARLY_GROUPS if early else GROUPS)),
            LaterPacketType.GET_DEPTH: self._depth,
            LaterPacketType.GET_DEPTH_BYTES: lambda body: robot.image().depth_jpeg,
            LaterPacketType.GET_VIDEO_BYTES: lambda body: robot.image().jpeg(quality.value),
            LaterPacketType.GET_VIDEO: lambda body: base64.b64encode(robot.image().jpeg(quality.value)),
            LaterPacketType.SET_SIM: self._set_simulation,
            LaterPacketType.GET_ORIEN: lambda body: write_json(robot.state.orientation()),
            LaterPacketType.SET_ORIEN: self._set_orientation,
            LaterPacketType.RST_SIM: self._reset,
            LaterPacketType.PING: answer_ping if early else lambda body: body,
            LaterPacketType.GET_CPS: lambda body: write_json(
                [{"id": name, "reached": reached} for name, reached in course.reached.items()]
            ),
            LaterPacketType.CHK_AP: self._check_action_point,
            LaterPacketType.REC_STRT: lambda body: robot.recording.start(),
            LaterPacketType.REC_ST: lambda body: robot.recording.stop(),
            LaterPacketType.REC_RST: lambda body: robot.recording.reset(),
            LaterPacketType.GET_REC: lambda body: write_json(robot.recording.rows()),
            LaterPacketType.GET_DETE: self._detections,
            LaterPacketType.TORPEDO: self._launch,
        }

    def receive(self, packet: OkonPacket) -> None:
        """Execute a packet and send its answer, which repeats the flag of the packet except for CHK_AP and errors."""
        self._answer(packet)
        if packet.flag & ECHO:
            echo = write_json({"fromClient": packet.body.decode("utf-8", "replace")})
            self._send(self.framing.encode(LaterPacketType.ACK, echo))

    def _answer(self, packet: OkonPacket) -> None:
        flag = packet.flag
        if packet.type == LaterPacketType.ACK:
            self._send(self.framing.encode(LaterPacketType.ACK, write_json({"info": "ack ack"}), flag | TEST))
            return
        try:
            if (answer := self._answers.get(packet.type)) is None:
                raise SkerryError(f"Unknown packet {packet.type:02X}")
            body = answer(packet.body)
        except SkerryError as error:
            self._warn(packet.type, str(error))
            report = {"info": str(error), "fromClient": packet.body.decode("utf-8", "replace")}
            type_ = LaterPacketType.ACK if self._early else LaterPacketType.ERROR
            self._send(self.framing.encode(type_, write_json(report)))
        else:
            if body is not None:
                self._send(self.framing.encode(packet.type, body, 0 if packet.type == LaterPacketType.CHK_AP else flag))

    def _warn(self, type_: int, problem: str) -> None:
        """Log the first error of each packet type."""
        if type_ not in self._warned:
            self._warned.add(type_)
            logger.warning("okon: packet %02X of a client was refused: %s", type_, problem)

    # -------------------------------------------------------------------------------------------- packets
    # A packet that sets a value and has no body is a request for the current value.

    def _set_motors(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._autopilot.throttles)
        found = read_json(body)
        self._autopilot.drive({name: read_number(found, name, 0.0) for name in self._robot.thrusters})
        return None

    def _set_mode(self, body: bytes) -> bytes | None:
        if not body:
            return self._autopilot.mode.encode("ascii")
        self._autopilot.set_mode(body.decode("utf-8", "replace").strip().strip('"'))
        return None

    def _set_acro(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._autopilot.acro_body())
        self._autopilot.set_acro(read_json(body))
        return None

    def _set_stable(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._autopilot.stable_body())
        self._autopilot.set_stable(read_json(body))
        return None

    def _set_loops(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._autopilot.loops_body())
        self._autopilot.set_loops(read_json(body))
        return None

    def _depth(self, body: bytes) -> bytes:
        text = self._robot.image().depth_base64
        return write_json({"depth": text}) if self._early else text.encode("ascii")

    def _set_simulation(self, body: bytes) -> bytes | None:
        if not body:
            return write_json({"quality": self._quality.value})
        self._quality.set(read_json(body))
        return None

    def _set_orientation(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._robot.state.orientation())
        found = read_json(body)
        self._robot.set_pose(read_vector(found, "pos", NONE), read_vector(found, "rot", NONE))
        return None

    def _reset(self, body: bytes) -> None:
        self._robot.execute(Teleport.to(self._robot.name, self._course.start_run()))
        self._broadcast(self.framing.encode(LaterPacketType.RST_SIM))

    def _check_action_point(self, body: bytes) -> bytes:
        if not body:
            return write_json(list(self._course.config.action_points))
        return b"true" if body.decode("utf-8", "replace").strip().strip('"') in self._course.active else b"false"

    def _detections(self, body: bytes) -> bytes:
        reading = self._robot.image().reading
        height, width = reading.depth.shape
        rows = [detection_body(found, width, height) for found in reading.detections if found.category != POOL]
        return write_json({"detected": rows} if self._early else rows)

    def _launch(self, body: bytes) -> None:
        if self._torpedo is None:
            raise SkerryError("the scenario has no torpedo; set `torpedo` of the interface to a dynamic object")
        muzzle = self._robot.state.pose @ MUZZLE
        vx, vy, vz = (muzzle.rotation[:, 0] * MUZZLE_SPEED).tolist()
        self._robot.execute(Teleport.to(self._torpedo, muzzle, (vx, vy, vz)))
