# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The dynamic symbols of libspanwise and of the extension are Spanwise's own, so that a C++ library
linked statically into them and into others is not shared by accident."""

import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import package
from support.tree import BUILD

import spanwise as sw

PACKAGE = Path(sw.__file__).parent
EXTENSION = Path(sw._core.__file__)
LIBRARY = next(iter(sorted((PACKAGE / "lib").glob("libspanwise.so*"))), None)
OF_THE_LIBRARY = re.compile(
    r"_ZN[KRO]*8spanwise|_ZT[VITS]N8spanwise|_ZT[hv]\w*N[KRO]*8spanwise|_ZGVN8spanwise"
)
OF_THE_EXTENSION = re.compile(r"PyInit__core$|_ZT[IS]N8spanwise")


def exported(file):
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("needs nm of binutils")
    lines = package.run(nm, "-D", "--defined-only", file).splitlines()
    return [line.split()[-1].split("@")[0] for line in lines]


@pytest.mark.parametrize(
    ("file", "ours"), [(LIBRARY, OF_THE_LIBRARY), (EXTENSION, OF_THE_EXTENSION)]
)
def test_exported_names_are_spanwises(file, ours):
    if file is None:
        pytest.skip("libspanwise is not beside the package")
    names = exported(file)
    assert names
    foreign = [name for name in names if not ours.match(name)]
    assert not foreign, f"{len(foreign)} of {len(names)}: {foreign[:20]}"


# ---- a toolchain that links the C++ library statically


def link_command(target):
    """The link command of the target, and its output file."""
    ninja = package.cached("CMAKE_MAKE_PROGRAM")
    commands = package.run(ninja, "-C", BUILD, "-t", "commands", target).splitlines()
    command = [line for line in commands if " -shared " in line][-1]
    return command, re.search(r" -o (\S+)", command)[1]


def static_link_blocker(tmp_path):
    """Why the compiler cannot link the C++ library statically; an empty text if it can."""
    (tmp_path / "a.cpp").write_text("#include <string>\nstd::string f() { return {}; }\n")
    compiler = package.cached("CMAKE_CXX_COMPILER")
    words = ["-shared", "-fPIC", "-static-libstdc++", "-static-libgcc", "a.cpp", "-o", "a.so"]
    done = subprocess.run([compiler, *words], cwd=tmp_path, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr
    needed = subprocess.run(["ldd", "a.so"], cwd=tmp_path, capture_output=True, text=True).stdout
    return "it is linked dynamically" if "libstdc++" in needed else ""


@pytest.fixture(scope="module")
def static_package(tmp_path_factory):
    """The package under test, both of its binaries relinked with a static libstdc++."""
    folder = tmp_path_factory.mktemp("static")
    if not (BUILD / "build.ninja").exists() or BUILD not in EXTENSION.parents:
        pytest.skip("the package under test was not built by ninja")
    if reason := static_link_blocker(folder):
        pytest.skip(f"no static C++ library here: {reason[:200]}")
    copied = folder / "python" / "spanwise"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__", "*.so*"))
    (copied / "lib").mkdir(exist_ok=True)
    for target, binary in (
        ("spanwise", copied / "lib" / "libspanwise.so.0.1"),
        ("sw_python", copied / EXTENSION.name),
    ):
        command, output = link_command(target)
        words = f" -o {binary} -static-libstdc++ -static-libgcc"
        package.run("sh", "-c", command.replace(f" -o {output}", words), cwd=BUILD)
    return copied


def run_with(static_package, program):
    """The program in a fresh interpreter that has the relinked package."""
    path = os.pathsep.join([str(static_package.parent), *filter(None, sys.path)])
    words = [sys.executable, "-X", "faulthandler", "-c", program]
    return package.run(*words, env=dict(os.environ, PYTHONPATH=path))


# Modules that load C++ libraries, perhaps another libstdc++ too, before or after Spanwise.
PEERS = ("scipy.fft", "jax", "torch", "cupy")
USE = """
import spanwise as sw
a = sw.arange(6, device="cpu").reshape(2, 3)
assert str(a * 2) and repr(a) and f"{(a / 3).sum()}"
for call, error in [
    (lambda: a.reshape(7), sw.LayoutError),
    (lambda: a[9], IndexError),
    (lambda: sw.asarray(object()), sw.BridgeError),
    (lambda: sw.device("nowhere"), sw.ArgumentError),
    (lambda: sw.SourceModule("broken", device="cpu"), sw.CompileError),
    (lambda: sw.empty(2**55, device="cpu"), MemoryError),
]:
    try:
        call()
    except error as caught:
        assert str(caught)
    else:
        raise AssertionError(error)
x = sw.tensor.fvector("x")
try:
    sw.function([x], x + sw.tensor.fvector("y"), device="cpu")
except sw.GraphError as caught:
    assert "neither an input" in str(caught)
assert sw.function([x], sw.exp(x) + 1, device="cpu")([0.0]).tolist() == [2.0]
print(sw.__file__)
"""


def orders():
    yield from itertools.permutations(["numpy", "spanwise"])
    for name in PEERS:
        if importlib.util.find_spec(name.split(".")[0]) is not None:
            yield from itertools.permutations(["numpy", "spanwise", name])


@pytest.mark.parametrize("order", list(orders()), ids="-".join)
def test_package_with_a_static_libstdcxx_imports_in_any_order(static_package, order):
    program = "".join(f"import {name}\n" for name in order) + USE
    assert run_with(static_package, program).strip() == str(static_package / "__init__.py")


def test_the_relinked_binaries_need_no_libstdcxx_and_export_none(static_package):
    for file, ours in (
        (static_package / "lib" / "libspanwise.so.0.1", OF_THE_LIBRARY),
        (static_package / EXTENSION.name, OF_THE_EXTENSION),
    ):
        needed = package.run("ldd", file)
        assert "libstdc++" not in needed
        assert (
            "libgcc_s" in needed
        )  # one unwinder, so that exceptions cross from one binary to the other
        assert all(ours.match(name) for name in exported(file))


def test_an_interrupt_during_the_import_stays_an_interrupt():
    """A function of Python's that the extension module calls while it starts raises it."""
    program = """
import sys

def interrupt(frame, event, argument):
    caller = frame.f_back
    if event == "call" and caller and caller.f_code.co_name == "_call_with_frames_removed":
        if getattr(caller.f_locals["f"], "__name__", "") == "exec_dynamic":
            if "spanwise._core" in str(caller.f_locals["args"]):
                raise KeyboardInterrupt("here")

sys.setprofile(interrupt)
try:
    import spanwise
except KeyboardInterrupt as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("here\n", 0), done.stderr
