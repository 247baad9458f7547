# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Gnumpy 0.2 with npmat from PyPI, converted to Python 3 in the build folder by the tests.

As a program it writes the modules to the folder given as argument.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path

#: Replacements for code that lib2to3 does not convert, and for changes of NumPy; for both modules.
REPAIRS = (
    (r"\bxrange\b", "range"),
    (r"\b__(r|i|)div__\b", r"__\1truediv__"),
    # CUDAMat's C functions are not an attribute of its package, and npmat has none.
    (r"hasattr\(_cudamat\._cudamat,", "hasattr(getattr(_cudamat, '_cudamat', None),"),
    (r"numpy\.array\(data, copy=False\)", "numpy.asarray(data)"),
    # Casts of uninitialised values may overflow.
    (r"CUDAMatrix\(np\.empty\(shape\)\)", "CUDAMatrix(np.empty(shape, __DTYPE__))"),
    # In current NumPy a (k, 1) array is C-contiguous too, and resize() uses C order then.
    (
        r"self\.numpy_array\.resize\(\*shape\)",
        "self.numpy_array = self.numpy_array.reshape(shape, order='F')",
    ),
)


class Unavailable(Exception):
    """The reason why Gnumpy is not available."""


def folder(build):
    """The folder with gnumpy.py and npmat.py, created at the first call. Raises Unavailable."""
    modules = Path(build) / "gnumpy-0.2"
    if not (modules / "gnumpy.py").exists():
        write(modules)
    return modules


def write(target):
    """Downloads and converts the modules into the folder `target`. Raises Unavailable."""
    if os.environ.get("OFFLINE", "0") != "0":
        raise Unavailable("OFFLINE is set, and gnumpy 0.2 comes from the package index")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from lib2to3.refactor import RefactoringTool, get_fixers_from_package
    except ImportError:
        raise Unavailable("gnumpy 0.2 is Python 2, and Python 3.13 has no lib2to3") from None
    tool = RefactoringTool(get_fixers_from_package("lib2to3.fixes"))
    modules = {name: str(tool.refactor_string(text, name)) for name, text in download().items()}
    target.mkdir(parents=True, exist_ok=True)
    for name, text in modules.items():
        for pattern, replacement in REPAIRS:
            text = re.sub(pattern, replacement, text)
        temporary = target / f"{name}.{os.getpid()}"
        temporary.write_text(text)
        temporary.rename(target / name)


def download():
    """The two modules' texts, by their file names."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", ":all:", "--dest", folder, "gnumpy==0.2"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        archives = list(Path(folder).glob("gnumpy-0.2*"))
        if result.returncode != 0 or not archives:
            reason = (result.stderr.strip().splitlines() or ["pip printed no error"])[-1]
            raise Unavailable(f"gnumpy 0.2 cannot be downloaded: {reason}")
        texts = {}
        with tarfile.open(archives[0]) as archive:
            for member in archive.getmembers():
                name = Path(member.name).name
                if name in ("gnumpy.py", "npmat.py"):
                    texts[name] = archive.extractfile(member).read().decode() + "\n"
    return texts


if __name__ == "__main__":
    write(Path(sys.argv[1]))
