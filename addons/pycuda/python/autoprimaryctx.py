# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""As autoinit, which uses the primary context too."""

from .autoinit import context, device

__all__ = ["context", "device"]
