# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers of dask.array with Spanwise chunks: each chunk has its own generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import spanwise as sw


def _on_host(draw: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's method `draw`, with the numbers moved to the default device."""

    def draw_and_move(*args: Any, **options: Any) -> Any:
        return sw.asarray(np.asarray(draw(*args, **options)), device=sw.device())

    return draw_and_move


class BitGenerator(sw.random.Generator):
    """The generator behind da.random.default_rng(seed) with the backend "spanwise".

    `seed` is None, an integer, a sequence of integers or a numpy.random.SeedSequence, which Dask
    spawns for the chunks. Distributions that spanwise.random lacks are drawn by NumPy on the host
    from the same seed and moved to the default device; AttributeError if NumPy lacks them too.
    """

    def __init__(self, seed: Any = None) -> None:
        is_sequence = isinstance(seed, np.random.SeedSequence)
        self._seed_seq = seed if is_sequence else np.random.SeedSequence(seed)
        super().__init__(self._seed_seq)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _on_host(getattr(np.random.default_rng(self._seed_seq), name))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._seed_seq,)


class RandomState:
    """numpy.random.RandomState's methods for da.random.RandomState and the functions of da.random.

    `seed` is None, an integer or an array of integers. random_sample, standard_normal, normal,
    uniform, exponential, standard_exponential and randint are drawn by spanwise.random on the
    default device; the others are drawn by NumPy on the host and moved there.
    """

    #: Method of RandomState -> method of spanwise.random.Generator.
    _BY_SPANWISE = {
        "random_sample": "random",
        "randint": "integers",
        **{name: name for name in ("standard_normal", "normal", "uniform")},
        **{name: name for name in ("exponential", "standard_exponential")},
    }

    def __init__(self, seed: Any = None) -> None:
        self._seed = seed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._BY_SPANWISE:
            return getattr(sw.random.default_rng(self._seed), self._BY_SPANWISE[name])
        return _on_host(getattr(np.random.RandomState(self._seed), name))
