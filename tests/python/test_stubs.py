# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The stub _core.pyi agrees with the module in names, members and parameters, __init__.pyi has the
package's names, and mypy accepts both."""

import ast
import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import spanwise as sw

PACKAGE = Path(sw.__file__).parent
REMEDY = "scripts/make_stubs.py writes _core.pyi with the types of sdk/python/core_types.pyi"
# Before Python 3.12 a class that supports the buffer protocol has no such member.
NOT_COMPARED = {"__buffer__"}
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


def test_module_and_stub_have_the_same_public_names():
    assert public(vars(sw._core)) == public(names_in(stub().body)), REMEDY


def test_package_stub_has_the_names_of_the_package():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imported = {node.asname for node in ast.walk(tree) if isinstance(node, ast.alias)}
    names = imported | names_in(tree.body) | public(vars(sw._core))
    listed = public(dir(sw))  # once: the first use of a name may import modules
    modules = {name for name in listed if isinstance(getattr(sw, name), ModuleType)}
    assert listed - modules - names == set(), REMEDY


def test_private_names_of_the_stub_exist_in_the_module():
    private = {name for name in names_in(stub().body) if name.startswith("_")}
    nodes = [node for node in stub().body if isinstance(node, ast.AnnAssign)]
    # Names of types, which only the stub has.
    aliases = {node.target.id for node in nodes if ast.unparse(node.annotation) == "TypeAlias"}
    assert private - aliases <= set(vars(sw._core)), REMEDY


@pytest.mark.parametrize("name", sorted(public(STUB_CLASSES)))
def test_class_and_its_stub_have_the_same_members(name):
    cls = getattr(sw, name)
    inherited = {member for base in cls.__mro__[1:] for member in vars(base)}
    # Names of other libraries, whose access raises an error that says what to use instead.
    foreign = {m for m, v in vars(cls).items() if type(v) is sw._core._ForeignName}
    members = set(vars(cls)) - NOT_COMPARED - foreign
    expected = names_in(STUB_CLASSES[name].body) - NOT_COMPARED
    assert public(members) == public(expected), REMEDY
    missing = {member for member in expected if member not in members | inherited}
    assert not missing, REMEDY


def parameters_of(signature):
    parameters = signature.parameters.values()
    return [
        (parameter.name, parameter.kind) for parameter in parameters if parameter.name != "self"
    ]


def stub_parameters(node):
    kinds, arguments = inspect.Parameter, node.args
    positional_only = [(a.arg, kinds.POSITIONAL_ONLY) for a in arguments.posonlyargs]
    positional_or_keyword = [(a.arg, kinds.POSITIONAL_OR_KEYWORD) for a in arguments.args]
    var_positional = [(arguments.vararg.arg, kinds.VAR_POSITIONAL)] if arguments.vararg else []
    keyword_only = [(a.arg, kinds.KEYWORD_ONLY) for a in arguments.kwonlyargs]
    var_keyword = [(arguments.kwarg.arg, kinds.VAR_KEYWORD)] if arguments.kwarg else []
    parameters = (
        positional_only + positional_or_keyword + var_positional + keyword_only + var_keyword
    )
    return [parameter for parameter in parameters if parameter[0] != "self"]


def callables():
    """(name, function, node of the stub) for each function, and each method without a decorator; the
    function is None for a method of a class that only the stub has."""
    for name, node in STUB_FUNCTIONS.items():
        yield name, getattr(sw._core, name), node
    for name, node in STUB_CLASSES.items():
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.decorator_list:
                owner = getattr(sw._core, name, None)
                yield f"{name}.{member.name}", getattr(owner, member.name, None), member


def test_stub_parameters_match_text_signatures():
    """Compares the functions that inspect.signature() reads; pybind11 writes signatures of its functions
    into their docstrings only."""
    mismatches, compared = [], 0
    for name, function, node in callables():
        # Python gives special methods general signatures, such as (self, /, *args, **kwargs).
        if node.name.startswith("__") or getattr(function, "__text_signature__", None) is None:
            continue
        try:
            signature = inspect.signature(function)
        except ValueError:
            continue
        compared += 1
        if parameters_of(signature) != stub_parameters(node):
            mismatches.append(f"{name}{signature} is not {stub_parameters(node)}")
    assert not mismatches, "\n".join([*mismatches, REMEDY])
    assert compared > 20, "too few functions have a text signature for a comparison"


def test_py_typed_marker_is_installed():
    assert (PACKAGE / "py.typed").is_file()


def test_mypy_accepts_stubs_and_samples_and_reports_the_intended_errors(tmp_path):
    """Wrong lines of the samples ignore the error that they must give. An ignore that is not needed is
    an error too, so that types of the stubs do not become Any unnoticed."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    folder = Path(__file__).parent
    samples = [str(folder / f"typed_{name}.py") for name in ("sample", "project")]
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    stubs = [str(PACKAGE / f"{name}.pyi") for name in ("_core", "__init__", "tensor")]
    command += ["--cache-dir", str(tmp_path), *stubs, *samples]
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    completed = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr


def test_sample_runs():
    from python import typed_sample

    assert typed_sample.main() == (2, 3)


def test_project_runs():
    from python import typed_project

    found = typed_project.main()
    assert found["scaled"] == [0, 1, 2, 3] and found["names"] == ["x", "by", "n"]
    assert found["running"] == [0, 1, 3, 6] and found["distances"] == [2, 2, 2]
    assert found["chosen"] == [3, 0] and found["slope"] == [3, 12] and found["doubled"] == 6
    assert found["learns"] and found["shares"] and found["histogram"] == [4, 4, 4]
