# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Trees of debugprint, made by Theano's names or by PyTensor, and what their lines have in common."""

import json
import re
import subprocess
import sys

MODULES = {
    "theano": """
import spanwise.theano.install, theano, theano.tensor as T
from theano.ifelse import ifelse
from theano.printing import debugprint
""",
    "pytensor": """
import pytensor as theano, pytensor.tensor as T, pytensor.gradient
from pytensor.ifelse import ifelse
from pytensor.printing import debugprint
""",
}
#: name -> printed variables. Products with vectors, means and gradients are not among them:
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
    "zeros of both signs": "[s * 0.0, t * -0.0, s + 0.0]",
    "two results": "[x * y, (x * y).sum()]",
}
#: Prints {name: the text} of the graphs of stdin, {name: expression}, or of their functions.
PRINT_GRAPHS = """
import json, sys
x, y = T.dvectors("x", "y")
m, n = T.dmatrices("m", "n")
s, t = T.dscalars("s", "t")
i, k = T.lvector("i"), T.lscalar("k")
def tree(text, is_compiled):
    made = eval(text)
    if is_compiled:
        made = theano.function([x, y, m, n, s, t, i, k], made, mode="FAST_COMPILE", on_unused_input="ignore")
    return debugprint(made, file="str")
given = json.load(sys.stdin)
print("TREES", json.dumps({name: tree(*each) for name, each in given.items()}))
"""
#: Prints {name: [the text of each function's outputs and updates]} of programs, or their error.
PRINT_PROGRAMS = """
import json, sys
import numpy as np
compile_function, trees = theano.function, []
def function(inputs, outputs=None, **options):
    updates = options.get("updates", ())
    pairs = list(updates.items() if isinstance(updates, dict) else updates)
    listed = outputs if isinstance(outputs, list) else [outputs]
    trees.append(debugprint([*listed, *(new for _, new in pairs)], file="str"))
    return compile_function(inputs, outputs, **options)
theano.function = function
found = {}
start, programs = json.load(sys.stdin)
for name, program in programs.items():
    trees.clear()
    try:
        exec(start + program, dict(theano=theano, T=T, np=np, ifelse=ifelse))
        found[name] = list(trees)
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"
print("TREES", json.dumps(found))
"""


def trees(library, program, given):
    done = subprocess.run(
        [sys.executable, "-c", MODULES[library] + program],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.rpartition("TREES ")[2])


#: Theano's name of an operation by PyTensor's.
_NAMES = {
    "MatrixTranspose": "DimShuffle",
    "InplaceDimShuffle": "DimShuffle",
    "ExpandDims": "DimShuffle",
    "AdvancedSubtensor1": "AdvancedSubtensor",
    "Max": "maximum",
    "dot": "Dot",
    "Abs": "abs_",
}
_NODE = re.compile(r"([^\s|│├└─].*?) \[id (\w+)\](?: '[^']*')? *(\d*)$")


def structure(text):
    """[(depth, operation or variable, a number for one that is listed again, its place in the order
    of execution)], by the indentation of each line; texts of constants and ids do not matter."""
    found, numbers = [], {}
    for line in text.splitlines():
        if line.endswith("···"):  # PyTensor's mark of inputs that were listed before
            continue
        name, label, place = _NODE.search(line.rstrip()).groups()
        known = None if plain(name) == "constant" else numbers.setdefault(label, len(numbers))
        found.append((line.index(name), plain(name), known, place))
    # PyTensor since 3.2 has the axis of a Join in the operation, Theano as its first input.
    found = [
        entry
        for before, entry in zip([None, *found], found, strict=False)
        if not (before and before[1] == "join" and entry[0] > before[0] and entry[1] == "constant")
    ]
    depths = sorted({depth for depth, *_ in found})
    listed = [known for _, _, known, _ in found]
    return [
        (
            depths.index(depth),
            name,
            known if listed.count(known) > 1 and known is not None else None,
            place,
        )
        for depth, name, known, place in found
    ]


def places(text):
    """The places of the nodes in the order of execution, as listed; a node that is listed again
    once. Asserts that the inputs of each node precede it."""
    found, above = {}, []
    for line in text.splitlines():
        if line.endswith("···"):
            continue
        name, label, place = _NODE.search(line.rstrip()).groups()
        while above and above[-1][0] >= line.index(name):
            above.pop()
        if place:
            assert not above or int(place) < above[-1][1], text
            above.append((line.index(name), int(place)))
            assert found.setdefault(label, int(place)) == int(place), text
    return list(found.values())


def plain(name):
    """The name of an operation that Theano and Spanwise have in common, without parameters: add,
    DimShuffle, Sum."""
    if re.match(r"(Tensor)?Constant{|[\d.\[-]", name):
        return "constant"
    if name.startswith("<"):
        return "variable"
    if inner := re.fullmatch(r"(?:Elemwise|Reduce){(\w+)[,{}].*", name):
        name = inner[1]
    if found := re.fullmatch(r"IncSubtensor{(Set|Inc);.*", name):
        name = f"{found[1]}Subtensor"
    name = re.sub(r"{.*", "", name)
    return _NAMES.get(name, name).lower()
