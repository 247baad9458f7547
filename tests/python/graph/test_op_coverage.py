# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/graph-ops.md lists which ops have gradients, are fused, and run on which device.

With SPANWISE_WRITE_DOCS=1 in the environment, the tables are written instead of compared.
"""

import os
import re

import numpy as np
import pytest
from python.graph.op_examples import FUNCTIONS, OPS, example_of, graph_of
from support.tree import ROOT

import spanwise as sw
from spanwise.graph._tensor import named_constructors

T = sw.tensor
PAGE = ROOT / "docs" / "graph-ops.md"
BLOCK = re.compile(r"(<!-- (ops|functions): [^\n]*-->\n)(.*?)(<!-- end of \2 -->)", re.DOTALL)
#: Read on import, before tests load further ops.
REGISTERED = sorted(name for name in dir(sw.ops) if "." not in name)
#: Names of spanwise.tensor that are not functions whose result is a graph of their arguments.
NOT_IN_GRAPHS = {
    "Lop", "RandomStreams", "Rop", "TensorType", "as_tensor_variable", "as_variable", "constant", "grad", "tensor",
    "verify_grad",
}  # fmt: skip

#: Ops whose results are bool, integers or shapes, and those that have a reason on the page.
WITHOUT_GRADIENT = (
    "all any arange argmax argmin bitwise_and bitwise_or bitwise_xor count_nonzero cumprod "
    "disconnected_grad equal greater greater_equal invert isfinite isinf isnan left_shift less "
    "less_equal logical_and logical_not logical_or logical_xor nextafter not_equal right_shift "
    "shape signbit"
)


def gradient_of(name):
    """ "yes", "zero" where all derivatives are 0, or why none passes through the op."""
    function, values = example_of(name)
    inputs, output = graph_of(function, values)
    if output.dtype.kind not in "fc":
        return f"no: its result is {output.dtype}"
    differentiable = [x for x in inputs if x.dtype.kind == "f"]
    try:
        derivatives = T.grad(
            None,
            differentiable,
            known_grads={output: T.ones_like(output)},
            return_disconnected="none",
        )
    except sw.GraphError as error:
        reason = re.search(r"with respect to its input \d+: (.*?)\. Remedy", str(error), re.DOTALL)
        return "no: " + reason[1]
    derivatives = [derivative for derivative in derivatives if derivative is not None]
    if not derivatives:
        return "disconnected"
    f = sw.function(inputs, derivatives, device="cpu", on_unused_input="ignore")
    return "yes" if any(d.numpy().any() for d in f(*values)) else "zero"


def fused_part_of(name):
    """ "yes" if the rewrite "fuse" puts the op into a Composite with the operations around it, "input"
    if the rewrite "transform_reduce" makes it compute its input, else ""."""
    function, values = example_of(name)
    inputs, output = graph_of(lambda *xs: function(*(sw.add(x, x) for x in xs)), values)
    mode = sw.Mode("fast_compile").excluding("cut_gradient_markers")
    for rewrites, part in ((["fuse"], "yes"), (["fuse", "transform_reduce"], "input")):
        f = sw.function(inputs, output, mode=mode.including(*rewrites), device="cpu")
        if name not in [node.op.recipe[0] for node in f.maker.fgraph.toposort() if node.op.recipe]:
            return part
    return ""


def is_on_host(name):
    """Whether the result is on the host, whatever device the function runs on."""
    output = graph_of(*example_of(name))[1]
    return output.type.device is not None and name != "transfer"


def ops_of(name):
    """The registered ops that a function of spanwise.tensor is made of, in its example."""
    output = graph_of(*FUNCTIONS[name])[1]
    ops = [node.op for node in sw.graph.ancestors([output])]
    names = [op.recipe[0] if isinstance(op, sw.graph.NativeOp) else type(op).__name__ for op in ops]
    return list(dict.fromkeys(names))


def ops_table():
    lines = ["| op | gradient | fused | CPU | GPU |", "|---|---|---|---|---|"]
    for name in REGISTERED:
        fused = fused_part_of(name)
        gpu = "result on the host" if is_on_host(name) else "yes"
        lines.append(f"| `{name}` | {gradient_of(name)} | {fused} | yes | {gpu} |")
    return "\n".join(lines) + "\n"


def functions_table():
    lines = ["| function | made of |", "|---|---|"]
    for name in sorted(FUNCTIONS):
        lines.append(f"| `{name}` | {' '.join(f'`{op}`' for op in ops_of(name))} |")
    return "\n".join(lines) + "\n"


def test_page_lists_each_op_and_function():
    tables = {"ops": ops_table(), "functions": functions_table()}
    text = PAGE.read_text()
    expected = BLOCK.sub(lambda match: match[1] + tables[match[2]] + match[4], text)
    if os.environ.get("SPANWISE_WRITE_DOCS"):
        PAGE.write_text(expected)
    assert PAGE.read_text() == expected, "run this test with SPANWISE_WRITE_DOCS=1"


def test_each_op_and_function_has_an_example():
    ufuncs = {name for name in T.__all__ if isinstance(getattr(T, name), sw.ufunc)}
    listed = set(T.__all__) - ufuncs - set(named_constructors()) - NOT_IN_GRAPHS
    assert listed - set(OPS) - set(FUNCTIONS) == set()
    assert [name for name in REGISTERED if example_of(name) is None] == []


@pytest.mark.parametrize("name", REGISTERED)
def test_op_runs_on_the_device_that_the_page_lists(name, device):
    function, values = example_of(name)
    inputs, output = graph_of(function, values)
    assert output.owner.op.recipe[0] == name
    f = sw.function(inputs, output, device=device, mode="fast_compile")
    got = f(*values)
    expected_device = {"transfer": "cpu:1"}.get(name, "cpu" if is_on_host(name) else str(device))
    assert str(got.device) == expected_device
    on_cpu = sw.function(inputs, output, device="cpu", mode="debug")(*values)
    np.testing.assert_allclose(got.numpy(), on_cpu.numpy(), rtol=1e-6)


#: cast is checked in test_gradients.py: small differences vanish in float32. The others are 0 by definition.
@pytest.mark.parametrize("name", sorted(set(REGISTERED) - {"cast", "consider_constant"}))
def test_derivative_of_each_op_that_has_one_equals_central_differences(name, device):
    if gradient_of(name) in ("yes", "zero"):
        function, values = example_of(name)
        sw.gradient.verify_grad(function, values, n_tests=1, device=device)
    else:
        assert name in WITHOUT_GRADIENT.split()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_function_runs_on_each_device(name, device):
    function, values = FUNCTIONS[name]
    inputs, output = graph_of(function, values)
    options = {"on_unused_input": "ignore"}  # zeros_like reads the shape, which the type fixes
    got = sw.function(inputs, output, device=device, **options)(*values)
    on_cpu = sw.function(inputs, output, device="cpu", mode="fast_compile", **options)(*values)
    assert str(got.device) == str(device)
    np.testing.assert_allclose(got.numpy(), on_cpu.numpy(), rtol=1e-6)


#: argsort gives integers; astype and eye cast to a dtype in which small differences vanish; zero_grad has
#: the derivative 0 by definition.
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"argsort", "astype", "eye", "zero_grad"}))
def test_derivative_of_each_function_equals_central_differences(name, device):
    function, values = FUNCTIONS[name]
    sw.gradient.verify_grad(function, values, n_tests=1, device=device)
