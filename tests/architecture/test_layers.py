# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Every #include is an allowed edge between layers, and headers do not include each other in
cycles."""

import os
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from support.tree import ROOT, tree_files

# A layer and the other layers that its files may include.
LIBRARY = {"core", "parse", "runtime", "kernels", "strided", "graph", "op_sdk"}
ALLOWED = {
    "core": set(),
    "parse": {"core"},
    "runtime": {"core", "parse"},
    "kernels": {"core", "parse", "runtime"},
    "strided": {"core", "parse", "runtime", "kernels"},
    "kernel_expressions": {"core", "parse", "runtime", "kernels", "strided"},
    "graph": {"core", "runtime", "kernels", "strided"},
    "op_sdk": LIBRARY - {"op_sdk"} | {"plugin"},
    "plugin": set(),
    "bridge": {"core", "runtime"},
    "backends/cpu": {"core", "parse", "runtime"},
    "backends/cuda": {"core", "parse", "runtime"},
    "device": set(),
    "ops": LIBRARY | {"device", "python"},
    "bridges": {"core", "runtime", "bridge", "python"},
    "addons": LIBRARY | {"bridge", "python"},
    "python": {"core", "runtime", "kernels", "kernel_expressions", "graph", "op_sdk", "bridge"},
    "spanwise": LIBRARY | {"bridge"},  # spanwise.hpp, for programs
}
# Layers that use the rest of the library only through headers of sdk/include, as code outside the
# tree does; those that may also include sdk/internal.
ONLY_PUBLIC_HEADERS = {"bridges", "addons", "plugin", "spanwise"}
ALSO_INTERNAL_HEADERS = {"ops", "python"}
CUDA_HEADER = re.compile(
    r"(cuda|nvrtc|cublas|nvJitLink|nccl|cudaProfiler)\w*\.h$|device_launch_parameters\.h$"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
FOLDERS = ("sdk", "ops", "bridges", "addons")
ADDON_HEADERS = [folder.relative_to(ROOT) for folder in ROOT.glob("addons/*/include")]
REMEDY = (
    "Move the code to the layer that it needs, or the need behind an interface of a lower layer. "
    "The edges are in ALLOWED, above, and in CONTRIBUTING.md."
)
SUFFIXES = (".hpp", ".cpp", ".h", ".cuh")


def test_every_include_is_an_allowed_edge():
    wrong = []
    for file, line, included, target in includes():
        if problem := forbidden(file, included, target):
            wrong.append(f"{file}:{line}: includes {included}: {problem}")
    assert not wrong, "\n".join(["", *wrong, "", REMEDY])


def test_headers_do_not_include_each_other_in_cycles():
    edges: dict[Path, set[Path]] = {}
    for file, _, _, target in includes():
        if target and target != file:
            edges.setdefault(file, set()).add(target)
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        cycle = " -> ".join(str(path) for path in error.args[1])
        raise AssertionError(
            f"{cycle}\nForward-declare in one of them, or split what both need."
        ) from None


def includes() -> Iterator[tuple[Path, int, str, Path | None]]:
    """(file, line, text between the quotes, the file of this tree that it names)."""
    for file in tree_files(FOLDERS, SUFFIXES):
        text = (ROOT / file).read_text()
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            yield file, line, match[2], resolve(file, match[2])


def resolve(file: Path, included: str) -> Path | None:
    name = included.removeprefix("spanwise/")
    beside = Path(os.path.normpath(file.parent / included))  # as a path of the tree, without ".."
    candidates = [beside, Path("sdk/include", included), Path("sdk/internal", included)]
    candidates += [Path("sdk/device", name), Path("sdk/src", included), Path("sdk", included)]
    candidates += [Path(included), Path("addons", included)]
    candidates += [folder / included for folder in ADDON_HEADERS]
    return next((path for path in candidates if (ROOT / path).is_file()), None)


def forbidden(file: Path, included: str, target: Path | None) -> str | None:
    source = layer(file)
    in_shim = "sdk/src/backends/cpu/shim" in str(file)  # these headers replace CUDA's
    if CUDA_HEADER.search(included) and source != "backends/cuda" and not in_shim:
        return "only sdk/src/backends/cuda may include CUDA's headers"
    if target is None:
        return None
    target_layer = layer(target)
    if target_layer not in {source, *ALLOWED[source]}:
        return f"{source} may not include headers of {target_layer}"
    if source == "ops" and target_layer == "python" and not file.stem.endswith("_py"):
        return "only the Python bindings of a family, *_py.cpp, may include headers of python"
    is_binding = target_layer == "python" and source != "addons"
    own_folder = file.parts[:2] == target.parts[:2] or is_binding
    public = target.is_relative_to("sdk/include") or target_layer == "device"
    internal = target.is_relative_to("sdk/internal")
    if source in ONLY_PUBLIC_HEADERS and not own_folder and not public:
        return f"{source} may include public headers and those of its own folder only"
    if source in ALSO_INTERNAL_HEADERS and not (own_folder or public or internal):
        return f"{source} may include sdk/include, sdk/internal and its own folder only"
    if file.is_relative_to("sdk/include") and not public:
        return "a public header may include public headers only"
    return None


def layer(file: Path) -> str:
    top, *rest = file.parts
    if top in ("ops", "bridges", "addons"):
        return top
    if rest[0] in ("python", "device"):
        return rest[0]
    if rest[0] == "src":
        return "/".join(rest[1:3]) if rest[1] == "backends" else rest[1]
    # sdk/include/spanwise/<layer>/..., sdk/internal/spanwise/<layer>/...; a header at the root is
    # the face of the layer of its name.
    return rest[2] if len(rest) > 3 else file.stem
