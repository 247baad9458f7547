# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""inspect.signature() and help() describe every public callable, and dir(spanwise) is what users need."""

import importlib
import inspect
import pydoc
import re
from pathlib import Path

import pytest

import spanwise as sw

LIST = Path(__file__).with_name("public_names.txt").read_text()
# Of others that run old programs, whose functions are called as those of the original.
OLD_FACES = ("spanwise.theano", "spanwise.pycuda", "spanwise.cudamat", "spanwise.gnumpy")
MODULES = [
    name
    for name in re.findall(r"^[\w.]+(?=:)", LIST, re.MULTILINE)
    if not name.startswith(OLD_FACES)
]
# What only C++ and pybind11 say.
FOREIGN = re.compile(r"detail::|std::|pybind11::|self: spanwise|typing\.Supports")


def is_made_by_programs(cls):
    """Whether a class has a constructor: exceptions have Python's, results of functions none."""
    if type(cls).__name__ == "pybind11_type":
        return bool(sw._core._typed_signature(cls.__init__))
    return cls.__init__ is not object.__init__ and not issubclass(cls, BaseException)


def callables():
    """(name, function or class) of all public modules, and of the methods of their classes."""
    seen = set()
    for module in MODULES:
        try:
            namespace = importlib.import_module(module)
        except ImportError:
            continue  # an addon whose packages are not installed
        for name in dir(namespace):
            value = getattr(namespace, name)
            is_own = (getattr(value, "__module__", None) or "spanwise").startswith("spanwise")
            if name.startswith("_") or not callable(value) or id(value) in seen or not is_own:
                continue
            if isinstance(value, sw.dtype):  # makes NumPy's scalars, by their types' signatures
                continue
            seen.add(id(value))
            if not isinstance(value, type):
                yield f"{module}.{name}", value
                continue
            if is_made_by_programs(value):
                yield f"{module}.{name}", value
            for member, method in inspect.getmembers(value, callable):
                of_python = getattr(method, "__objclass__", value).__module__ == "builtins"
                if not member.startswith("_") and not isinstance(method, type) and not of_python:
                    yield f"{module}.{name}.{member}", method


def test_every_public_callable_has_a_signature():
    missing, count = [], 0
    for name, value in callables():
        count += 1
        try:
            inspect.signature(value)
        except (ValueError, TypeError) as error:
            missing.append(f"{name}: {error}")
    assert not missing, f"{len(missing)} of {count}\n" + "\n".join(missing)
    assert count > 700


def test_help_shows_no_type_of_cpp():
    found = []
    for name, value in callables():
        text = pydoc.render_doc(value, renderer=pydoc.plaintext) if name.count(".") < 3 else ""
        for line in text.splitlines():
            if FOREIGN.search(line):
                found.append(f"{name}: {line.strip()[:120]}")
    assert not found, f"{len(found)}\n" + "\n".join(found[:40])


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        ("device", "(x=None, /)"),
        ("Stream", "(device=None, priority=0)"),
        ("can_cast", "(from_, to, casting='safe')"),
        ("result_type", "(*args)"),
        ("Event.record", "(self, stream=None, *, device=None)"),
        ("add", "(x1, x2, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None)"),
        ("Array", "(x, /, dtype=None, device=None)"),
        (
            "median",
            "(a, axis=None, out=None, overwrite_input=False, keepdims=False, *, device=None)",
        ),
    ],
)
def test_signatures_are_those_that_calls_accept(function, signature):
    value = sw
    for name in function.split("."):
        value = getattr(value, name)
    text = str(inspect.signature(value)).replace("<no value>", "False")
    assert text == signature


def test_dir_shows_the_modules_and_hides_private_names():
    names = dir(sw)
    assert {"tensor", "random", "graph", "driver", "linalg", "fft", "memory"} < set(names)
    assert [name for name in names if name.startswith("_") and not name.startswith("__")] == []
    assert names == sorted(names)
