# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""debugprint writes the trees of small graphs as Theano does."""

import pytest
from addons.theano.runner import run_script
from addons.theano.trees import GRAPHS, PRINT_GRAPHS, trees

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
    "zeros of both signs": """\
Elemwise{mul,no_inplace} [id A] ''
 |s [id B]
 |TensorConstant{0.0} [id C]
Elemwise{mul,no_inplace} [id D] ''
 |t [id E]
 |TensorConstant{-0.0} [id F]
Elemwise{add,no_inplace} [id G] ''
 |s [id B]
 |TensorConstant{0.0} [id C]
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
    """The lines without the spaces that Theano writes after a node;
    test_script_prints_theanos_trees checks those."""
    return [line.rstrip() for line in text.splitlines()]


@pytest.fixture(scope="module")
def printed_trees():
    """graph -> what debugprint prints for it, all from one run of a script."""
    return trees("theano", PRINT_GRAPHS, {name: (GRAPHS[name], False) for name in TEXTS})


@pytest.mark.parametrize("name", TEXTS)
def test_debugprint_of_a_graph_is_theanos_text(printed_trees, name):
    assert without_spaces(printed_trees[name]) == TEXTS[name].splitlines()


#: expression -> the tree of its compiled function, whose nodes have their position of execution.
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


def test_debugprint_of_a_function_numbers_its_nodes():
    printed = trees("theano", PRINT_GRAPHS, {graph: (graph, True) for graph in COMPILED})
    for graph, tree in COMPILED.items():
        assert without_spaces(printed[graph]) == tree.splitlines(), graph


SCRIPT = """
    import numpy, theano, theano.tensor as T
    from theano.printing import debugprint, pp
    a, b = T.fmatrix('a'), T.fmatrix('b')
    debugprint(a + b)
    debugprint([a, b ** 2], ids='', print_type=True)
    f = theano.function([a, b], -(a + b))
    text = debugprint(f, file='str')
    debugprint(f.maker.fgraph)
    print text.count('\\n'), pp(T.exp(a + b))
"""


def test_script_prints_theanos_trees(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", SCRIPT, "device=cpu")
    assert printed.splitlines() == [
        "Elemwise{add,no_inplace} [id A] ''   ",
        " |a [id B]",
        " |b [id C]",
        "a  <TensorType(float32, matrix)>",
        "Elemwise{pow,no_inplace}  <TensorType(float32, matrix)> ''   ",
        " |b  <TensorType(float32, matrix)>",
        " |InplaceDimShuffle{x,x}  <TensorType(float32, (True, True))> ''   ",
        "   |TensorConstant{2.0}  <TensorType(float32, scalar)>",
        "Elemwise{Composite{(-(i0 + i1))}} [id A] ''   0",
        " |a [id B]",
        " |b [id C]",
        "3 exp((a + b))",
    ]


def test_integers_of_an_index_are_not_transferred_to_the_gpu(tmp_path):
    source = """
        import theano, theano.tensor as T
        x, n = T.fmatrix('x'), T.lscalar('n')
        print theano.printing.debugprint(theano.function([x, n], x[None, n, 1:]), file='str')
    """
    printed, _ = run_script(tmp_path / "script.py", source, "device=gpu,floatX=float32")
    assert without_spaces(printed)[:-1] == [
        "HostFromGpu [id A] ''   4",
        " |GpuSubtensor{::, int64, int64::} [id B] ''   3",
        "   |GpuDimShuffle{x,0,1} [id C] ''   1",
        "   | |GpuFromHost [id D] ''   0",
        "   |   |x [id E]",
        "   |ScalarFromTensor [id F] ''   2",
        "   | |n [id G]",
        "   |Constant{1} [id H]",
    ]
