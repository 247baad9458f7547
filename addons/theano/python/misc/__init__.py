# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc``: conversions to and from PyCUDA, CUDAMat and Gnumpy."""
