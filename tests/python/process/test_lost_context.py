# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel that reads an illegal address ends the context of its GPU: all later calls of the process
name that, whichever state of the device they ask for first."""

import os
import subprocess
import sys

import pytest

PROGRAM = r"""
import sys
import numpy as np
import spanwise as sw

device = sw.device("cuda:0")
x = sw.arange(64, dtype="float32", device=device)
big = sw.zeros(1 << 22, dtype="float32", device=device)
stream = sw.Stream(device)
event = stream.record()
variable = sw.tensor.vector("v", dtype="float32")
graph = sw.function([variable], variable * 2 + 1, device=device)
graph(x)
stray = sw.SourceModule("__global__ void stray(long long address) { *(int *)address = 1; }", device=device)
stray = stray.get_function("stray")
exported = {}
try:
    import torch
    exported["torch"] = torch.ones(4, device="cuda")
except Exception:
    pass
raised = []
try:
    stray(np.int64(16), block=1)
    sw.synchronize(device)
except sw.DeviceError as error:
    raised.append(str(error))
assert len(raised) == 1, "the kernel ended without an error"
# The driver answers these without the context, in some versions.
MAY_ANSWER = {"event", "new stream", "new kernel", "memory", "attributes"}


def calls():
    yield "numpy", lambda: x.numpy()
    yield "tolist", lambda: x[3:5].tolist()
    yield "upload", lambda: sw.array(np.ones(4, "float32"), device=device)
    yield "large upload", lambda: sw.array(np.ones(1 << 22, "float32"), device=device)
    yield "large download", lambda: big.numpy()
    yield "assignment", lambda: x.__setitem__(slice(None), np.ones(64, "float32"))
    yield "copy", lambda: (x.copy(), sw.synchronize(device))
    yield "elementwise", lambda: ((x + 1).numpy())
    yield "product", lambda: (x.reshape(8, 8) @ x.reshape(8, 8)).numpy()
    yield "reduction", lambda: float(x.sum())
    yield "allocation", lambda: (sw.empty(1 << 24, dtype="float64", device=device), sw.synchronize(device))
    yield "graph", lambda: graph(x).numpy()
    yield "stream", lambda: stream.synchronize()
    yield "stream query", lambda: stream.query()
    yield "record", lambda: stream.record()
    yield "event", lambda: event.synchronize()
    yield "new stream", lambda: sw.Stream(device).synchronize()
    yield "new kernel", lambda: sw.SourceModule(
        "__global__ void other(int *p) { p[0] = 1; }", device=device
    ).get_function("other")
    yield "memory", lambda: sw.memory.stats(device)
    yield "attributes", lambda: sw.driver.Device(0).get_attributes()
    for name, array in exported.items():
        yield name, lambda array=array: sw.asarray(array).numpy()


for name, call in calls():
    try:
        call()
    except sw.DeviceError as error:
        text = str(error)
        assert "captured" not in text, (name, text)
        assert "illegal" in text or "context is lost" in text or "(700)" in text, (name, text)
    else:
        assert name in MAY_ANSWER, f"{name} did not raise"
print("named", flush=True)
"""

BLOCKING = r"""
import numpy as np
import spanwise as sw
module = sw.SourceModule("__global__ void culprit(long long address) { *(int *)address = 1; }", device="cuda:0")
culprit = module.get_function("culprit")
for _ in range(2):
    try:
        culprit(np.int64(16), block=1)
    except sw.DeviceError as error:
        assert "culprit" in str(error) and "captured" not in str(error), error
    else:
        raise AssertionError("no error at the launch")
print("named", flush=True)
"""


@pytest.mark.parametrize(
    ("program", "environment"),
    [
        (PROGRAM, {}),
        (PROGRAM, {"SPANWISE_KERNEL_LAUNCH": "graph"}),
        (BLOCKING, {"SPANWISE_LAUNCH_BLOCKING": "1"}),
    ],
    ids=["calls", "graph launches", "blocking"],
)
def test_all_calls_in_a_lost_context_name_the_reason(device, program, environment):
    if device.kind != "cuda":
        pytest.skip("a kernel on the CPU that reads an illegal address raises KernelFaultError")
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "named", "and the process ends in order"
