# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.signal``: pooling, and convolutions of images without channels."""

from . import conv as conv, downsample as downsample, pool as pool
