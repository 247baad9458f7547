# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws lines over all public functions that take arrays, and measures them beside installed peers.

A line is a function, a dtype, a shape of 1K to 64M elements and a layout; all are drawn from a seed.
A peer that lacks the function or refuses the operands is left out of the line. JAX's arrays have no
strides, so JAX is compared with contiguous operands only.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator

import numpy as np
from gpu import QUEUED
from harness import SEED, Result, installed, interleave
from sweep_functions import DTYPES, FUNCTIONS, Function

import spanwise as sw

LINES, SECONDS = 256, 340.0
LIMIT = 1.1  # a line above this ratio to the best peer is listed
_LEAST, _MOST = 1 << 10, 1 << 26  # elements of the largest operand
_BYTES = 1 << 28  # and its bytes
_ROUND = 0.01  # seconds of one contender in one round


@dataclasses.dataclass
class Layout:
    """The shape of an operand in memory, and the order of its axes as the function gets it."""

    name: str
    shape: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def is_contiguous(self) -> bool:
        return self.order == tuple(range(len(self.order)))

    def view(self, array):
        return array if self.is_contiguous else array.transpose(self.order)


def _draw_layout(rng: np.random.Generator, function: Function, elements: float) -> Layout:
    name = str(rng.choice(["contiguous", "transposed", "odd"]))
    rank = function.rank or int(rng.integers(1, 5))
    if function.square:
        side = max(2, int(elements ** (1 / rank)))
        side -= side % 2 if name != "odd" else 1 - side % 2
        shape = (side,) * rank
    else:
        shares = rng.dirichlet(np.ones(rank)) * np.log2(elements)
        shape = tuple(int(2.0**s) + 1 if name == "odd" else 1 << round(s) for s in shares)
    order = tuple(range(rank))
    if name == "transposed":
        order = order[::-1] if rank == 2 else tuple(int(i) for i in rng.permutation(rank))
    return Layout(name, shape, order)


