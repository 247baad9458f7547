# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that are written in Python on top of `_core`; `spanwise.<name>` finds them."""
