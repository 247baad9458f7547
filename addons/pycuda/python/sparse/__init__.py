# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of ``pycuda.sparse``: products of sparse matrices with vectors, and conjugate
gradients."""
