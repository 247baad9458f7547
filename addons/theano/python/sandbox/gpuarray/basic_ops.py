# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.gpuarray.basic_ops``: the names of theano.gpuarray.basic_ops."""

from ...gpuarray.basic_ops import *  # noqa: F403
