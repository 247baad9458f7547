# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise <command>``. A command is a module of this package with a ``main()``."""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = {
    "doctor": (
        "spanwise.doctor",
        "devices, compilers, BLAS and bridges found, and what to install",
    ),
    "config": ("spanwise.settings", "every setting: value, where it came from, what it means"),
    "legacy": ("spanwise.legacy", "what a CUDA C file contains and lacks, and a package around it"),
    "cmake-dir": ("spanwise.cmake_dir", "the folder for CMake's -Dspanwise_DIR"),
}


def _usage() -> str:
    lines = [f"    {name:10} {description}" for name, (_, description) in COMMANDS.items()]
    return "\n".join(("usage: python -m spanwise COMMAND", "", "commands:", *lines))


def main(arguments: list[str]) -> int:
    """Runs the command and returns its exit status; 2 for an unknown command."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(_usage())
        return 0
    if not arguments or arguments[0] not in COMMANDS:
        if arguments:
            print(f"spanwise: there is no command {arguments[0]!r}\n", file=sys.stderr)
        print(_usage(), file=sys.stderr)
        return 2
    module, _ = COMMANDS[arguments[0]]
    return int(import_module(module).main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
