# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Trees that debugprint writes, in spanwise.theano and in PyTensor, and how they are compared."""

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
#: Prints {name: text of the tree} for stdin, {name: (expression, whether it is compiled)}.
PRINT_GRAPHS = """
import json, sys
x, y = T.dvectors("x", "y")
m, n = T.dmatrices("m", "n")
s, t = T.dscalars("s", "t")
i, k = T.lvector("i"), T.lscalar("k")
def tree(text, is_compiled):
    graph = eval(text)
    if is_compiled:
        graph = theano.function([x, y, m, n, s, t, i, k], graph, mode="FAST_COMPILE", on_unused_input="ignore")
    return debugprint(graph, file="str")
graphs = json.load(sys.stdin)
print("TREES", json.dumps({name: tree(*graph) for name, graph in graphs.items()}))
"""
#: Prints {name: [text of the tree of each function's outputs and updates], or the error of the
#: program} for stdin, [text before each program, {name: program}].
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
results = {}
start, programs = json.load(sys.stdin)
for name, program in programs.items():
    trees.clear()
    try:
        exec(start + program, dict(theano=theano, T=T, np=np, ifelse=ifelse))
        results[name] = list(trees)
    except Exception as error:
        results[name] = f"{type(error).__name__}: {error}"
print("TREES", json.dumps(results))
"""


def trees(library, program, graphs):
    """What `program` prints as TREES in a new process with the names of `library`, for stdin `graphs`."""
    done = subprocess.run(
        [sys.executable, "-c", MODULES[library] + program],
        input=json.dumps(graphs),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.rpartition("TREES ")[2])


#: Names of operations that differ -> the name that is compared; keys are of either library.
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
    """For each line (depth, name, number of a node that is listed again, position), to be compared.

    The depth is that of the indentation, the position the text of the number in the order of
    execution. Texts of constants and ids are left out.
    """
    entries, numbers = [], {}
    for line in text.splitlines():
        if line.endswith("···"):  # PyTensor's mark of inputs that were listed before
            continue
        name, label, position = _NODE.search(line.rstrip()).groups()
        number = (
            None if common_name(name) == "constant" else numbers.setdefault(label, len(numbers))
        )
        entries.append((line.index(name), common_name(name), number, position))
    # PyTensor since 3.2 has the axis of a Join in the operation, Theano as its first input.
    entries = [
        entry
        for before, entry in zip([None, *entries], entries, strict=False)
        if not (before and before[1] == "join" and entry[0] > before[0] and entry[1] == "constant")
    ]
    depths = sorted({depth for depth, *_ in entries})
    listed = [number for _, _, number, _ in entries]
    return [
        (
            depths.index(depth),
            name,
            number if listed.count(number) > 1 and number is not None else None,
            position,
        )
        for depth, name, number, position in entries
    ]


def execution_order(text):
    """The positions of the nodes in the order of execution, as listed; each node once.

    Asserts that the inputs of each node precede it.
    """
    positions, ancestors = {}, []
    for line in text.splitlines():
        if line.endswith("···"):
            continue
        name, label, position = _NODE.search(line.rstrip()).groups()
        while ancestors and ancestors[-1][0] >= line.index(name):
            ancestors.pop()
        if position:
            assert not ancestors or int(position) < ancestors[-1][1], text
            ancestors.append((line.index(name), int(position)))
            assert positions.setdefault(label, int(position)) == int(position), text
    return list(positions.values())


def common_name(name):
    """A name that both libraries' lines have for an operation or variable, without parameters and
    in lower case: add, dimshuffle, sum, constant."""
    if re.match(r"(Tensor)?Constant{|[\d.\[-]", name):
        return "constant"
    if name.startswith("<"):
        return "variable"
    if inner := re.fullmatch(r"(?:Elemwise|Reduce){(\w+)[,{}].*", name):
        name = inner[1]
    if match := re.fullmatch(r"IncSubtensor{(Set|Inc);.*", name):
        name = f"{match[1]}Subtensor"
    name = re.sub(r"{.*", "", name)
    return _NAMES.get(name, name).lower()
