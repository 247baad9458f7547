# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Trees of debugprint: the text for small graphs, and their structure beside PyTensor's."""

import json
import re
import subprocess
import sys

import pytest

#: name -> the printed variables. What Theano and PyTensor build differently is not among them: an
#: index is an input of Subtensor in PyTensor, and means, products with vectors and gradients
#: consist of other operations.
GRAPHS = {
    "sum of products": "(x * y + 2).sum()",
    "matrix and vector": "m + x",
    "logistic": "1 / (1 + T.exp(-x))",
    "product of matrices": "T.dot(m, n)",
    "scalars": "s * t + s ** 2",
    "transposed": "m.T + n",
    "sum along an axis": "m.sum(axis=0)",
    "reshaped": "m.reshape((2, 3))",
    "joined": "T.concatenate([x, y])",
    "condition": "T.switch(x > 0, x, y)",
    "common variable": "(x + 1) * (x + 1)",
    "new axes": "x.dimshuffle(0, 'x') + x.dimshuffle('x', 0)",
    "cast": "T.cast(x, 'float32')",
    "flat": "m.flatten()",
    "two results": "[x * y, (x * y).sum()]",
}
PRINT = """
import json, sys
x, y = T.dvectors("x", "y")
m, n = T.dmatrices("m", "n")
s, t = T.dscalars("s", "t")
graphs = json.load(sys.stdin)
print("TREES", json.dumps({name: debugprint(eval(text), file="str") for name, text in graphs.items()}))
"""
THEANO = """
import spanwise.theano.install, theano, theano.tensor as T
from theano.printing import debugprint
"""
PYTENSOR = """
import pytensor as theano, pytensor.tensor as T
from pytensor.printing import debugprint
"""
#: Theano's operations by PyTensor's names.
NAMES = {
    "True_div": "true_div",
    "MatrixTranspose": "DimShuffle",
    "ExpandDims": "DimShuffle",
    "Cast{float32}": "Cast",
}


def trees(modules):
    done = subprocess.run(
        [sys.executable, "-c", modules + PRINT],
        input=json.dumps(GRAPHS),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.rpartition("TREES ")[2])


@pytest.fixture(scope="module")
def ours():
    return trees(THEANO)


@pytest.fixture(scope="module")
def pytensors():
    pytest.importorskip("pytensor", reason="PyTensor is not installed")
    return trees(PYTENSOR)


TREE_OF_LOGISTIC = """\
Elemwise{true_div,no_inplace} [id A] ''
 |InplaceDimShuffle{x} [id B] ''
 | |TensorConstant{1.0} [id C]
 |Elemwise{add,no_inplace} [id D] ''
   |InplaceDimShuffle{x} [id E] ''
   | |TensorConstant{1.0} [id F]
   |Elemwise{exp,no_inplace} [id G] ''
     |Elemwise{neg,no_inplace} [id H] ''
       |x [id I]
"""
TREE_OF_TRANSPOSED = """\
Elemwise{add,no_inplace} [id A] ''
 |InplaceDimShuffle{1,0} [id B] 'm.T'
 | |m [id C]
 |n [id D]
"""
TREE_OF_TWO = """\
Elemwise{mul,no_inplace} [id A] ''
 |x [id B]
 |y [id C]
Sum [id D] ''
 |Elemwise{mul,no_inplace} [id E] ''
   |x [id B]
   |y [id C]
"""


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("logistic", TREE_OF_LOGISTIC),
        ("transposed", TREE_OF_TRANSPOSED),
        ("two results", TREE_OF_TWO),
    ],
)
def test_the_text_is_theanos(ours, name, tree):
    # Theano writes spaces behind the name of a node; test_theano_programs checks them.
    assert [line.rstrip() for line in ours[name].splitlines()] == tree.splitlines()


def structure(text):
    """[(depth, operation or variable, id of a variable or node that was listed before)], by the
    indentation of each line; texts of constants and ids as such do not matter."""
    found, numbers = [], {}
    for line in text.splitlines():
        name, label = re.search(r"([^\s|│├└─].*?) \[id (\w+)\]", line).groups()
        depth = line.index(name)
        is_constant = name.startswith("TensorConstant") or re.match(r"[\d.\[-]", name)
        known = numbers.setdefault(label, len(numbers))
        found.append((depth, plain(name), None if is_constant else known))
    depths = sorted({depth for depth, _, _ in found})
    again = {number for _, _, number in found if number is not None}
    order = {number: place for place, number in enumerate(sorted(again))}
    return [(depths.index(depth), name, order.get(number)) for depth, name, number in found]


def plain(name):
    """What an operation is called in both, without its parameters: add, DimShuffle, Sum."""
    if name.startswith("TensorConstant") or re.match(r"[\d.\[-]", name):
        return "constant"
    if name == "dot":
        return "Dot"
    if inner := re.fullmatch(r"Elemwise{(\w+)(,no_inplace|{\w+})?}", name):
        return inner[1].lower()
    if "DimShuffle" in name:
        return "DimShuffle"
    name = re.sub(r"{.*", "", NAMES.get(name, name))
    name = NAMES.get(name, name)
    is_operation = name[0].isupper() and name not in ("DimShuffle", "Sum", "Reshape", "Join", "Dot")
    return name.lower() if is_operation else name


@pytest.mark.parametrize("name", GRAPHS)
def test_the_structure_is_pytensors(ours, pytensors, name):
    assert structure(ours[name]) == structure(pytensors[name])
