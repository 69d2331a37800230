"""The type store: all known message, service and action types, from the shipped definitions and from the user's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.interfaces.ros.messages.type_hash import hash_of
from skerry.interfaces.ros.messages.types import (
    ActionType,
    FieldType,
    MessageType,
    ServiceType,
    actionlib_messages,
    full_name,
    parse_action,
    parse_message,
    parse_service,
    short_name,
)

HERE: Final = Path(__file__).parent
SHIPPED: Final = HERE / "definitions"
VARIANTS: Final = HERE / "variants"
SEPARATOR: Final = "=" * 80 + "\n"  # between the types of a definition

Distribution: TypeAlias = Literal["humble", "jazzy", "noetic"]
"""ROS distribution whose definitions are used where they differ, for example of sensor_msgs/Range."""
DISTRIBUTIONS: Final[tuple[Distribution, ...]] = get_args(Distribution)


class TypeStore:
    """Types by name; a definition is parsed at the first use of its type.

    Args:
        paths: Folders with packages, at any depth: `my_msgs/msg/Thing.msg`, `my_msgs/srv/Do.srv`,
            `my_msgs/action/Go.action`. Their definitions take precedence over those of Skerry.
        distribution: ROS distribution whose definitions are used where they differ.
    """

    def __init__(self, paths: Iterable[Path] = (), distribution: Distribution = "humble") -> None:
        self.distribution = distribution
        self._files: dict[str, Path] = {}
        for folder in (SHIPPED, *_variant(distribution), *paths):
            self._files |= _definitions_in(folder)
        self._texts: dict[str, str] = {}  # definitions that were added as text
        self._messages: dict[str, MessageType] = {}
        self._services: dict[str, ServiceType] = {}
        self._actions: dict[str, ActionType] = {}
        self._hashes: dict[str, str] = {}

    def define(self, name: str, text: str, where: str) -> None:
        """Add a message type.

        Args:
            name: Name of the type, for example "my_msgs/Thing".
            text: Its definition, as in a .msg file.
            where: Origin of the definition, for error messages.

        Raises:
            SkerryError: The definition is wrong, or the type already has another one.
        """
        name = full_name(name)
        known = self._text(name)[0] if name in self._files or name in self._texts else text
        if known != text:
            raise SkerryError(f"{where}: the message type {name} already has another definition; choose another name")
        self._messages[name] = parse_message(text, name, where)
        self._texts[name] = text

    def names(self, folder: str) -> list[str]:
        """Return the full names of all messages ("msg"), services ("srv") or actions ("action")."""
        return sorted(name for name in {**self._files, **self._texts} if name.split("/")[1] == folder)

    def message(self, name: str) -> MessageType:
        """Return a message type; parts of services and actions are included, such as std_srvs/srv/SetBool_Request."""
        name = full_name(name)
        if name not in self._messages:
            package, folder, short = name.split("/")
            if folder == "msg" and name not in self._files and (action := self._action_of(package, short)):
                self._messages |= {message.name: message for message in actionlib_messages(self.action(action))}
            elif folder == "msg":
                self._messages[name] = parse_message(*self._text(name))
            elif folder == "srv":
                self.service(f"{package}/srv/{short.rpartition('_')[0]}")
            else:
                self.action(f"{package}/action/{short.partition('_')[0]}")
            if name not in self._messages:
                raise self._unknown(name, "message")
        return self._messages[name]

    def definition(self, name: str) -> str:
        """Return the definition of a message type and of all types that it contains, as text in the format of ROS 2.

        Parts of services and actions are included; they are named as messages of their package.
        """
        found: dict[str, MessageType] = {}
        waiting = [full_name(name)]
        while waiting:
            current = waiting.pop()
            if current not in found:
                message = found[current] = self.message(current)
                waiting += [field.type.base for field in reversed(message.fields) if field.type.is_message]
        texts = [
            message.text if number == 0 else f"MSG: {short_name(message.name)}\n{message.text}"
            for number, message in enumerate(found.values())
        ]
        return SEPARATOR.join(texts)

    def field(self, name: str, path: str) -> FieldType:
        """Return the type of a field of a message type; `path` is its path, such as `rpm.rpm`."""
        kind = self.message(name)
        *parents, last = path.split(".")
        for part in parents:
            kind = self.message(_field(kind, part, name, path).base)
        return _field(kind, last, name, path)

    def service(self, name: str) -> ServiceType:
        """Return a service type; services of actions are included, such as sam_msgs/action/SystemsCheck_SendGoal."""
        name = full_name(name, folder="srv")
        if name not in self._services:
            if "/action/" in name:
                self.action(name.partition("_SendGoal")[0].partition("_GetResult")[0])
                if name not in self._services:
                    raise self._unknown(name, "service")
            else:
                self._add(parse_service(*self._text(name)))
        return self._services[name]

    def action(self, name: str) -> ActionType:
        """Return an action type."""
        name = full_name(name, folder="action")
        if name not in self._actions:
            action = self._actions[name] = parse_action(*self._text(name))
            for part in (action.goal, action.result, action.feedback, action.feedback_message):
                self._messages[part.name] = part
            self._add(action.send_goal)
            self._add(action.get_result)
        return self._actions[name]

    def _action_of(self, package: str, short: str) -> str | None:
        """Return the name of the action to which a message type of ROS 1 belongs, or None."""
        for suffix in ("Goal", "Result", "Feedback"):
            if short.endswith(suffix):
                action = f"{package}/action/{short.removesuffix(suffix).removesuffix('Action')}"
                return action if action in self._files else None
        return None

    def _add(self, service: ServiceType) -> None:
        self._services[service.name] = service
        self._messages[service.request.name] = service.request
        self._messages[service.response.name] = service.response

    def hash(self, name: str) -> str:
        """Return the RIHS01 hash of a message, service or action by its full name."""
        if name not in self._hashes:
            self._hashes[name] = hash_of(self._find(name), self.message)
        return self._hashes[name]

    def _find(self, name: str) -> MessageType | ServiceType | ActionType:
        folder = full_name(name).split("/")[1]
        if folder == "srv" and not name.endswith(("_Request", "_Response")):
            return self.service(name)
        if folder == "action" and "_" not in name.split("/")[2]:
            return self.action(name)
        if name.endswith(("_SendGoal", "_GetResult")):
            return self.service(name)
        return self.message(name)

    def _text(self, name: str) -> tuple[str, str, str]:
        if name in self._texts:
            return self._texts[name], name, name
        path = self._files.get(name)
        if path is None:
            raise self._unknown(name, {"msg": "message", "srv": "service"}.get(name.split("/")[1], "action"))
        try:
            return path.read_text(encoding="utf-8"), name, str(path)
        except (OSError, UnicodeDecodeError) as error:
            raise SkerryError(f"{path} cannot be read: {error}") from None

    def _unknown(self, name: str, what: str) -> UnknownName:
        hint = did_you_mean(name, [*self._files, *self._texts])
        return UnknownName(
            f"there is no {what} {name}; {hint} Or add the folder of its package to `message_paths` of the interface"
        )


def _field(kind: MessageType, part: str, name: str, path: str) -> FieldType:
    fields = {field.name: field.type for field in kind.fields}
    if part not in fields or (fields[part].array and path.split(".")[-1] != part):
        raise SkerryError(f"{name} has no field {path!r}; {did_you_mean(part, fields)}")
    return fields[part]


def _definitions_in(folder: Path) -> dict[str, Path]:
    """Return the definition files of all packages below a folder, by the full name of the type."""
    found = {}
    for kind in ("msg", "srv", "action"):
        for path in sorted(folder.rglob(f"{kind}/*.{kind}")):
            found[f"{path.parents[1].name}/{kind}/{path.stem}"] = path
    if not found:
        raise SkerryError(
            f"{folder} contains no definitions; a package is a folder such as my_msgs/msg with files such as Thing.msg"
        )
    return found


def _variant(distribution: Distribution) -> list[Path]:
    folder = VARIANTS / distribution
    return [folder] if folder.is_dir() else []
