# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of random.Generator below its integers and permutations: the checks of its arguments, its
state (the key, the position and the number of spawned generators) and its floating-point
distributions."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from hashlib import blake2b
from threading import Lock
from typing import Any, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray
from .shape import MAX_RESULTS, broadcast_shapes, checked_count, integers

# ---- Arguments ----

Shape = tuple[int, ...]


def words_of_seed(seed: Any) -> tuple[int, ...]:
    """A seed as a tuple of integers >= 0. An object with generate_state() is a SeedSequence; None
    is 128 random bits. Raises DTypeError or ArgumentError."""
    if seed is None:
        return (int.from_bytes(os.urandom(16), "little"),)
    if hasattr(seed, "generate_state"):
        return tuple(int(word) for word in seed.generate_state(8))
    if hasattr(seed, "tolist"):
        seed = seed.tolist()
    try:
        words = tuple(map(operator.index, seed if isinstance(seed, list | tuple) else (seed,)))
    except TypeError:
        raise _core.DTypeError(
            f"default_rng: expected an integer or a sequence of integers as seed, got {seed!r}"
        ) from None
    if any(word < 0 for word in words):
        raise _core.ArgumentError(f"default_rng: expected non-negative integers, got {seed!r}")
    return words


def is_number(x: Any) -> bool:
    """Whether `x` is a Python number or a NumPy scalar; an Array of any rank is not."""
    return isinstance(x, (int, float)) or (
        not isinstance(x, Array) and hasattr(x, "__float__") and getattr(x, "shape", None) == ()
    )


def as_shape(size: Any) -> Shape:
    """NumPy's size= as a shape; None is ()."""
    return () if size is None else integers(size)


def floating_dtype(caller: str, dtype: Any, out: Any) -> Any:
    """The floating dtype of the result: `dtype`, else that of `out`, else float64. Raises
    DTypeError."""
    if dtype is None:
        dtype = _core._output_array(out, caller).dtype if out is not None else "float64"
    dtype = _core.dtype(dtype)
    if dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        raise _core.DTypeError(
            f"{caller}: Unsupported dtype {dtype}; expected float16, bfloat16, float32 or float64"
        )
    return dtype


def bounds_of(dtype: Any) -> tuple[Any, int, int]:
    """(dtype, minimum, maximum) of an integer dtype or bool; None is int64. Raises DTypeError."""
    dtype = _core.dtype("int64" if dtype is None else dtype)
    bits = 8 * dtype.itemsize
    if dtype == "bool":
        return dtype, 0, 1
    if dtype.kind == "u":
        return dtype, 0, (1 << bits) - 1
    if dtype.kind == "i":
        return dtype, -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    raise _core.DTypeError(
        f"integers: Unsupported dtype {dtype}; expected an integer dtype or bool"
    )


def result_for(caller: str, size: Any, dtype: Any, out: Any, device: Any) -> Array:
    """The array to fill: `out` if given, else a new array. Raises LayoutError or DTypeError where
    `out` does not fit."""
    if out is None:
        return _core.empty(as_shape(size), dtype, device=device)
    array = _core._output_array(out, caller)
    if size is not None and as_shape(size) != array.shape:
        raise _core.LayoutError(
            f"{caller}: size must match out.shape when used together: got {size} and {array.shape}"
        )
    if array.dtype != dtype:
        raise _core.DTypeError(
            f"{caller}: Supplied output array has the wrong type. Expected {dtype}, got {array.dtype}"
        )
    return array


def out_or_result(result: Array, out: Any) -> Any:
    """The return value of a method: the object passed as `out` if any, else `result`."""
    return result if out is None else out


def broadcast_with(caller: str, size: Any, out: Any, *shapes: Shape) -> Shape:
    """The shape of a result whose parameters have these shapes: `size`, else the shape of `out`,
    else their broadcast shape. Raises LayoutError where they do not broadcast to it."""
    common = broadcast_shapes(*shapes)
    if size is None and out is None:
        return common
    shape = as_shape(size) if size is not None else asarray(out, copy=False).shape
    if broadcast_shapes(common, shape) != shape:
        raise _core.LayoutError(
            f"{caller}: size {shape} does not fit parameters of the common shape {common}"
        )
    return shape


