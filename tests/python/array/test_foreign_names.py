# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Attributes of other libraries' arrays: the AttributeError of an array names the equivalent."""

import re

import numpy as np
import pytest

import spanwise as sw

FOREIGN = sorted(
    name for name, value in vars(sw.Array).items() if type(value) is sw._core._ForeignName
)
# Variables that the code in the remedies refers to, besides `a`.
SCOPE = {
    "spanwise": sw,
    "numpy": np,
    "shape": (2, 3),
    "axes": (1, 0),
    "axis": 0,
    "index": 0,
    "value": 1.0,
    "kth": 1,
    "mask": [[True, False, True]],
    "dtype": "float64",
    "source": np.zeros((2, 3), "float32"),
}


def message(array, name):
    with pytest.raises(AttributeError) as caught:
        getattr(array, name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("cpu", 'a.to("cpu")'),
        ("cuda", 'a.to("cuda:0")'),
        ("median", "spanwise.median(a)"),
        ("grad", "T.grad(cost, wrt)"),
        ("detach", "use a itself"),
        ("block_until_ready", "a.sync()"),
    ],
)
def test_error_names_the_equivalent(device, name, remedy):
    text = message(sw.ones(3, device=device), name)
    assert text.startswith(f"'spanwise.Array' object has no attribute '{name}'; ")
    assert remedy in text


@pytest.mark.parametrize("name", FOREIGN)
def test_code_of_each_remedy_runs(name):
    a = sw.ones((2, 3), "float32", device="cpu")
    remedy = message(a, name).partition("; ")[2].rpartition("use ")[2]
    # The code ends where the explanation of the remedy begins.
    code = re.match(
        r"(?:spanwise|numpy|memoryview|a)\b.*?(?=, or |, which|, in bytes| itself|$)", remedy
    )
    if code is None or "cuda:" in remedy:
        assert "T.grad(cost, wrt)" in remedy or "pickle.dump" in remedy or "cuda:" in remedy
        return
    statement = code[0].replace("tofile(file)", "tofile('/dev/null')")
    exec(statement, {**SCOPE, "a": a})


def test_foreign_names_are_absent_from_hasattr_and_dir(device):
    a = sw.ones(3, device=device)
    assert len(FOREIGN) > 30
    for name in FOREIGN:
        assert not hasattr(a, name) and not hasattr(sw.Array, name) and name not in dir(a)
    assert getattr(a, "grad", None) is None
    assert {"shape", "sum", "numpy"} < set(dir(a))
    with pytest.raises(AttributeError):
        a.grad = 1
    assert message(a, "no_such_name").endswith("has no attribute 'no_such_name'")


def test_subclasses_may_define_attributes_of_other_libraries():
    class Watched(sw.Array):
        grad = 3

        def __getattr__(self, name):
            return f"own {name}"

    a = Watched(np.ones(3))
    assert a.grad == 3 and a.cuda == "own cuda" and a.other == "own other"
