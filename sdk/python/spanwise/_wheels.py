# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the shared libraries of the nvidia-* and OpenBLAS wheels on ``sys.path``."""

from __future__ import annotations

import os
import sys

from . import _core


def nvidia_library_folders() -> list[str]:
    """The ``nvidia/*/lib`` folders on ``sys.path``: nvidia/cu13/lib, nvidia/cuda_nvrtc/lib, ..."""
    folders = []
    for entry in sys.path:
        root = os.path.join(entry, "nvidia")
        try:
            packages = sorted(os.scandir(root), key=lambda package: package.name)
        except OSError:
            continue  # missing or unreadable
        candidates = (os.path.join(package.path, "lib") for package in packages)
        folders += filter(os.path.isdir, candidates)
    return folders


def blas_folder() -> str | None:
    """The folder of an OpenBLAS library on ``sys.path``: NumPy's wheel, else the scipy-openblas32 wheel.

    NumPy's comes first: a program that uses both libraries then runs one OpenBLAS thread pool
    instead of two that compete for the same cores.
    """
    for parts in (("numpy.libs",), ("scipy_openblas32", "lib")):
        for entry in sys.path:
            folder = os.path.join(entry, *parts)
            if os.path.isdir(folder) and any("openblas" in name for name in os.listdir(folder)):
                return folder
    return None


def set_library_paths() -> None:
    """Sets config.cuda_library_path and config.blas where they still have their defaults. Lists
    folders; loads no library."""
    for setting in _core._config_list():
        find = _FINDERS.get(setting.name)
        if find is not None and setting.source == "default" and (path := find()):
            _core._config_set(setting.name, path)


_FINDERS = {
    "cuda_library_path": lambda: os.pathsep.join(nvidia_library_folders()),
    "blas": blas_folder,
}