def probabilities(p: Any, population: int) -> Array:
    """The argument p= of choice() as a float64 vector on the host. Raises LayoutError or
    ArgumentError."""
    weights = asarray(p).to("cpu").astype("float64")
    if weights.ndim != 1:
        raise _core.LayoutError(f"choice: p must be 1-dimensional, got shape {weights.shape}")
    if weights.size != population:
        raise _core.LayoutError(
            f"choice: a and p must have same size, got {population} and {weights.size}"
        )
    total = float(_core.sum(weights).item())
    if math.isnan(total):
        raise _core.ArgumentError("choice: Probabilities contain NaN")
    if weights.size and bool(_core.any(weights < 0)):
        raise _core.ArgumentError("choice: Probabilities are not non-negative")
    # As NumPy: the tolerance is the square root of the dtype's epsilon; 2**-26 for float64.
    tolerances = {"float32": 2.0**-11.5, "float16": 2.0**-5, "bfloat16": 2.0**-3.5}
    if abs(total - 1) > tolerances.get(str(asarray(p).dtype), 2.0**-26):
        raise _core.ArgumentError(
            f"choice: Probabilities do not sum to 1: their sum is {total}; divide p by it"
        )
    return weights


def device_of(*values: Any, default: Any = "cpu") -> Any:
    """The device of the first Array among `values`, else `default`."""
    return next((x.device for x in values if isinstance(x, Array)), default)


def integer_bound(value: Any) -> int:
    """A bound as an integer; a float is accepted if it is one. Raises DTypeError."""
    try:
        return operator.index(value)
    except TypeError:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        raise _core.DTypeError(
            f"integers: expected integers as bounds, got {value!r}; round them first"
        ) from None


def _all_integers(values: Any) -> bool:
    if isinstance(values, list | tuple):
        return all(map(_all_integers, values))
    return isinstance(values, int)


def with_inclusive_high(high: Any, endpoint: bool) -> tuple[Any, bool]:
    """(high, endpoint), made inclusive (high - 1, True) where an exclusive bound is 2**64, which no
    dtype holds."""
    if endpoint or not _all_integers(high):
        return high, endpoint

    def has_2_64(values: Any) -> bool:
        return any(map(has_2_64, values)) if isinstance(values, list | tuple) else values == 1 << 64

    def minus_one(values: Any) -> Any:
        return list(map(minus_one, values)) if isinstance(values, list | tuple) else values - 1

    return (minus_one(high), True) if has_2_64(high) else (high, False)


def bound_array(which: str, values: Any, dtype: Any, device: Any) -> Array:
    """The bounds `which` ("low" or "high") as an array on `device`: uint64 if any needs it, else int64.
    Raises ArgumentError or DTypeError."""
    try:
        array = asarray(values)
        if array.dtype == "float64" and _all_integers(values):  # integers of more than 63 bits
            array = asarray(values, "uint64")
    except OverflowError:
        raise _core.ArgumentError(
            f"integers: {which} is out of bounds for {dtype}: got {values}; use a wider dtype"
        ) from None
    array = array.to(device)
    if array.size and array.dtype.kind not in "biu":
        raise _core.DTypeError(
            f"integers: expected integers as bounds, got {array.dtype} {array.shape}; "
            "use astype('int64'), and endpoint=True where high would not fit"
        )
    return array if array.dtype == "uint64" else array.astype("int64")


def check_span(finite: bool, negative: bool, low: Any, high: Any) -> None:
    """Raises OverflowError unless high - low is finite, ArgumentError if it is negative."""
    if not finite:
        raise OverflowError(f"uniform: high - low range exceeds valid bounds: {low} to {high}")
    if negative:
        raise _core.ArgumentError(
            f"uniform: high - low < 0: expected low <= high, got {low}, {high}"
        )


