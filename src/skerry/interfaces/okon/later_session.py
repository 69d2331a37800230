"""The later dialects: a flag in every packet, arming, modes, pictures on the control channel, a course.

That of the versions 2.2 and 2.3, and that of 2.0 and 2.1, called early here, whose clients know fewer packets and
expect some answers as they were in the documented dialect.
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
from skerry.interfaces.okon.course import Course
from skerry.interfaces.okon.craft import Craft
from skerry.interfaces.okon.packets import Framing, Packet, number, read_json, vector, write_json
from skerry.interfaces.okon.pilot import NONE, Pilot
from skerry.interfaces.okon.session import GROUPS as EARLY_GROUPS
from skerry.interfaces.okon.session import Quality, answer_ping
from skerry.rays.detections import Detection

logger = logging.getLogger("skerry")

THRUSTERS: Final = ("FLH", "FLV", "BLV", "BLH", "FRH", "FRV", "BRV", "BRH")
GROUPS: Final = ("rot", "rotSpeed", "accel", "angularAccel")
ECHO: Final = 1  # of the flag: answer with an ACK that holds the body too
TEST: Final = 128
FAINTEST: Final = 0.15  # share of its light by which a thing can still be told from the water, as in the original
MARGIN: Final = 0.01  # of the picture, around a box, as in the original
EDGE: Final = 0.0001  # of the picture, beyond which no box reaches, as in the original
POOL: Final = "wall"  # the category of what is no thing in the pool, and never detected
MUZZLE: Final = Pose([0.6, 0.0, -0.04], [0.0, 0.0, 0.0, 1.0])  # of the torpedo, in the body's axes; clear of the hull
MUZZLE_SPEED: Final = 10.0  # m/s


class LaterType(IntEnum):
    """Types of packets."""

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
    """A category in the original's spelling: `flareRed`."""
    first, *rest = category.split("_")
    return first + "".join(word.capitalize() for word in rest)


def detection_body(found: Detection, width: int, height: int) -> dict[str, Any]:
    """A detection as GET_DETE has it: a box in shares of the picture, y up from the bottom."""
    left, right = found.x / width, (found.x + found.width) / width
    top, bottom = 1.0 - found.y / height, 1.0 - (found.y + found.height) / height
    return {
        "visibleInFrame": found.transmission >= FAINTEST,
        "min": {"x": max(left - MARGIN, EDGE), "y": max(bottom - MARGIN, EDGE)},
        "max": {"x": min(right + MARGIN, 1.0 - EDGE), "y": min(top + MARGIN, 1.0 - EDGE)},
        "fill": (right - left) * (top - bottom),
        "className": class_name(found.category),
        "distance": found.distance,
        "colorPercentVisible": found.transmission,
    }


