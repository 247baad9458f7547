# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The README's Python runs as it stands, from top to bottom, and prints what its comments say."""

import contextlib
import io
import re

from support.tree import ROOT

SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^print\(.*\)\s+# (.+)$", re.MULTILINE)


def test_snippets_run_and_print_what_they_say():
    text = (ROOT / "README.md").read_text()
    snippets = SNIPPET.findall(text)
    assert snippets, "README.md shows no Python"
    namespace: dict = {}
    for snippet in snippets:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(snippet, "README.md", "exec"), namespace)
        assert out.getvalue().splitlines() == PRINTED.findall(snippet)
