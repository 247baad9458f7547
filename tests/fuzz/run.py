# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Cases by number: in this process, or shared among several that may crash or hang."""

import ctypes
import multiprocessing
import time
import traceback
import warnings
from collections import Counter

import numpy as np

CHUNK = 500
HANG = 180  # seconds after which a case counts as hung


def families(only=None):
    """(name, case, share of the cases) of the families named in `only`, or of all."""
    from .families import FAMILIES

    unknown = set(only or ()) - set(FAMILIES)
    if unknown:
        raise SystemExit(
            f"--only: expected families among {', '.join(FAMILIES)}, got {', '.join(sorted(unknown))}"
        )
    return [(name, *FAMILIES[name]) for name in FAMILIES if not only or name in only]


class Runner:
    """Runs cases of one device in this process."""

    def __init__(self, device, seed, only=None, variations=1):
        from .context import Context

        self.context = Context(device, seed, variations=variations)
        self._families = families(only)
        self._total = sum(share for _, _, share in self._families)
        self.counts = Counter()

    def run(self, number):
        """None, or a description of the failure of the case."""
        context = self.context
        context.begin(number)
        position = context.r.random() * self._total
        for name, case, share in self._families:  # noqa: B007
            position -= share
            if position < 0:
                break
        self.counts[name] += 1
        try:
            return self._run(case, name)
        finally:
            self.counts["errors alike"] += context.outcome == "error"

    def _run(self, case, name):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                while True:
                    case(self.context)
                    if self.context.outcome is not None:
                        return None
                    self.context.clear()  # NumPy defines no result for this draw: draw again
            except Exception as error:
                return self._failure_text(name, error)

    def _failure_text(self, family, error):
        from .memory import Wrong

        if isinstance(error, Wrong):
            return f"{family}: {context_text(self.context)}: {error}"
        where = traceback.extract_tb(error.__traceback__)[-1]
        return (
            f"{family}: {context_text(self.context)}: the case itself failed: {type(error).__name__}: "
            f"{error} at {where.filename.rsplit('/', 1)[-1]}:{where.lineno}"
        )


def context_text(context):
    try:
        return context.description()
    except Exception as error:  # the description must not hide the failure
        return f"{context.name} ({error!r} while describing)"


# ---- Several processes ----


class _Shared:
    """Memory that the workers share: the number of the current case of each worker, which identifies
    the case of a crash, and whether to stop."""

    def __init__(self, context, count):
        self.current = context.RawArray(ctypes.c_int64, [-1] * count)
        self.stop = context.RawValue(ctypes.c_bool, False)


def _work(index, options, shared, chunks, results):
    runner = Runner(*options)
    while True:
        chunk = chunks.get()
        if chunk is None or shared.stop.value:
            break
        first, count = chunk
        failures = []
        done = 0
        for number in range(first, first + count):
            if shared.stop.value:
                break
            shared.current[index] = number
            failure = runner.run(number)
            if failure:
                failures.append((number, failure))
            done += 1
        results.put((index, done, failures, dict(runner.counts)))
        runner.counts.clear()
    shared.current[index] = -1
    results.put((index, 0, [], {}))


class Pool:
    """Processes that run cases, and are replaced if a case ends them or hangs."""

    def __init__(self, options, processes):
        self._options, self._processes = options, processes
        self._context = multiprocessing.get_context("spawn")
        self.counts, self.failures = Counter(), []

    def run(self, first, cases, max_failures, report, seconds=None):
        """Runs the cases; returns their number. None begins after `seconds`, or after `max_failures`."""
        context, end = self._context, time.monotonic() + (seconds or float("inf"))
        shared = _Shared(context, self._processes)
        chunks, results = context.Queue(), context.Queue()
        for start in range(first, first + cases, CHUNK):
            chunks.put((start, min(CHUNK, first + cases - start)))
        # Ends of work, also for replacements of workers.
        for _ in range(self._processes * 4):
            chunks.put(None)
        workers = [self._start(i, shared, chunks, results) for i in range(self._processes)]
        # The case of each worker when it was looked at last, and the time when it was new.
        seen = [(-1, time.monotonic())] * self._processes
        alive = set(range(self._processes))
        done = 0
        while alive:
            if time.monotonic() > end:
                shared.stop.value = True
            try:
                index, count, failures, counts = results.get(timeout=2)
            except Exception:
                self._replace_dead_workers(workers, alive, seen, shared, chunks, results, report)
                continue
            done += count
            self.counts.update(counts)
            if count == 0:
                alive.discard(index)
            for failure in failures:
                self._add(failure, report)
            if len(self.failures) >= max_failures:
                shared.stop.value = True
            report(done)
        for worker in workers:
            worker.join(10)
            if worker.is_alive():
                worker.kill()
        for queue in (chunks, results):
            queue.cancel_join_thread()
        return done

    def _start(self, index, shared, chunks, results):
        worker = self._context.Process(
            target=_work, args=(index, self._options, shared, chunks, results), daemon=True
        )
        worker.start()
        return worker

    def _add(self, failure, report):
        self.failures.append(failure)
        report(None, failure)

    def _replace_dead_workers(self, workers, alive, seen, shared, chunks, results, report):
        """Records the failures of workers that died or hang, and replaces these workers."""
        for i in list(alive):
            current, now = shared.current[i], time.monotonic()
            if workers[i].is_alive():
                if seen[i][0] != current:
                    seen[i] = (current, now)
                elif current >= 0 and now - seen[i][1] > HANG:
                    workers[i].kill()
                    workers[i].join()
                continue
            code = workers[i].exitcode
            self._add(
                (current, f"the process ended: exit code {code} (-11: memory outside of an array)"),
                report,
            )
            if shared.stop.value or current < 0:
                alive.discard(i)
                continue
            workers[i] = self._start(i, shared, chunks, results)
            seen[i] = (-1, now)
