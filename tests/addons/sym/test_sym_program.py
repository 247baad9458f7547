# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Symbolic arrays: when their inputs are read, and the generated programs."""

import subprocess
import sys

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw
from spanwise import sym


def numbers(*shape):
    return np.random.default_rng(7).uniform(-2, 2, shape)


def assert_same(x, expected):
    for got in (x.asNumpy(), x.asCUDA().numpy()):
        assert got.shape == np.shape(expected)
        np.testing.assert_allclose(got, expected, rtol=1e-12)


# ---- When values are read ----


class Unreadable:
    """An array whose values cannot be read."""

    shape, dtype = (3, 4), np.dtype("float64")

    def _fail(self, *args, **kwargs):
        raise AssertionError("the values were read")

    __array__ = __dlpack__ = __dlpack_device__ = __getitem__ = __len__ = __iter__ = _fail


def test_expressions_are_not_evaluated_before_a_conversion():
    x = sym.array(Unreadable())
    y = np.dot(np.exp(x) * 2, x.T)[0].sum(keepdims=True) + np.where(x > 0, x, 1).mean()
    assert (y.shape, y.dtype, len(x), x.T.shape) == ((1,), np.float64, 3, (4, 3))
    assert "np.exp" in y.numpy_code() and "sw.exp" in y.cuda_code()
    assert repr(y).startswith("SymArray(add: float64 (1,), test_sym_program.py:")
    for evaluate in (y.asNumpy, y.asCUDA):
        with pytest.raises((AssertionError, sw.Error)):
            evaluate()


def test_later_values_are_seen_and_inputs_stay_unchanged():
    values = numbers(3, 4)
    x = sym.array(values)
    views = [x.T, x[1:], x.reshape(4, 3), x, np.broadcast_to(x, (2, 3, 4))]
    for view in views:
        before = values.copy()
        view.asNumpy()[...] = 9
        view.asCUDA()[...] = 9
        np.testing.assert_array_equal(values, before)
    y = x.sum(axis=0)
    y.asCUDA(), y.asNumpy()
    values[...] = 3
    assert y.asCUDA().tolist() == y.asNumpy().tolist() == [9, 9, 9, 9]


def test_change_of_shape_is_an_error_with_both_shapes():
    values = np.zeros(6)
    x = sym.array(values) + 1
    values.resize((2, 3), refcheck=False)
    with pytest.raises(
        ValueError, match=r"had shape \(6,\).*test_sym_program.py.*now it has \(2, 3\)"
    ):
        x.asNumpy()


def test_compiled_function_is_reused(device):
    x = np.exp(sym.array(numbers(2, 3))) + 1
    first = x.asCUDA(device)
    compiled = x._node.prepared[str(device)]
    second = x.asCUDA(device)
    assert x._node.prepared == {str(device): compiled}
    assert first.device == second.device == device
    second[...] = 0
    np.testing.assert_allclose(first.numpy(), x.asNumpy())


def test_leaves_of_several_libraries_mix(device):
    values = numbers(2, 3)

    class OnlyDlpack:
        shape, dtype = (2, 3), "float64"

        def __dlpack__(self, **kwargs):
            return values.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return values.__dlpack_device__()

    x = sym.array(values)
    ours = sw.array(values, device=device)
    assert_same(x + OnlyDlpack(), values * 2)
    for mixed in (x + ours, ours + x, sym.dot(ours, x.T), x * values, values - x):
        assert type(mixed) is sym.SymArray
        assert sym.check(mixed)["cuda"] < 1e-12
    assert_same(sym.add([1, 2], 3), [4, 5])


def test_torch_tensors_are_leaves():
    torch = pytest.importorskip("torch")
    values = torch.arange(6.0).reshape(2, 3)
    for mixed in (sym.array(values) * 2, sym.array(values.numpy()) + values):
        assert mixed.dtype == np.float32
        np.testing.assert_array_equal(mixed.asNumpy(), values.numpy() * 2)
        assert sym.check(mixed)["cuda"] == 0


# ---- Programs ----


def test_program_has_each_value_once():
    values = numbers(3, 4)
    x, y = sym.array(values, name="x"), sym.array(values, name="again")
    z = (x * 2).T + (y * 2).T + np.exp(x * 2).T
    code = z.numpy_code()
    assert code.startswith("import numpy as np\n\n\ndef program(x):")
    assert code.count("* 2") == 1 and code.count("np.exp") == 1
    assert list(z.inputs()) == ["x"] and z.inputs()["x"] is values
    assert "x * 2.0" in (x * 2 + x * 2.0).numpy_code()  # 2 and 2.0 are different arguments


