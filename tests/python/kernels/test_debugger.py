# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What debuggers see of kernels on the CPU."""

import ctypes
import os
import re
import shutil
import subprocess
import sys

import pytest

import spanwise as sw

SOURCE = """\
__global__ void shift(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}
"""
PROGRAM = """
import numpy as np
import spanwise as sw
shift = sw.SourceModule(path="shift.cu", device="cpu", options=["-g", "-O0"]).get_function("shift")
x = sw.arange(64, dtype="float32", device="cpu")
shift(x, x, np.int32(64), block=(64, 1, 1), grid=(1, 1))
print("sum", x.sum())
"""


class Object(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("name", ctypes.c_char_p)]


def names_of_loaded_objects():
    names = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Object), ctypes.c_size_t, ctypes.c_void_p)
    def add(loaded, size, data):
        names.append(loaded.contents.name.decode())
        return 0

    ctypes.CDLL(None).dl_iterate_phdr(add, None)
    return set(names)


def test_other_processes_find_a_loaded_kernel_by_its_path():
    """/proc/self is the folder of the process that opens it: a debugger would read another file."""
    before = names_of_loaded_objects()
    module = sw.SourceModule(SOURCE.replace("shift", "found_by_path"), device="cpu")
    (path,) = names_of_loaded_objects() - before
    assert module.function_names == ["found_by_path"]
    assert re.match(rf"/proc/{os.getpid()}/fd/", path) or (
        os.path.isabs(path) and "self" not in path
    )


def test_gdb_stops_in_a_kernel(tmp_path):
    if not (gdb := shutil.which("gdb")):
        pytest.skip("gdb is not installed")
    (tmp_path / "shift.cu").write_text(SOURCE)
    (tmp_path / "program.py").write_text(PROGRAM)
    commands = [
        "set confirm off", "set breakpoint pending on", "break shift.cu:3 if threadIdx.x == 5",
        "run program.py", "print i", "print n", "print x[i]", "delete", "continue",
    ]  # fmt: skip
    arguments = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(
        [gdb, "-q", "-nx", "-batch", *arguments, "--args", sys.executable],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "SPANWISE_CPU_THREADS": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if "ptrace: Operation not permitted" in done.stderr:
        pytest.skip("this system permits no debugger")
    values = re.findall(r"^\$\d+ = (.*)$", done.stdout, re.MULTILINE)
    assert values == ["5", "64", "5"], done.stdout + done.stderr
    assert "at " in done.stdout and "shift.cu:3" in done.stdout
    assert "sum 2080.0" in done.stdout
