# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Trees of debugprint: the text for small graphs, and their structure beside PyTensor's."""

import pytest
from support import theano_trees
from support.theano_trees import structure, trees
from support.theano_tutorial import PROGRAMS, START

#: name -> the printed variables. Products with vectors, means and gradients are not among them:
#: they consist of other operations in PyTensor.
GRAPHS = {
    "sum of products": "(x * y + 2).sum()",
    "matrix and vector": "m + x",
    "logistic": "1 / (1 + T.exp(-x))",
    "product of matrices": "T.dot(m, n)",
    "scalars": "s * t + s ** 2",
    "transposed": "m.T + n",
    "sum along an axis": "m.sum(axis=0)",
    "other reductions": "[m.prod(), m.max(axis=1), T.argmax(m, axis=1)]",
    "reshaped": "m.reshape((2, 3))",
    "reshaped by extents": "m.reshape((m.shape[1], m.shape[0]))",
    "joined": "T.concatenate([x, y])",
    "condition": "T.switch(x > 0, x, y)",
    "branches": "ifelse(T.lt(s, t), x, y)",
    "common variable": "(x + 1) * (x + 1)",
    "new axes": "x.dimshuffle(0, 'x') + x.dimshuffle('x', 0)",
    "cast": "T.cast(x, 'float32')",
    "flat": "m.flatten()",
    "row": "m[0] + m[k]",
    "column": "m[..., -1]",
    "column by a variable": "m[:, k]",
    "rows by an array": "[m[i], m[:, i]]",
    "increments": "[T.set_subtensor(m[:, 1], 0.0), T.inc_subtensor(m[k], x)]",
    "range": "T.arange(k) + x.shape[0]",
    "two results": "[x * y, (x * y).sum()]",
}
#: Programs of the tutorial that PyTensor builds of other operations -> which ones.
OTHER = {
    **dict.fromkeys(
        [
            "grad_of_a_power",
            "grad_of_the_logistic",
            "grads_of_a_product",
            "jacobian_by_rows",
            "hessian_times_vector",
            "consider_constant",
            "gradient_descent",
        ],
        "gradients",
    ),
    "dot_products": "a product with a vector is one of matrices",
    "ifelse": "a mean is a quotient",
    "reductions": "a mean is a quotient",
    "diagonal_and_eye": "a diagonal is an operation of its own",
}
PROGRAM_TEXTS = {name: program for name, (program, _) in PROGRAMS.items()}


@pytest.fixture(scope="module")
def ours():
    return trees("theano", theano_trees.GRAPHS, {k: (text, False) for k, text in GRAPHS.items()})


@pytest.fixture(scope="module")
def pytensors():
    pytest.importorskip("pytensor", reason="PyTensor is not installed")
    return trees("pytensor", theano_trees.GRAPHS, {k: (text, False) for k, text in GRAPHS.items()})


@pytest.fixture(scope="module")
def of_programs():
    pytest.importorskip("pytensor", reason="PyTensor is not installed")
    given = [START, PROGRAM_TEXTS]
    return [trees(library, theano_trees.PROGRAMS, given) for library in ("theano", "pytensor")]


