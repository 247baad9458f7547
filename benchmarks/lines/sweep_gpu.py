# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random lines over all public functions on a GPU; `benchmarks sweep SEED` draws others."""

import sweep
from gpu import first_gpu


def measure():
    yield from sweep.measure(first_gpu())
