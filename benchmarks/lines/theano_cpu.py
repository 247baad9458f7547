# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The loops of Theano's GPU tutorial: functions of spanwise.theano and the same ones of spanwise.

They run in processes of their own, since the modules of Theano change the methods of variables.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
from harness import Contender, Result, interleave, python

import spanwise as sw

SIZE = 10 * 30 * 768
CALLS = 20
#: Name -> the flag, and whether the result stays on the device.
LOOPS = {
    "check1, device=cpu": ("cpu", False),
    "check1, device=gpu": ("gpu", False),
    "check2, device=gpu": ("gpu", True),
}


def loop(function):
    """`CALLS` calls; each result is released after the next call, as in the tutorial."""

    def run():
        for _ in range(CALLS):
            r = function()
        return r

    return run


def times(device, stays):
    """The seconds per call of both functions, for the process in which THEANO_FLAGS are set."""
    from spanwise.theano import function, shared, tensor
    from spanwise.theano.sandbox.cuda.basic_ops import gpu_from_host

    values = np.random.RandomState(22).rand(SIZE).astype("float32")
    y = tensor.exp(shared(values))
    theirs = function([], gpu_from_host(y) if stays else y)
    name = "cpu" if device == "cpu" else "cpu:1"  # what stands for the GPU, as without the facade
    x = sw.shared(values, target=name)
    ours = sw.function([], sw.Out(sw.exp(x), as_=None if stays else "numpy"), device=name)
    np.testing.assert_array_equal(
        np.asarray(theirs()), np.asarray(ours().numpy() if stays else ours())
    )
    figures = interleave(
        {"theano": loop(theirs), "spanwise": loop(ours)}, rounds=301, seconds=0.003
    )
    return {name: [each / CALLS for each in found.seconds] for name, found in figures.items()}


def measure():
    folder = str(Path(__file__).resolve().parents[1])
    for name, (device, stays) in LOOPS.items():
        environment = {
            "THEANO_FLAGS": f"device={device},floatX=float32",
            "SPANWISE_DEVICE": "cpu",
            "PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")]),
        }
        program = f"import json; from lines.theano_cpu import times; print(json.dumps(times({device!r}, {stays})))"
        done = subprocess.run(
            python(program),
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if device == "gpu" else None,
            check=True,
        )
        figures = json.loads(done.stdout)
        yield Result(
            f"exp loop {name}, {SIZE} float32",
            "theano",
            {each: Contender(seconds) for each, seconds in figures.items()},
            goal=("ratio", "spanwise", 1.02),
        )
