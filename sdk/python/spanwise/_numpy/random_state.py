# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The function that pickles of earlier versions' random generators refer to."""

from .random import _restored as _restored
