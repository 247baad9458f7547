# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.blas_c``: the classes of ops that compiled programs show."""

from .._op_kinds import CGemv

__all__ = ["CGemv"]
