# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs compared with NumPy, and gradients of random graphs with differences, in all modes.

    PYTHONPATH=tests python -m fuzz.graphs --count 10000 --device cpu --json graphs.json
    PYTHONPATH=tests python -m fuzz.graphs --gradients --count 10000 --processes 16 --seconds 100
    PYTHONPATH=tests python -m fuzz.graphs --changing --count 10000

A graph is determined by its number (tests/support/graphs.py, gradient_graphs.py, changing_graphs.py). The exit code is 1
if a result was wrong, or a process died.
"""

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context

import numpy as np
from support.changing_graphs import ChangingGraph
from support.gradient_graphs import RandomCost
from support.graphs import MODES, RandomGraph

from fuzz import outcome

CHUNK = 10


def try_graph(kind, number, device, mode):
    """(whether the graph ran, its problem or None)."""
    try:
        return kind(number, device).check(mode), None
    except Exception as error:
        lines = str(error).splitlines() or [""]
        return True, f"graph {number} in mode {mode}: {type(error).__name__}: {lines[0]}"


def steps_of(kind, number, device):
    """The names of the ops that the graph consists of."""
    return {str(v.owner.op).split("{")[0] for v in kind(number, device).variables if v.owner}


class Findings:
    """The results of a number of graphs."""

    def __init__(self):
        self.graphs, self.ran, self.ops, self.wrong = 0, Counter(), Counter(), []

    def add(self, other):
        self.graphs += other.graphs
        self.ran.update(other.ran)
        self.ops.update(other.ops)
        self.wrong += other.wrong
        for problem in other.wrong:
            print("WRONG", problem, flush=True)


def chunk(kind, device, first, count, until):
    """Checks graphs `first` to `first + count` of a kind. Stops at the time `until`."""
    findings = Findings()
    with np.errstate(all="ignore"):
        for number in range(first, first + count):
            if time.time() > until:
                break
            findings.graphs += 1
            findings.ops.update(steps_of(kind, number, device))
            for mode in MODES:
                did_run, problem = try_graph(kind, number, device, mode)
                findings.ran[mode] += did_run
                if problem:
                    findings.wrong.append(problem)
    return findings


def check(options):
    """The findings of all graphs, with a line of progress every few seconds."""
    begin, last = time.time(), time.time()
    until = begin + (options.seconds or float("inf"))
    end, findings = options.first + options.count, Findings()
    kind = RandomGraph
    if options.gradients:
        kind = partial(RandomCost, orders=options.orders)
    elif options.changing:
        kind = ChangingGraph
    chunks = [
        (
            kind,
            options.device,
            first,
            min(CHUNK, end - first),
            until,
        )
        for first in range(options.first, end, CHUNK)
    ]
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        for done in as_completed(pool.submit(chunk, *each) for each in chunks):
            findings.add(done.result())
            if time.time() - last > 5:
                last = time.time()
                print(
                    f"{findings.graphs} of {options.count} graphs in {last - begin:.0f} s, "
                    f"{len(findings.wrong)} wrong",
                    flush=True,
                )
    return findings


def main():
    parser = argparse.ArgumentParser(prog="fuzz.graphs", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", metavar="FILE", help="also write the outcome as JSON")
    parser.add_argument("--gradients", action="store_true", help="check gradients, not values")
    parser.add_argument(
        "--changing",
        action="store_true",
        help="call with changing shapes; check values and gradients",
    )
    parser.add_argument("--orders", type=int, choices=(1, 2), default=2, help="of gradients")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="begin no graph after this time")
    options = parser.parse_args()
    begin, head = time.monotonic(), outcome.commit()
    findings = check(options)
    seconds = time.monotonic() - begin
    print(
        f"{findings.graphs} graphs in {seconds:.0f} s; ran {dict(findings.ran)}; {len(findings.wrong)} wrong"
    )
    if options.json:
        write(options, head, findings, seconds)
    return 1 if findings.wrong else 0


def write(options, head, findings, seconds):
    results = {
        "first": options.first,
        "graphs": findings.graphs,
        "ran": dict(findings.ran),
        "refused_as_overwriting_what_is_needed": {
            m: findings.graphs - findings.ran[m] for m in MODES
        },
        "wrong": len(findings.wrong),
        "failures": findings.wrong,
        "graphs_with_op": dict(sorted(findings.ops.items())),
    }
    description = (
        "random graphs beside NumPy, tests/fuzz/graphs.py; three calls of each in each mode"
    )
    if options.gradients:
        results["orders"] = options.orders
        description = "gradients of random graphs beside central differences, tests/fuzz/graphs.py --gradients"
    elif options.changing:
        description = (
            "random graphs and their gradients beside NumPy in long double, called with changing "
            "shapes, tests/fuzz/graphs.py --changing"
        )
    outcome.write(
        options.json, description, options.device, results, seconds=seconds, head=head, peers=(np,)
    )


if __name__ == "__main__":
    sys.exit(main())
