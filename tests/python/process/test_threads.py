# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Threads that use the same function or kernel: none waits for a lock with the GIL held.

Each program runs in a new process with a time limit, which ends a deadlock.
"""

import os
import shlex
import shutil
import subprocess
import sys
import threading

import pytest

import spanwise as sw

PROFILE = """
import threading
import numpy as np
import spanwise as sw
from spanwise import tensor as T

inside, go_on = threading.Event(), threading.Event()

class Waits(sw.Op):
    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        inside.set()
        go_on.wait()
        output_storage[0][0] = np.asarray(inputs[0])

x = T.fvector("x")
f = sw.function([x], Waits()(x), device="cpu", profile=True)
caller = threading.Thread(target=f, args=(np.ones(3, "f4"),))
caller.start()
inside.wait()
readers = [threading.Thread(target=read) for read in (
    lambda: f.profile, lambda: f._profile_data(), lambda: f._profile_spans(), f.free)]
for reader in readers:
    reader.start()
for _ in range(100):  # the readers wait, and this thread runs
    threading.Event().wait(0.001)
go_on.set()
for thread in (caller, *readers):
    thread.join()
print(f._profile_data()[0])
"""

EACH_OTHER = """
import threading
import numpy as np
import spanwise as sw
from spanwise import tensor as T

both_run = threading.Barrier(2)

class CallsOther(sw.Op):
    __props__ = ("name",)

    def __init__(self, name):
        self.name, self.other, self.has_run = name, None, False

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0])
        if not self.has_run:
            self.has_run = True
            both_run.wait()
            self.other(np.asarray(inputs[0]))

x = T.fvector("x")
ops = [CallsOther("f"), CallsOther("g")]
f, g = (sw.function([x], op(x), device="cpu") for op in ops)
ops[0].other, ops[1].other = g, f
errors = []

def call(function):
    try:
        function(np.ones(3, "f4"))
    except sw.GraphError as error:
        errors.append(str(error))

threads = [threading.Thread(target=call, args=(function,)) for function in (f, g)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(errors), "ops call each other" in errors[0])
"""

# The compiler waits for a word in the named pipe, which the main thread can write only if it gets the
# GIL while the others compile.
COMPILES = """
import os, sys, threading
import spanwise as sw
import numpy as np

fifo = sys.argv[1]
kernel = {kernel}
{first}
os.environ["SPANWISE_TEST_FIFO"] = fifo
thread = threading.Thread(target=lambda: {second})
same_kernel = threading.Thread(target=lambda: {second})
thread.start()
same_kernel.start()
with open(fifo, "w") as word:
    word.write("go")
os.environ.pop("SPANWISE_TEST_FIFO")
thread.join()
same_kernel.join()
print({result})
"""

KERNELS = {
    "elementwise": {
        "kernel": "sw.ElementwiseKernel('T x', 'T y', 'y = x * 2', 'twice')",
        "first": "kernel(sw.ones(3, 'float32'))",
        "second": "kernel(sw.ones(3, 'float64'))",
        "result": "kernel(sw.ones(3, 'float64')).tolist()",
    },
    "reduction": {
        "kernel": "sw.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'total')",
        "first": "kernel(sw.ones(3, 'float32'))",
        "second": "kernel(sw.ones(3, 'float64'))",
        "result": "kernel(sw.ones(3, 'float64')).tolist()",
    },
    "scan": {
        "kernel": "sw.InclusiveScanKernel('float32', 'a + b')",
        "first": "kernel(sw.ones(3, 'float32'), 'new')",
        "second": "kernel(sw.ones((3, 4, 5), 'float32')[:, ::2], 'new', axis=1)",
        "result": "kernel(sw.ones(3, 'float32'), 'new').tolist()",
    },
}


def run(program, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "SPANWISE_DEVICE": "cpu", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_profile_is_read_while_another_thread_runs_the_function():
    assert run(PROFILE) == "1"


def test_mutually_recursive_functions_raise_instead_of_deadlocking():
    assert run(EACH_OTHER) == "1 True"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_other_threads_run_while_a_kernel_compiles(name, tmp_path):
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    fifo, script = tmp_path / "fifo", tmp_path / "slow_compiler"
    os.mkfifo(fifo)
    script.write_text(
        "#!/bin/sh\n"
        'if [ -n "$SPANWISE_TEST_FIFO" ] && [ "$1" != --version ]; then read word < "$SPANWISE_TEST_FIFO"; fi\n'
        f'exec {shlex.join(shlex.split(compiler))} "$@"\n'
    )
    script.chmod(0o700)
    result = run(
        COMPILES.format(**KERNELS[name]),
        str(fifo),
        CXX=str(script),
        SPANWISE_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert result in ("[2.0, 2.0, 2.0]", "3.0", "[1.0, 2.0, 3.0]")


def test_array_becomes_read_only_while_other_threads_read():
    is_running = True
    arrays = [sw.arange(70_000, dtype="float32", device="cpu") for _ in range(50)]
    current = arrays[0]

    def read():
        while is_running:
            assert float(current.copy()[-1]) == 69_999.0

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for current in arrays:
        current.copy()
        current.flags.writeable = False
        assert not current.flags.writeable
    is_running = False
    for reader in readers:
        reader.join()


LARGE_ARRAYS = """
import sys
import spanwise as sw

device, n = sys.argv[1], 100_000
makers = (
    sw.ones, sw.zeros, sw.empty, sw.arange,
    lambda n, device: sw.linspace(0, 1, n, device=device),
    lambda n, device: sw.full(n, 2, device=device),
    lambda n, device: sw.eye(300, device=device),
)
for make in makers:
    x = make(n, device=device)
    assert str(x.device) == device
    results = x + x, x.sum(), x.astype("float32"), x.copy(), x.to("cpu"), x[::2].reshape(-1)
print("done")
"""


@pytest.mark.parametrize("name", ["cpu:1", "cuda:0"])
def test_objects_are_made_with_the_gil(name, request):
    """The debug hooks of Python's allocator end a process that makes an object without the GIL."""
    if name == "cuda:0":
        request.getfixturevalue("gpu")
    assert run(LARGE_ARRAYS, name, PYTHONMALLOC="debug") == "done"
