# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The main thread forks children while other threads execute code of the library.

Each thread repeats one of TASKS, drawn at random. Each child executes every task once and must end with
status 0. Like children of multiprocessing, it does not run the exit handlers of the program.
"""

import faulthandler
import os
import random
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from itertools import count

import numpy as np

import spanwise as sw
from spanwise import tensor

# Python 3.12 and later warn of the fork of a process with threads, which is tested here.
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
sw.config.device = "cpu"  # a child cannot use a GPU that its parent has used
CHILDREN, THREADS = 4, 4
TIMEOUT = 90  # of a child, in seconds; far more than it needs
sys.setswitchinterval(1e-4)
counter = count()
ours = sw.ones((300, 300), "float32", device="cpu")
host = np.ones((40, 50), "float32")
generator = sw.random.default_rng(7)
x = tensor.matrix("x", dtype="float32")
total = sw.shared(np.zeros((), "float32"), "total")


class Twice(sw.Op):
    def make_node(self, value):
        return sw.Apply(self, [value], [value.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0]) * 2


native = sw.function([x], (x * 2 + 1).sum(), device="cpu", profile=True)
through_python = sw.function([x], Twice()(x), updates={total: total + 1}, device="cpu")
doubled = sw.ElementwiseKernel("T x", "T y", "y = x * 2", "doubled")


def compile_kernel(number):
    source = f"__global__ void k(int *x) {{ x[0] = {number}; }}"
    x = sw.zeros(1, "int32", device="cpu")
    sw.SourceModule(source, device="cpu").get_function("k")(x, block=1)
    assert x.tolist() == [number], x


TASKS = [
    lambda: compile_kernel(os.getpid() * 1000 + next(counter)),
    # A thread of the parent may be compiling the same kernel: a child must not wait for it.
    lambda: compile_kernel(1),
    lambda: native(host).tolist() == 2 * 40 * 50 + 40 * 50 or fail("native"),
    lambda: through_python(host)[0, 0] == 2 or fail("through_python"),
    lambda: generator.standard_normal((300, 300), dtype="float32", device="cpu"),
    lambda: float((ours @ ours)[0, 0]) == 300 or fail("product"),
    lambda: float((ours + ours).sum()) == 2 * 300 * 300 or fail("sum"),
    lambda: doubled(sw.ones(5, "float64", device="cpu")).tolist() == [2] * 5 or fail("doubled"),
    lambda: native.profile and sw.exp(ours),  # reads the profile that other threads write
    lambda: generator.state and generator.spawn(2),  # the same for the state of the generator
]


def fail(task):
    raise AssertionError(f"{task}: wrong result")


def repeat(task, stop):
    while not stop.is_set():
        task()


def in_child():
    faulthandler.enable()
    faulthandler.register(signal.SIGALRM, chain=True)  # a hanging child shows where it waits
    signal.alarm(TIMEOUT)
    status = 1
    try:
        for task in TASKS:
            task()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def main():
    stop = threading.Event()
    threads = [
        threading.Thread(target=repeat, args=(task, stop)) for task in random.sample(TASKS, THREADS)
    ]
    for thread in threads:
        thread.start()
    statuses = []
    for _ in range(CHILDREN):
        child = os.fork()
        if child == 0:
            in_child()
        statuses.append(os.waitpid(child, 0)[1])
    stop.set()
    for thread in threads:
        thread.join()
    assert statuses == [0] * CHILDREN, statuses


with tempfile.TemporaryDirectory() as folder:
    sw.config.cache_dir = folder
    main()
