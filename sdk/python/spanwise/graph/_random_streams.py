# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``T.RandomStreams``: random variables of graphs (theano/tensor/shared_randomstreams.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from .._config import config
from .._core import Apply, Array, GraphError, SharedVariable, TensorType, Variable
from .._numpy.random import bounds_of, hashed_key, words_of_seed
from .._numpy.shape import checked_count
from ._op import Op
from ._tensor import as_variable, static_integer

_HOST = _core.device("cpu")
_FLOATING = ("uniform", "normal", "exponential")


class RandomDraw(Op):
    """(state, *extents) -> (next state, numbers of the distribution `kind`).

    The state is a uint64 vector of key, stream and position (see docs/concepts/random.md) on the
    host. `shape` has None for each extent that is an input. `low` and `span` are for "integers".
    """

    __props__ = ("kind", "dtype", "shape", "low", "span")
    eager = False
    state_map = {0: 0}

    def __init__(
        self, kind: str, dtype: str, shape: tuple[int | None, ...], low: int = 0, span: int = 1
    ) -> None:
        self.kind, self.dtype, self.shape, self.low, self.span = kind, dtype, shape, low, span

    def make_node(self, state: Any, *extents: Any) -> Apply:
        """A node; the extents are integers of rank 0."""
        variables = [as_variable(extent) for extent in extents]
        for extent in variables:
            if extent.ndim != 0 or extent.dtype.kind not in "iu":
                raise GraphError(f"{self}: expected extents that are integers, got {extent.type}")
        outputs = [TensorType("uint64", (3,), _HOST)(), TensorType(self.dtype, self.shape)()]
        return Apply(self, [as_variable(state), *variables], outputs)

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[Any]) -> None:
        key, stream, position = inputs[0].tolist()
        counter = _core._random_counter(key, stream, position)
        computed = iter(inputs[1:])
        shape = tuple(int(next(computed)) if n is None else n for n in self.shape)
        output_storage[1][0] = self._draw_array(counter, shape)
        position = _core._random_position(counter, 0)  # after the draw; 0: advances no further
        output_storage[0][0] = _core.array([key, stream, position], "uint64", device=_HOST)

    def _draw_array(self, counter: Any, shape: tuple[int, ...]) -> Array:
        if self.kind in _FLOATING:
            return _core._random_new(
                counter, self.kind, shape, self.dtype, None, 0.0, 1.0, "RandomDraw"
            )
        result = _core.empty(shape, self.dtype)
        if self.kind == "permutation":
            return _core._random_permutation(counter, result, shape[0])
        return _core._random_integers(counter, result, self.low % (1 << 64), self.span)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Numbers do not depend on the state in a way that has a derivative."""
        return [[False, False] for _ in node.inputs]


class RandomStreams:
    """Random variables: ``T.RandomStreams(seed).normal((3, 2))`` has other values at each call of a
    function that computes it.

    Each method call makes a new stream, whose state is a shared variable, ``x.tag.rng`` of the result
    x. Its default_update is the next state: functions that compute x advance it, except with
    ``no_default_updates=``. The numbers are those of sw.random, equal on all devices. A seed
    (see sw.random.default_rng) determines all streams, in the order of the calls.

    `size` is an integer, a sequence of integers and variables, or a vector variable such as
    ``x.shape``; without it the result has the shape of the parameters. Parameters may be variables,
    and have derivatives. `ndim` is accepted for compatibility. `dtype` is config.floatX unless given.
    """

    def __init__(self, seed: Any = None) -> None:
        self._entropy = words_of_seed(seed)
        self._updates: list[
            tuple[SharedVariable, Variable]
        ] = []  # of the streams, also unused ones

    def seed(self, seed: Any = None) -> None:
        """Restarts all streams with the states that a new RandomStreams(seed) gives them."""
        self._entropy = words_of_seed(seed)
        for i, (state, _) in enumerate(self._updates):
            state.set_value(self._first_state(i))

    def updates(self) -> list[tuple[SharedVariable, Variable]]:
        """(state, next state) of each stream."""
        pairs = ((state, state.default_update) for state, _ in self._updates)
        return [(state, update) for state, update in pairs if update is not None]

    def uniform(
        self, size: Any = None, low: Any = 0.0, high: Any = 1.0, ndim: Any = None, dtype: Any = None
    ) -> Variable:
        """Uniform numbers in [low, high)."""
        return self._draw_floats(
            "uniform", size, dtype, low, high, lambda z: z * (high - low) + low
        )

    def normal(
        self, size: Any = None, avg: Any = 0.0, std: Any = 1.0, ndim: Any = None, dtype: Any = None
    ) -> Variable:
        """Normal numbers of mean `avg` and standard deviation `std`."""
        return self._draw_floats("normal", size, dtype, avg, std, lambda z: z * std + avg)

    def exponential(
        self, size: Any = None, scale: Any = 1.0, ndim: Any = None, dtype: Any = None
    ) -> Variable:
        """Exponential numbers of mean `scale`."""
        return self._draw_floats("exponential", size, dtype, scale, 0, lambda z: z * scale)

    def binomial(
        self, size: Any = None, n: int = 1, p: Any = 0.5, ndim: Any = None, dtype: Any = "int64"
    ) -> Variable:
        """Numbers of successes in `n` trials of probability `p`. `n` is a Python integer."""
        extents = _extents(_shape_of(p, 0) if size is None else size)
        draws = self._draw("uniform", [n, *extents], "float64")
        return _with_rng_of(draws, _core.sum(_core.less(draws, p), axis=0).astype(dtype))

    def random_integers(
        self, size: Any = None, low: int = 0, high: int = 1, ndim: Any = None, dtype: Any = "int64"
    ) -> Variable:
        """Uniform integers from `low` to `high`, which is included; both are Python integers. Raises
        ArgumentError for an empty range, or one that `dtype` does not hold."""
        _, smallest, largest = bounds_of(dtype)
        if not smallest <= low <= high <= largest:
            raise _core.ArgumentError(
                f"random_integers: expected {smallest} <= low <= high <= {largest} for {dtype}, got "
                f"{low} and {high}"
            )
        return self._draw("integers", _extents(size), dtype, low, high - low + 1)

    def permutation(self, n: Any) -> Variable:
        """A random permutation of range(n), int64."""
        return self._draw("permutation", [n], "int64")

    def _draw_floats(
        self, kind: str, size: Any, dtype: Any, a: Any, b: Any, transform: Any
    ) -> Variable:
        """`transform` of numbers of the standard distribution `kind`, for the parameters `a` and `b`."""
        extents = _extents(_shape_of(a, b) if size is None else size)
        result_dtype = _core.dtype(dtype or config.floatX)
        if result_dtype.kind != "f" and result_dtype.name != "bfloat16":
            raise _core.DTypeError(
                f"{kind}: expected a floating dtype, got {result_dtype}; cast the result"
            )
        draws = self._draw(kind, extents, result_dtype.name)
        return _with_rng_of(draws, transform(draws).astype(result_dtype))

    def _draw(
        self, kind: str, extents: list[Any], dtype: Any, low: int = 0, span: int = 1
    ) -> Variable:
        shape = tuple(static_integer(extent) for extent in extents)
        op = RandomDraw(kind, _core.dtype(dtype).name, shape, low, span)
        state = _core._shared(self._first_state(len(self._updates)), None, True, _HOST)
        computed = [extent for extent, n in zip(extents, shape, strict=True) if n is None]
        state.default_update, numbers = next_state, _ = op(state, *computed)
        self._updates.append((state, next_state))
        numbers.tag.rng = state
        return numbers

    def _first_state(self, i: int) -> Array:
        key, stream = hashed_key(self._entropy, (i,))
        return _core.array([key, stream, 0], "uint64", device=_HOST)


def _extents(size: Any) -> list[Any]:
    """The extents of the argument `size`, integers and variables."""
    if isinstance(size, Variable) and size.ndim == 1:
        count = size.type.shape[0]
        if count is None:
            raise GraphError(
                f"RandomStreams: the length of the size {size} is not fixed; give a tuple of extents"
            )
        return [size[i] for i in range(checked_count("size: rank", count, _core._max_rank))]
    if size is None:
        return []
    return list(size) if isinstance(size, Sequence) else [size]


def _shape_of(a: Any, b: Any) -> Any:
    """The shape to which two parameters broadcast; () for numbers."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return ()
    return (as_variable(a) + b).shape


def _with_rng_of(draws: Variable, result: Variable) -> Variable:
    result.tag.rng = draws.tag.rng
    return result
