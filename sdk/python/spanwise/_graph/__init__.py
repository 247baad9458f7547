# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs: variables, ops and compiled functions, on top of `_core`; the public names are in `spanwise.graph`."""
