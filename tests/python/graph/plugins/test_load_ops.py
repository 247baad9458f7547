# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops of libraries that sw.load_ops loads, built by several compilers with several C++
libraries."""

import pickle
import shutil
import threading

import numpy as np
import pytest
from python.graph.plugins.compile_plugin import SOURCES, compile_plugin

import spanwise as sw

T = sw.tensor


def cpu_function(inputs, outputs, **options):
    return sw.function(inputs, outputs, device="cpu", **options)


def test_op_with_two_outputs_reads_strided_inputs(ops):
    x, y = T.dvectors("x", "y")
    f = cpu_function([x, y], ops.both(x, y), mode="debug")
    rng = np.random.default_rng(1)
    for _ in range(20):
        n, a, b = rng.integers(0, 40), rng.integers(1, 4), -rng.integers(1, 4)
        p, q = rng.standard_normal((2, 200))
        p, q = p[::a][:n], q[::b][:n]
        total, difference = f(p, q)
        assert np.array_equal(total, p + q) and np.array_equal(difference, p - q)


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile", "debug"])
def test_lazy_op_requests_needed_inputs(ops, mode):
    condition, x = T.dscalar("condition"), T.dvector("x")
    bad = ops.throw(x, where="run", exception="plug-in error")
    f = cpu_function([condition, x], ops.choose(condition * 2, x + 1, bad), mode=mode)
    assert f(1, [1, 2]).tolist() == [2, 3] and f(3, [5]).tolist() == [6]
    with pytest.raises(sw.LayoutError, match="thrown by a test"):
        f(0, [1, 2])
    assert f(1, [1, 2]).tolist() == [2, 3], "a call after an error"
    g = cpu_function([condition, x], ops.choose(condition, x[::-1], x) + 1, mode=mode)
    assert [g(i, [1, 2]).tolist() for i in (1, 0, 1)] == [[3, 2], [2, 3], [3, 2]]


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile", "debug"])
def test_derivatives_of_a_lazy_op_are_those_of_the_inputs_that_it_needs(ops, mode):
    condition, x = T.dscalar("condition"), T.dvector("x")
    chosen = ops.choose(condition, T.sqrt(x), x * 3)
    f = cpu_function([condition, x], sw.tensor.grad(chosen.sum(), x), mode=mode)
    assert f(0, [0, 1]).tolist() == [3, 3], "the derivative of sqrt(0) is infinite"
    assert f(1, [4, 1]).tolist() == [0.25, 0.5]


def test_nested_lazy_ops_compute_only_the_chosen_inputs(gnu):
    p, q, x = T.dscalar("p"), T.dscalar("q"), T.dvector("x")
    bad = gnu.throw(x, where="run", exception="plug-in error")
    f = cpu_function([p, q, x], gnu.choose(p, gnu.choose(q, x * 2, bad), x * 3))
    assert f(1, 1, [1]).tolist() == [2] and f(0, 0, [1]).tolist() == [3]
    assert gnu.choose(0.0, np.ones(2), np.zeros(2)).tolist() == [0, 0], "a lazy op on arrays"


def test_ops_on_arrays_compute_immediately(ops, device):
    p, q = (np.random.default_rng(seed).standard_normal(7) for seed in (1, 2))
    total, difference = ops.both(sw.array(p, device=device), q)
    assert isinstance(total, sw.Array) and total.device == "cpu", "the op runs on the CPU"
    assert np.array_equal(total, p + q) and np.array_equal(difference, p - q)
    total, _ = ops.both(p[::-2], sw.array(q)[::2])
    assert np.array_equal(total, p[::-2] + q[::2])


def test_invalid_call_on_arrays_raises_with_a_reason(gnu):
    with pytest.raises(sw.LayoutError, match=r"(?s)gnu.throw.*thrown by a test.*Apply node"):
        gnu.throw(np.ones(3), where="run", exception="plug-in error")
    with pytest.raises(sw.LayoutError, match="gnu.both.*expected 1 axis, got 2"):
        gnu.both(np.ones((2, 2)), np.ones(2))
    with pytest.raises(sw.ArgumentError, match="expected a property shape"):
        gnu.show_properties(np.ones(3))
    with pytest.raises(sw.ArgumentError, match=r"1 4 0\.5.* 2\.3\.7\.8\."):
        gnu.show_properties(np.ones(3), shape=[2, 3], axis=4)


def test_complex_op_accepts_any_layout(gnu):
    x = T.tensor("complex64", shape=(None, None))
    f = cpu_function([x], gnu.conjugate(x), mode="debug")
    values = (np.arange(12) + 1j * np.arange(12)[::-1]).astype("complex64").reshape(3, 4)
    for view in (values, values.T, values[::-1, ::2], values[:0]):
        assert np.array_equal(f(view), view.conj())


def test_op_gets_properties_of_each_kind_and_their_defaults(ops):
    with pytest.raises(sw.ArgumentError, match=r": 1 -1 0\.500000 same 2\.3\.7\.8\.$"):
        ops.show_properties(T.dvector(), shape=(2, 3))
    with pytest.raises(sw.ArgumentError, match=r": 0 4 3\.000000 full 1\.$"):
        ops.show_properties(
            T.dvector(), shape=[], flag=False, axis=4, factor=3, mode="full", axes=[1]
        )


def test_overwriting_op_gets_copies_of_inputs_that_are_read_again(gnu):
    x = T.dvector("x")
    y = x * 2
    f = cpu_function([x], [gnu.overwrite(x), gnu.overwrite(y), x + 0], mode="debug")
    values = np.array([1.0, 2.0])
    for _ in range(2):
        assert [r.tolist() for r in f(values)] == [[2, 3], [3, 5], [1, 2]]
    assert values.tolist() == [1, 2]
    g = cpu_function([], gnu.overwrite(np.array([1.0, 2.0])))
    assert [g().tolist(), g().tolist()] == [[2, 3], [2, 3]]
    with pytest.raises(sw.GraphError, match="declare it in views or overwrites"):
        cpu_function([x], gnu.undeclared(x))(values)


def test_memory_of_an_unused_input_is_reused(gnu):
    x = T.dvector("x").transfer("cpu")
    f = cpu_function([x], gnu.increment(gnu.increment(gnu.increment(x))))
    assert [str(node.op) for node in f.maker.fgraph.toposort()].count("gnu.increment[(0, 0)]") == 2
    view = np.arange(10.0)[::-2]
    assert f(view).tolist() == [12, 10, 8, 6, 4]
    assert view.tolist() == [9, 7, 5, 3, 1]
    # The memory of the reversed argument is not reused: outputs are in C order.
    f = cpu_function([x], gnu.increment(x), mode="debug")
    assert f(view).tolist() == [10, 8, 6, 4, 2]


def test_view_op_accepts_any_layout_and_rejects_views_out_of_bounds(gnu, device):
    x = T.dmatrix("x")
    f = sw.function([x], gnu.diagonal(x) * 1, device=device)
    values = np.arange(12.0).reshape(3, 4)
    for view in (values, values.T, values[::-1, ::2]):
        assert np.array_equal(f(view), np.diagonal(view))
    outside = sw.function([x], gnu.diagonal(x, beyond=100), device=device)
    with pytest.raises(sw.LayoutError):
        outside(values)


def test_op_with_any_number_of_inputs_sums_them_in_scratch_memory(ops):
    variables = T.dvectors("a", "b", "c", "d")
    values = np.random.default_rng(2).standard_normal((4, 50))
    f = cpu_function(variables, ops.sum_all(*variables))
    for _ in range(3):
        assert np.allclose(f(*values), values.sum(axis=0))
    with pytest.raises(sw.GraphError, match="expected at least 1 input, got 0"):
        ops.sum_all()
    with pytest.raises(sw.GraphError, match="expected 2 inputs, got 1"):
        ops.both(variables[0])


def test_state_belongs_to_one_node_of_one_function(ops):
    f, g = cpu_function([], [ops.count(), ops.count()]), cpu_function([], ops.count())
    assert [int(n) for n in f()] == [1, 1]  # not merged, and not computed while compiling
    assert [int(n) for n in f()] == [2, 2]
    assert int(g()) == 1


def test_op_that_is_not_pure_runs_in_each_step_and_for_each_copy(ops):
    once = ops.count()
    copies = cpu_function([], [once, sw.clone(once)])
    assert len(copies.maker.fgraph.toposort()) == 2
    loop = cpu_function([], sw.graph.scan(lambda: ops.count(), n_steps=3))
    assert loop().tolist() == [1, 2, 3]


def test_kernels_run_on_every_device(ops, device):
    x, y = T.fmatrix("x"), T.fvector("y")
    f = sw.function([x, y], ops.axpy(x, y, a=0.5), device=device)
    values = np.random.default_rng(3).standard_normal((7, 300), dtype=np.float32)
    row = np.arange(300, dtype=np.float32)
    for view in (values, values[::-2], values[:, ::3]):
        y_values = row[: view.shape[1]].copy()
        expected = np.float32(0.5) * view + y_values
        assert np.allclose(f(sw.asarray(view, device=device), y_values), expected, atol=1e-5)


def test_kernels_have_dynamic_shared_memory(gnu, device):
    x = T.ivector("x")
    f = sw.function([x], gnu.reverse(x), device=device)
    for n in (1, 33, 256):
        assert np.array_equal(f(np.arange(n, dtype="int32")), np.arange(n)[::-1])


def test_cpu_op_runs_in_a_function_of_another_device(gnu, device):
    x, y = T.dvectors("x", "y")
    f = sw.function([x, y], gnu.both(x, y)[0] * 2, device=device)
    assert f([1.0, 2.0], [3.0, 4.0]).tolist() == [8, 12]


def test_gpu_only_op_in_a_function_on_the_cpu_raises(gnu):
    x = T.dvector("x")
    with pytest.raises(sw.DeviceError, match="runs on GPUs only, and was to run on cpu"):
        cpu_function([x], gnu.gpu_only(x))


def test_namespace_lists_its_ops_and_names_them_in_errors(gnu):
    assert gnu is not sw.ops.gnu and gnu == sw.ops.gnu
    assert "gnu" in dir(sw.ops) and {"both", "axpy"} <= set(dir(gnu))
    assert repr(gnu).startswith("<ops gnu: axpy, badly_lazy, both, ")
    with pytest.raises(AttributeError, match=r"no op named 'gnu\.boht'; the ops of gnu are"):
        gnu.boht  # noqa: B018
    assert str(gnu.both(T.dvector(), T.dvector())[0].owner.op) == "gnu.both"


def test_library_loaded_again_is_the_same_and_a_copy_of_it_raises(gnu, tmp_path):
    library = compile_plugin(
        "g++ -std=c++20 -DNAMESPACE=again", SOURCES / "many_ops.cpp", tmp_path / "libagain.so"
    )
    link = tmp_path / "link.so"
    link.symlink_to(library)
    loaded = []
    threads = [
        threading.Thread(target=lambda path=path: loaded.append(sw.load_ops(path)))
        for path in (library, str(link), library)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == [sw.ops.again] * 3
    copy = tmp_path / "libcopy.so"  # another file with the same names
    shutil.copy(library, copy)
    with pytest.raises(
        sw.GraphError, match=r"libcopy.so: an op named again\.\w+ is already registered"
    ):
        sw.load_ops(copy)


def test_pickled_op_is_found_by_its_name(gnu):
    x = T.dvector("x")
    node = gnu.diagonal(T.dmatrix("m"), beyond=3).owner
    f = cpu_function([x], gnu.increment(x))
    node2, f2 = pickle.loads(pickle.dumps((node, f)))
    assert node2.op == node.op and str(node2.op) == "gnu.diagonal{beyond=3}"
    assert f2([1.0, 2.0]).tolist() == [2, 3]
    with pytest.raises(sw.ArgumentError, match="no op named absent.op; load its library first"):
        sw._core._make_op("absent.op", {})


def test_functions_called_by_several_threads_keep_results_apart(gnu):
    x, y = T.dvectors("x", "y")
    node = gnu.both(x, y)
    functions = [cpu_function([x, y], node) for _ in range(2)]
    failed_seeds = []

    def call_often(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            p, q = rng.standard_normal((2, 30))
            total, difference = functions[seed % 2](p, q)
            if not (np.array_equal(total, p + q) and np.array_equal(difference, p - q)):
                failed_seeds.append(seed)

    threads = [threading.Thread(target=call_often, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed_seeds
