"""The documented dialect: what each packet of a client does, and what it is answered; no socket in here."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from skerry.core.errors import SkerryError
from skerry.interfaces.okon.craft import Craft
from skerry.interfaces.okon.packets import (
    BadBody,
    Framing,
    Packet,
    PacketType,
    number,
    read_json,
    vector,
    write_json,
)

logger = logging.getLogger("skerry")

THRUSTERS: Final = ("FL", "FR", "ML", "MR", "B")
GROUPS: Final = ("gyro", "rot_speed", "accel", "angular_accel")
FINE: Final = "none"
"""The `state` of an ACK when nothing is wrong."""

Answer = bytes | None
"""The body of an answer; None is no answer."""


def answer_ping(body: bytes) -> bytes:
    """Now, and how long ago the client's timestamp was; ms of Unix time."""
    now = time.time_ns() // 1_000_000
    sent = number(read_json(body), "timestamp", float(now))
    return write_json({"timestamp": now, "ping": now - round(sent)})


class Quality:
    """The compression of pictures, 0 to 100, as all clients share it."""

    def __init__(self, value: int) -> None:
        self.value = value

    def set(self, body: dict[str, Any]) -> None:
        """Take it from a body; one beyond the range is the end of the range."""
        self.value = round(min(max(number(body, "quality", self.value), 0.0), 100.0))


class Dialogue:
    """What one client says and hears. `send` takes a packet that must go out in one piece."""

    framing = Framing(flagged=False)

    def __init__(self, craft: Craft, quality: Quality, acknowledge: bool, send: Callable[[bytes], None]) -> None:
        self._craft, self._quality, self._acknowledge, self._send = craft, quality, acknowledge, send
        self._warned: set[str] = set()
        self._answers: dict[int, Callable[[Packet], Answer]] = {
            PacketType.SET_MTR: self._set_motors,
            PacketType.ARM_MTR: self._arm,
            PacketType.GET_SENS: lambda packet: write_json(craft.instant.sensors(GROUPS)),
            PacketType.GET_DEPTH: lambda packet: write_json({"depth": craft.picture().depth_base64}),
            PacketType.SET_SIM: self._set_simulation,
            PacketType.GET_ORIEN: lambda packet: write_json(craft.instant.orientation()),
            PacketType.SET_ORIEN: self._set_orientation,
            PacketType.KILL: self._kill,
            PacketType.PING: lambda packet: answer_ping(packet.body),
            PacketType.REC_STRT: lambda packet: craft.recording.start(),
            PacketType.REC_ST: lambda packet: craft.recording.stop(),
            PacketType.REC_RST: lambda packet: craft.recording.reset(),
            PacketType.GET_REC: lambda packet: write_json(craft.recording.rows()),
        }

    def receive(self, packet: Packet) -> None:
        """Do what a packet asks for. An ACK is sent when it is asked for, and when something is wrong."""
        if packet.type == PacketType.ACK:
            self._send(self._ack(FINE))
            return
        state, written = FINE, b""
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
        if state != FINE:
            self._warn(packet.type, state)
        if state != FINE or self._acknowledge:
            written += self._ack(state)  # in one piece with the answer: clients that know of it drop what is behind it
        if written:
            self._send(written)

    def _ack(self, state: str) -> bytes:
        body = write_json({"fps": self._craft.frames_per_second, "state": state})
        return self.framing.encode(PacketType.ACK, body)

    def _warn(self, type_: int, state: str) -> None:
        """Tell once of each kind of packet; a client that goes wrong tends to do so often."""
        key = f"{type_:02X}"
        if key not in self._warned:
            self._warned.add(key)
            logger.warning("okon: packet %s of a client: %s", key, state)

    # -------------------------------------------------------------------------------------------- packets

    def _set_motors(self, packet: Packet) -> Answer:
        body = read_json(packet.body)
        self._craft.drive({name: number(body, name, 0.0) for name in THRUSTERS if name in body})
        return None

    def _arm(self, packet: Packet) -> Answer:
        """They are armed from the start, and nothing disarms them."""
        return None

    def _set_simulation(self, packet: Packet) -> Answer:
        body = read_json(packet.body)
        if "quality" not in body:
            raise BadBody("`quality` is missing")
        self._quality.set(body)
        return None

    def _set_orientation(self, packet: Packet) -> Answer:
        body, now = read_json(packet.body), self._craft.instant
        self._craft.place(vector(body, "pos", now.position), vector(body, "rot", now.angles))
        return None

    def _kill(self, packet: Packet) -> Answer:
        logger.info("okon: a client ends the simulation")
        self._craft.end()
        return None
