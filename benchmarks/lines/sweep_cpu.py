# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random lines over all public functions on the CPU; `benchmarks sweep SEED` draws others."""

import sweep


def measure():
    yield from sweep.measure("cpu")
