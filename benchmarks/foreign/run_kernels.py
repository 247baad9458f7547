# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs kernels of public CUDA files, which are compiled unchanged, and compares them with NumPy.

python benchmarks/foreign/run_kernels.py FOLDER [--device cuda:0] [--only PART] [--json FILE]

FOLDER has one folder OWNER_NAME for each repository (as for compile_sources.py). The
modules oracle_*.py compute the expected results in float64. The exit code is 1 if a kernel is wrong or does not run.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import oracle_darknet as darknet
import oracle_polybench as polybench

import spanwise as sw

SUITES = (polybench, darknet)


def as_argument(value, device):
    if isinstance(value, np.ndarray):
        return sw.array(value, device=device)
    if isinstance(value, (bool, int)):
        return np.int32(value)
    return np.float32(value) if isinstance(value, float) else value


def run(case, folder, include_dirs, device, modules):
    """A text about a wrong result; "" if all results are right."""
    key = (case.file, case.options)
    if key not in modules:
        file = folder / case.file
        modules[key] = sw.SourceModule(
            path=file, options=list(case.options), device=device, include_dirs=include_dirs
        )
    kernel = modules[key].get_function(case.kernel)
    arguments = {name: as_argument(value, device) for name, value in case.args.items()}
    kernel(*arguments.values(), block=case.block_shape(), grid=case.grid_shape())
    results = {k: v.numpy() for k, v in arguments.items() if isinstance(v, sw.Array)}
    return case.first_difference(results)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    right, wrong = {}, []
    for suite in SUITES:
        folder = options.folder / suite.REPOSITORY.replace("/", "_", 1)
        modules, dirs = {}, [folder / name for name in suite.INCLUDE_DIRS]
        for case in suite.cases():
            if options.only not in f"{case.file} {case.name}":
                continue
            try:
                problem = run(case, folder, dirs, options.device, modules)
            except sw.Error as error:
                problem = f"{type(error).__name__}: {str(error)[:300]}"
            if problem:
                wrong.append(f"{case.file} {case.name}: {problem}")
                print("WRONG", wrong[-1], flush=True)
            else:
                right.setdefault(suite.REPOSITORY, []).append(case.name)
    for repository, names in right.items():
        kernels = len({name.partition("[")[0] for name in names})
        print(f"{repository}: {len(names)} cases of {kernels} kernels right on {options.device}")
    print(f"{sum(map(len, right.values()))} right, {len(wrong)} wrong")
    if options.json:
        report = {"device": options.device, "right": right, "wrong": wrong}
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
