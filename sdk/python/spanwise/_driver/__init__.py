# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver API under PyCUDA's names; the public names are in `spanwise.driver`."""
