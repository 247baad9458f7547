# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares Spanwise with a lower bound and installed peers: python benchmarks [LINE ...] [SEED] [--json FILE].

A LINE may be a pattern: '*_gpu'. The name of a line for one kind of device ends with that kind; without
it, both are run: `sweep 7` is sweep_cpu and sweep_gpu, which draw what they measure, from the seed 7.

Run it with the package to measure on PYTHONPATH; `make bench` does. Each line is a file of `lines/`
with a function `measure() -> Iterable[Result]`. Each round measures all contenders of a line in turn, in
one process (for process start-up, in one process per round), so that changes of the machine's speed
affect all of them. Claims are ratios between medians of one run; the spread is the interquartile range
of the rounds. listed_cpu is a table: its lines are compared by their fastest rounds, and a summary of
all lines is printed at the end.
"""

import argparse
import fnmatch
import importlib
import pathlib
import sys
import traceback

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "tests")]

import report  # noqa: E402
from harness import SEED, Unavailable  # noqa: E402
from support.cuda_process import leave_gpu_memory_to_others  # noqa: E402

leave_gpu_memory_to_others()


def lines() -> list[str]:
    return sorted(p.stem for p in (FOLDER / "lines").glob("[a-z]*.py"))


def matching(pattern: str) -> list[str]:
    """The lines of a pattern, or of a name without the kind of device."""
    return fnmatch.filter(lines(), pattern) or fnmatch.filter(lines(), f"{pattern}_[cg]pu")


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "line",
        nargs="*",
        help=f"the lines to run (default: all of {', '.join(lines())}), and a seed",
    )
    parser.add_argument("--without", metavar="PATTERN", help="the lines not to run")
    parser.add_argument("--json", metavar="FILE", help="also write every figure as JSON")
    parser.add_argument("--list", action="store_true", help="list the lines and exit")
    options = parser.parse_args()
    if options.list:
        print("\n".join(lines()))
        return 0
    SEED[:] = [int(word) for word in options.line if word.isdigit()][-1:] or [0]
    patterns = [word for word in options.line if not word.isdigit()]
    selected = [name for pattern in patterns for name in matching(pattern)]
    unknown = [pattern for pattern in patterns if not matching(pattern)]
    if unknown:
        parser.error(f"unknown line {', '.join(unknown)}; expected one of {', '.join(lines())}")
    excluded = set(fnmatch.filter(lines(), options.without)) if options.without else set()

    results, failed = [], []
    for name in selected or lines():
        if name in excluded:
            continue
        try:
            for result in importlib.import_module(f"lines.{name}").measure():
                print(report.as_text(result), flush=True)
                results.append(result)
        except Unavailable as reason:
            print(f"{name}: not measured: {reason}\n", flush=True)
        except Exception:  # the other lines' figures are not lost
            failed.append(name)
            traceback.print_exc()
    print(report.verdicts_as_text(results), end="", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(report.as_json(results))
    if failed:
        print(f"FAILED: {', '.join(failed)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
