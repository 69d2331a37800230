"""Where the page is served, and to whom."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

from pydantic import Field, model_validator

from skerry.core.config import Config

PORT = 8080


class PageSettings(Config):
    """Settings of the page's server."""

    host: str = Field("127.0.0.1", min_length=1, description="where it listens; 0.0.0.0 is every network")
    port: int | None = Field(
        None, ge=0, le=65535, description=f"{PORT} or the next that is free by default; 0 is any that is free"
    )
    token: str | None = Field(
        None,
        min_length=8,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="that browsers must give; made by chance if the host is another than this machine",
    )
    origins: tuple[str, ...] = Field(
        (), description="other pages that may speak to it, as https://example.org; its own always may"
    )

    recordings: Path = Field(Path(), description="the folder of recordings that are begun on the page; the current one")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @model_validator(mode="after")
    def _plain_origins(self) -> PageSettings:
        for origin in self.origins:
            if not origin.startswith(("http://", "https://")) or origin.endswith("/"):
                raise ValueError(f"an origin is written as https://example.org, without a path, not {origin!r}")
        return self
