# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Names and arguments of older libraries, for programs that were written against them."""
