# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Trees of debugprint have the structure of PyTensor's, where it is installed."""

import pytest
from addons.theano.trees import (
    GRAPHS,
    PRINT_GRAPHS,
    PRINT_PROGRAMS,
    execution_order,
    structure,
    trees,
)
from addons.theano.tutorial import PROGRAMS, START

pytest.importorskip("pytensor", reason="PyTensor is not installed")

#: Programs of the tutorial that PyTensor builds of other operations -> what differs.
DIFFERENT = {
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
    "diagonal_and_eye": "PyTensor has an operation for diagonals",
}
PROGRAM_TEXTS = {name: program for name, (program, _) in PROGRAMS.items()}


#: Graphs whose functions consist of the same nodes. In the functions of other graphs PyTensor copies
#: views that are results, moves constants to the front, and gives operands the rank of the result.
SAME_FUNCTIONS = (
    "product of matrices",
    "scalars",
    "transposed",
    "sum along an axis",
    "other reductions",
    "joined",
    "condition",
    "branches",
    "new axes",
    "cast",
    "row",
    "rows by an array",
    "two results",
)


def all_trees(library):
    """{(name, whether it is compiled): text of the tree} of GRAPHS and SAME_FUNCTIONS."""
    graphs = {f"{name}/": (text, False) for name, text in GRAPHS.items()}
    graphs |= {f"{name}/compiled": (GRAPHS[name], True) for name in SAME_FUNCTIONS}
    texts = trees(library, PRINT_GRAPHS, graphs).items()
    return {(key.partition("/")[0], key.endswith("compiled")): text for key, text in texts}


@pytest.fixture(scope="module")
def ours():
    return all_trees("theano")


@pytest.fixture(scope="module")
def pytensors():
    return all_trees("pytensor")


@pytest.fixture(scope="module")
def trees_of_programs():
    programs = [START, PROGRAM_TEXTS]
    return [trees(library, PRINT_PROGRAMS, programs) for library in ("theano", "pytensor")]


@pytest.mark.parametrize("name", GRAPHS)
def test_tree_of_graph_has_the_structure_of_pytensors(ours, pytensors, name):
    assert structure(ours[name, False]) == structure(pytensors[name, False])


@pytest.mark.parametrize("name", SAME_FUNCTIONS)
def test_tree_of_function_has_the_nodes_of_pytensors(ours, pytensors, name):
    """Nodes that do not depend on each other may have another order."""
    texts = ours[name, True], pytensors[name, True]
    our_nodes, their_nodes = ([line[:3] for line in structure(text)] for text in texts)
    assert our_nodes == their_nodes
    for text in texts:
        assert sorted(execution_order(text)) == list(range(len(execution_order(text))))


@pytest.mark.parametrize("name", PROGRAMS)
def test_trees_of_program_have_the_structure_of_pytensors(trees_of_programs, name):
    ours, pytensors = (texts[name] for texts in trees_of_programs)
    assert not isinstance(ours, str), ours
    if isinstance(pytensors, str):
        pytest.skip(f"PyTensor does not run it: {pytensors}")
    is_same = [structure(a) == structure(b) for a, b in zip(ours, pytensors, strict=True)]
    if name in DIFFERENT:
        assert not all(is_same), f"remove {name} from DIFFERENT"
        pytest.skip(f"PyTensor builds it of other operations: {DIFFERENT[name]}")
    assert all(is_same), ours
