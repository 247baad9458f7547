# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random layouts, operations, dtypes and devices against NumPy, by the million; see __main__.py."""
