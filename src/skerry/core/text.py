"""Words for people: a number with its noun."""

from __future__ import annotations


def count_noun(number: int, noun: str) -> str:
    """`1 robot`, `2 robots`; of nouns that take an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
