# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The loops of Theano's GPU tutorial: functions of spanwise.theano, compared with equal functions of
spanwise.

Each loop runs in a separate process: importing spanwise.theano changes the methods of variables.
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
#: Program of the tutorial (check1.py, check2.py) and its device -> device= of THEANO_FLAGS, and
#: whether the result stays on that device.
LOOPS = {
    "check1, device=cpu": ("cpu", False),
    "check1, device=gpu": ("gpu", False),
    "check2, device=gpu": ("gpu", True),
}


def loop(function):
    """A function that calls `function` `CALLS` times; each result is released after the next call,
    as in the tutorial."""

    def run():
        for _ in range(CALLS):
            r = function()
        return r

    return run


def times(device, stays_on_device):
    """Seconds per call in each round, by library; "theano" is spanwise.theano. Runs in a process
    whose THEANO_FLAGS name `device`."""
    from spanwise.theano import function, shared, tensor
    from spanwise.theano.sandbox.cuda.basic_ops import gpu_from_host

    values = np.random.RandomState(22).rand(SIZE).astype("float32")
    y = tensor.exp(shared(values))
    theano_function = function([], gpu_from_host(y) if stays_on_device else y)
    # With SPANWISE_DEVICE=cpu, spanwise.theano uses cpu:1 as Theano's GPU.
    target = "cpu" if device == "cpu" else "cpu:1"
    x = sw.shared(values, target=target)
    result = sw.Out(sw.exp(x), as_=None if stays_on_device else "numpy")
    spanwise_function = sw.function([], result, device=target)
    np.testing.assert_array_equal(
        np.asarray(theano_function()),
        np.asarray(spanwise_function().numpy() if stays_on_device else spanwise_function()),
    )
    timings = interleave(
        {"theano": loop(theano_function), "spanwise": loop(spanwise_function)},
        rounds=301,
        seconds=0.003,
    )
    return {name: [s / CALLS for s in timing.seconds] for name, timing in timings.items()}


def measure():
    folder = str(Path(__file__).resolve().parents[1])
    for name, (device, stays_on_device) in LOOPS.items():
        environment = {
            "THEANO_FLAGS": f"device={device},floatX=float32",
            "SPANWISE_DEVICE": "cpu",
            "PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")]),
        }
        call = f"times({device!r}, {stays_on_device})"
        program = f"import json; from lines.theano_cpu import times; print(json.dumps({call}))"
        process = subprocess.run(
            python(program),
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            # device=gpu prints a line about the device to stderr, as Theano does.
            stderr=subprocess.DEVNULL if device == "gpu" else None,
            check=True,
        )
        timings = json.loads(process.stdout)
        yield Result(
            f"exp loop {name}, {SIZE} float32",
            "theano",
            {library: Contender(seconds) for library, seconds in timings.items()},
            goal=("ratio", "spanwise", 1.02),
        )
