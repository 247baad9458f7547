# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The command ``spanwise``, also ``python -m spanwise``. A subcommand is a line of COMMANDS, and a
module with a ``main(arguments)`` that returns the exit status."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module

#: Name of the subcommand: (module, description).
COMMANDS = {
    "version": ("spanwise.settings:version", "the version, as --version"),
    "doctor": ("spanwise.doctor", "devices, compilers, BLAS and bridges found, what to install"),
    "config": ("spanwise.settings", "every setting: value, where it came from, what it means"),
    "cache": (
        "spanwise.kernels._cache_command",
        "the disk cache of compiled kernels: info, export, import, prune",
    ),
    "compile": (
        "spanwise.kernels._bundle",
        "kernels compiled ahead of time, for GPUs and CPUs, to one file",
    ),
    "torch-library": (
        "spanwise._frameworks.torch_library",
        "ops as a library of PyTorch's stable ABI, which needs no Spanwise",
    ),
    "legacy": ("spanwise.legacy", "what a CUDA C file contains and lacks, and a package around it"),
    "theano": ("spanwise.theano.__main__", "runs a script that was written for Theano"),
    "pycuda": ("spanwise.pycuda.__main__", "runs a script that was written for PyCUDA"),
    "cmake-dir": ("spanwise.cmake_dir", "the folder for CMake's -Dspanwise_DIR"),
}
_OPTIONS = {"--version": "version", "-V": "version"}


def _usage() -> str:
    lines = [f"    {name:13} {description}" for name, (_, description) in COMMANDS.items()]
    options = ("options:", "    --version  the version", "    --help     this text")
    return "\n".join(
        ("usage: spanwise COMMAND [ARGUMENT ...]", "", "commands:", *lines, "", *options)
    )


def main(arguments: list[str]) -> int:
    """Runs the command and returns its exit status; 2 for an unknown command."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(_usage())
        return 0
    name = _OPTIONS.get(arguments[0], arguments[0]) if arguments else ""
    if name not in COMMANDS:
        if name:
            print(f"spanwise: there is no command {name!r}\n", file=sys.stderr)
        print(_usage(), file=sys.stderr)
        return 2
    from .settings import unknown_variables

    for line in unknown_variables():
        print(f"spanwise: {line}", file=sys.stderr)
    module, _, function = COMMANDS[name][0].partition(":")
    return int(getattr(import_module(module), function or "main")(arguments[1:]))


def run() -> int:
    """The entry point of the program ``spanwise``."""
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit
        status = 128 + signal.SIGPIPE
    return status


if __name__ == "__main__":
    sys.exit(run())
