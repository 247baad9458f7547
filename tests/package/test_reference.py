# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Each public name of the reference has an example in docs/site/examples.txt, which runs; what NumPy
computes too is NumPy's result."""

import sys

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw

sys.path.append(str(ROOT / "scripts"))
import reference

PAGES = reference.reference()
EXAMPLES = reference.read_examples()
RUNNABLE = [
    pytest.param(example, PAGES[module][name], id=f"{module}.{name}")
    for module, examples in EXAMPLES.items()
    if module in PAGES  # an addon whose packages are not installed
    for name, example in examples.of.items()
    if example.is_runnable()
]


def test_every_public_name_has_an_example():
    count, missing = 0, []
    for module, names in PAGES.items():
        for name, value in names.items():
            is_of_package = module != "spanwise" and reference.home(value) is not None
            count += 1
            if name not in EXAMPLES[module].of and not is_of_package:
                missing.append(f"{module}.{name}")
    assert not missing, f"{len(missing)} of {count}\n" + "\n".join(missing)
    assert count > 1200


def test_examples_are_of_public_names():
    other = [
        f"{module}.{name}"
        for module in PAGES
        for name in EXAMPLES[module].of
        if name not in PAGES[module]
    ]
    assert other == []


@pytest.mark.parametrize(("example", "value"), RUNNABLE)
def test_example_runs(example, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = getattr(value, "__name__", "")
    assert isinstance(example.run(name, value), str)


def test_results_are_numpys(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compared, different = 0, []
    for name, example in EXAMPLES["spanwise"].of.items():
        code = example.code
        if not hasattr(np, name) or "; " in code or not code.startswith(f"sw.{name}("):
            continue
        space = {"np": np, "x": np.array([3.0, 1.0, 2.0]), "i": np.array([6, 3, 5])}
        space["m"] = np.array([[1.0, 2.0], [3.0, 4.0]])
        try:
            expected = np.asarray(eval(code.replace("sw.", "np."), space))
        except (AttributeError, TypeError, ValueError):
            continue  # an argument that NumPy has not
        for key in ("x", "i", "m"):
            space[key] = sw.asarray(space[key])
        got = np.asarray(eval(code, {**space, "sw": sw}))
        compared += 1
        is_equal = got.shape == expected.shape and (
            np.allclose(got, expected, rtol=1e-12, equal_nan=True)
            if expected.dtype.kind in "biufc"
            else str(got) == str(expected)
        )
        if not is_equal and not code.startswith("sw.empty"):
            different.append(f"{code}: expected {expected!r}, got {got!r}")
    assert different == []
    assert compared > 250
