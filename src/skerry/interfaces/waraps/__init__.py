"""WARA-PS over MQTT: each robot is an agent of level 1 (sensors) or 2 (sensors and tasks)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skerry.core.config import Positive
from skerry.parts.interface import Interface, InterfaceConfig

Domain = Literal["air", "ground", "surface", "subsurface"]


class Waraps(InterfaceConfig):
    """Settings of the agents of WARA-PS on an MQTT broker."""

    kind: Literal["waraps"] = "waraps"
    host: str = Field("127.0.0.1", min_length=1, description="host of the MQTT broker")
    port: int = Field(1883, ge=1, le=65535, description="port of the MQTT broker")
    user: str | None = Field(None, description="user name at the broker")
    password: str | None = Field(None, description="password at the broker; a token where the broker expects one")
    context: str = Field("waraps", pattern=r"^[^/#+\s]+$", description="first word of all topics")
    rate: Positive = Field(1.0, description="rate of heartbeat and information messages, Hz")
    sensor_rate: Positive = Field(5.0, description="rate of the topics below `sensor`, Hz")
    units: dict[str, Domain] = Field(
        {}, description="unit type by robot; default by its parts: wheels, rotors, depth control or none of them"
    )
    speeds: dict[str, Positive] = Field(
        {"slow": 0.5, "standard": 1.0, "fast": 1.5}, description="speeds that tasks select by name, m/s"
    )
    search_spacing: Positive = Field(20.0, description="distance between two lines of the task search-area, m")

    def build(self) -> Interface:
        from skerry.interfaces.waraps.interface import WarapsInterface

        return WarapsInterface(self)
