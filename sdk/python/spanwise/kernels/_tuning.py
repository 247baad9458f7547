# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring: ``sw.benchmark``, and ``KernelFunction.tune``, which keeps the fastest launch."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import _core
from .._core import ArgumentError, Array, Event, KernelFunction, SourceModule

# More calls than a GPU's queue holds would measure how long the host waits for it.
_QUEUED_CALLS = 256


class Spread(NamedTuple):
    """Seconds per call: the median of the rounds, and what a tenth of them are below and above."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Spread:
        ordered = sorted(seconds)
        tenth = len(ordered) // 10
        return cls(statistics.median(ordered), ordered[tenth], ordered[-1 - tenth])

    def __str__(self) -> str:
        return f"{_shown(self.median)} ({_shown(self.low)} to {_shown(self.high)})"


def _shown(seconds: float) -> str:
    unit, name = next(
        ((u, n) for u, n in ((1, "s"), (1e-3, "ms"), (1e-6, "us")) if seconds >= u), (1e-9, "ns")
    )
    return f"{seconds / unit:.3g} {name}"


class Benchmark(NamedTuple):
    """What ``sw.benchmark`` has measured. `host` is the time until a call returns, `device` until its work
    is done while calls are queued one after the other; on the CPU both are the same."""

    host: Spread
    device: Spread
    rounds: int
    calls: int
    where: str

    def __str__(self) -> str:
        measured = f"{self.rounds} rounds of {self.calls} calls on {self.where}"
        return f"host {self.host}, device {self.device}; {measured}"


def benchmark(
    f: Callable[..., Any],
    *args: Any,
    device: Any = None,
    seconds: float = 0.3,
    rounds: int = 20,
    **kwargs: Any,
) -> Benchmark:
    """Measures ``f(*args, **kwargs)``, after two calls that are not counted: the time of the host and of
    the device, with the spread over `rounds`, for about `seconds`.

    `device` is that of the first array on a GPU, else of the first array, else the default device; its
    time is measured by events on its current stream. A GPU runs calls that take it less time than the
    host at the pace of the host: compare both numbers, or capture the calls (``sw.capture``).
    """
    if rounds < 1 or not seconds > 0:
        raise ArgumentError(
            f"benchmark: expected rounds >= 1 and seconds > 0, got rounds={rounds}, seconds={seconds}"
        )
    place = _core.device(device) if device is not None else _device_of(args)
    f(*args, **kwargs)
    place.synchronize()
    begin = time.perf_counter()
    f(*args, **kwargs)
    place.synchronize()
    once = max(time.perf_counter() - begin, 1e-7)
    most = _QUEUED_CALLS if place.kind == "cuda" else 1_000_000
    calls = max(1, min(most, int(seconds / rounds / once)))
    host, whole = [], []
    for _ in range(rounds):
        spent, worked = _round(f, args, kwargs, place, calls)
        host.append(spent / calls)
        whole.append(worked / calls)
    return Benchmark(Spread.of(host), Spread.of(whole), rounds, calls, str(place))


def _device_of(args: Sequence[Any]) -> Any:
    places = [
        x.device if isinstance(x, Array) else _core._asarray(x).device
        for x in args
        if isinstance(x, Array) or hasattr(x, "__cuda_array_interface__")
    ]
    on_gpu = (place for place in places if place.kind == "cuda")
    return next(on_gpu, places[0] if places else _core.default_device())


def _round(f: Any, args: Any, kwargs: Any, device: Any, calls: int) -> tuple[float, float]:
    """The seconds of the host and of the device."""
    start, end = Event(timing=True), Event(timing=True)
    start.record(device=device)
    begin = time.perf_counter()
    for _ in range(calls):
        f(*args, **kwargs)
    spent = time.perf_counter() - begin
    if device.kind != "cuda":
        return spent, spent
    end.record(device=device)
    end.synchronize()
    return spent, start.elapsed(end) / 1000


# ---- KernelFunction.tune ----


class Trial(NamedTuple):
    """A launch that was measured: `seconds` of the device per call, or the `error`."""

    block: tuple[int, ...]
    options: tuple[str, ...]
    seconds: float | None
    error: str

    def __str__(self) -> str:
        result = self.error.partition("\n")[0] if self.seconds is None else _shown(self.seconds)
        return f"block {self.block}, options {list(self.options)}: {result}"


class TunedKernel:
    """A kernel with the block and the options of ``KernelFunction.tune``. A call launches it with the grid
    of that call's arguments, or ``grid=``."""

    def __init__(
        self, kernel: KernelFunction, best: Trial, trials: list[Trial], remembered: bool, grid: Any
    ) -> None:
        self.kernel = kernel
        self.block, self.options = best.block, best.options
        #: All launches that were measured, the fastest first.
        self.trials = trials
        #: Whether the result is that of an earlier process, of which nothing was measured again.
        self.remembered = remembered
        self._grid = grid

    def __call__(self, *args: Any, grid: Any = None, **launch: Any) -> None:
        given = self._grid if grid is None else grid
        self.kernel(*args, block=self.block, grid=_grid_of(given, self.block, args), **launch)

    def __str__(self) -> str:
        source = "remembered" if self.remembered else f"the fastest of {len(self.trials)}"
        lines = [
            f"{self.kernel.name} on {self.kernel.device}: {source}",
            *map(str, self.trials),
        ]
        return "\n    ".join(lines)

    def __repr__(self) -> str:
        return (
            f"<tuned kernel {self.kernel.name}, block {self.block}, options {list(self.options)}>"
        )


