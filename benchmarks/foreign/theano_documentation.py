# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of Theano's documentation through spanwise.theano.

python benchmarks/foreign/theano_documentation.py FOLDER

FOLDER is `doc` of a clone of Theano 1.0.5. The examples (``>>>``) and the blocks ``.. testcode::`` of a
file run in its order, in one namespace. An example passes if it prints what the file says, up to white
space and "...", or raises the exception of that class.
"""

import contextlib
import doctest
import io
import os
import re
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np

import spanwise.theano.install  # noqa: F401  (import theano below is Spanwise's)
from spanwise.theano._script import add_names_of_python2

PARTS = ("tutorial", "library", "extending", "glossary.txt")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^( *)\.\. testcode::[^\n]*\n((?:\1 +[^\n]*\n|\s*\n)+)", re.MULTILINE)
FIRST = "import os, theano, numpy, numpy as np\nimport theano.tensor as T\nfrom theano import *\n"


def pieces(text):
    """[(line, source, what it prints or None, class of its exception or None)] in the file's order."""
    found = []
    for each in doctest.DocTestParser().get_examples(text):
        error = each.exc_msg and each.exc_msg.partition(":")[0].rpartition(".")[2].strip()
        found.append((each.lineno + 1, each.source, each.want, error))
    for block in BLOCK.finditer(text):
        body = re.sub(r"^ *:\w+:.*\n", "", textwrap.dedent(block[2]), flags=re.MULTILINE)
        found.append((text.count("\n", 0, block.start()) + 1, body, None, None))
    return sorted(found, key=lambda piece: piece[0])


def outcome(source, names, wanted, error):
    """ "" if a piece passes, else what it does instead."""
    printed, is_example = io.StringIO(), wanted is not None
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "example", "single" if is_example else "exec"), names)
    except (Exception, SystemExit) as raised:
        return "" if type(raised).__name__ == error else f"{type(raised).__name__}: {raised}"
    if error or (
        wanted and not doctest.OutputChecker().check_output(wanted, printed.getvalue(), FLAGS)
    ):
        return f"prints {printed.getvalue()!r}"
    return ""


def main(folder):
    add_names_of_python2()
    np.set_printoptions(legacy="1.13")
    root = Path(folder).resolve()
    os.chdir(tempfile.mkdtemp())
    Path("pics").mkdir()
    counts = {True: [0, 0], False: [0, 0]}
    for file in sorted(
        path for part in PARTS for path in [root / part, *(root / part).rglob("*.txt")]
    ):
        if not file.is_file():
            continue
        names = {"__name__": "__main__"}
        exec(FIRST, names)
        for line, source, wanted, error in pieces(file.read_text(errors="replace")):
            result = outcome(source, names, wanted, error)
            counts[wanted is not None][0] += not result
            counts[wanted is not None][1] += 1
            if result:
                print(f"{file.relative_to(root)}:{line}: {result[:160]}")
    for is_example, (passed, total) in counts.items():
        print(f"{'examples' if is_example else 'blocks'}: {passed} of {total}")


if __name__ == "__main__":
    main(sys.argv[1])
