# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions with the names and arguments of older libraries (Theano, PyCUDA, CUDAMat, Gnumpy)."""
