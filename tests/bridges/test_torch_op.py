# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.torch_op: ops of Spanwise as operators of PyTorch."""

import itertools
import re

import numpy as np
import pytest
from bridges.framework_ops import TEN_OPS, SumAndDifference, cube, power_of_sum, scale_rows, scaled

import spanwise as sw

T = sw.tensor

torch = pytest.importorskip("torch", reason="torch is not installed")
testing = pytest.importorskip("torch._dynamo.testing")

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch's own, in tracing


@pytest.fixture(autouse=True)
def on_a_device_of_both(device):
    if device.kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("this torch has no GPU")
    torch._dynamo.reset()


_rng = np.random.default_rng(1)


def random(device, *shape, dtype="float64"):
    values = _rng.standard_normal(shape).astype(dtype)
    return torch.tensor(values, device=str(device)).requires_grad_()


_numbers = itertools.count()


def unique_name(name):
    """A name that no other op of this process has: each test registers its ops once a device."""
    return f"{name}_{next(_numbers)}"


def compiled(function, **options):
    return torch.compile(function, fullgraph=True, backend="aot_eager", **options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_gradients_of_a_kernel_op(device, dtype):
    op = sw.torch_op(cube())
    x = random(device, 6, dtype=dtype)
    y = op(x)
    assert y.device == x.device and y.dtype == x.dtype and y.is_contiguous()
    assert torch.equal(y, torch.ops.spanwise.cube(x))
    torch.testing.assert_close(y, x**3)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)
    torch.testing.assert_close(op(x[::2]), x[::2] ** 3)


def test_op_of_an_element_body_is_traced_and_takes_a_gradient(device):
    def gradient(inputs, g):
        doubled = 2 * (inputs[0] + inputs[1]) * g[0]
        return [T.sum(doubled + g[1], axis=1, keepdims=True), T.sum(doubled - g[1], axis=0)]

    op = sw.torch_op(power_of_sum(), grad=gradient, name=unique_name("power_of_sum"))
    x, y = random(device, 3, 1), random(device, 4)
    for call in (op, compiled(op)):
        total, difference = call(x, y)
        torch.testing.assert_close(total, (x + y) ** 2)
        torch.testing.assert_close(difference, x - y)
    torch.autograd.gradcheck(op, (x, y))


def test_gradients_agree_with_differences(device):
    x, by = random(device, 3, 4), random(device, 3)
    torch.autograd.gradcheck(sw.torch_op(cube()), (random(device, 5),))
    torch.autograd.gradcheck(sw.torch_op(scale_rows()), (x, by))
    # Transposed inputs, and derivatives with stride 0.
    torch.autograd.gradcheck(sw.torch_op(scale_rows()), (x.T, random(device, 4)))
    both = sw.torch_op(lambda x, y: [T.exp(x) * y, T.sum(x)], name=unique_name("both"), outputs=2)
    torch.autograd.gradcheck(both, (x, random(device, 4)))
    # Only one of two outputs, only one of two inputs.
    torch.autograd.gradcheck(lambda x: both(x, by.new_ones(4))[1], (x,))


def test_operators_pass_torchs_own_checks(device):
    x, by = random(device, 3, 4), random(device, 3)
    for op, inputs in [
        (sw.torch_op(cube()), (random(device, 5),)),
        (sw.torch_op(cube()), (random(device, 10)[::2],)),
        (sw.torch_op(scale_rows()), (x, by)),
        (sw.torch_op(scale_rows()), (x.T, random(device, 4))),
        (sw.torch_op(SumAndDifference(), outputs=2), (x, x)),
        (sw.torch_op(scaled()), (x.detach(), by.detach().new_tensor(2.0))),
    ]:
        results = torch.library.opcheck(op, inputs)
        assert set(results.values()) == {"SUCCESS"}


def test_compiled_functions_keep_the_graph_whole(device):
    op = sw.torch_op(scale_rows())
    x, by = random(device, 3, 4), random(device, 3)
    f = compiled(lambda x, by: (op(x * 2, by) + 1).sum())
    torch.testing.assert_close(f(x, by), (2 * x * by[:, None] + 1).sum())
    f(x, by).backward()
    torch.testing.assert_close(x.grad, (2 * by[:, None]).expand(3, 4))
    torch.testing.assert_close(by.grad, (2 * x).sum(1))
    assert torch._dynamo.explain(f)(x, by).graph_break_count == 0


