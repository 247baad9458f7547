# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The public names of every public module are those in `public_names.txt`.

A line is `module: names`, sorted: dir() without names that start with an underscore and without what
the module itself imports from the standard library. To add a name, add it to its line, or a line
for a new module; a name that programs may use stays.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.tree import ROOT

sys.path.append(str(ROOT / "scripts"))
from numpy_names import is_answered

LIST = Path(__file__).with_name("public_names.txt")

# Prints {module: names}, or (the module that is missing, the error) of one that cannot be imported. In
# a process of its own, as an import adds the module to the names of its package.
PROGRAM = """
import importlib.util, json, pkgutil, sys, types, warnings
import spanwise

def is_public(module, name):
    value = getattr(module, name)
    home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", 0)
    is_standard = isinstance(home, str) and home.partition(".")[0] in sys.stdlib_module_names
    return not name.startswith("_") and not is_standard

def visit(module):
    found[module.__name__] = sorted(name for name in dir(module) if is_public(module, name))
    for entry in pkgutil.iter_modules(getattr(module, "__path__", ())):
        name = f"{module.__name__}.{entry.name}"
        if not entry.name.startswith("_"):
            try:
                visit(importlib.import_module(name))
            except ImportError as error:
                found[name] = {"missing": error.name, "error": str(error)}

warnings.simplefilter("ignore")
found = {}
visit(spanwise)
for name in json.loads(sys.argv[1]):  # modules without a file, which pkgutil does not list
    if name not in found and importlib.util.find_spec(name.rpartition(".")[0]):
        if importlib.util.find_spec(name):
            visit(importlib.import_module(name))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    program = [sys.executable, "-c", PROGRAM, json.dumps(list(kept()))]
    run = subprocess.run(program, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def kept():
    lines = (line.partition(":") for line in LIST.read_text().splitlines())
    return {module: names.split() for module, _, names in lines}


def test_modules_are_those_of_the_list(found):
    importable = {module for module, names in found.items() if isinstance(names, list)}
    assert importable - set(kept()) == set(), f"new public modules; add a line each to {LIST}"
    assert set(kept()) - set(found) == set(), "public modules that are gone"


@pytest.mark.parametrize("module", kept())
def test_names_are_those_of_the_list(found, module):
    names = found[module]
    if isinstance(names, dict):
        assert names["missing"] and not names["missing"].startswith("spanwise"), names["error"]
        pytest.skip(names["error"])
    gone, new = set(kept()[module]) - set(names), set(names) - set(kept()[module])
    assert not gone, f"public names of {module} that are gone: {sorted(gone)}"
    assert not new, (
        f"new public names of {module}: {sorted(new)}; add them to its line of {LIST}, or give them a "
        "leading underscore"
    )


def test_most_uses_of_numpys_names_have_a_name_here():
    lines = (LIST.parent / "numpy_names.txt").read_text().splitlines()
    uses = {name: int(count) for count, name in (line.split() for line in lines)}
    assert len(uses) > 400 and uses["zeros"] > 1000
    missing = [name for name in uses if not is_answered(name)]
    assert sum(uses[name] for name in missing) <= 0.01 * sum(uses.values()), missing[:20]
