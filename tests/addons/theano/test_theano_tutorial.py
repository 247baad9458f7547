# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Small programs in the style of Theano's tutorial give NumPy's values, in spanwise.theano and in
PyTensor."""

import json
import subprocess
import sys

import numpy as np
import pytest
from addons.theano.tutorial import PROGRAMS, START

THEANO = """
import spanwise.theano.install, theano, theano.tensor as T
from theano.ifelse import ifelse
"""
PYTENSOR = """
import pytensor as theano, pytensor.tensor as T, pytensor.gradient
from pytensor.ifelse import ifelse
"""
#: Prints {name: [values] or the error} for stdin, [text before each program, {name: program}].
DRIVER = """
import json, sys
import numpy as np
results = {}
start, programs = json.load(sys.stdin)
for name, program in programs.items():
    space = dict(theano=theano, T=T, np=np, ifelse=ifelse)
    try:
        exec(start + program, space)
        results[name] = [np.asarray(value).tolist() for value in space["result"]]
    except Exception as error:
        results[name] = f"{type(error).__name__}: {error}"
print("RESULTS", json.dumps(results))
"""


def run_all(imports):
    """{name: [values] or the error} of all programs, run after the lines `imports` in a new process."""
    stdin = json.dumps([START, {name: program for name, (program, _) in PROGRAMS.items()}])
    command = [sys.executable, "-c", imports + DRIVER]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.rpartition("RESULTS ")[2])


def check(result, expected):
    assert not isinstance(result, str), result
    assert len(result) == len(expected)
    for value, expected_value in zip(result, expected, strict=True):
        assert np.shape(value) == np.shape(expected_value)
        np.testing.assert_allclose(np.asarray(value, float), expected_value, rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def results():
    return run_all(THEANO)


@pytest.fixture(scope="module")
def results_of_pytensor():
    pytest.importorskip("pytensor", reason="PyTensor is not installed")
    return run_all(PYTENSOR)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_match_numpy(results, name):
    check(results[name], PROGRAMS[name][1])


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_match_pytensor(results, results_of_pytensor, name):
    if isinstance(results_of_pytensor[name], str):
        pytest.skip(f"PyTensor does not run it: {results_of_pytensor[name]}")
    check(results[name], [np.asarray(value) for value in results_of_pytensor[name]])
