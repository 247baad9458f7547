# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of bridges, framework ops and Dask with other peers, for `make peers`.

Run by the interpreter of .cache/venv-newest, or of venv-oldest, it imports the package that .venv's interpreter built,
so both are of one version of Python.
"""

import importlib.metadata
import sys

from python_tests import python_tests_pass

#: The last one compares with NumPy 2's rules for dtypes, which older ones do not have.
FOLDERS = ("tests/bridges", "tests/addons/dask", "tests/python/functions")
PEERS = ("torch", "jax", "dask", "numpy", "zarr")


def main() -> int:
    for name in PEERS:
        try:
            print(f"spanwise: {name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            print(f"spanwise: {name} is not installed")
    is_numpy_2 = int(importlib.metadata.version("numpy").partition(".")[0]) >= 2
    return 0 if python_tests_pass("release", *FOLDERS[: 3 if is_numpy_2 else 2]) else 1


if __name__ == "__main__":
    sys.exit(main())
