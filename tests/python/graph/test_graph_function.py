# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.function: inputs, outputs, conversions, errors, memory."""

import gc
import threading
import weakref

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


@pytest.fixture
def x():
    return T.fmatrix("x")


def ones(*shape, dtype="float32"):
    return np.ones(shape, dtype)


def test_results_are_an_array_a_list_or_a_dict_as_the_outputs(x, device):
    single = sw.function([x], x + 1, device=device)(ones(2, 3))
    assert isinstance(single, sw.Array) and single.device == device
    assert np.array_equal(single, ones(2, 3) + 1)
    several = sw.function([x], [x + 1, x * 3], device=device)(ones(2, 3))
    assert isinstance(several, list) and float(several[1].numpy()[0, 0]) == 3
    named = sw.function([x], {"sum": x + 1, "product": x * 3}, device=device)(ones(2, 3))
    assert list(named) == ["sum", "product"] and float(named["product"].numpy()[0, 0]) == 3
    assert sw.function([], [], device=device)() == []
    assert sw.function([x], [x], device=device)(ones(1, 1))[0].shape == (1, 1)


def test_arguments_by_position_by_name_and_by_default(x):
    y = T.fmatrix("y")
    f = sw.function([x, sw.In(y, value=ones(1, 1) * 10)], x - y, name="f")
    assert float(f(ones(1, 1)).item()) == -9
    assert float(f(ones(1, 1), ones(1, 1)).item()) == 0
    assert float(f(y=ones(1, 1) * 3, x=ones(1, 1)).item()) == -2
    assert float(f(ones(1, 1), y=ones(1, 1) * 3).item()) == -2
    g = sw.function([sw.In(x, name="left"), y], x - y)
    assert float(g(left=ones(1, 1) * 5, y=ones(1, 1)).item()) == 4


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((), {}, "Missing required input: x"),
        ((ones(1, 1),), {"x": ones(1, 1)}, "input x was given twice"),
        (
            (ones(1, 1), ones(1, 1)),
            {},
            "Too many parameters passed to function f: expected at most 1, got 2",
        ),
        ((), {"z": 1}, "there is no input named z"),
        (
            (ones(1, 1, dtype="float64"),),
            {},
            "index 0 .*x of .*expected dtype float32, got float64",
        ),
        ((ones(1),), {}, r"expected 2 axes, got 1 \(shape \(1,\)\)"),
        ((2.5,), {}, "expected 2 axes, got 0"),
        ((object(),), {}, "Bad input argument to function f at index 0"),
    ],
)
def test_bad_arguments_name_function_and_input(x, arguments, keywords, message):
    f = sw.function([x], x, name="f")
    with pytest.raises(sw.InputError, match=message) as caught:
        f(*arguments, **keywords)
    assert isinstance(caught.value, sw.GraphError) and isinstance(caught.value, TypeError)
    assert np.array_equal(f(ones(2, 2)), ones(2, 2))


def test_inputs_are_cast_only_without_loss_unless_allowed():
    x = T.dvector("x")
    f = sw.function([x], x)
    assert f(np.arange(3, dtype="float32")).dtype == "float64"
    assert f(np.arange(3, dtype="int32")).tolist() == [0, 1, 2]
    i = T.ivector("i")
    with pytest.raises(sw.InputError, match="allow_input_downcast"):
        sw.function([i], i)(np.array([2.5]))
    assert sw.function([i], i, allow_input_downcast=True)(np.array([2.5])).tolist() == [2]
    with pytest.raises(sw.InputError, match="strict"):
        sw.function([sw.In(x, strict=True)], x)(np.arange(3, dtype="float32"))