def check_scale(caller: str, scale: Any) -> None:
    """Raises ArgumentError for a negative scale: -0.0 is negative, as in NumPy, and NaN is not."""
    if is_number(scale):
        negative = math.copysign(1.0, scale) < 0 and not math.isnan(scale)
    else:
        signs = _core.signbit(scale) & _core.logical_not(_core.isnan(scale))
        negative = bool(_core.any(signs))
    if negative:
        raise _core.ArgumentError(f"{caller}: scale < 0: expected a scale >= 0, got {scale}")


def check_range(
    under: bool, over: bool, empty: bool, dtype: Any, low: Any, high: Any, endpoint: bool
) -> None:
    """Raises ArgumentError if a bound is outside the range of `dtype`, or the range is empty."""
    if under or over:
        which = "low" if under else "high"
        raise _core.ArgumentError(
            f"integers: {which} is out of bounds for {dtype}: got {low} to {high}; use a wider dtype"
        )
    if empty:
        relation = ">" if endpoint else ">="
        raise _core.ArgumentError(f"integers: low {relation} high: got {low} and {high}")


# ---- State ----

# One lock for all generators, held for a few assignments; fork() acquires it so that the child
# finds it free.
_lock = Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )

# In blocks of four 32-bit words, the results of one evaluation of Philox4x32.
_POSITIONS = 1 << 64
_JUMP = 1 << 48


class Philox:
    """The state of a Philox4x32-10 generator, and its default device. Thread-safe."""

    __slots__ = ("_children", "_counter", "_device", "_entropy", "_spawn_key")

    def __init__(self, seed: Any = None, device: Any = None) -> None:
        self._set_state(words_of_seed(seed), (), 0, 0)
        self._device = None if device is None else _core.device(device)

    def _set_state(
        self, entropy: tuple[int, ...], spawn_key: tuple[int, ...], position: int, children: int
    ) -> None:
        self._entropy, self._spawn_key, self._children = entropy, spawn_key, children
        self._counter = _core._random_counter(*hashed_key(entropy, spawn_key), position)

    @property
    def device(self) -> Any:
        """The device of results for which the call gives none."""
        return _core.device(None) if self._device is None else self._device

    @property
    def state(self) -> dict[str, Any]:
        """The complete state, as a dict of plain numbers; assignable. Raises ArgumentError for a
        dict that is no such state."""
        with _lock:
            return {
                "bit_generator": "Philox4x32-10",
                "seed": list(self._entropy),
                "spawn_key": list(self._spawn_key),
                "position": _core._random_position(self._counter, 0),
                "children": self._children,
            }

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        try:
            kind = state["bit_generator"]
            entropy, spawn_key = words_of_seed(state["seed"]), words_of_seed(state["spawn_key"])
            position, children = (operator.index(state[k]) for k in ("position", "children"))
        except (KeyError, TypeError) as error:
            raise _core.ArgumentError(
                f"Generator.state: expected a dict such as `state` returns, got {state!r}"
            ) from error
        if kind != "Philox4x32-10" or not 0 <= position < _POSITIONS or children < 0:
            raise _core.ArgumentError(
                "Generator.state: expected the state of a Philox4x32-10 generator with a position "
                f"of 64 bits, got {state!r}"
            )
        with _lock:
            self._set_state(entropy, spawn_key, position, children)

    def spawn(self, n_children: int) -> list[Any]:
        """A list of `n_children` generators, independent of this one and of each other, on the same
        default device. Raises ArgumentError for a negative number and for more than 2**20."""
        count = checked_count("spawn: n_children", n_children, MAX_RESULTS)
        with _lock:
            first, self._children = self._children, self._children + count
        return [self._derived((*self._spawn_key, i), 0) for i in range(first, first + count)]

    def advance(self, delta: int) -> Any:
        """Advances the position by `delta` blocks of four 32-bit words, backwards if negative;
        returns the generator itself."""
        _core._random_position(self._counter, operator.index(delta))
        return self

    def jumped(self, jumps: int = 1) -> Any:
        """A new generator whose position is `jumps` * 2**48 blocks ahead."""
        position = _core._random_position(self._counter, 0) + operator.index(jumps) * _JUMP
        return self._derived(self._spawn_key, position % _POSITIONS)

    def _derived(self, spawn_key: tuple[int, ...], position: int) -> Any:
        generator = type(self).__new__(type(self))
        generator._device = self._device
        generator._set_state(self._entropy, spawn_key, position, 0)
        return generator

    def __reduce__(self) -> tuple[Any, ...]:
        device = None if self._device is None else str(self._device)
        return _restored, (type(self), self.state, device)

    def __repr__(self) -> str:
        seed = self._entropy[0] if len(self._entropy) == 1 else list(self._entropy)
        spawned = f", spawn_key={self._spawn_key}" if self._spawn_key else ""
        position = _core._random_position(self._counter, 0)
        return f"Generator(Philox4x32-10, seed={seed}{spawned}, position={position})"

    def _device_for(self, device: Any, *parameters: Any) -> Any:
        """The device of a result: `device`, else the generator's, else that of the first Array
        among `parameters`, else the default device."""
        if device is not None:
            return _core.device(device)
        return device_of(*parameters, default=self.device) if self._device is None else self.device


