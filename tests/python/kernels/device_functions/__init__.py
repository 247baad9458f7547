# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's device functions with NumPy's or exact values, for the tests of both devices."""
