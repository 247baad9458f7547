# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Spanwise's ops as ops of other frameworks: PyTorch and JAX."""
