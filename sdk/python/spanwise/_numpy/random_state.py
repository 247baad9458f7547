# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's former random functions, ``sw.random.seed``, ``rand``, ``RandomState``: numpy.random.RandomState
draws on the host, and the arrays are moved to the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Array

#: The methods that draw numbers; NumPy's documentation of RandomState describes their arguments.
DRAWS = [
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_integers",
    "random_sample",
    "rayleigh",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "tomaxint",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]


class RandomState:
    """numpy.random.RandomState: the same numbers for a seed on every device, which are drawn on the host;
    default_rng() is faster, on a GPU much so. Arrays are on `device`, by default default_device()."""

    def __init__(self, seed: Any = None, device: Any = None) -> None:
        self._seed, self._device = _on_host(seed), device
        self._drawn: Any = None

    @property
    def _random(self) -> Any:
        if self._drawn is None:  # NumPy is not loaded before the first draw
            from numpy.random import RandomState as HostState

            self._drawn = HostState(self._seed)
        return self._drawn

    def seed(self, seed: Any = None) -> None:
        """Starts again with `seed`, or with random bits of the operating system."""
        self._random.seed(_on_host(seed))

    def get_state(self, legacy: bool = True) -> Any:
        """The state, as NumPy describes it."""
        return self._random.get_state(legacy)

    def set_state(self, state: Any) -> None:
        """Continues from a state of get_state(), or of NumPy's."""
        self._random.set_state(state)

    def shuffle(self, x: Any) -> None:
        """Puts the elements along the first axis of `x` in random order, in place."""
        if not isinstance(x, Array):
            self._random.shuffle(x)
        elif x.device.kind == "cpu":
            self._random.shuffle(x.numpy())  # shares the memory
        else:
            host = x.numpy()
            self._random.shuffle(host)
            x[...] = host

    def __reduce__(self) -> Any:
        return _restored, (self.get_state(), self._device)

    def __repr__(self) -> str:
        return f"RandomState(device={self._device!r})"


def _restored(state: Any, device: Any) -> RandomState:
    random = RandomState(0, device)
    random.set_state(state)
    return random


def _on_host(x: Any) -> Any:
    return x.numpy() if isinstance(x, Array) else x


def _draw(name: str) -> Callable[..., Any]:
    def draw(self: RandomState, *args: Any, **named: Any) -> Any:
        method = getattr(self._random, name)
        result = method(*map(_on_host, args), **{key: _on_host(x) for key, x in named.items()})
        if not hasattr(result, "__array_interface__") or result.ndim == 0:
            return result
        device = _core.default_device() if self._device is None else _core.device(self._device)
        return _core._asarray(result, device=device)

    draw.__name__ = name
    draw.__qualname__ = f"RandomState.{name}"
    draw.__doc__ = f"As numpy.random.RandomState.{name}; arrays of numbers are on the device."
    return draw


for _name in DRAWS:
    setattr(RandomState, _name, _draw(_name))
#: The state of the functions of the module.
_state = RandomState()


def function_of_module(name: str) -> Callable[..., Any]:
    """The method `name` of the one state of the module."""

    def call(*args: Any, **named: Any) -> Any:
        return getattr(_state, name)(*args, **named)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "spanwise.random"
    call.__doc__ = f"RandomState.{name} of the one state of this module, which seed() starts."
    return call
