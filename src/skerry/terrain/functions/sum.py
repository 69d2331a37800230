"""Height function: several functions applied in order, such as hills on a slope with an island."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from skerry.core.config import config_of
from skerry.terrain.function import FUNCTIONS, Floats, FunctionConfig


class SumFunction(FunctionConfig):
    """Terms applied in order. Most add their heights; an island or channel changes the result of the previous terms."""

    kind: Literal["sum"] = "sum"
    terms: tuple[config_of(FUNCTIONS), ...]  # type: ignore[valid-type]

    def with_seed(self, seed: int) -> Self:
        return self.model_copy(update={"terms": tuple(term.with_seed(seed) for term in self.terms)})

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"terms": [{"kind": "slope"}, {"kind": "hills"}]} | settings)

    def heights(self, x: Floats, y: Floats) -> Floats:
        total = np.zeros((len(y), len(x)))
        for term in self.terms:
            total = term.apply_to(x, y, total)
        return total
