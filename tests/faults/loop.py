# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs an operation in forked children, in which one call after the other fails.

A child writes the number of the failing call into shared memory before it makes it; a child that
dies is a finding, and the next child goes on behind it."""

from __future__ import annotations

import gc
import itertools
import json
import mmap
import os
import signal
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

#: Seconds for the calls of one number, and for the preparation; a child that takes longer hangs.
TIMEOUT = 120

#: More than a free list holds blocks.
ROUNDS_OF_FREE_LISTS = 40

#: An operation with so many is stopped.
MAX_FINDINGS = 40

Prepare = Callable[[], tuple[Callable[[], Any], Any]]


class Source(Protocol):
    """What makes calls fail: an Injector or a FakeDriver."""

    #: The calls made within failing().
    count: int
    #: Of live().
    unit: str
    #: Repetitions of a failing call in which live() has to grow each time to be a leak.
    rounds: int
    #: Calls after which free lists are full.
    warm_up: int

    def watch(self) -> None: ...
    def failing(self, number: int, code: int) -> AbstractContextManager[None]: ...
    @property
    def failed(self) -> str: ...
    def live(self) -> int: ...
    def write_stack(self, file: int) -> None: ...
    def write_crashes(self, file: int) -> None: ...


@dataclass
class Fault:
    """The code with which calls fail, and which exceptions are an answer to that."""

    source: Source
    code: int
    errors: tuple[type[BaseException], ...]
    #: Words of which one is in the text of an exception other than MemoryError.
    words: tuple[str, ...] = ()
    #: A failure that the caller must not notice, such as EINTR.
    is_transparent: bool = False


@dataclass
class Finding:
    operation: str
    number: int
    failed: str
    problem: str
    stack: str

    def __str__(self) -> str:
        return f"{self.operation}, call {self.number} ({self.failed}): {self.problem}"


def difference(value: Any, expected: Any) -> str:
    """How the value differs from the expected one; "" where it does not."""
    if isinstance(expected, tuple):
        if len(value) != len(expected):
            return f"{len(value)} results"
        return next(filter(None, map(difference, value, expected)), "")
    if isinstance(expected, np.ndarray | np.generic):
        value = np.asarray(value)
        same = value.shape == expected.shape and np.allclose(value, expected, 1e-5, 1e-5)
    else:
        same = value == expected
    return "" if same else " ".join(f"expected {expected}, got {value}".split())[:200]


class Child:
    """One child: runs the calls from `first` on, at most `count` of them."""

    def __init__(self, operation: str, fault: Fault, output: int) -> None:
        self.operation, self.fault, self.source, self.output = (
            operation,
            fault,
            fault.source,
            output,
        )

    def run(
        self, prepare: Prepare, numbers: Iterator[int], progress: mmap.mmap, warm: bool
    ) -> None:
        self.call, self.expected = prepare()
        if warm:
            for _ in range(self.source.warm_up):
                self.call()
        self.source.watch()
        gc.collect()
        gc.freeze()
        # Variables that refer to each other in C++ are not collected: graphs with random draws.
        self.number = 0
        self.growth_without_failure = self.growth() if warm else 0
        for number in numbers:
            progress[:8] = struct.pack("q", number)
            self.number = number
            signal.alarm(TIMEOUT)
            self.check_one(warm)
            if self.is_over:
                progress[8] = 1
                return

    def check_one(self, warm: bool) -> None:
        problem = self.problem_of_failing_call()
        self.failed = self.source.failed
        self.is_over = not self.failed
        if problem:
            self.report(problem)
        if self.is_over:
            return
        try:
            if problem := difference(self.call(), self.expected):
                self.report(f"the next call: {problem}")
        except BaseException as error:
            self.report(f"the next call: {error!r}"[:600])
        limit = 2 * self.growth_without_failure
        if not warm or self.growth() <= limit:
            return
        # Calls that fail may fill free lists that successful ones do not.
        if (growth := self.growth(ROUNDS_OF_FREE_LISTS)) > limit:
            self.report(f"each call leaves {growth} {self.source.unit}")

    def problem_of_failing_call(self) -> str:
        try:
            with self.source.failing(self.number, self.fault.code):
                value = self.call()
        except self.fault.errors as error:
            return self.problem_of(error)
        except BaseException as error:
            return f"another error: {error!r}"[:600]
        return difference(value, self.expected)

    def problem_of(self, error: BaseException) -> str:
        if self.fault.is_transparent:
            return f"not transparent: {error!r}"[:600]
        text = str(error)
        if isinstance(error, MemoryError) or any(word in text for word in self.fault.words):
            return ""
        return f"the failure is not named: {error!r}"[:600]

    def growth(self, rounds: int = 0) -> int:
        """The least growth of what is held in the last rounds of this failing call."""
        sizes = []
        for _ in range(rounds or self.source.rounds):
            try:
                with self.source.failing(self.number, self.fault.code):
                    self.call()
            except BaseException:
                pass
            self.call()
            gc.collect()
            sizes.append(self.source.live())
        return max(min(b - a for a, b in itertools.pairwise(sizes)), 0)

    def report(self, problem: str) -> None:
        with tempfile.TemporaryFile() as file:
            self.source.write_stack(file.fileno())
            file.seek(0)
            stack = file.read().decode()
        fields = [self.operation, self.number, self.source.failed, problem, stack]
        os.write(self.output, json.dumps(fields).encode() + b"\n")


def run_child(
    operation: str, prepare: Prepare, fault: Fault, numbers: Iterator[int], warm: bool
) -> tuple[list[Finding], int, bool]:
    """The findings of one forked child, the last number it came to, and whether that was past the
    last call."""
    progress = mmap.mmap(-1, 16)
    with tempfile.TemporaryFile() as findings_file, tempfile.TemporaryFile() as stacks_file:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(TIMEOUT)
                fault.source.write_crashes(stacks_file.fileno())
                of_child = Child(operation, fault, findings_file.fileno())
                of_child.run(prepare, numbers, progress, warm)
                status = 0
            except BaseException as error:
                sys.excepthook(type(error), error, error.__traceback__)
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        findings_file.seek(0)
        findings = [Finding(*json.loads(line)) for line in findings_file]
        stacks_file.seek(0)
        stacks = stacks_file.read().decode()
    (number,) = struct.unpack("q", progress[:8])
    if status != 0:
        code = os.waitstatus_to_exitcode(status)
        ended = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        findings.append(Finding(operation, number, "", f"the process ended: {ended}", stacks))
    return findings, number, bool(progress[8]) or (status != 0 and number == 0)


def run_warm(
    operation: str, prepare: Prepare, fault: Fault, step: int
) -> tuple[list[Finding], int]:
    """Calls whose first run, which fills caches, is over; all in one child; every `step`-th fails.
    Returns the findings and the number of calls."""
    findings: list[Finding] = []
    number = 1 - step
    while True:
        found, number, is_over = run_child(
            operation, prepare, fault, itertools.count(number + step, step), True
        )
        findings += found
        if is_over or len(findings) >= MAX_FINDINGS:
            return findings, number - 1


def run_cold(
    operation: str, prepare: Prepare, fault: Fault, step: int
) -> tuple[list[Finding], int]:
    """The first run of the operation in a process, one child for each call; every `step`-th call
    fails."""
    findings: list[Finding] = []
    for number in itertools.count(1, step):
        found, _, is_over = run_child(operation, prepare, fault, iter([number]), False)
        findings += found
        if is_over or len(findings) >= MAX_FINDINGS:
            return findings, number - 1
    raise AssertionError