def test_extents_may_be_symbolic(device):
    op = sw.torch_op(scale_rows())
    counter = testing.CompileCounterWithBackend("aot_eager")
    f = torch.compile(
        lambda x, by: op(x, by).T.contiguous(), fullgraph=True, dynamic=True, backend=counter
    )
    for rows, columns in [(3, 4), (5, 7), (8, 2)]:
        x, by = random(device, rows, columns), random(device, rows)
        torch.testing.assert_close(f(x, by), (x * by[:, None]).T.contiguous())
    assert counter.frame_count == 1


def test_output_extents_may_be_expressions(device):
    pool = sw.kernel_op(
        "pool",
        "__global__ void pool(const float *x, float *y, int n, int m)"
        "{ int i = threadIdx.x; if (i < m) y[i] = x[2 * i] + (2 * i + 1 < n ? x[2 * i + 1] : 0); }",
        inputs="x: contiguous float32[n]",
        outputs="y: contiguous float32[max(cdiv(n, STEP), 1)]",
        arguments=["x", "y", "n", "cdiv(n, STEP)"],
        scalars={"STEP": 2},
    )
    op = sw.torch_op(pool)
    f = compiled(lambda x: op(x) * 2, dynamic=True)
    for n in (4, 5, 9):
        x = torch.arange(n, dtype=torch.float32, device=str(device))
        expected = torch.nn.functional.pad(x, (0, n % 2)).reshape(-1, 2).sum(1)
        assert torch.equal(op(x), expected) and torch.equal(f(x), expected * 2)


def test_gradient_functions_replace_that_of_the_op(device):
    x = random(device, 4)
    op = sw.torch_op(
        cube(), name=unique_name("odd_cube"), grad=lambda inputs, g: [inputs[0] * g[0]]
    )
    op(x).sum().backward()
    torch.testing.assert_close(x.grad, x.detach())
    op = sw.torch_op(scaled(), grad=lambda inputs, g: [g[0] * inputs[1], None])
    y = random(device, 2, 3)
    by = torch.full((3,), 3.0, dtype=y.dtype, device=y.device)
    compiled(op)(y, by).sum().backward()
    torch.testing.assert_close(y.grad, torch.full_like(y, 3))


def test_python_ops_and_integer_outputs_are_supported(device):
    x = torch.arange(6, device=str(device))
    total, difference = sw.torch_op(SumAndDifference(), outputs=2)(x, x * 2)
    assert total.dtype == torch.int64
    assert torch.equal(total, 3 * x) and torch.equal(difference, -x)
    largest = sw.torch_op(
        lambda x: (T.max(x, axis=1), T.argmax(x, axis=1)), name=unique_name("largest"), outputs=2
    )
    y = random(device, 3, 4)
    values, indices = largest(y)
    assert torch.equal(indices, y.argmax(1)) and not indices.requires_grad
    values.sum().backward()
    assert torch.equal(y.grad, torch.nn.functional.one_hot(indices, 4).to(y.dtype))


def test_empty_meta_and_other_tensors_are_accepted(device):
    op = sw.torch_op(cube())
    empty = torch.empty(0, device=str(device), requires_grad=True)
    op(empty).sum().backward()
    assert op(empty).shape == empty.grad.shape == (0,)
    shapes = op(torch.ones(3, dtype=torch.float64, device="meta"))
    assert shapes.is_meta and shapes.shape == (3,) and shapes.dtype == torch.float64
    values = torch.arange(3.0, device=str(device))
    assert torch.equal(op(torch._neg_view(values)), -(values**3))
    plus = sw.torch_op(lambda x, y: x + y, name=unique_name("plus"))
    assert torch.equal(plus(values, torch.tensor(2.0)), values + 2)
    same, again = sw.torch_op(lambda x: [x, x], name=unique_name("same"), outputs=2)(values)
    assert len({x.data_ptr() for x in (values, same, again)}) == 3
    rows = torch.ones(2, 3, device=str(device)).cumsum(1)
    assert torch.equal(torch.func.vmap(op)(rows), rows**3)


def test_shapes_that_depend_on_values_raise_in_tracing(device):
    op = sw.torch_op(lambda x: T.arange(T.sum(x)), name=unique_name("counted"))
    x = torch.ones(3, device=str(device))
    assert op(x).tolist() == [0, 1, 2]
    with pytest.raises(
        RuntimeError, match=r"counted_\d+: expected an op whose output shapes follow"
    ):
        compiled(op)(x)


