"""Metric expressions: arithmetic and a few functions on the series of a run; they cannot execute code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from skerry.core.errors import SkerryError, UnknownName, did_you_mean

Lookup = Callable[[str], Any]

_BINARY: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.Mod: np.mod,
    ast.Pow: np.float_power,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_UNARY: Final[dict[type[ast.AST], Callable[[Any], Any]]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: np.logical_not,
}
_LOGICAL: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {ast.And: np.logical_and, ast.Or: np.logical_or}


def _when(condition: Any, time: Any) -> float:
    true = np.flatnonzero(np.broadcast_to(condition, np.shape(time)))
    return float(time[true[0]]) if len(true) else float("nan")


def _length(points: Any, time: Any) -> float:
    if np.ndim(points) != 2:
        raise SkerryError("length() needs a series of positions, such as length(sam.position)")
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


OVER_TIME: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "first": lambda series, time: series[0],
    "final": lambda series, time: series[-1],
    "mean": lambda series, time: np.mean(series),
    "median": lambda series, time: np.median(series),
    "min": lambda series, time: np.min(series),
    "max": lambda series, time: np.max(series),
    "std": lambda series, time: np.std(series),
    "rms": lambda series, time: np.sqrt(np.mean(np.square(series))),
    "integral": lambda series, time: np.trapezoid(series, time),
    "length": _length,
    "when": _when,
    "share": lambda condition, time: np.mean(np.broadcast_to(condition, np.shape(time))),
}
"""Functions that reduce a series to one number."""
AT_EACH_TIME: Final[dict[str, Callable[..., Any]]] = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "radians": np.radians,
    "degrees": np.degrees,
    "norm": lambda vectors: np.linalg.norm(vectors, axis=-1),
    "unwrap_deg": lambda angles: np.unwrap(angles, period=360.0),
    "where": np.where,
}
"""Functions that are applied to each sample."""
CONSTANTS: Final[Mapping[str, float]] = {"pi": float(np.pi)}


@dataclass(frozen=True)
class Expression:
    """Parsed expression; `names` are the series that it uses."""

    text: str
    tree: ast.expr
    names: frozenset[str]

    def value(self, lookup: Lookup, time: Any) -> float:
        """Evaluate the expression.

        Args:
            lookup: Function that returns a series by name.
            time: Times of the samples, s.
        """
        with np.errstate(all="ignore"):
            found = _evaluate(self.tree, lookup, time)
        if np.ndim(found) != 0:
            raise SkerryError(
                f"{self.text!r} gives {np.shape(found)[0]} values; reduce them to one number with "
                f"{', '.join(f'{name}()' for name in OVER_TIME)}"
            )
        return float(found)


def read_expression(text: str) -> Expression:
    """Parse an expression.

    Raises:
        SkerryError: If the text is not an expression or uses something that is not allowed.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise SkerryError(f"{text!r} is not an expression: {getattr(error, 'msg', error)}") from None
    names: set[str] = set()
    _check(tree, text, names)
    return Expression(text, tree, frozenset(names))


def dotted(node: ast.expr) -> str | None:
    """Return a dotted name such as `sam.sensors.imu`, or None if the node is something else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value)) is not None:
        return f"{owner}.{node.attr}"
    return None


def _check(node: ast.expr, text: str, names: set[str]) -> None:
    for inner in _children(node, text):
        _check(inner, text, names)
    if (name := dotted(node)) is not None and name not in CONSTANTS:
        names.add(name)


def _children(node: ast.expr, text: str) -> list[ast.expr]:
    """Return the child nodes of an allowed node; raise an error for any other node."""
    match node:
        case ast.Name() | ast.Attribute() if dotted(node) is not None:
            return []
        case ast.Constant(value=bool() | int() | float()):
            return []
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return [left, right]
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _UNARY:
            return [operand]
        case ast.Compare(left=left, ops=signs, comparators=others) if all(type(sign) in _BINARY for sign in signs):
            return [left, *others]
        case ast.BoolOp(values=values):
            return values
        case ast.Subscript(value=value, slice=ast.Constant(value=int())):
            return [value]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            known = [*OVER_TIME, *AT_EACH_TIME]
            if name not in known:
                raise UnknownName(f"{text!r}: there is no function {name!r}; {did_you_mean(name, known)}")
            if name in OVER_TIME and len(arguments) != 1:
                raise SkerryError(f"{text!r}: {name}() takes one series, found {len(arguments)} arguments")
            return arguments
    shown = ast.unparse(node)
    raise SkerryError(f"{text!r}: {shown!r} is not allowed here; use numbers, series, + - * / % ** and functions")


def _evaluate(node: ast.expr, lookup: Lookup, time: Any) -> Any:
    match node:
        case ast.Name() | ast.Attribute():
            name = dotted(node) or ""
            return CONSTANTS[name] if name in CONSTANTS else lookup(name)
        case ast.Constant(value=value):
            return value
        case ast.BinOp(left=left, op=sign, right=right):
            return _BINARY[type(sign)](_evaluate(left, lookup, time), _evaluate(right, lookup, time))
        case ast.UnaryOp(op=minus, operand=operand):
            return _UNARY[type(minus)](_evaluate(operand, lookup, time))
        case ast.Compare(left=left, ops=signs, comparators=others):
            values = [_evaluate(part, lookup, time) for part in (left, *others)]
            pairs = zip(signs, values[:-1], values[1:], strict=True)
            return np.logical_and.reduce([_BINARY[type(sign)](one, other) for sign, one, other in pairs])
        case ast.BoolOp(op=joint, values=parts):
            found = _evaluate(parts[0], lookup, time)
            for part in parts[1:]:
                found = _LOGICAL[type(joint)](found, _evaluate(part, lookup, time))
            return found
        case ast.Subscript(value=owner, slice=ast.Constant(value=int() as number)):
            return _entry(_evaluate(owner, lookup, time), number)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            values = [_evaluate(argument, lookup, time) for argument in arguments]
            return OVER_TIME[name](values[0], time) if name in OVER_TIME else AT_EACH_TIME[name](*values)
    raise AssertionError(f"{ast.dump(node)} should have been refused")


def _entry(vectors: Any, number: int) -> Any:
    size = np.shape(vectors)[-1] if np.ndim(vectors) in {1, 2} else 0
    if not 0 <= number < size or np.ndim(vectors) == 0:
        raise SkerryError(f"index [{number}] is out of range; the series has {size} components")
    return vectors[..., number]