class LaterDialogue:
    """What one client says and hears. `send` takes a packet that must go out in one piece, `broadcast` one for all."""

    framing = Framing(flagged=True)

    def __init__(
        self,
        craft: Craft,
        quality: Quality,
        pilot: Pilot,
        course: Course,
        torpedo: str | None,
        early: bool,
        send: Callable[[bytes], None],
        broadcast: Callable[[bytes], None],
    ) -> None:
        self._craft, self._quality, self._pilot, self._course = craft, quality, pilot, course
        self._torpedo, self._early, self._send, self._broadcast = torpedo, early, send, broadcast
        self._warned: set[int] = set()
        self._answers: dict[int, Callable[[bytes], bytes | None]] = {
            LaterType.SET_MTR: self._set_motors,
            LaterType.ARM_MTR: lambda body: pilot.arm(),
            LaterType.DISARM_MTR: lambda body: pilot.disarm(),
            LaterType.SET_CONTROL_MODE: self._set_mode,
            LaterType.SET_ACRO: self._set_acro,
            LaterType.SET_STABLE: self._set_stable,
            LaterType.SET_PID: self._set_loops,
            LaterType.GET_SENS: lambda body: write_json(craft.instant.sensors(EARLY_GROUPS if early else GROUPS)),
            LaterType.GET_DEPTH: self._depth,
            LaterType.GET_DEPTH_BYTES: lambda body: craft.picture().depth,
            LaterType.GET_VIDEO_BYTES: lambda body: craft.picture().colour(quality.value),
            LaterType.GET_VIDEO: lambda body: base64.b64encode(craft.picture().colour(quality.value)),
            LaterType.SET_SIM: self._set_simulation,
            LaterType.GET_ORIEN: lambda body: write_json(craft.instant.orientation()),
            LaterType.SET_ORIEN: self._set_orientation,
            LaterType.RST_SIM: self._reset,
            LaterType.PING: answer_ping if early else lambda body: body,
            LaterType.GET_CPS: lambda body: write_json(
                [{"id": name, "reached": reached} for name, reached in course.reached.items()]
            ),
            LaterType.CHK_AP: self._check_action_point,
            LaterType.REC_STRT: lambda body: craft.recording.start(),
            LaterType.REC_ST: lambda body: craft.recording.stop(),
            LaterType.REC_RST: lambda body: craft.recording.reset(),
            LaterType.GET_REC: lambda body: write_json(craft.recording.rows()),
            LaterType.GET_DETE: self._detections,
            LaterType.TORPEDO: self._launch,
        }

    def receive(self, packet: Packet) -> None:
        """Do what a packet asks for; an answer carries the flag of what it answers, but for CHK_AP and errors."""
        self._answer(packet)
        if packet.flag & ECHO:
            echo = write_json({"fromClient": packet.body.decode("utf-8", "replace")})
            self._send(self.framing.encode(LaterType.ACK, echo))

    def _answer(self, packet: Packet) -> None:
        flag = packet.flag
        if packet.type == LaterType.ACK:
            self._send(self.framing.encode(LaterType.ACK, write_json({"info": "ack ack"}), flag | TEST))
            return
        try:
            if (answer := self._answers.get(packet.type)) is None:
                raise SkerryError(f"Unknown packet {packet.type:02X}")
            body = answer(packet.body)
        except SkerryError as error:
            self._warn(packet.type, str(error))
            said = {"info": str(error), "fromClient": packet.body.decode("utf-8", "replace")}
            type_ = LaterType.ACK if self._early else LaterType.ERROR
            self._send(self.framing.encode(type_, write_json(said)))
        else:
            if body is not None:
                self._send(self.framing.encode(packet.type, body, 0 if packet.type == LaterType.CHK_AP else flag))

    def _warn(self, type_: int, problem: str) -> None:
        """Tell once of each kind of packet."""
        if type_ not in self._warned:
            self._warned.add(type_)
            logger.warning("okon: packet %02X of a client: %s", type_, problem)

    # -------------------------------------------------------------------------------------------- packets
    # One that sets something and comes without a body asks what is set.

    def _set_motors(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._pilot.throttles)
        found = read_json(body)
        self._pilot.drive({name: number(found, name, 0.0) for name in self._craft.thrusters})
        return None

    def _set_mode(self, body: bytes) -> bytes | None:
        if not body:
            return self._pilot.mode.encode("ascii")
        self._pilot.set_mode(body.decode("utf-8", "replace").strip().strip('"'))
        return None

    def _set_acro(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._pilot.acro_body())
        self._pilot.set_acro(read_json(body))
        return None

    def _set_stable(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._pilot.stable_body())
        self._pilot.set_stable(read_json(body))
        return None

    def _set_loops(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._pilot.loops_body())
        self._pilot.set_loops(read_json(body))
        return None

    def _depth(self, body: bytes) -> bytes:
        text = self._craft.picture().depth_base64
        return write_json({"depth": text}) if self._early else text.encode("ascii")

    def _set_simulation(self, body: bytes) -> bytes | None:
        if not body:
            return write_json({"quality": self._quality.value})
        self._quality.set(read_json(body))
        return None

    def _set_orientation(self, body: bytes) -> bytes | None:
        if not body:
            return write_json(self._craft.instant.orientation())
        found = read_json(body)
        self._craft.place(vector(found, "pos", NONE), vector(found, "rot", NONE))
        return None

    def _reset(self, body: bytes) -> None:
        self._craft.do(Teleport(self._craft.name, self._course.begin()))
        self._broadcast(self.framing.encode(LaterType.RST_SIM))

    def _check_action_point(self, body: bytes) -> bytes:
        if not body:
            return write_json(list(self._course.config.action_points))
        return b"true" if body.decode("utf-8", "replace").strip().strip('"') in self._course.active else b"false"

    def _detections(self, body: bytes) -> bytes:
        reading = self._craft.picture().reading
        height, width = reading.depth.shape
        rows = [detection_body(found, width, height) for found in reading.detections if found.category != POOL]
        return write_json({"detected": rows} if self._early else rows)

    def _launch(self, body: bytes) -> None:
        if self._torpedo is None:
            raise SkerryError("there is no torpedo; the setting `torpedo` names an object that is one")
        muzzle = self._craft.instant.pose @ MUZZLE
        vx, vy, vz = (muzzle.rotation[:, 0] * MUZZLE_SPEED).tolist()
        self._craft.do(Teleport(self._torpedo, muzzle, (vx, vy, vz)))
