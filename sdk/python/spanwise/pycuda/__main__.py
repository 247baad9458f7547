# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise.pycuda script.py [ARGUMENT ...]`` runs a script for PyCUDA unchanged."""

import runpy
import sys
from pathlib import Path

from . import install


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(f"usage: python -m {install.PACKAGE} script.py [ARGUMENT ...]", file=sys.stderr)
        return 2
    sys.argv[:] = arguments
    sys.path[0] = str(Path(arguments[0]).resolve().parent)  # as `python script.py` does
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
