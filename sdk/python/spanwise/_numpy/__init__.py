# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy functions implemented in Python on top of `_core`; public as `spanwise.<name>`."""
