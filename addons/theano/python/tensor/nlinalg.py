# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.nlinalg``: the diagonal and the trace of a matrix."""

from spanwise.tensor import diag, trace

__all__ = ["diag", "trace"]
