# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's random Generator, with the same numbers on every device: `default_rng(seed)`. The former
functions of NumPy (`seed`, `rand`, `RandomState`) draw NumPy's numbers on the host.

Element i of a draw depends only on the seed, the generator's position and i in C order, not on
strides, devices, threads or launch sizes. See docs/concepts/random.md.
"""

from __future__ import annotations

import math
import operator
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import Array, _asarray as asarray
from ._names import explain_call as _explain_call
from ._numpy.random import (
    FloatingGenerator,
    Shape,
    Size,
    as_shape,
    bound_array,
    bounds_of,
    broadcast_with,
    check_range,
    integer_bound,
    is_number,
    out_or_result,
    probabilities,
    result_for,
    with_inclusive_high,
)
from ._numpy.random_state import (
    DRAWS as _DRAWS,
    RandomState as RandomState,
    function_of_module as _function_of_module,
)
from ._numpy.shape import normalized_axis

#: The functions of NumPy's one random state; `ranf` and `sample` are other names of random_sample.
_FORMER = (*_DRAWS, "seed", "get_state", "set_state", "shuffle")
__all__ = ["Generator", "RandomState", "default_rng", "ranf", "sample", *_FORMER]
globals().update((_name, _function_of_module(_name)) for _name in _FORMER)
ranf = sample = _function_of_module("random_sample")
if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


_explain_call(__name__, "sw.random.default_rng(seed).random(shape) draws numbers")

_HOST = _core.device("cpu")


def default_rng(seed: Any = None, device: Any = None) -> Generator:
    """A new Generator; `seed` itself if it is a Generator.

    `seed` is an integer >= 0 of any size, a sequence of such, a numpy.random.SeedSequence, or None
    for 128 random bits of the operating system. `device` is the default device of the results; None
    is the default device of each call. Raises ArgumentError for a negative seed, or for a Generator
    and another device than its own.
    """
    if isinstance(seed, Generator):
        if device is not None and _core.device(device) != seed.device:
            raise _core.ArgumentError(
                "default_rng: a generator keeps the device that it was created with, "
                f"{seed.device}; pass device= to its methods"
            )
        return seed
    return Generator(seed, device)


class Generator(FloatingGenerator):
    """Philox4x32-10 with a key hashed from the seed, and a position that each draw advances.

    Thread-safe: each draw uses its own part of the sequence.

    Results have the shape `size` (None: rank 0) or the shape of `out`, and are on `device`, else on
    the generator's device, else on the device of array arguments, else on the default device. `out`
    may be an array of another library; the method then returns `out`. Methods that check the values
    of array arguments wait for those arrays on a GPU.
    """

    __slots__ = ()

    # ---- Integers ----

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: Any = "int64",
        endpoint: bool = False,
        *,
        out: Any = None,
        device: Any = None,
    ) -> Array:
        """Uniform integers in [low, high), in [low, high] with `endpoint`, and in [0, low) without
        `high`. Bounds may be arrays. Raises ArgumentError if the range is empty or exceeds that of
        `dtype`, an integer dtype or bool; to check arrays it waits for them."""
        dtype, smallest, largest = bounds_of(dtype)
        if high is None:
            low, high = 0, low
        target = self._device_for(device, low, high)
        if not (is_number(low) and is_number(high)):
            return self._integers_from_arrays(low, high, size, dtype, bool(endpoint), out, target)
        first, last = integer_bound(low), integer_bound(high) - (not endpoint)
        shape = as_shape(size) if out is None else asarray(out).shape
        if math.prod(shape) != 0:
            check_range(first < smallest, last > largest, first > last, dtype, low, high, endpoint)
        result = result_for("integers", size, dtype, out, target)
        if result.size != 0:
            # The kernel adds modulo 2**64, so a negative `first` is passed as its residue.
            _core._random_integers(self._counter, result, first % (1 << 64), last - first + 1)
        return out_or_result(result, out)

    def _integers_from_arrays(
        self, low: Any, high: Any, size: Size, dtype: Any, endpoint: bool, out: Any, target: Any
    ) -> Array:
        _, smallest, largest = bounds_of(dtype)
        device = asarray(out).device if out is not None else target
        high, endpoint = with_inclusive_high(high, endpoint)
        starts = bound_array("low", low, dtype, device)
        stops = bound_array("high", high, dtype, device)
        shape = broadcast_with("integers", size, out, starts.shape, stops.shape)
        result = result_for("integers", shape, dtype, out, target)
        if result.size == 0:
            return out_or_result(result, out)
        empty = starts > stops if endpoint else starts >= stops
        check_range(
            int(_core.min(starts).item()) < smallest,
            int(_core.max(stops).item()) - (not endpoint) > largest,
            bool(_core.any(empty)),
            dtype, low, high, endpoint,
        )  # fmt: skip
        # Copies in C order, also of bounds that are broadcast.
        lows, spans = (x.astype("uint64").broadcast_to(shape).copy("C") for x in (starts, stops))
        _core.subtract(spans, lows, out=spans)
        if endpoint:
            _core.add(spans, 1, out=spans)
        return out_or_result(_core._random_integers_within(self._counter, result, lows, spans), out)

    def bytes(self, length: int) -> bytes:
        """`length` random bytes, computed on the host."""
        count = operator.index(length)
        if count < 0:
            raise _core.ArgumentError(f"bytes: expected a length >= 0, got {count}")
        words = _core.empty((-(-count // 4),), "uint32", device=_HOST)
        _core._random_draw(self._counter, "words", words, 0.0, 1.0)
        return memoryview(words).tobytes()[:count]

    # ---- Permutations and samples ----

    def _permuted_indices(self, size: int, count: int, device: Any) -> Array:
        """The first `count` elements of a random permutation of range(size), int64."""
        result = _core.empty((count,), "int64", device=device)
        return _core._random_permutation(self._counter, result, size)

    def permutation(self, x: Any, axis: int = 0, *, device: Any = None) -> Array:
        """A random permutation of range(x) for an integer `x`, else a copy of the array `x` with
        its slices along `axis` in random order."""
        if _is_count(x):
            count = max(operator.index(x), 0)
            return self._permuted_indices(count, count, self._device_for(device))
        array = asarray(x, device=None if device is None else _core.device(device))
        extent = array.shape[normalized_axis(axis, array.ndim, "permutation")]
        return _core.take(array, self._permuted_indices(extent, extent, array.device), axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffles in place the slices of an array along `axis`, or the items of a list. Raises
        ReadOnlyError for a read-only array."""
        if isinstance(x, MutableSequence):
            if axis != 0:
                raise _core.NotSupportedError(
                    f"shuffle: Axis argument is only supported on arrays, got axis={axis} of a list"
                )
            order = self._permuted_indices(len(x), len(x), _HOST).tolist()
            x[:] = [x[i] for i in order]
            return
        if not hasattr(x, "shape"):
            raise _core.DTypeError(f"shuffle: expected an array or a list, got {type(x).__name__}")
        array = _core._output_array(x, "shuffle")
        extent = array.shape[normalized_axis(axis, array.ndim, "shuffle")]
        array[...] = _core.take(array, self._permuted_indices(extent, extent, array.device), axis)

    def choice(
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
        *,
        device: Any = None,
    ) -> Array:
        """A random sample of the array `a` along `axis`, or of range(a) for an integer, with
        probabilities `p`. Without replacement the sample is in random order whatever `shuffle` is;
        with `p` as well it is drawn on the host. Raises ArgumentError for an empty `a`, a sample
        larger than `a` without replacement, LayoutError or ArgumentError for an invalid `p`."""
        shape, target = as_shape(size), self._device_for(device)
        count = math.prod(shape)
        array = None
        if _is_count(a):
            population = operator.index(a)
            if population <= 0 and count:
                raise _core.ArgumentError(
                    f"choice: a must be a positive integer unless no samples are taken, got {a}"
                )
        else:
            array = asarray(a, device=None if device is None else target)
            population = array.shape[normalized_axis(axis, array.ndim, "choice")]
            target = array.device
            if population == 0 and count:
                raise _core.ArgumentError(
                    f"choice: a cannot be empty unless no samples are taken, got {array.shape}"
                )
        if not replace and count > max(population, 0):
            raise _core.ArgumentError(
                "choice: Cannot take a larger sample than population when replace is False: "
                f"{count} of {population}"
            )
        weights = None if p is None else probabilities(p, population)
        indices = self._sample(population, shape, replace, weights, target)
        return indices if array is None else _core.take(array, indices, axis)

    def _sample(
        self, population: int, shape: Shape, replace: bool, weights: Array | None, device: Any
    ) -> Array:
        count = math.prod(shape)
        if count == 0:
            return _core.empty(shape, "int64", device=device)
        if weights is None and replace:
            return self.integers(population, size=shape, device=device)
        if weights is None:
            return self._permuted_indices(population, count, device).reshape(shape)
        if not replace:
            return self._weighted_indices(weights, count).reshape(shape).to(device)
        cumulative = _core.cumsum(weights)
        cumulative = (cumulative / cumulative[-1]).to(device)
        result = _core.empty(shape, "int64", device=device)
        return _core._random_picks(self._counter, result, cumulative)

    def _weighted_indices(self, weights: Array, count: int) -> Array:
        """Samples `count` indices without replacement: those with the smallest exponential variates
        of rates `weights`, in ascending order of the variates (Efraimidis and Spirakis, "Weighted
        random sampling with a reservoir", 2006). Computed on the host."""
        import numpy as np

        rates = weights.numpy()
        candidates = np.flatnonzero(rates)
        if candidates.size < count:
            raise _core.ArgumentError(
                f"choice: Fewer non-zero entries in p than size: {candidates.size} of {count}"
            )
        variates = self.standard_exponential(weights.size, device=_HOST).numpy()
        order = np.argsort(variates[candidates] / rates[candidates], kind="stable")[:count]
        return _core.array(candidates[order], "int64", device=_HOST)


def _is_count(x: Any) -> bool:
    """Whether `x` is an integer; an integer array of rank 0 counts as one."""
    return hasattr(x, "__index__") and not getattr(x, "shape", ())
