# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Times callables and processes in interleaved rounds."""

import dataclasses
import gc
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

#: The number from which lines draw what they measure, if they do: the command line sets it.
SEED = [0]


class Unavailable(Exception):
    """The reason why a line cannot be measured on this machine."""


@dataclasses.dataclass
class Contender:
    """The timings of one contender, a column of the report: seconds per operation, one for each
    round."""

    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The interquartile range of the rounds."""
        if len(self.seconds) < 4:
            return min(self.seconds), max(self.seconds)
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return low, high

    @property
    def fastest(self) -> float:
        """The fastest round, which other load on the machine affects least."""
        return min(self.seconds)


@dataclasses.dataclass(frozen=True)
class Call:
    """function(argument), timed without a closure, which would add up to a fifth."""

    function: Callable[[object], object]
    argument: object

    def __call__(self) -> object:
        return self.function(self.argument)


@dataclasses.dataclass(frozen=True)
class Floor:
    """A lower bound measured by a loop in C: the function returns the seconds per operation, or a
    negative number if it failed."""

    seconds: Callable[[], float]

    def __call__(self) -> float:
        seconds = self.seconds()
        if seconds < 0:
            raise Unavailable("the C loop of a lower bound failed")
        return seconds


@dataclasses.dataclass
class Result:
    """One line of the report. `ours` is the name of Spanwise's column; `goal`, if any, is a bound
    on it: ("ratio", peer, factor), ("over", peer, seconds above) or ("at most", None, seconds). It
    compares medians, or in a table the fastest rounds, which other load on the machine affects
    less."""

    name: str
    ours: str
    contenders: dict[str, Contender]
    note: str = ""
    goal: tuple[str, str | None, float] | None = None
    table: str | None = None  # the table that this line belongs to, which has one summary

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal, or if its peer was not measured."""
        if self.goal is None:
            return None
        kind, peer, bound = self.goal
        ours = self._figure(self.ours)
        if kind == "at most":
            return ours <= bound
        if peer not in self.contenders:
            return None
        theirs = self._figure(peer)
        return ours <= (theirs * bound if kind == "ratio" else theirs + bound)

    @property
    def ratio(self) -> float | None:
        """Our time divided by the peer's if the goal is a ratio, else None."""
        if self.goal is None or self.goal[0] != "ratio" or self.goal[1] not in self.contenders:
            return None
        return self._figure(self.ours) / self._figure(self.goal[1])

    def _figure(self, name: str) -> float:
        figures = self.contenders[name]
        return figures.median if self.table is None else figures.fastest


def interleave(
    contenders: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 15,
    seconds: float = 0.02,
    after: Mapping[str, Callable[[], object]] | None = None,
    pause: float = 0,
) -> dict[str, Contender]:
    """Calls each contender in turn, in `rounds` rounds of about `seconds`; returns seconds per call.

    `pause`: seconds to sleep before each turn, untimed, so that the threads of the previous contender
    stop: OpenBLAS's threads spin for up to 2^28 cycles (about 0.1 s) after a product, and each uses a
    processor.

    `after[name]`, if given, runs untimed after each round: it waits for queued device work, so that
    one contender's queue does not slow the next.
    """
    after = after or {}
    repeats = {}
    for name, call in contenders.items():
        call()
        after.get(name, _nothing)()
        repeats[name] = _repeats_for(call, seconds)
        after.get(name, _nothing)()
    figures: dict[str, Contender] = {name: Contender([]) for name in contenders}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in contenders.items():
                if pause > 0:
                    time.sleep(pause)
                figures[name].seconds.append(_time(call, repeats[name]))
                after.get(name, _nothing)()
    finally:
        gc.enable()
    return figures


def interleave_processes(
    commands: Mapping[str, Sequence[str]],
    *,
    rounds: int = 7,
    env: Mapping[str, str] | None = None,
    before: Mapping[str, Callable[[], object]] | None = None,
) -> dict[str, Contender]:
    """Runs each command in turn, `rounds` times after one warm-up; returns wall seconds."""
    before = before or {}
    figures: dict[str, Contender] = {name: Contender([]) for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            before.get(name, _nothing)()
            start = time.perf_counter()
            subprocess.run(
                command, check=True, env={**os.environ, **(env or {})}, capture_output=True
            )
            if number > 0:  # round 0 is the warm-up
                figures[name].seconds.append(time.perf_counter() - start)
    return figures


def python(program: str) -> list[str]:
    """The command that runs `program` in this interpreter, for interleave_processes()."""
    return [sys.executable, "-c", program]


def installed(module: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(module) is not None


def _nothing() -> None:
    return None


def _time(call: Callable[[], object], repeats: int) -> float:
    """Seconds per call."""
    if isinstance(call, Floor):
        return call()
    loop = itertools.repeat(None, repeats)  # a range would create an int per pass
    if isinstance(call, Call):
        function, argument = call.function, call.argument
        start = time.perf_counter()
        for _ in loop:
            function(argument)
        return (time.perf_counter() - start) / repeats
    # All columns include one closure call per pass.
    start = time.perf_counter()
    for _ in loop:
        call()
    return (time.perf_counter() - start) / repeats


def _repeats_for(call: Callable[[], object], seconds: float) -> int:
    """The number of calls that take about `seconds`, extrapolated from a quarter of that time."""
    repeats = 1
    if isinstance(call, Floor):
        return repeats
    while True:
        elapsed = _time(call, repeats) * repeats
        if elapsed >= seconds / 4 or repeats >= 1 << 20:
            return max(1, round(repeats * seconds / max(elapsed, 1e-9)))
        repeats *= 4