def test_missing_gradients_raise(device):
    x = random(device, 3)
    no_gradient = sw.torch_op(cube(has_gradient=False), name=unique_name("no_gradient"))
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        no_gradient(x).sum().backward()
    by = random(device, 3, dtype="float64")
    with pytest.raises(sw.GraphError, match="scaled"):
        sw.torch_op(scaled())(x, by).sum().backward()
    op = sw.torch_op(scaled(), name=unique_name("short"), grad=lambda inputs, g: [])
    with pytest.raises(
        sw.GraphError, match=r"torch_op: short_\d+: grad: expected 2 derivatives, got 0"
    ):
        op(x, by).sum().backward()


def test_unsuitable_inputs_and_ops_raise(device):
    op = sw.torch_op(scale_rows())
    x, by = random(device, 3, 4), random(device, 3)
    with pytest.raises(ValueError, match="scale_rows: input by, axis 0"):
        op(x, by[:2])
    with pytest.raises(sw.DTypeError, match="scale_rows: input by"):
        op(x, by.float())
    with pytest.raises(RuntimeError, match="scale_rows: input x: expected 2 axes"):
        compiled(lambda x: op(x, x))(by)
    two_outputs = sw.torch_op(lambda x: (x, x + 1), name=unique_name("two_outputs"))
    with pytest.raises(
        sw.GraphError, match=r"torch_op: two_outputs_\d+: expected 1 output variables.*outputs="
    ):
        two_outputs(by)


def test_names_are_registered_once(device):
    x = random(device, 3)
    first = sw.torch_op(cube())
    assert sw.torch_op(cube()) is first
    other = sw.torch_op(cube(), grad=lambda inputs, g: [g[0]])
    assert re.fullmatch(re.escape(first._qualname) + r"_\d+", other._qualname)
    name = unique_name("named")
    named = sw.torch_op(SumAndDifference(), name=name, outputs=2)
    with pytest.raises(
        sw.ArgumentError, match=f"expected a name that no other op has, got '{name}'"
    ):
        sw.torch_op(cube(), name=name)
    assert torch.equal(first(x), other(x)) and torch.equal(named(x, x)[0], 2 * x)


@pytest.mark.parametrize(
    ("op", "kwargs", "error", "message"),
    [
        (3, {}, TypeError, "expected an op.*got 3"),
        (lambda x: x, {}, sw.ArgumentError, "expected a name of letters.*pass name="),
        (cube(), {"name": "a-b"}, sw.ArgumentError, "expected a name of letters.*'a-b'"),
        (sw.ops.exp, {}, sw.ArgumentError, r"expected parameters that name.*\*inputs"),
        (cube(), {"outputs": 2}, sw.ArgumentError, "cube: expected 1 outputs, got 2"),
        (scaled(), {"grad": 3}, TypeError, "scaled: grad: expected a function, got 3"),
        (cube(), {"grad": {"z": cube()}}, sw.ArgumentError, "grad has an entry for 'z'"),
        (
            sw.ElementwiseKernel("float *x", "x[i] = 0", "zero"),
            {},
            sw.ArgumentError,
            "zero: expected a kernel declared by values",
        ),
    ],
)
def test_unsuitable_ops_raise(op, kwargs, error, message):
    with pytest.raises(error, match=message):
        sw.torch_op(op, **kwargs)


# ---- Derivatives of higher orders ----


