# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.signal.downsample``: the former names of pooling."""

from .pool import pool_2d as max_pool_2d, pool_2d as pool_2d

__all__ = ["max_pool_2d", "pool_2d"]
