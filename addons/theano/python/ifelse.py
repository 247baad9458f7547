# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.ifelse``: computes one of two branches."""

from spanwise.tensor import ifelse as ifelse

__all__ = ["ifelse"]
