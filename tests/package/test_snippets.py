# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python of each page runs as it stands, from top to bottom, and prints what its comments
say."""

import contextlib
import importlib.util
import io
import re

import pytest
from support.tree import ROOT

SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^ *print\(.*\)\s+# (.+)$", re.MULTILINE)

PAGES = [
    page.relative_to(ROOT)
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if SNIPPET.search(page.read_text())
]


#: page: the packages that its code imports besides Spanwise and NumPy
NEEDED = {
    "docs/guides/dask.md": ["distributed"],
    "docs/guides/cluster.md": ["dask", "zarr"],
}


def test_docs_contain_pages_with_python():
    assert len(PAGES) > 1


FRAMEWORK = re.compile(r"^import (torch|jax)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_snippets_run_and_print_the_shown_output(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets = SNIPPET.findall((ROOT / page).read_text())
    for name in FRAMEWORK.findall("".join(snippets)):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    for name in NEEDED.get(str(page), ()):
        pytest.importorskip(name)
    namespace: dict = {}
    for snippet in snippets:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(snippet, str(page), "exec"), namespace)
        assert out.getvalue().splitlines() == PRINTED.findall(snippet)
