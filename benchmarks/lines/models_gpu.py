# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of training, gradients and functions of rows on a GPU, beside PyTorch, CUDA graphs made by
hand, and JAX, with one precision of products; each time includes the wait."""

from gpu import first_gpu
from models import layer_norm, lstm, measure_on, mlp, pairwise, softmax, squares

MODELS = (
    mlp(128),
    mlp(2048),
    mlp(128, tf32=True),
    mlp(2048, tf32=True),
    lstm(16, 256),
    layer_norm(8192, 1024),
    softmax(8192, 1024),
    pairwise(2048, 16),
    squares(1 << 24),
)


def measure():
    yield from measure_on(first_gpu(), MODELS)
