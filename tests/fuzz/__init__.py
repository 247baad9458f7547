# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random operations, layouts, dtypes and values, compared with NumPy; see __main__.py."""
