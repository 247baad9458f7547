# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What kernels of public CUDA files compute, in NumPy and float64. One module a repository."""
