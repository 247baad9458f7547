# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise.theano [--show] script.py [arguments]``: runs a script for Theano.

A script in Python 2 is translated first; ``--show`` prints the changes and runs nothing.
"""

from __future__ import annotations

import sys

USAGE = "usage: python -m spanwise.theano [--show] script.py [arguments]"


def main(arguments: list[str]) -> int:
    """Runs the script; returns the exit status 2 for wrong arguments."""
    shows_changes = arguments[:1] == ["--show"]
    script = arguments[shows_changes:]  # and its arguments
    if not script or (script[0].startswith("-") and script[0] != "-"):
        print(USAGE if script[:1] != ["--help"] else f"{__doc__}\n{USAGE}", file=sys.stderr)
        return 2
    from ._script import difference, read_script, run

    try:
        source = read_script(script[0])
    except OSError as error:
        print(f"spanwise.theano: cannot read the script: {error}", file=sys.stderr)
        return 2
    if shows_changes:
        print(difference(source, script[0]), end="")
        return 0
    run(source, script)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
