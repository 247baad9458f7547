# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.basic``: the names of theano.tensor, and classes of ops."""

from spanwise.tensor import *  # noqa: F403

from .._op_names import Alloc as Alloc, Dot as Dot, Join as Join, Reshape as Reshape
from .extra import alloc as alloc, eye as eye, fill as fill, ones as ones, zeros as zeros
