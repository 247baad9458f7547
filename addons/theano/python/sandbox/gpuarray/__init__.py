# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.gpuarray``: the name of theano.gpuarray before Theano 0.9."""

from ...gpuarray import *  # noqa: F403
from . import basic_ops as basic_ops
