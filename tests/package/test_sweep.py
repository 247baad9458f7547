# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The sweep of benchmarks measures every public function that takes arrays, and calls each rightly."""

import re
import sys
import types
import warnings

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw

sys.path.append(str(ROOT / "benchmarks"))
import sweep
from sweep_functions import DTYPES, FUNCTIONS, NOT_SWEPT


def test_every_public_function_is_measured_or_left_out_for_a_reason():
    public = {
        name
        for name in dir(sw)
        if not name.startswith("_")
        and callable(getattr(sw, name))
        and not isinstance(getattr(sw, name), type | types.ModuleType | sw.dtype)
    }
    measured = {re.match(r"\w+", function.name).group() for function in FUNCTIONS} - {"a"}
    left_out = set(" ".join(NOT_SWEPT.values()).split())
    assert sorted((measured | left_out) - public) == []
    assert sorted(public - measured - left_out) == []


def test_names_of_uses_are_unique():
    uses = [(f.name, f.rank, f.dtypes) for f in FUNCTIONS]
    assert sorted({use for use in uses if uses.count(use) > 1}) == []


@pytest.mark.parametrize("name", sorted({function.name for function in FUNCTIONS}))
def test_each_use_computes_what_numpy_computes(name):
    ours, theirs = sweep._Spanwise("cpu"), sweep._NumPy()
    for function in FUNCTIONS:
        if function.name != name:
            continue
        rng = np.random.default_rng(1)
        layout = sweep._draw_layout(rng, function, 600)
        dtype = DTYPES[function.dtypes][0]
        state = rng.bit_generator.state
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            _, result = sweep._prepared(ours, function, dtype, layout, rng)
            rng.bit_generator.state = state
            try:
                _, expected = sweep._prepared(theirs, function, dtype, layout, rng)
            except (AttributeError, TypeError, ValueError):
                continue  # NumPy lacks the function or the option
        assert sweep._shape(result) == sweep._shape(expected)
