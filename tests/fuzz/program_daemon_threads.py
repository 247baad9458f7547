# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The main thread exits with status 3 while daemon threads are inside the library.

The threads release and take the GIL explicitly (copies, additions, compiles) and run Python code that is
called from C++ (ops, attributes of foreign arrays, destructors), which gives up the GIL at any point.
"""

import functools
import sys
import threading

import numpy as np

import spanwise as sw
from spanwise import tensor

THREADS_PER_TASK = 2
sys.setswitchinterval(1e-5)


class Twice(sw.Op):
    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0]) * sum([1, 1])


class Foreign:
    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return dict(self.array.__array_interface__)

    def __del__(self):
        sum(range(10))


def task_makers():
    """Functions that each make a task for one thread."""
    host = np.ones((200, 200), "float32")
    ours = sw.ones((200, 200), "float32", device="cpu")
    x = tensor.matrix("x", dtype="float32")
    # One for each thread, because calls of one function exclude each other.
    functions = iter([sw.function([x], Twice()(x) + 1, device="cpu") for _ in range(16)])
    doubled = sw.SourceModule(
        "__global__ void k(float *x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }",
        device="cpu",
    ).get_function("k")
    return [
        lambda: lambda: ours + ours,
        lambda: lambda: sw.asarray(host, copy=True).numpy(),
        lambda: lambda: sw.asarray(Foreign(host)).sum(),
        lambda: functools.partial(next(functions), host),
        lambda: lambda: doubled(ours, np.int32(100), block=1, grid=1),
        lambda: lambda: sw.stack([Foreign(host), ours]),
    ]


def forever(task, started):
    task()
    started.release()
    while True:
        task()


def main():
    started = threading.Semaphore(0)
    tasks = [make() for make in task_makers() for _ in range(THREADS_PER_TASK)]
    for task in tasks:
        threading.Thread(target=forever, args=(task, started), daemon=True).start()
    for _ in tasks:
        started.acquire()
    sys.exit(3)


main()
