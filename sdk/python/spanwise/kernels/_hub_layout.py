# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The layout of repositories that Hugging Face's package ``kernels`` loads: a folder for each variant,
``build/<variant>``, which is a Python package with metadata."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from .._core import ArgumentError

#: For code that needs no other than Python's binaries: bundles, and packages around them.
UNIVERSAL = "torch-universal"

# Versions of `kernels` before 0.12 load this, in a folder with the name of the repository.
_NESTED = """\
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
import sys

_spec = spec_from_file_location(f"{__name__}_kernel", Path(__file__).parents[1] / "__init__.py")
_module = sys.modules[_spec.name] = module_from_spec(_spec)
_spec.loader.exec_module(_module)
globals().update({name: getattr(_module, name) for name in dir(_module) if not name.startswith("_")})
"""

_BUNDLE_MODULE = '''\
"""Ops of Spanwise (pip install spanwise) as operators of PyTorch, compiled ahead of time."""

from pathlib import Path

import spanwise as _sw

_ops = _sw.load_ops(Path(__file__).with_name("ops.swb"))
'''


def python_name(name: str) -> str:
    """The name of the package in a repository `name`. Raises ArgumentError for a name that the Hub does not
    take."""
    if not re.fullmatch("[a-z][-a-z0-9]*[a-z0-9]", name):
        raise ArgumentError(
            f"kernels: expected a name of small letters, digits and dashes, such as my-ops, got {name!r}"
        )
    return name.replace("-", "_")


def digest_of(files: Mapping[str, bytes]) -> str:
    """What distinguishes versions of a repository that one process has loaded."""
    digest = hashlib.sha256()
    for file, contents in sorted(files.items()):
        digest.update(f"{file} {len(contents)} ".encode() + contents)
    return digest.hexdigest()[:12]


def write_repository(
    folder: Path, name: str, variants: Mapping[str, str], files: Mapping[str, bytes]
) -> None:
    """Writes the files, among them ``__init__.py``, for `variants`, {name of the variant: its backend,
    "cpu" or "cuda"}."""
    package = python_name(name)
    digest = digest_of(files)
    for variant, backend in variants.items():
        metadata = {
            "name": name,
            "id": f"{package}_{backend}_{digest}",
            "version": 1,
            "license": "other",
            "python-depends": [],
            "backend": {"type": backend},
        }
        contents = {
            **files,
            "metadata.json": (json.dumps(metadata, indent=2) + "\n").encode(),
            f"{package}/__init__.py": _NESTED.encode(),
        }
        for file, data in contents.items():
            path = folder / "build" / variant / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def write_bundle_repository(folder: Path, name: str, bundle: bytes, ops: Iterable[str]) -> None:
    """A repository of the ops of a bundle. It loads where Spanwise is installed."""
    module = _BUNDLE_MODULE + "".join(f"{op} = _sw.torch_op(_ops.{op})\n" for op in ops)
    files = {"__init__.py": module.encode(), "ops.swb": bundle}
    write_repository(folder, name, {UNIVERSAL: "cpu"}, files)
