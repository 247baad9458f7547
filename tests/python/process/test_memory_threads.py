# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a Python allocator that is dropped by threads without the GIL."""

import threading

import numpy as np
from python.process.host_block import HostBlock

import spanwise as sw
from spanwise import tensor


def test_blocks_dropped_without_the_gil_are_freed_while_the_main_thread_waits():
    """A compiled function runs, and drops its intermediates, without the GIL."""
    x = tensor.fmatrix("x")
    f = sw.function([x], tensor.dot(tensor.dot(x, x), x).sum(), device="cpu", allow_gc=True)
    value = sw.asarray(np.eye(256, dtype="float32"))
    max_alive = 0

    def counted(ordinal, nbytes, stream):
        nonlocal max_alive
        block = HostBlock(nbytes)
        max_alive = max(max_alive, HostBlock.alive)
        return block

    def work():
        for _ in range(100):
            f(value)

    before = HostBlock.alive
    with sw.memory.use_allocator(counted, "cpu"):
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    # A call needs a few blocks; 100 calls that freed none would leave hundreds.
    assert before < max_alive < before + 20
