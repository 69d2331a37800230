"""Settings of the page's server: address, port, access token and allowed origins."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

from pydantic import Field, model_validator

from skerry.core.config import Config

PORT = 8080


class PageSettings(Config):
    """Settings of the page's server."""

    host: str = Field("127.0.0.1", min_length=1, description="address to listen on; 0.0.0.0 is every network")
    port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description=f"port; the default is the first free one from {PORT}, and 0 is any free port",
    )
    token: str | None = Field(
        None,
        min_length=8,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="access token that browsers must send; generated at random if the host is not loopback",
    )
    origins: tuple[str, ...] = Field(
        (),
        description="other origins that may connect, such as https://example.org; the page's own origin always may",
    )

    recordings: Path = Field(
        Path(), description="folder of the recordings that are started on the page; the default is the current folder"
    )

    @property
    def is_local(self) -> bool:
        """Whether the server can be reached only from this machine."""
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
                raise ValueError(f"origin {origin!r}: write it as https://example.org, without a path")
        return self