@pytest.mark.parametrize("name", TEN_OPS)
def test_ops_pass_the_checks_of_both_modes_and_orders(device, name):
    function, shapes = TEN_OPS[name]
    op = sw.torch_op(function, name=unique_name(name))
    inputs = [random(device, *shape) for shape in shapes]
    assert torch.autograd.gradcheck(op, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(op, inputs, check_fwd_over_rev=True)
    assert set(torch.library.opcheck(op, inputs).values()) == {"SUCCESS"}


def test_derivatives_of_order_two_agree_with_differences(device):
    square = sw.torch_op(lambda x: x**3, name=unique_name("cubed"))
    torch.autograd.gradgradcheck(square, (random(device, 5),))
    rows = sw.torch_op(scale_rows(), name=unique_name("scale_rows"))
    torch.autograd.gradgradcheck(rows, (random(device, 3, 4), random(device, 3)))
    both = sw.torch_op(
        lambda x, y: [T.exp(x) * y, T.sum(x * x)], name=unique_name("both"), outputs=2
    )
    torch.autograd.gradgradcheck(both, (random(device, 3, 4), random(device, 4)))
    x = random(device, 3)
    (first,) = torch.autograd.grad(square(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    torch.testing.assert_close(second, 6 * x)
    torch.testing.assert_close(third, torch.full_like(x, 6))


def test_operators_can_be_pickled(device):
    import copy
    import pickle

    op = sw.torch_op(cube(), name=unique_name("pickled"))
    again = pickle.loads(pickle.dumps(op))
    x = random(device, 5)
    torch.testing.assert_close(again(x), x**3)
    torch.testing.assert_close(copy.copy(op)(x), x**3)


def test_forward_mode_and_mixed_modes_of_second_order(device):
    checks = {"check_forward_ad": True}
    second = {"check_fwd_over_rev": True, "check_rev_over_rev": True}
    cubed = sw.torch_op(lambda x: x**3, name=unique_name("cubed"))
    x = random(device, 5)
    assert torch.autograd.gradcheck(cubed, (x,), **checks)
    assert torch.autograd.gradgradcheck(cubed, (x,), **second)
    rows = sw.torch_op(scale_rows(), name=unique_name("rows"))
    inputs = random(device, 3, 4), random(device, 3)
    assert torch.autograd.gradcheck(rows, inputs, **checks)
    assert torch.autograd.gradgradcheck(rows, inputs, **second)
    several = sw.torch_op(
        lambda x, y: (T.exp(x) * y, T.sum(x * x), T.argmax(x)), name=unique_name("s"), outputs=3
    )
    inputs = random(device, 3, 4), random(device, 4)
    assert torch.autograd.gradcheck(lambda x, y: several(x, y)[:2], inputs, **checks)


def test_reverse_mode_over_forward_mode(device):
    from torch.autograd import forward_ad

    cubed = sw.torch_op(lambda x: x**3, name=unique_name("cubed"))
    x = random(device, 5)
    with forward_ad.dual_level():
        y = cubed(forward_ad.make_dual(x, torch.ones_like(x)))
        (second,) = torch.autograd.grad(forward_ad.unpack_dual(y).tangent.sum(), x)
        torch.testing.assert_close(forward_ad.unpack_dual(second).primal, 6 * x.detach())


def test_transforms_of_torch_func(device):
    cubed = sw.torch_op(lambda x: x**3, name=unique_name("cubed"))
    kernel = sw.torch_op(cube(), name=unique_name("cube"))
    x = random(device, 4).detach()
    for op in (cubed, kernel):
        found = torch.func.grad(lambda v, op=op: op(v).sum())(x)
        torch.testing.assert_close(found, 3 * x * x)
    value, change = torch.func.jvp(cubed, (x,), (torch.ones_like(x),))
    torch.testing.assert_close((value, change), (x**3, 3 * x * x))
    torch.testing.assert_close(torch.func.jacfwd(cubed)(x), torch.diag(3 * x * x))
    torch.testing.assert_close(torch.func.jacrev(cubed)(x), torch.diag(3 * x * x))
    found = torch.func.hessian(lambda v: cubed(v).sum())(x)
    torch.testing.assert_close(found, torch.diag(6 * x))
    batch = random(device, 3, 4).detach()
    found = torch.vmap(torch.func.grad(lambda v: kernel(v).sum()))(batch)
    torch.testing.assert_close(found, 3 * batch * batch)
    with pytest.raises(sw.GraphError, match="cube_gradient.* was declared without grad="):
        torch.func.jvp(kernel, (x,), (torch.ones_like(x),))


def test_backward_without_recording_does_not_call_the_gradient_operator(device):
    """The dispatcher takes 50 us for an operator with lists; a plain backward() only computes."""
    op = sw.torch_op(lambda x: x**3, name=unique_name("cubed"))
    with torch.profiler.profile() as profile:
        x = random(device, 5)
        op(x).sum().backward()
    torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)
    seen = [event.key for event in profile.key_averages()]
    assert not any("__gradient" in key for key in seen), seen
    with torch.profiler.profile() as profile:
        (first,) = torch.autograd.grad(op(x).sum(), x, create_graph=True)
    assert any("__gradient" in event.key for event in profile.key_averages())
    torch.testing.assert_close(torch.autograd.grad(first.sum(), x)[0], 6 * x.detach())
