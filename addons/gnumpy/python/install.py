# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Importing this module makes ``import gnumpy`` import spanwise.gnumpy, unless Gnumpy is installed."""

from importlib import import_module as _import_module

from spanwise.compat import alias_package as _alias_package, is_installed as _is_installed

if not _is_installed("gnumpy"):
    _import_module("spanwise.cudamat.install")
    # The bridge of Gnumpy asks the module of CUDAMat where the memory of garrays is.
    _alias_package("gnumpy", __package__, lambda: _import_module("cudamat"))
