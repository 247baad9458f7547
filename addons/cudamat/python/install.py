# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Importing this module makes ``import cudamat`` import spanwise.cudamat, unless CUDAMat is installed."""

from spanwise.compat import alias_package as _alias_package, is_installed as _is_installed

if not _is_installed("cudamat"):
    _alias_package("cudamat", __package__)
