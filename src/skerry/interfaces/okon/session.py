"""Session of a client in the documented dialect: packets in, answers out; contains no socket code."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from skerry.core.errors import SkerryError
from skerry.interfaces.okon.packets import (
    BadBody,
    Framing,
    OkonPacket,
    PacketType,
    read_json,
    read_number,
    read_vector,
    write_json,
)
from skerry.interfaces.okon.robot import OkonRobot

logger = logging.getLogger("skerry")

THRUSTERS: Final = ("FL", "FR", "ML", "MR", "B")
GROUPS: Final = ("gyro", "rot_speed", "accel", "angular_accel")
NO_ERROR: Final = "none"
"""Value of `state` in an ACK that reports no error."""

Answer = bytes | None
"""Body of an answer; None sends no answer."""


def answer_ping(body: bytes) -> bytes:
    """Return the body of the answer to PING: Unix time now and time since the client's timestamp, ms."""
    now = time.time_ns() // 1_000_000
    sent = read_number(read_json(body), "timestamp", float(now))
    return write_json({"timestamp": now, "ping": now - round(sent)})


class ImageQuality:
    """JPEG quality of images, 0 to 100; all clients share it."""

    def __init__(self, value: int) -> None:
        self.value = value

    def set(self, body: dict[str, Any]) -> None:
        """Set the quality from the body of SET_SIM, limited to 0 to 100."""
        self.value = round(min(max(read_number(body, "quality", self.value), 0.0), 100.0))


class OkonSession:
    """Session of one client: executes its packets and sends the answers."""

    framing = Framing(flagged=False)

    def __init__(
        self, robot: OkonRobot, quality: ImageQuality, acknowledge: bool, send: Callable[[bytes], None]
    ) -> None:
        """Create a session.

        Args:
            robot: Robot that the client drives.
            quality: JPEG quality that all clients share.
            acknowledge: Whether an ACK follows each request.
            send: Function that sends bytes to the client in one write.
        """
        self._robot, self._quality, self._acknowledge, self._send = robot, quality, acknowledge, send
        self._warned: set[str] = set()
        self._answers: dict[int, Callable[[OkonPacket], Answer]] = {
            PacketType.SET_MTR: self._set_motors,
            PacketType.ARM_MTR: self._arm,
            PacketType.GET_SENS: lambda packet: write_json(robot.state.sensors(GROUPS)),
            PacketType.GET_DEPTH: lambda packet: write_json({"depth": robot.image().depth_base64}),
            PacketType.SET_SIM: self._set_simulation,
            PacketType.GET_ORIEN: lambda packet: write_json(robot.state.orientation()),
            PacketType.SET_ORIEN: self._set_orientation,
            PacketType.KILL: self._kill,
            PacketType.PING: lambda packet: answer_ping(packet.body),
            PacketType.REC_STRT: lambda packet: robot.recording.start(),
            PacketType.REC_ST: lambda packet: robot.recording.stop(),
            PacketType.REC_RST: lambda packet: robot.recording.reset(),
            PacketType.GET_REC: lambda packet: write_json(robot.recording.rows()),
        }

    def receive(self, packet: OkonPacket) -> None:
        """Execute a packet and send its answer; an ACK is sent on request and after an error."""
        if packet.type == PacketType.ACK:
            self._send(self._ack(NO_ERROR))
            return
        state, written = NO_ERROR, b""
        if (answer := self._answers.get(packet.type)) is None:
            state = f"Unsupported packet {packet.type:02X}"
        else:
            try:
                body = answer(packet)
            except SkerryError as error:
                state = str(error)
            else:
                if body is not None:
                    written = self.framing.encode(packet.type, body)
        if state != NO_ERROR:
            self._warn(packet.type, state)
        if state != NO_ERROR or self._acknowledge:
            written += self._ack(state)  # in one write: such clients drop the bytes that arrive with an answer
        if written:
            self._send(written)

    def _ack(self, state: str) -> bytes:
        body = write_json({"fps": self._robot.frames_per_second, "state": state})
        return self.framing.encode(PacketType.ACK, body)

    def _warn(self, type_: int, state: str) -> None:
        """Log the first error of each packet type; a faulty client tends to repeat its error."""
        key = f"{type_:02X}"
        if key not in self._warned:
            self._warned.add(key)
            logger.warning("okon: packet %s of a client was refused: %s", key, state)

    # -------------------------------------------------------------------------------------------- packets

    def _set_motors(self, packet: OkonPacket) -> Answer:
        body = read_json(packet.body)
        self._robot.drive({name: read_number(body, name, 0.0) for name in THRUSTERS if name in body})
        return None

    def _arm(self, packet: OkonPacket) -> Answer:
        """Do nothing, because the motors are always armed in this dialect."""
        return None

    def _set_simulation(self, packet: OkonPacket) -> Answer:
        body = read_json(packet.body)
        if "quality" not in body:
            raise BadBody("`quality` is missing; expected a number from 0 to 100")
        self._quality.set(body)
        return None

    def _set_orientation(self, packet: OkonPacket) -> Answer:
        body, now = read_json(packet.body), self._robot.state
        self._robot.set_pose(read_vector(body, "pos", now.position), read_vector(body, "rot", now.angles))
        return None

    def _kill(self, packet: OkonPacket) -> Answer:
        logger.info("okon: a client sent KILL; the simulation ends")
        self._robot.end_simulation()
        return None