def test_names_are_identifiers_and_differ():
    values = [numbers(2) for _ in range(4)]
    x, y, class_, program = map(sym.array, values, [None] * 4, ["my x", "my x", "class", "program"])
    z = x + y + class_ + program
    z.name = "sum"
    assert_same(z, sum(values))
    names = list(z.inputs())
    assert len(set(names)) == 4 and all(name.isidentifier() for name in names)


def test_names_of_inputs_precede_those_of_results():
    x = sym.array(numbers(2), name="x")
    y = sym.array(numbers(2), name="h") * 2
    y.name = "x"
    assert list((y + x).inputs()) == ["h", "x"]
    assert "x_2 = h * 2" in (y + x).numpy_code()


def test_functions_for_numpy_accept_symbolic_arrays():
    """Back-propagation in NumPy notation, compiled to CUDA."""
    X, x, z, h = numbers(7, 5), numbers(7, 5), numbers(7, 5), numbers(7, 3)  # noqa: N806

    def gradient(X, W, x, z, h, dot):  # noqa: N803
        delta_o = -(x - z)
        delta_h = dot(delta_o, W) * h * (1.0 - h)
        return dot(X.T, delta_h)

    W = numbers(5, 3)  # noqa: N806
    grad_W = gradient(X, sym.array(W), x, z, h, sym.dot)  # noqa: N806
    assert grad_W.shape[0] == 5 and grad_W.dtype == np.float64
    expected = gradient(X, W, x, z, h, np.dot)
    np.testing.assert_array_equal(grad_W.asNumpy(), expected)
    np.testing.assert_allclose(grad_W.asCUDA().numpy(), expected, rtol=1e-12, atol=1e-12)


def test_each_line_names_its_source_location():
    x = sym.array(numbers(2, 2))
    y = np.exp(x)
    line = sys._getframe().f_lineno - 1
    assert f"t0 = np.exp(x0)  # test_sym_program.py:{line}" in y.numpy_code()
    assert y.place == f"{__file__}:{line}"


def test_cuda_program_runs_outside_sym():
    values = numbers(3, 4)
    x = np.tanh(sym.array(values, name="x")).sum(axis=1)
    names = {}
    exec(x.cuda_code(), names)
    compiled = names["compiled"]("cpu")
    np.testing.assert_allclose(compiled(values).numpy(), np.tanh(values).sum(axis=1))
    with pytest.raises(ValueError, match="expected one of numpy, spanwise, cudamat, got 'fortran'"):
        x.commands("fortran")


def test_deep_expressions_need_no_recursion():
    x = start = sym.array(np.ones(2))
    for _ in range(3000):
        x = x + start
    assert x.asNumpy().tolist() == x.asCUDA().tolist() == [3001, 3001]


def test_importing_spanwise_does_not_import_sym():
    program = (
        "import sys, spanwise; assert not [m for m in sys.modules if 'sym' in m.split('.')[-1]]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_example_runs(device):
    command = [sys.executable, str(ROOT / "examples/07_symbolic_numpy.py"), "--device", str(device)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "np.dot(X.T, " in output and "sw.dot(X.T, " in output and "cm.dot(X.T, " in output


@pytest.mark.parametrize(
    "names", [("a²", "a2"), ("\N{LATIN SMALL LIGATURE FI}", "fi"), ("", "½"), ("__x", "\n"), ("1a", "a b"), ("\u0301", "device")]
)  # fmt: skip
def test_names_of_any_characters_become_identifiers(names):
    one, two = (sym.array(np.full(3, i + 1.0), name=name) for i, name in enumerate(names))
    assert (one - two * 2).asNumpy().tolist() == (one - two * 2).asCUDA().tolist() == [-3] * 3


def test_the_name_of_a_script_is_not_executed():
    space = {"sym": sym, "np": np}
    name = "/folder/a\nraise SystemExit('the name of a script ran')\n.py"
    exec(compile("x = np.exp(sym.array(np.zeros(2)) * 2)", name, "exec"), space)
    assert space["x"].asNumpy().tolist() == space["x"].asCUDA().tolist() == [1, 1]