def test_python_numbers_take_the_dtype_of_the_input_if_it_holds_them():
    x, i = T.fscalar("x"), T.tensor("int8", (), "i")
    f, g = sw.function([x], x), sw.function([i], i)
    assert f(2.5).item() == 2.5 and f(3).item() == 3 and f(True).item() == 1
    assert g(3).item() == 3
    with pytest.raises(sw.InputError, match="got the Python number 2.5"):
        g(2.5)
    with pytest.raises(OverflowError):
        g(300)
    v = T.fvector("v")
    assert sw.function([v], v)([1, 2.5]).tolist() == [1, 2.5]
    with pytest.raises(sw.InputError):
        sw.function([sw.In(v, allow_downcast=False)], v)([1, 2.5])


def test_inputs_of_any_library_are_accepted(x, device):
    f = sw.function([x], x * 2, device=device)
    jax = pytest.importorskip("jax")
    for value in (ones(2, 2), sw.ones((2, 2), dtype="float32"), jax.numpy.ones((2, 2), "float32")):
        assert np.array_equal(f(value), ones(2, 2) * 2)


@pytest.mark.parametrize("library", ["numpy", "jax"])
def test_out_as_returns_array_of_that_library(x, library, device):
    pytest.importorskip(library)
    f = sw.function([x], [sw.Out(x + 1, as_=library), x], device=device)
    theirs, ours = f(ones(2, 3))
    assert type(theirs).__module__.split(".")[0] in (library, "jaxlib")
    assert isinstance(ours, sw.Array)
    assert np.array_equal(np.asarray(theirs), ones(2, 3) + 1)


def test_unknown_library_raises_at_compile_time(x):
    with pytest.raises(sw.Error, match="no_such_library"):
        sw.function([x], sw.Out(x, as_="no_such_library"))


def test_inputs_are_moved_to_the_functions_device(x, device):
    f = sw.function([x], x + 1, device=device)
    for source in sw.devices():
        assert f(sw.ones((2, 2), dtype="float32", device=source)).device == device


def test_function_runs_on_the_default_device_of_its_compilation(x, device):
    with device:
        f = sw.function([x], x + 1)
    assert f.device == device and f(ones(1, 1)).device == device


def test_results_share_no_memory_with_inputs_or_constants(x, device):
    c = T.constant(ones(1, 2))
    f = sw.function([x], [x, x, c, x + 1], device=device)
    argument = sw.asarray(ones(1, 2), device=device)
    first = f(argument)
    for result in first:
        result[...] = -1
    assert np.array_equal(argument, ones(1, 2))
    assert [r.tolist() for r in f(argument)] == [[[1, 1]], [[1, 1]], [[1, 1]], [[2, 2]]]


def test_readonly_inputs_are_accepted(x):
    value = ones(2, 2)
    value.flags.writeable = False
    assert np.array_equal(sw.function([x], x + 1)(value), value + 1)


def test_maker_has_the_compiled_graph(x):
    y = x + 1
    f = sw.function([x], y * 2, name="f")
    nodes = f.maker.fgraph.toposort()
    assert [str(node) for node in nodes] == [
        "Composite{((i0 + i1) * i2)}(x, TensorConstant{1.0}, TensorConstant{2.0})"
    ]
    assert f.name == "f" and "1 nodes" in repr(f)
    assert f.maker.fgraph.inputs == [x] and x in f.maker.fgraph.variables


def test_givens_replace_variables_of_equal_type(x):
    y = T.fmatrix("y")
    z = x * 2
    assert sw.function([y], z, givens={x: y + 1})(ones(1, 1)).item() == 4
    assert sw.function([], z, givens=[(x, ones(1, 1) * 7)])().item() == 14
    with pytest.raises(sw.GraphError, match="givens"):
        sw.function([x], z, givens={x: y})
    with pytest.raises(sw.GraphError, match="float64"):
        sw.function([], z, givens={x: T.dmatrix("d")})


def test_unused_input_raises_warns_or_is_ignored(x):
    y = T.fmatrix("y")
    with pytest.raises(sw.GraphError, match="index 1, y"):
        sw.function([x, y], x)
    with pytest.warns(UserWarning, match="index 1, y"):
        sw.function([x, y], x, on_unused_input="warn")
    assert sw.function([x, y], x, on_unused_input="ignore")(ones(1, 1), ones(1, 1)).item() == 1
    with pytest.raises(ValueError, match="on_unused_input"):
        sw.function([x, y], x, on_unused_input="perhaps")


