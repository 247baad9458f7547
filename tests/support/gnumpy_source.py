# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Gnumpy 0.2 with npmat, as PyPI has it, made fit for Python 3 in the build folder at test time.

Run as a program it writes the modules to the folder that is its argument.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path

#: What lib2to3 leaves undone, and what NumPy has changed since: pattern -> text, for both modules.
REPAIRS = (
    (r"\bxrange\b", "range"),
    (r"\b__(r|i|)div__\b", r"__\1truediv__"),
    # CUDAMat's C functions are no attribute of its package, and npmat has none.
    (r"hasattr\(_cudamat\._cudamat,", "hasattr(getattr(_cudamat, '_cudamat', None),"),
    (r"numpy\.array\(data, copy=False\)", "numpy.asarray(data)"),
    # Garbage does not always fit when it is cast.
    (r"CUDAMatrix\(np\.empty\(shape\)\)", "CUDAMatrix(np.empty(shape, __DTYPE__))"),
    # A (k, 1) array counts as C-contiguous too nowadays, and resize() goes by rows then.
    (
        r"self\.numpy_array\.resize\(\*shape\)",
        "self.numpy_array = self.numpy_array.reshape(shape, order='F')",
    ),
)


class NotToBeHad(Exception):
    """Why there is no Gnumpy here, in a sentence."""


def folder(build):
    """The folder with gnumpy.py and npmat.py, made at the first call. Raises NotToBeHad."""
    made = Path(build) / "gnumpy-0.2"
    if not (made / "gnumpy.py").exists():
        write(made)
    return made


def write(target):
    if os.environ.get("OFFLINE", "0") != "0":
        raise NotToBeHad("OFFLINE is set, and gnumpy 0.2 comes from the package index")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from lib2to3.refactor import RefactoringTool, get_fixers_from_package
    except ImportError:
        raise NotToBeHad("gnumpy 0.2 is Python 2, and Python 3.13 has no lib2to3") from None
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
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", ":all:", "--dest", place, "gnumpy==0.2"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        archives = list(Path(place).glob("gnumpy-0.2*"))
        if done.returncode != 0 or not archives:
            reason = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
            raise NotToBeHad(f"gnumpy 0.2 cannot be downloaded: {reason}")
        texts = {}
        with tarfile.open(archives[0]) as archive:
            for member in archive.getmembers():
                name = Path(member.name).name
                if name in ("gnumpy.py", "npmat.py"):
                    texts[name] = archive.extractfile(member).read().decode() + "\n"
    return texts


if __name__ == "__main__":
    write(Path(sys.argv[1]))
