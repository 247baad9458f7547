# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Trees of debugprint have the structure of PyTensor's, where it is installed."""

import pytest
from python.facades.theano.trees import (
    GRAPHS,
    PRINT_GRAPHS,
    PRINT_PROGRAMS,
    places,
    structure,
    trees,
)
from python.facades.theano.tutorial import PROGRAMS, START

pytest.importorskip("pytensor", reason="PyTensor is not installed")

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


#: Graphs whose functions consist of the same nodes. Those of the others do not: there PyTensor copies
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
    """{(name, whether it is compiled): the text} of the graphs above."""
    given = {f"{name}/": (text, False) for name, text in GRAPHS.items()}
    given |= {f"{name}/compiled": (GRAPHS[name], True) for name in SAME_FUNCTIONS}
    found = trees(library, PRINT_GRAPHS, given).items()
    return {(key.partition("/")[0], key.endswith("compiled")): text for key, text in found}


@pytest.fixture(scope="module")
def ours():
    return all_trees("theano")


@pytest.fixture(scope="module")
def pytensors():
    return all_trees("pytensor")


@pytest.fixture(scope="module")
def of_programs():
    given = [START, PROGRAM_TEXTS]
    return [trees(library, PRINT_PROGRAMS, given) for library in ("theano", "pytensor")]


@pytest.mark.parametrize("name", GRAPHS)
def test_the_structure_is_pytensors(ours, pytensors, name):
    assert structure(ours[name, False]) == structure(pytensors[name, False])


@pytest.mark.parametrize("name", SAME_FUNCTIONS)
def test_the_structure_of_functions_is_pytensors(ours, pytensors, name):
    """Nodes that do not depend on each other may have another order."""
    texts = ours[name, True], pytensors[name, True]
    nodes, others = ([line[:3] for line in structure(text)] for text in texts)
    assert nodes == others
    for text in texts:
        assert sorted(places(text)) == list(range(len(places(text))))


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
