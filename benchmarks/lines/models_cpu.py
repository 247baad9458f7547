# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of training, gradients and functions of rows on the CPU, beside PyTorch and JAX."""

from models import layer_norm, lstm, measure_on, mlp, pairwise, softmax, squares

MODELS = (
    mlp(128),
    lstm(8, 128),
    layer_norm(1024, 1024),
    softmax(1024, 1024),
    pairwise(256, 16),
    squares(1 << 20),
)


def measure():
    yield from measure_on("cpu", MODELS)