def tune(
    kernel: KernelFunction,
    args: Sequence[Any],
    block: Iterable[Any] = (64, 128, 256, 512),
    options: Iterable[Any] = ((),),
    grid: Any = None,
    seconds: float = 0.05,
) -> TunedKernel:
    """Measures the kernel for the arguments `args` with each `block` and each of the compiler's `options`
    (a list of strings, added to those of its module), and returns the fastest as a TunedKernel, which
    says what it did: ``print(tuned)``.

    `grid` is a tuple, or a function of (block, args) that returns one; by default there is a thread for
    each element of the largest array. A block or options that cannot be launched are left out; where
    none can, the error of the first is raised. Arrays are copied first, so that `args` keep their values.

    The result is kept in the cache of compiled kernels, by the device, the source, `args` (dtypes, shapes,
    strides and integers) and what was to be tried; later calls, in other processes too, measure nothing.
    """
    blocks = [_extents(each) for each in block]
    choices = [(each,) if isinstance(each, str) else tuple(each) for each in options]
    if not blocks or not choices:
        raise ArgumentError("tune: expected at least one block and one list of options, got none")
    tried = [(extents, choice) for choice in choices for extents in blocks]
    path = _memory_of(kernel, args, tried)
    trials = _remembered(path, tried)
    remembered = bool(trials)
    kernels = _Variants(kernel)
    if not trials:
        copies = [x.copy() if isinstance(x, Array) else x for x in args]
        errors: list[Exception] = []
        trials = [_trial(kernels, each, copies, grid, seconds, errors) for each in tried]
        if all(trial.seconds is None for trial in trials):
            raise errors[0]
        trials.sort(key=lambda trial: math.inf if trial.seconds is None else trial.seconds)
        _remember(path, trials)
    return TunedKernel(kernels[trials[0].options], trials[0], trials, remembered, grid)


def _extents(block: Any) -> tuple[int, ...]:
    return tuple(block) if isinstance(block, (tuple, list)) else (int(block),)


def _grid_of(grid: Any, block: tuple[int, ...], args: Sequence[Any]) -> Any:
    if callable(grid):
        return grid(block, args)
    if grid is not None:
        return grid
    elements = max((math.prod(x.shape) for x in args if hasattr(x, "shape")), default=1)
    return (max(1, -(-elements // math.prod(block))),)


class _Variants(dict[tuple[str, ...], Any]):
    """The kernel compiled with further options."""

    def __init__(self, kernel: KernelFunction) -> None:
        super().__init__({(): kernel})
        self._kernel = kernel

    def __missing__(self, options: tuple[str, ...]) -> Any:
        _, (module, name, declared) = self._kernel.__reduce__()
        _, arguments = module.__reduce__()
        if not isinstance(module, SourceModule):
            raise ArgumentError(
                f"tune: {name}: options= needs a kernel of a SourceModule, got one of {module!r}"
            )
        source, own, names, folders, _, keep, link, path = arguments
        made = SourceModule(
            source,
            options=[*own, *options],
            names=names,
            include_dirs=folders,
            device=self._kernel.device,
            keep=keep,
            link=link,
            path=path,
        ).get_function(name)
        self[options] = made if declared is None else made.bind(declared)
        return self[options]


def _trial(
    kernels: _Variants, tried: Any, args: Any, grid: Any, seconds: float, errors: list[Exception]
) -> Trial:
    block, options = tried
    try:
        launch = {"block": block, "grid": _grid_of(grid, block, args)}
        kernel = kernels[options]
        measured = benchmark(
            kernel, *args, device=kernel.device, seconds=seconds, rounds=5, **launch
        )
    except _core.Error as error:
        errors.append(error)
        return Trial(block, options, None, f"{type(error).__name__}: {error}")
    return Trial(block, options, measured.device.median, "")


# ---- The results that are kept ----


def _memory_of(kernel: KernelFunction, args: Sequence[Any], tried: Any) -> Path:
    device = kernel.device
    properties = device.properties
    _, (module, name, declared) = kernel.__reduce__()
    _, arguments = module.__reduce__()
    described = [
        [str(x.dtype), list(x.shape), list(x.strides)]
        if isinstance(x, Array)
        else [type(x).__name__, getattr(x, "shape", None) or (x if isinstance(x, int) else None)]
        for x in args
    ]
    place = [device.kind, properties.name, properties.architecture, properties.driver]
    key = repr(
        [_core.__version__, place, arguments, kernel.source, name, declared, described, tried]
    )
    digest = hashlib.sha256(key.encode()).hexdigest()
    return Path(_core.kernel_cache.path) / "tuned" / f"{digest}.json"


def _remembered(path: Path, tried: Any) -> list[Trial]:
    """The trials in the file, the fastest first; [] where there are none for `tried`."""
    try:
        trials = [
            Trial(tuple(block), tuple(options), seconds, str(error))
            for block, options, seconds, error in json.loads(path.read_text())
        ]
    except (OSError, ValueError, TypeError):
        return []
    is_whole = sorted((t.block, t.options) for t in trials) == sorted(tried)
    return trials if is_whole and isinstance(trials[0].seconds, float) else []


def _remember(path: Path, trials: list[Trial]) -> None:
    """Where the cache cannot be written, the next process measures again."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(trials))
        temporary.replace(path)
