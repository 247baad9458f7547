# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""default_update of shared variables: updates that functions make by default."""

import copy
import pickle

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


def counter(start=0, step=1):
    n = sw.shared(start, "n")
    n.default_update = n + step
    return n


def value(x):
    return x.get_value().tolist()


def test_function_that_reads_the_variable_updates_it(device):
    n = counter()
    f = sw.function([], n * 10, device=device)
    assert [f().item() for _ in range(3)] == [0, 10, 20]
    assert value(n) == 3


def test_function_that_does_not_read_the_variable_does_not_update_it():
    n, x = counter(), T.dscalar("x")
    sw.function([x], x + 1)(1.0)
    assert value(n) == 0


def test_updates_of_the_function_have_priority():
    n = counter()
    sw.function([], n, updates={n: n + 5})()
    assert value(n) == 5


def test_no_default_updates_excludes_all_or_some():
    n, m = counter(), counter(step=2)
    sw.function([], n + m, no_default_updates=True)()
    assert (value(n), value(m)) == (0, 0)
    sw.function([], n + m, no_default_updates=[n])()
    assert (value(n), value(m)) == (0, 2)


def test_variables_read_by_updates_and_givens_are_updated():
    n, m = counter(), counter(step=2)
    w, x = sw.shared(0, "w"), T.lscalar("x")
    sw.function([], [], updates={w: n * 3 + 7})()
    assert (value(w), value(n)) == (7, 1)
    assert sw.function([], x * 1, givens={x: m})().item() == 0
    assert value(m) == 2


def test_variable_read_by_a_default_update_is_updated_too():
    n = counter()
    w = sw.shared(1, "w")
    w.default_update = w + n
    f = sw.function([], w)
    assert [f().item() for _ in range(4)] == [1, 1, 2, 4]
    assert value(n) == 4


def test_numbers_are_cast_and_none_removes_the_update():
    w = sw.shared(np.float32(2.5), "w")
    assert w.default_update is None
    w.default_update = 3
    assert w.default_update.dtype == "float32"
    sw.function([], w)()
    assert value(w) == 3.0
    w.default_update = None
    assert w.default_update is None
    w.default_update = w + 1
    del w.default_update
    assert w.default_update is None


@pytest.mark.parametrize("update", [T.fscalar(), T.dvector(), 2.5j])
def test_update_of_another_type_is_an_error(update):
    w = sw.shared(1.0, "w")
    with pytest.raises(sw.Error):
        w.default_update = update
    assert w.default_update is None


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_variable_and_function_are_copied_with_the_update(copied):
    n = counter()
    f = sw.function([], n)
    m, g = copied((n, f))
    assert m.default_update.owner.inputs[0] is m
    assert [g().item(), g().item()] == [0, 1] and value(m) == 2 and value(n) == 0
    assert sw.function([], m)().item() == 2 and value(m) == 3


def test_copied_function_has_the_updates_until_they_are_deleted():
    n = counter()
    f = sw.function([], n)
    assert [f.copy()().item(), f.copy(delete_updates=True)().item()] == [0, 1]
    assert value(n) == 1
