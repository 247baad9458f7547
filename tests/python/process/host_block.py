# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A block of host memory for tests of other allocators."""

import numpy as np


class HostBlock:
    """Memory of NumPy, aligned to 256 bytes; the class counts its live instances."""

    alive = 0

    def __init__(self, nbytes):
        self.memory = np.empty(nbytes + 256, "uint8")
        self.ptr = -(-self.memory.ctypes.data // 256) * 256
        HostBlock.alive += 1

    def __del__(self):
        HostBlock.alive -= 1
