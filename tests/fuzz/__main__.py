# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares random operations with NumPy: python tests/fuzz --device cpu --cases 1000000 --seed 7 --processes 2

Run it with the package to test on PYTHONPATH. Each case is an operation on random layouts, dtypes
and values, determined by the seed and its number; `--case N` repeats one. All memory around the
arrays that a call may write is compared too, and on the CPU the arrays are next to inaccessible
pages. The exit code is 1 if any result is wrong.
"""

import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
if str(HERE.parent) not in sys.path:
    sys.path.insert(0, str(HERE.parent))


def arguments():
    parser = argparse.ArgumentParser(prog="tests/fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="number of one case to repeat, in this process")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", help="families, separated by commas")
    parser.add_argument(
        "--max-failures", type=int, default=20, help="number after which the run stops"
    )
    parser.add_argument(
        "--variations",
        type=int,
        default=1,
        help="consecutive cases that mostly share their kernels",
    )
    parser.add_argument("--seconds", type=float, help="begin no case after this time")
    parser.add_argument("--json", metavar="FILE", help="also write the outcome as JSON")
    options = parser.parse_args()
    options.only = options.only.split(",") if options.only else None
    return options


def command_of(options, number):
    only = f" --only {','.join(options.only)}" if options.only else ""
    if options.variations > 1:
        only += f" --variations {options.variations}"
    return (
        f"python tests/fuzz --device {options.device} --seed {options.seed}{only} --case {number}"
    )


def main():
    from fuzz.outcome import commit
    from fuzz.run import Pool, Runner, families

    options = arguments()
    families(options.only)
    if options.case is not None:
        runner = Runner(options.device, options.seed, options.only, options.variations)
        problem = runner.run(options.case)
        print(problem or f"case {options.case} is right: {runner.context.description()}")
        return 1 if problem else 0
    runner_options = (options.device, options.seed, options.only, options.variations)
    pool = Pool(runner_options, options.processes)
    begin, head = time.monotonic(), commit()
    last_report = [begin]

    def report(done, failure=None):
        if failure:
            print(f"WRONG {command_of(options, failure[0])}\n  {failure[1]}", flush=True)
        elif time.monotonic() - last_report[0] > 20:
            last_report[0] = time.monotonic()
            print(f"{done} cases, {done / (last_report[0] - begin):.0f} a second", flush=True)

    done = pool.run(options.first, options.cases, options.max_failures, report, options.seconds)
    seconds = time.monotonic() - begin
    print(
        f"{done} cases in {seconds:.1f} s, {done / seconds:.0f} a second; {len(pool.failures)} wrong"
    )
    print(", ".join(f"{name} {count}" for name, count in sorted(pool.counts.items())))
    if options.json:
        write(options, head, pool, done, seconds)
    return 1 if pool.failures else 0


def write(options, head, pool, done, seconds):
    import ml_dtypes
    import numpy as np

    from fuzz import outcome

    counts = dict(sorted(pool.counts.items()))
    errors = counts.pop("errors alike", 0)
    results = {
        "seed": options.seed,
        "first": options.first,
        "variations": options.variations,
        "cases": done,
        "wrong": len(pool.failures),
        "errors_alike": errors,
        "families": counts,
        "failures": [{"case": number, "problem": problem} for number, problem in pool.failures],
        "processes": options.processes,
    }
    description = "random layout x operation x dtype compared with NumPy, tests/fuzz"
    peers = (np, ml_dtypes)
    outcome.write(
        options.json, description, options.device, results, seconds=seconds, head=head, peers=peers
    )


if __name__ == "__main__":
    sys.exit(main())
