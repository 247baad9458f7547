# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/pycuda-names.md lists the names that spanwise.pycuda has and those that it leaves out."""

import importlib

import pytest
from support.tree import ROOT

from addons.pycuda import pycuda_names
from spanwise.pycuda._unsupported import INSTEAD

PAGE = "docs/pycuda-names.md"


def test_docs_page_lists_the_names_of_the_modules():
    assert (ROOT / PAGE).read_text() == pycuda_names.text(), (
        f"update it: PYTHONPATH=build/release/python .venv/bin/python tests/addons/pycuda/pycuda_names.py > {PAGE}"
    )


@pytest.mark.parametrize("module", pycuda_names.MODULES)
def test_all_lists_exactly_the_public_names(module):
    imported = importlib.import_module(f"spanwise.pycuda.{module}")
    assert [name for name in imported.__all__ if not hasattr(imported, name)] == []
    defined = {
        name
        for name, value in vars(imported).items()
        if getattr(value, "__module__", "") == imported.__name__ and not name.startswith("_")
    }
    assert defined <= set(imported.__all__)


@pytest.mark.parametrize("module", INSTEAD)
def test_unsupported_name_raises_with_the_remedy(module):
    imported = importlib.import_module(f"spanwise.{module}")
    for name, remedy in INSTEAD[module].items():
        if (module, name) == ("pycuda", "gl"):
            continue  # the module exists, to raise ImportError
        with pytest.raises(AttributeError) as failure:
            getattr(imported, name)
        assert f"{module}.{name} is not available: {remedy}" == str(failure.value)
