# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.cuda.blas``: classes of ops, which scripts test for and profiles print."""

from ..._ops import gpu_classes_of

globals().update(gpu_classes_of("sandbox.cuda.blas"))
