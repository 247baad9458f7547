# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Methods of NumPy's ufuncs that are functions of their own."""

#: (ufunc, method) -> the function that does the same.
METHODS = {
    ("add", "reduce"): "sum",
    ("multiply", "reduce"): "prod",
    ("minimum", "reduce"): "min",
    ("maximum", "reduce"): "max",
    ("logical_and", "reduce"): "all",
    ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumsum",
    ("multiply", "accumulate"): "cumprod",
}