def test_missing_repeated_or_unsuitable_inputs_raise(x):
    with pytest.raises(sw.GraphError, match="neither an input nor a constant"):
        sw.function([], x + 1)
    with pytest.raises(sw.GraphError, match="occurs twice"):
        sw.function([x, x], x)
    with pytest.raises(TypeError, match="must be a list"):
        sw.function(x, x)
    with pytest.raises(TypeError, match="expected a Variable"):
        sw.function([3], x)


def test_eval_computes_with_the_given_inputs(x):
    assert (x * 3).eval({x: ones(1, 1)}).item() == 3
    assert (T.constant(2.0) * 4).eval().item() == 8
    z = x + 1
    assert [z.eval({x: ones(1, 1) * i}).item() for i in range(3)] == [1, 2, 3]


def test_function_can_be_called_after_free(x):
    f = sw.function([x], (x + 1) * 2)
    assert f(ones(1, 1)).item() == 4
    assert f.free() is None
    assert f(ones(1, 1)).item() == 4


class Unprintable(np.ndarray):
    def __repr__(self):
        raise AssertionError("an accepted input is formatted")

    __str__ = __format__ = __repr__


def test_accepted_inputs_are_not_formatted(x):
    argument = ones(4, 5).view(Unprintable)
    for rule in ({}, {"strict": True}, {"allow_downcast": True}):
        f = sw.function([sw.In(x, **rule)], x + 1, device="cpu")
        assert np.array_equal(f(argument), ones(4, 5) + 1)
    shared = sw.shared(ones(4, 5), target="cpu")
    shared.set_value(argument)
    assert np.array_equal(sw.function([], shared * 3, device="cpu")(), ones(4, 5) * 3)


def test_trust_input_accepts_arrays_only(x):
    f = sw.function([x], x + 1)
    assert f.trust_input is False
    f.trust_input = True
    assert f(sw.ones((1, 1), dtype="float32")).item() == 2
    with pytest.raises(sw.InputError, match="trust_input"):
        f(ones(1, 1))


def test_transfer_to_the_same_device_is_a_no_op(device):
    x = T.tensor("float32", (None, None), "x", device=device)
    assert x.transfer(device) is x
    y = T.fmatrix("y").transfer(str(device))
    assert y.type.device == device and str(y.owner.op) == f"Transfer{{{device}}}"


def test_transfer_moves_results(x, device):
    result = sw.function([x], (x + 1).transfer("cpu") * 2, device=device)(ones(2, 2))
    assert result.device == sw.device("cpu") and np.array_equal(result, ones(2, 2) * 4)


def test_contiguous_keeps_the_values_of_any_layout(x):
    f = sw.function([x], sw.contiguous(x.transfer("cpu")) + 0, device="cpu")
    value = np.arange(6, dtype="float32").reshape(2, 3)
    assert np.array_equal(f(value.T), value.T)
    assert np.array_equal(f(value[::-1]), value[::-1])


def test_functions_and_their_arrays_are_freed(x):
    class Held(np.ndarray):
        pass

    held = ones(2, 2).view(Held)
    input_ref = weakref.ref(held)
    f = sw.function([x], x + 1)
    function_ref = weakref.ref(f)
    f(held)
    del held
    gc.collect()
    assert input_ref() is None, "a function must release its inputs after the call"
    del f
    gc.collect()
    assert function_ref() is None


def test_calls_from_several_threads_keep_results_apart(x, device):
    f = sw.function([x], (x + 1) * 2, device=device)
    wrong_results = []

    def call_often(value):
        for _ in range(200):
            result = f(np.full((3, 3), value, "float32")).numpy()
            if not (result == (value + 1) * 2).all():
                wrong_results.append((value, result))

    threads = [threading.Thread(target=call_often, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong_results
