# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of another allocator that threads drop without Python's lock."""

import threading

import numpy as np
from python.process.host_block import HostBlock

import spanwise as sw
from spanwise import tensor


def test_blocks_that_a_thread_drops_go_back_while_the_main_thread_waits():
    """Memory dropped without Python's lock, by a function that runs without it."""
    x = tensor.fmatrix("x")
    f = sw.function([x], tensor.dot(tensor.dot(x, x), x).sum(), device="cpu", allow_gc=True)
    value = sw.asarray(np.eye(256, dtype="float32"))
    most = 0

    def counted(ordinal, nbytes, stream):
        nonlocal most
        block = HostBlock(nbytes)
        most = max(most, HostBlock.alive)
        return block

    def work():
        for _ in range(100):
            f(value)

    before = HostBlock.alive
    with sw.memory.use_allocator(counted, "cpu"):
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    assert before < most < before + 20
