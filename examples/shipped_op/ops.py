# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The op with its gradient. Only setup.py runs this: the wheel has the compiled declarations."""

from pathlib import Path

import spanwise as sw

SOURCE = Path(__file__).with_name("rms_norm.cu").read_text()

gradient_of_x = sw.kernel_op(
    "rms_norm_dx",
    SOURCE,
    inputs=["x: contiguous T[h, w]", "weight: contiguous T[w]", "dy: contiguous T[h, w]"],
    outputs="dx: contiguous T[h, w]",
    block=128,
    grid="h",
)
gradient_of_weight = sw.kernel_op(
    "rms_norm_dweight",
    SOURCE,
    inputs=["x: contiguous T[h, w]", "dy: contiguous T[h, w]"],
    outputs="dweight: contiguous T[w]",
    arguments=["x", "dy", "dweight", "h", "w"],
    block=128,
    grid="cdiv(w, 128)",
)
rms_norm = sw.kernel_op(
    "rms_norm",
    SOURCE,
    inputs=["x: contiguous T[h, w]", "weight: contiguous T[w]"],
    outputs="y: contiguous T[h, w]",
    block=128,
    grid="h",
    grad={"x": gradient_of_x, "weight": gradient_of_weight},
)
