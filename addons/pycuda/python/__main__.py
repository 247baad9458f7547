# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise.pycuda script.py [ARGUMENT ...]``, or ``-m module [ARGUMENT ...]``, runs a
program for PyCUDA unchanged over spanwise.pycuda, also where PyCUDA itself is installed. A script in
Python 2 is translated, as by ``python -m spanwise.theano``."""

import importlib
import runpy
import sys
from pathlib import Path

from spanwise.compat import alias_package

USAGE = f"usage: python -m {__package__} (script.py | -m module) [ARGUMENT ...]"


def _is_python2(script):
    try:
        compile(Path(script).read_bytes(), script, "exec")
    except SyntaxError:
        return True
    return False


def main(arguments):
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[is_module:]
    if not arguments or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    alias_package("pycuda", __package__)
    sys.argv[:] = arguments
    if is_module:
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        return 0
    if _is_python2(arguments[0]):
        return importlib.import_module("spanwise.theano.__main__").main(arguments)
    sys.path[0] = str(Path(arguments[0]).resolve().parent)  # as `python script.py` does
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
