# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise doctor``: devices, compilers, BLAS, caches and bridges, and what to install.

Runs on any machine: a missing component is a line of the report, not an error.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator

from . import _core
from .settings import unknown_variables as _unknown_variables

_MIB = 1 << 20


def _program() -> Iterator[str]:
    yield f"spanwise {_core.__version__}, {_core.__file__}"
    yield f"Python {platform.python_version()}, {platform.platform()}"


def _devices() -> Iterator[str]:
    for device in _core.devices():
        properties = device.properties
        unit = "threads" if device == "cpu" else "multiprocessors"
        yield (
            f"{device.name}: {properties.name}, {properties.architecture}, "
            f"{properties.multiprocessors} {unit}, "
            f"{properties.free_memory // _MIB} of {properties.total_memory // _MIB} MiB free"
            + (f", driver {properties.driver}" if properties.driver else "")
        )
    if reason := _core._why_no_cuda():
        yield f"no GPU: {reason}"
    yield f"the default device of new arrays is {_core.default_device()}"


def _tools(are_blas: bool) -> Iterator[str]:
    for tool in _core._tools():
        if (tool.name in ("BLAS", "cuBLAS")) != are_blas:
            continue
        if tool.missing:
            # The extras of Spanwise's own package, where it comes from an index.
            extra = "; or: pip install 'spanwise[cuda13]' (driver of CUDA 12: 'spanwise[cuda12]')"
            yield f"{tool.name}: missing. {tool.missing}{extra if tool.name == 'NVRTC' else ''}"
        else:
            yield f"{tool.name} {tool.version}, {tool.path}"


def _cache() -> Iterator[str]:
    info = _core.kernel_cache.info()
    yield f"{info.path}"
    yield f"{info.entries} kernels, {info.bytes / _MIB:.1f} MiB"
    yield f"{info.hits} hits and {info.misses} misses in this process"
    if info.problem:
        yield f"nothing is kept: {info.problem}"


def _bridges() -> Iterator[str]:
    from ._bridges import bridges

    for bridge in bridges():
        is_present = bridge.version or not bridge.library  # a protocol has no library
        name = f"{bridge.name} {bridge.version}" if bridge.version else bridge.name
        yield f"{name}: {bridge.protocols if is_present else 'not installed'}"


def _settings() -> Iterator[str]:
    changed = [s for s in _core._config_list() if s.value != s.default_value]
    for setting in changed:
        yield f"{setting.name} = {setting.value} ({setting.source})"
    yield from _unknown_variables()
    if not changed:
        yield "all at their defaults; spanwise config lists them"


SECTIONS: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
    ("Program", _program),
    ("Devices", _devices),
    ("Compilers of kernels", lambda: _tools(are_blas=False)),
    ("BLAS", lambda: _tools(are_blas=True)),
    ("Kernel cache", _cache),
    ("Bridges", _bridges),
    ("Settings", _settings),
)


def report() -> Iterator[str]:
    """The report, line by line."""
    for title, section in SECTIONS:
        yield title
        try:
            for line in section():
                yield f"  {line}"
        except Exception as error:  # report the broken part and go on
            yield f"  cannot be determined: {type(error).__name__}: {error}"


def main(arguments: list[str]) -> int:
    """Prints the report."""
    for line in report():
        # A path need not be UTF-8, and standard output takes no other text.
        print(line.encode(errors="backslashreplace").decode(), flush=True)
    return 0
