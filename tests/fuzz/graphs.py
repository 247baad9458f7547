# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs compared with NumPy, and gradients of random graphs with differences, in all modes.

    PYTHONPATH=tests python -m fuzz.graphs --count 10000 --device cpu --json graphs.json
    PYTHONPATH=tests python -m fuzz.graphs --gradients --count 10000

A graph is determined by its number (tests/support/graphs.py, gradient_graphs.py). The exit code is 1
if a result was wrong.
"""

import argparse
import sys
import time
from collections import Counter

import numpy as np
from support.gradient_graphs import RandomCost
from support.graphs import MODES, RandomGraph

from fuzz import outcome


def tried(kind, number, device, mode):
    """(whether the graph ran, what was wrong)."""
    try:
        return kind(number, device).check(mode), None
    except Exception as error:
        lines = str(error).splitlines() or [""]
        return True, f"graph {number} in mode {mode}: {type(error).__name__}: {lines[0]}"


def steps_of(kind, number, device):
    """The names of the ops that the graph consists of."""
    return {str(v.owner.op).split("{")[0] for v in kind(number, device).variables if v.owner}


def main():
    parser = argparse.ArgumentParser(prog="fuzz.graphs", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", metavar="FILE", help="also write the outcome as JSON")
    parser.add_argument("--gradients", action="store_true", help="check gradients, not values")
    options = parser.parse_args()
    kind = RandomCost if options.gradients else RandomGraph
    begin, head = time.monotonic(), outcome.commit()
    ran, ops, wrong = Counter(), Counter(), []
    with np.errstate(all="ignore"):
        for number in range(options.first, options.first + options.count):
            ops.update(steps_of(kind, number, options.device))
            for mode in MODES:
                did_run, words = tried(kind, number, options.device, mode)
                ran[mode] += did_run
                if words:
                    wrong.append(words)
                    print("WRONG", words, flush=True)
    seconds = time.monotonic() - begin
    print(f"{options.count} graphs in {seconds:.0f} s; ran {dict(ran)}; {len(wrong)} wrong")
    if options.json:
        write(options, head, ran, ops, wrong, seconds)
    return 1 if wrong else 0


def write(options, head, ran, ops, wrong, seconds):
    found = {
        "first": options.first,
        "graphs": options.count,
        "ran": dict(ran),
        "refused_as_overwriting_what_is_needed": {m: options.count - ran[m] for m in MODES},
        "wrong": len(wrong),
        "failures": wrong,
        "graphs_with_op": dict(sorted(ops.items())),
    }
    what = "random graphs beside NumPy, tests/fuzz/graphs.py; three calls of each in each mode"
    if options.gradients:
        what = "gradients of random graphs beside central differences, tests/fuzz/graphs.py --gradients"
    outcome.write(
        options.json, what, options.device, found, seconds=seconds, head=head, peers=(np,)
    )


if __name__ == "__main__":
    sys.exit(main())