def hashed_key(entropy: tuple[int, ...], spawn_key: tuple[int, ...]) -> tuple[int, int]:
    """A 64-bit key and a 32-bit stream: the BLAKE2b hash of the numbers, each preceded by its
    length."""
    digest = blake2b(digest_size=12, person=b"spanwise.random")
    for numbers in (entropy, spawn_key):
        digest.update(len(numbers).to_bytes(8, "little"))
        for number in numbers:
            size = (number.bit_length() + 7) // 8
            digest.update(size.to_bytes(8, "little") + number.to_bytes(size, "little"))
    key = digest.digest()
    return int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")


# Pickles refer to this function: its name and parameters must not change.
def _restored(kind: type[Philox], state: dict[str, Any], device: str | None) -> Philox:
    generator = kind(0, device)
    generator.state = state
    return generator


# ---- Floating-point distributions ----

Size = SupportsIndex | Sequence[SupportsIndex] | None


class FloatingGenerator(Philox):
    """Generator's methods for uniform, normal and exponential numbers."""

    __slots__ = ()

    def _draw(
        self,
        caller: str,
        kind: str,
        size: Any,
        dtype: Any,
        out: Any,
        device: Any,
        shift: float = 0.0,
        scale: float = 1.0,
    ) -> Array:
        """Draws x of the distribution `kind` and returns x * scale + shift, new or in `out`."""
        if out is None:
            target = self._device if device is None else device
            return _core._random_new(self._counter, kind, size, dtype, target, shift, scale, caller)
        result = result_for(caller, size, floating_dtype(caller, dtype, out), out, None)
        _core._random_draw(self._counter, kind, result, shift, scale)
        return out_or_result(result, out)

    def random(
        self, size: Size = None, dtype: Any = None, out: Any = None, *, device: Any = None
    ) -> Array:
        """Uniform numbers in [0, 1): multiples of 2**-53 (float64), 2**-24 (float32), 2**-11
        (float16) or 2**-8 (bfloat16)."""
        return self._draw("random", "uniform", size, dtype, out, device)

    def standard_normal(
        self, size: Size = None, dtype: Any = None, out: Any = None, *, device: Any = None
    ) -> Array:
        """Normal numbers of mean 0 and standard deviation 1."""
        return self._draw("standard_normal", "normal", size, dtype, out, device)

    def standard_exponential(
        self,
        size: Size = None,
        dtype: Any = None,
        method: str = "zig",
        out: Any = None,
        *,
        device: Any = None,
    ) -> Array:
        """Exponential numbers of mean 1. Always by inversion, also for `method="zig"`: NumPy's
        ziggurat uses a varying number of random words per element."""
        caller = "standard_exponential"
        if method not in ("zig", "inv"):
            raise _core.ArgumentError(f"{caller}: method must be 'zig' or 'inv', got {method!r}")
        return self._draw(caller, "exponential", size, dtype, out, device)

    def _draw_by_arrays(
        self, kind: str, shift: Array, scale: Array, size: Size, dtype: Any, out: Any, device: Any
    ) -> Array:
        """_draw() with arrays `shift` and `scale`, rounded as the kernels of _draw() round."""
        dtype = floating_dtype(kind, dtype, out)
        shape = broadcast_with(kind, size, out, shift.shape, scale.shape)
        result = result_for(kind, shape, dtype, out, device)
        # 16-bit floats are computed in float32; uniform numbers are first drawn in the 16-bit
        # dtype.
        computed_in = dtype if dtype.itemsize > 2 else _core.dtype("float32")
        drawn_in = dtype if kind == "uniform" else computed_in
        device = result.device
        drawn = self._draw(kind, kind, shape, drawn_in, None, device)
        values = drawn.astype(computed_in, copy=False)
        _core.multiply(values, scale.to(device).astype(computed_in), out=values)
        _core.add(values, shift.to(device).astype(computed_in), out=values)
        if out is None and computed_in == dtype:
            return values
        result[...] = values
        return out_or_result(result, out)

    def _draw_by_parameters(
        self, kind: str, shift: Any, scale: Any, size: Size, dtype: Any, out: Any, device: Any
    ) -> Array:
        """_draw() with numbers or arrays `shift` and `scale`; raises ArgumentError for scale < 0."""
        if is_number(shift) and is_number(scale):
            check_scale(kind, scale)
            return self._draw(kind, kind, size, dtype, out, device, float(shift), float(scale))
        center = asarray(shift, device=device_of(shift, scale))
        width = asarray(scale, device=center.device)
        check_scale(kind, width)
        target = self._device_for(device, shift, scale)
        return self._draw_by_arrays(kind, center, width, size, dtype, out, target)

    def uniform(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        size: Size = None,
        dtype: Any = None,
        out: Any = None,
        *,
        device: Any = None,
    ) -> Array:
        """low + (high - low) * random(); `low` and `high` may be arrays. Rounding may give `high`
        itself. Raises OverflowError where high - low is not finite, ArgumentError for low > high;
        to check arrays it waits for them."""
        if is_number(low) and is_number(high):
            first, span = float(low), float(high) - float(low)
            check_span(math.isfinite(span), span < 0, low, high)
            return self._draw("uniform", "uniform", size, dtype, out, device, first, span)
        start = asarray(low, device=device_of(low, high)).astype("float64")
        spans = asarray(high, device=start.device).astype("float64") - start
        finite = bool(_core.all(_core.isfinite(spans)))
        check_span(finite, finite and bool(_core.any(spans < 0)), low, high)
        target = self._device_for(device, low, high)
        return self._draw_by_arrays("uniform", start, spans, size, dtype, out, target)

    def normal(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: Size = None,
        dtype: Any = None,
        out: Any = None,
        *,
        device: Any = None,
    ) -> Array:
        """loc + scale * standard_normal(); `loc` and `scale` may be arrays. Raises ArgumentError
        for scale < 0; to check an array it waits for it."""
        return self._draw_by_parameters("normal", loc, scale, size, dtype, out, device)

    def exponential(
        self,
        scale: Any = 1.0,
        size: Size = None,
        dtype: Any = None,
        out: Any = None,
        *,
        device: Any = None,
    ) -> Array:
        """scale * standard_exponential(); `scale` may be an array. Raises ArgumentError for
        scale < 0; to check an array it waits for it."""
        return self._draw_by_parameters("exponential", 0.0, scale, size, dtype, out, device)
