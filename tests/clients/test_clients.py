# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The array API tests of SciPy and scikit-learn pass with the namespace `spanwise`: those of some modules
here; `python tests/clients/test_clients.py` runs all that are listed and prints the counts."""

import importlib.util
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
#: Module -> the tests that pass with the versions of VERSIONS. The first ones run here.
COUNTS = {
    "scipy.fft.tests.test_basic": 73,
    "scipy.special.tests.test_logsumexp": 397,
    "scipy.cluster.tests.test_hierarchy": 160,
    "sklearn.utils.tests.test_array_api": 285,
    "scipy.cluster.tests.test_vq": 26,
    "scipy.fft.tests.test_fftlog": 42,
    "scipy.fft.tests.test_helper": 19,
    "scipy.fft.tests.test_real_transforms": 1448,
    "scipy.integrate.tests.test_quadrature": 250,
    "scipy.signal.tests.test_windows": 87,
    "scipy.stats.tests.test_entropy": 49,
    "scipy.stats.tests.test_variation": 11,
    "sklearn.preprocessing.tests.test_data": 30,
    "sklearn.decomposition.tests.test_pca": 26,
}
VERSIONS = {"scipy": "1.17", "sklearn": "1.9"}
RUN_HERE = 4


def results_of(module):
    """(passed, failed, the end of pytest's output) of the array API tests of a module."""
    selection = "spanwise" if module.startswith("scipy") else "spanwise or array_api"
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "pytest",
        "-q",
        "-c",
        os.devnull,
        "--rootdir=/tmp",
    ]
    command += ["-p", "no:cacheprovider", "-p", "spanwise_namespace", "--tb=line", "-k", selection]
    paths = [str(FOLDER), *filter(None, sys.path)]
    settings = {
        "SCIPY_ARRAY_API": "1",
        "SPANWISE_DEVICE": "cpu",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    run = subprocess.run(
        [*command, "--pyargs", module],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=600,
        cwd="/tmp",
    )
    tail = run.stdout[-3000:] + run.stderr[-1000:]
    counts = dict.fromkeys(("passed", "failed", "error"), 0)
    for number, kind in re.findall(r"(\d+) (passed|failed|error)", tail.splitlines()[-1]):
        counts[kind] = int(number)
    return counts["passed"], counts["failed"] + counts["error"], tail


@pytest.mark.parametrize("module", list(COUNTS)[:RUN_HERE])
def test_array_api_tests_of_a_client_pass(module):
    package = module.partition(".")[0]
    pytest.importorskip(package, reason=f"{package} is not installed")
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{package} is installed without its tests")
    name = {"sklearn": "scikit-learn"}.get(package, package)
    passed, failed, output = results_of(module)
    assert failed == 0, output
    if version(name).startswith(VERSIONS[package] + "."):
        assert passed >= COUNTS[module], output


if __name__ == "__main__":
    for name in COUNTS:
        passed, failed, output = results_of(name)
        print(name, passed, "passed", failed, "failed", flush=True)
        if failed or not passed:
            print(output)
