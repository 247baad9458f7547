# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels in Python: ElementwiseKernel and its like, wrap_cu and HostLibrary."""
