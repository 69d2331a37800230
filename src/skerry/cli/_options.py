"""Options that several commands share, and the parsers of their values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skerry.core.errors import SkerryError
from skerry.formats.yaml_documents import parse_document

if TYPE_CHECKING:
    from skerry.ui.settings import PageSettings

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Override a value of the scenario, as path=value; e.g. `--set water.density=1000`. May be repeated.",
    ),
]
NoiseOption = Annotated[
    str | None, typer.Option(help="`none` makes all sensors and acoustic ranges exact, as `--set noise=none` does.")
]
HostOption = Annotated[
    str,
    typer.Option(help="Address at which the page is served. `0.0.0.0` serves on every network and needs a token."),
]
PortOption = Annotated[int | None, typer.Option(help="Port of the page. Default: 8080, or the next free port.")]
TokenOption = Annotated[
    str | None,
    typer.Option(help="Access token that browsers must send. Generated at random when --host is not loopback."),
]


def parse_settings(settings: list[str] | None, noise: str | None = None) -> dict[str, Any]:
    """Return the tree of overrides that `--set` and `--noise` options describe.

    Args:
        settings: Items such as `path.to.value=5`. The values are parsed as YAML.
        noise: The scenario's `noise`; None for no override.

    Raises:
        SkerryError: An item has no `=`, an empty key or a value that is not YAML, or contradicts an earlier item.
    """
    tree: dict[str, Any] = {} if noise is None else {"noise": noise}
    for setting in settings or []:
        path, equals, text = setting.partition("=")
        keys = path.split(".")
        if not equals or not all(keys):
            raise SkerryError(f"--set {setting!r}: write it as path.to.value=5, for example --set water.density=1000")
        try:
            value = parse_document(text, "--set").data
        except SkerryError:
            raise SkerryError(f"--set {setting!r}: {text!r} is not a valid YAML value") from None
        node = tree
        for key in keys[:-1]:
            node = node.setdefault(key, {})
            if not isinstance(node, dict):
                raise SkerryError(
                    f"--set {setting!r}: an earlier --set made {key!r} a plain value, which has no keys; remove one"
                )
        node[keys[-1]] = value
    return tree


def parse_speed(speed: str) -> float | None:
    """Return the number of simulated seconds per second, or None for `max`."""
    if speed == "max":
        return None
    try:
        value = float(speed)
    except ValueError:
        value = math.nan
    if not (0 < value < math.inf):
        raise SkerryError(f"--speed {speed!r}: expected a number above 0, such as 1 for real time, or `max`")
    return value


def parse_page_settings(host: str, port: int | None, token: str | None) -> PageSettings:
    """Return the checked settings of the page; an invalid value raises a `SkerryError` that names the option."""
    from pydantic import ValidationError

    from skerry.ui.settings import PageSettings

    try:
        return PageSettings(host=host, port=port, token=token)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SkerryError(f"--{first['loc'][0]}: {first['msg']} (found {first['input']!r})") from None
