# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The stubs agree with the module in every name, member and parameter, and mypy accepts them."""

import ast
import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import spanwise as sw

PACKAGE = Path(sw.__file__).parent
REMEDY = "scripts/make_stubs.py writes _core.pyi with the types of sdk/python/**/*_types.pyi"
# Members that only type checkers see, or that every class has.
NOT_COMPARED = {"__init__", "__hash__", "__doc__", "__module__", "__buffer__", "__numpy_dtype__"}


STUB = PACKAGE / "_core.pyi"
if not STUB.exists():
    pytest.skip("builds with sanitizers write no stub", allow_module_level=True)


def stub():
    return ast.parse(STUB.read_text())


def names_in(body):
    """The names that a module's or a class's body of a stub defines."""
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    return names


def public(names):
    return {name for name in names if not name.startswith("_")}


STUB_CLASSES = {node.name: node for node in stub().body if isinstance(node, ast.ClassDef)}
STUB_FUNCTIONS = {node.name: node for node in stub().body if isinstance(node, ast.FunctionDef)}


def test_every_public_name_is_in_the_stub_and_the_other_way_round():
    assert public(vars(sw._core)) == public(names_in(stub().body)), REMEDY


def test_names_used_by_the_package_are_in_the_stubs():
    private = {name for name in names_in(stub().body) if name.startswith("_")}
    aliases = {name for name in private if name[1:2].isupper()}  # types of the stub, and classes
    assert private - aliases <= set(vars(sw._core)), REMEDY


@pytest.mark.parametrize("name", sorted(public(STUB_CLASSES)))
def test_members_of_classes(name):
    kind = getattr(sw, name)
    inherited = {member for base in kind.__mro__[1:] for member in vars(base)}
    foreign = {m for m, v in vars(kind).items() if type(v) is sw._core._ForeignName}
    members = set(vars(kind)) - NOT_COMPARED - foreign
    expected = names_in(STUB_CLASSES[name].body) - NOT_COMPARED
    assert public(members) == public(expected), REMEDY
    missing = {member for member in expected if member not in members | inherited}
    assert not missing, REMEDY


def parameters_of(signature):
    kinds = inspect.Parameter
    return [
        (parameter.name, parameter.kind)
        for parameter in signature.parameters.values()
        # The first positional parameter, such as self, may have any name.
        if not (parameter.name in ("self", "$self") and parameter.kind != kinds.KEYWORD_ONLY)
    ]


def stub_parameters(node):
    kinds, arguments = inspect.Parameter, node.args
    positional = [(a.arg, kinds.POSITIONAL_ONLY) for a in arguments.posonlyargs]
    both = [(a.arg, kinds.POSITIONAL_OR_KEYWORD) for a in arguments.args]
    several = [(arguments.vararg.arg, kinds.VAR_POSITIONAL)] if arguments.vararg else []
    named = [(a.arg, kinds.KEYWORD_ONLY) for a in arguments.kwonlyargs]
    rest = [(arguments.kwarg.arg, kinds.VAR_KEYWORD)] if arguments.kwarg else []
    found = [*positional, *both, *several, *named, *rest]
    return [parameter for parameter in found if parameter[0] != "self"]


def callables():
    for name, node in STUB_FUNCTIONS.items():
        yield name, getattr(sw._core, name), node
    for name, node in STUB_CLASSES.items():
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.decorator_list:
                # A class that only the stubs name is the type of a result, never imported.
                owner = getattr(sw._core, name, None)
                yield f"{name}.{member.name}", getattr(owner, member.name, None), member


def test_stub_parameters_match_text_signatures():
    """Functions that CPython can inspect; pybind11 functions have text signatures only."""
    wrong, compared = [], 0
    for name, function, node in callables():
        text = getattr(function, "__text_signature__", None)
        if text is None or not getattr(function, "__doc__", None):
            continue
        try:
            signature = inspect.signature(function)
        except ValueError:
            continue
        if node.name.startswith("__"):
            continue
        compared += 1
        if parameters_of(signature) != stub_parameters(node):
            wrong.append(f"{name}{signature} is not {stub_parameters(node)}")
    assert not wrong, "\n".join([*wrong, REMEDY])
    assert compared > 20


def test_the_marker_for_type_checkers_ships():
    assert (PACKAGE / "py.typed").is_file()


def test_a_type_checker_agrees():
    """The sample's wrong lines carry the error that they must give: an ignore that is not needed is
    an error too, so that stubs cannot decay to Any unnoticed."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    sample = Path(__file__).parent / "typed_sample.py"
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    command += ["--cache-dir", os.devnull, str(sample)]
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sample_runs():
    from python import typed_sample

    assert typed_sample.main() == (2, 3)