TEXTS = {
    "logistic": """\
Elemwise{true_div,no_inplace} [id A] ''
 |InplaceDimShuffle{x} [id B] ''
 | |TensorConstant{1.0} [id C]
 |Elemwise{add,no_inplace} [id D] ''
   |InplaceDimShuffle{x} [id E] ''
   | |TensorConstant{1.0} [id C]
   |Elemwise{exp,no_inplace} [id F] ''
     |Elemwise{neg,no_inplace} [id G] ''
       |x [id H]
""",
    "transposed": """\
Elemwise{add,no_inplace} [id A] ''
 |InplaceDimShuffle{1,0} [id B] 'm.T'
 | |m [id C]
 |n [id D]
""",
    "two results": """\
Elemwise{mul,no_inplace} [id A] ''
 |x [id B]
 |y [id C]
Sum{acc_dtype=float64} [id D] ''
 |Elemwise{mul,no_inplace} [id E] ''
   |x [id B]
   |y [id C]
""",
    "other reductions": """\
Prod{acc_dtype=float64} [id A] ''
 |m [id B]
Reduce{maximum}{1} [id C] ''
 |m [id B]
Argmax{axis=(1,)} [id D] ''
 |m [id B]
""",
    "sum along an axis": """\
Sum{axis=[0], acc_dtype=float64} [id A] ''
 |m [id B]
""",
    "row": """\
Elemwise{add,no_inplace} [id A] ''
 |Subtensor{int64} [id B] ''
 | |m [id C]
 | |Constant{0} [id D]
 |Subtensor{int64} [id E] ''
   |m [id C]
   |ScalarFromTensor [id F] ''
     |k [id G]
""",
    "column": """\
Subtensor{::, int64} [id A] ''
 |m [id B]
 |Constant{-1} [id C]
""",
    "increments": """\
IncSubtensor{Set;::, int64} [id A] ''
 |m [id B]
 |TensorConstant{0.0} [id C]
 |Constant{1} [id D]
IncSubtensor{Inc;int64} [id E] ''
 |m [id B]
 |x [id F]
 |ScalarFromTensor [id G] ''
   |k [id H]
""",
    "rows by an array": """\
AdvancedSubtensor1 [id A] ''
 |m [id B]
 |i [id C]
AdvancedSubtensor [id D] ''
 |m [id B]
 |i [id C]
""",
    "reshaped by extents": """\
Reshape{2} [id A] ''
 |m [id B]
 |MakeVector{dtype='int64'} [id C] ''
   |Subtensor{int64} [id D] ''
   | |Shape [id E] ''
   | | |m [id B]
   | |Constant{1} [id F]
   |Subtensor{int64} [id G] ''
     |Shape [id H] ''
     | |m [id B]
     |Constant{0} [id I]
""",
    "branches": """\
if{} [id A] ''
 |Elemwise{lt,no_inplace} [id B] ''
 | |s [id C]
 | |t [id D]
 |x [id E]
 |y [id F]
""",
}


def without_spaces(text):
    """Theano writes spaces behind the name of a node; test_theano_programs checks them."""
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_theanos(ours, name):
    assert without_spaces(ours[name]) == TEXTS[name].splitlines()


#: graph -> the tree of its function, whose nodes have numbers.
COMPILED = {
    "m[0, 1:] * T.exp(x)": """\
Elemwise{mul,no_inplace} [id A] ''   2
 |Subtensor{int64, int64::} [id B] ''   0
 | |m [id C]
 | |Constant{0} [id D]
 | |Constant{1} [id E]
 |Elemwise{exp,no_inplace} [id F] ''   1
   |x [id G]
""",
    "[m[None, k], T.dot(m, x)]": """\
Subtensor{::, int64} [id A] ''   2
 |InplaceDimShuffle{x,0,1} [id B] ''   0
 | |m [id C]
 |ScalarFromTensor [id D] ''   1
   |k [id E]
CGemv{no_inplace} [id F] ''   3
 |m [id C]
 |x [id G]
""",
}


def test_compiled_graphs_have_numbers():
    found = trees("theano", theano_trees.GRAPHS, {graph: (graph, True) for graph in COMPILED})
    for graph, tree in COMPILED.items():
        assert without_spaces(found[graph]) == tree.splitlines(), graph


@pytest.mark.parametrize("name", GRAPHS)
def test_the_structure_is_pytensors(ours, pytensors, name):
    assert structure(ours[name]) == structure(pytensors[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_structures_of_programs_are_pytensors(of_programs, name):
    here, there = (found[name] for found in of_programs)
    assert not isinstance(here, str), here
    if isinstance(there, str):
        pytest.skip(f"PyTensor does not run it: {there}")
    is_same = [structure(a) == structure(b) for a, b in zip(here, there, strict=True)]
    if name in OTHER:
        assert not all(is_same), f"remove {name} from OTHER"
        pytest.skip(f"PyTensor builds it of other operations: {OTHER[name]}")
    assert all(is_same), here
