# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The text of docs/pycuda-names.md, generated from the modules of spanwise.pycuda."""

import importlib

MODULES = (
    "driver", "compiler", "gpuarray", "elementwise", "reduction", "scan", "curandom", "cumath",
    "tools", "characterize", "sparse.coordinate", "sparse.packeted", "sparse.operator", "sparse.cg",
)  # fmt: skip
CLASSES = {
    "driver": (
        "ArgumentHandler", "Context", "Device", "DeviceAllocation", "Event", "Function", "Memcpy2D",
        "Memcpy3D", "Module", "PointerHolderBase", "Stream",
    ),
    "compiler": ("SourceModule", "DynamicModule"),
    "gpuarray": ("GPUArray", "ArrayFlags"),
    "elementwise": ("ElementwiseKernel",),
    "curandom": ("XORWOWRandomNumberGenerator",),
    "tools": ("DeviceMemoryPool", "PageLockedMemoryPool", "DeviceData"),
}  # fmt: skip
HEAD = """# The names of spanwise.pycuda

Written from the modules by `tests/addons/pycuda/pycuda_names.py`; `tests/addons/pycuda/test_pycuda_names.py`
compares the two. `autoinit` has `context` and `device`, `autoprimaryctx` the same. Importing
`pycuda.gl` raises ImportError.
"""


def wrapped(names):
    """Names in lines of at most 100 characters."""
    lines = [""]
    for name in names:
        piece = f"`{name}`, "
        if len(lines[-1]) + len(piece) > 100:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines).removesuffix(",") + "\n"


def text():
    """The page."""
    unsupported = importlib.import_module("spanwise.pycuda._unsupported").INSTEAD
    parts = [HEAD]
    for name in MODULES:
        module = importlib.import_module(f"spanwise.pycuda.{name}")
        parts.append(f"## pycuda.{name}\n")
        parts.append(wrapped(sorted(module.__all__)))
        for class_name in CLASSES.get(name, ()):
            cls = getattr(module, class_name)
            members = sorted(member for member in dir(cls) if not member.startswith("_"))
            parts.append(f"`{class_name}`:\n" + wrapped(members))
    parts.append(
        "## Left out\n\nAccessing one of these names raises AttributeError with the remedy.\n"
    )
    for module, names in unsupported.items():
        by_remedy = {}
        for name, remedy in names.items():
            by_remedy.setdefault(remedy, []).append(name)
        rows = (
            f"| {wrapped(alike).strip().replace(chr(10), ' ')} | {remedy} |"
            for remedy, alike in by_remedy.items()
        )
        parts.append("\n".join([f"| {module} | remedy |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(text(), end="")