def _values(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random values in the domain of all functions: (0.1, 0.9), or integers of 0 to 7. A period of
    64K values keeps the time of drawing short."""
    count = int(np.prod(shape))
    period = rng.random(min(count, 1 << 16)) * 0.8 + 0.1
    if dtype == "bool":
        period = period > 0.5
    elif np.dtype(dtype).kind in "iu":
        period = period * 8
    return np.resize(period.astype(dtype), count).reshape(shape)


class _Peer:
    """A library: how it gets an array of NumPy, and how it calls a function of NumPy's name."""

    name: str
    module: object

    def asarray(self, array: np.ndarray) -> object:
        return self.module.asarray(array)

    def call(self, name: str, *arguments: object, **options: object) -> Callable[[], object]:
        """A call of the function; raises AttributeError if the library does not have it."""
        return functools.partial(getattr(self.module, name), *arguments, **options)

    def wait(self, result: object) -> None:
        """Waits for queued work, of which `result` is the last."""


class _Spanwise(_Peer):
    name, module = "spanwise", sw

    def __init__(self, device: str) -> None:
        self.device = device

    def asarray(self, array):
        return sw.asarray(array, device=self.device)

    def wait(self, result):
        if self.device != "cpu":
            sw.synchronize()


class _NumPy(_Peer):
    name, module = "numpy", np


class _CuPy(_Peer):
    name = "cupy"

    def __init__(self) -> None:
        import cupy

        self.module = cupy

    def wait(self, result):
        self.module.cuda.Device().synchronize()


class _Jax(_Peer):
    name = "jax"

    def __init__(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self._jax, self.module = jax, jax.numpy

    def call(self, name, *arguments, **options):
        if name in ("softmax", "log_softmax", "sigmoid"):
            return functools.partial(getattr(self._jax.nn, name), *arguments, **options)
        return super().call(name, *arguments, **options)

    def wait(self, result):
        self._jax.block_until_ready(result)


class _Torch(_Peer):
    """NumPy's names and options are translated before the call is timed."""

    name = "torch"
    _NAMES = {
        "amax": "amax",
        "amin": "amin",
        "append": None,  # torch has other meanings of these names, or none
        "argwhere": "argwhere",
        "concat": "cat",
        "concatenate": "cat",
        "cumulative_prod": "cumprod",
        "cumulative_sum": "cumsum",
        "invert": "bitwise_not",
        "max": "amax",
        "min": "amin",
        "power": "pow",
        "repeat": "repeat_interleave",
        "rint": "round",
        "transpose": "permute",
    }

    def __init__(self, device: str) -> None:
        import torch

        self.module, self._device = torch, "cpu" if device == "cpu" else "cuda"

    def asarray(self, array):
        return self.module.as_tensor(array, device=self._device)

    def call(self, name, *arguments, **options):
        name = self._NAMES.get(name, name)
        if name is None:
            raise AttributeError("torch does not have this function")
        for ours, theirs in (("axis", "dim"), ("keepdims", "keepdim")):
            if ours in options:
                options[theirs] = options.pop(ours)
        if name in ("std", "var"):
            options["correction"] = 0
        return functools.partial(getattr(self.module, name), *arguments, **options)

    def wait(self, result):
        if self._device == "cuda":
            self.module.cuda.synchronize()


def peers(device: str) -> list[_Peer]:
    """Spanwise and the installed peers that compute on the device."""
    found: list[_Peer] = [_Spanwise(device)]
    if device == "cpu":
        found.append(_NumPy())
    elif installed("cupy"):
        found.append(_CuPy())
    if installed("torch"):
        found.append(_Torch(device))
    if installed("jax"):
        jax = _Jax()
        if (jax.module.zeros(()).device.platform == "cpu") == (device == "cpu"):
            found.append(jax)
    return found


def measure(device: str) -> Iterator[Result]:
    """The lines of SEED for a device, as many as LINES in at most SECONDS."""
    libraries, start = peers(device), time.monotonic()
    rng = np.random.default_rng(SEED[0])
    refused: list[str] = []
    for number in range(LINES):
        if time.monotonic() - start > SECONDS:
            print(f"sweep: stopped after {number} of {LINES} lines: {SECONDS:.0f} s passed")
            break
        function = FUNCTIONS[int(rng.integers(len(FUNCTIONS)))]
        dtype = str(rng.choice(DTYPES[function.dtypes]))
        elements = float(2 ** rng.uniform(np.log2(_LEAST), np.log2(function.most or _MOST)))
        elements = min(elements, _BYTES // np.dtype(dtype).itemsize)
        layout = _draw_layout(rng, function, elements)
        line_rng = np.random.default_rng((SEED[0], number))
        name = f"{function.name} of {layout.shape} {dtype}, {layout.name}"
        if not layout.is_contiguous:
            name += f" {layout.order}"
        try:
            result = _measured(name, function, dtype, layout, line_rng, libraries, device)
        except Exception as error:  # the other lines are measured all the same
            refused.append(f"{name}: {type(error).__name__}: {error}")
            continue
        if result is not None:
            yield result
    for line in refused:
        print(f"sweep: not measured: {line}")


def _measured(name, function, dtype, layout, rng, libraries, device) -> Result | None:
    state = rng.bit_generator.state
    calls, shape = {}, None
    for library in libraries:
        if library.name == "jax" and not layout.is_contiguous:
            continue
        rng.bit_generator.state = state  # each library gets the same values
        try:
            call, result = _prepared(library, function, dtype, layout, rng)
        except Exception:
            if library.name == "spanwise":
                raise
            continue  # the peer lacks the function, the dtype or the layout
        shape = _shape(result) if library.name == "spanwise" else shape
        if _shape(result) != shape:
            continue  # the peer has another meaning of the name
        calls[library.name] = _timed(library, call, device)
    if len(calls) < 2:
        return None
    rounds = _rounds(calls)
    figures = interleave(calls, rounds=rounds, seconds=_ROUND)
    best = min((n for n in calls if n != "spanwise"), key=lambda n: figures[n].fastest)
    if figures["spanwise"].fastest > LIMIT * figures[best].fastest:
        for key, more in interleave(calls, rounds=rounds, seconds=_ROUND).items():
            figures[key].seconds.extend(more.seconds)
    return Result(
        name,
        "spanwise",
        figures,
        goal=("ratio", best, LIMIT),
        table=f"at most {LIMIT} of the best peer on {device} (seed {SEED[0]})",
    )


def _prepared(library: _Peer, function: Function, dtype: str, layout: Layout, rng):
    """The function's call on a library's arrays, and its result."""

    def operand(shape=None, dtype=dtype, values=None):
        if values is None and shape is None:
            return layout.view(library.asarray(_values(rng, dtype, layout.shape)))
        return library.asarray(_values(rng, dtype, shape) if values is None else values)

    x = operand()
    axis = int(rng.integers(len(layout.shape)))
    call = function.prepare(library, x, axis, operand, rng)
    result = call()
    library.wait(result)
    return call, result


def _timed(library: _Peer, call: Callable[[], object], device: str) -> Callable[[], object]:
    """The call, with the wait for its result. On a GPU QUEUED calls are queued before the wait."""
    if device == "cpu":
        return call if library.name != "jax" else lambda: library.wait(call())

    def run() -> None:
        for _ in range(QUEUED - 1):
            call()
        library.wait(call())

    return run


def _rounds(calls: dict[str, Callable[[], object]]) -> int:
    """The number of rounds that take about 0.4 s, of 2 to 7."""
    start = time.perf_counter()
    for call in calls.values():
        call()
    return int(min(7, max(2, 0.4 / (time.perf_counter() - start + _ROUND * len(calls)))))


def _shape(result: object) -> object:
    if isinstance(result, list | tuple):
        return [_shape(part) for part in result]
    return tuple(result.shape) if hasattr(result, "shape") else None
