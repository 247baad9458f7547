# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A plug-in of pytest (-p) that runs SciPy's and scikit-learn's tests of the array API with the namespace
`spanwise` in place of those that they list."""

import importlib.util

import pytest

import spanwise

if importlib.util.find_spec("sklearn"):
    from sklearn.utils import _array_api

    def _combinations(include_numpy_namespaces=True):
        yield "spanwise", None, "float64"
        yield "spanwise", None, "float32"

    _array_api.yield_namespace_device_dtype_combinations = _combinations
    _array_api.yield_namespaces = lambda include_numpy_namespaces=True: iter(["spanwise"])


@pytest.hookimpl(tryfirst=True)
def pytest_plugin_registered(plugin):
    """SciPy's fixture `xp` gives the namespace."""
    if getattr(plugin, "__name__", "") == "scipy.conftest":
        marker = plugin.xp._fixture_function_marker
        object.__setattr__(marker, "params", (spanwise,))
        object.__setattr__(marker, "ids", ("spanwise",))


def pytest_runtest_setup(item):
    """SciPy's marks for NumPy alone leave out the other namespaces that it knows, by their names."""
    for marker in (*item.iter_markers("skip_xp_backends"), *item.iter_markers("xfail_xp_backends")):
        if marker.kwargs.get("np_only"):
            pytest.skip(marker.kwargs.get("reason") or "SciPy: NumPy only")
    if "devices" in getattr(item, "fixturenames", ()):
        pytest.skip("SciPy adds a list to devices(), which is a tuple since version 2025.12")
