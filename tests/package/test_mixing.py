# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/mixing.md agrees with what conversions do; its times are not compared."""

import re

import numpy as np
import pytest
from support import foreign
from support.tree import ROOT

import spanwise as sw

PAGE = (ROOT / "docs" / "mixing.md").read_text()


def rows():
    """(source, target, first word of the cell) of each cell in the part for this kind of machine."""
    kind = "gpu" if foreign.has_gpu() else "cpu"
    part = re.search(rf"<!-- {kind} -->.*<!-- end of {kind} -->", PAGE, re.DOTALL)
    if part is None:
        return
    lines = [line.strip("| ").split(" | ") for line in part.group(0).splitlines() if "|" in line]
    head, _, *body = lines
    for source, *cells in body:
        for target, cell in zip(head[1:], cells, strict=True):
            yield source, target, cell.split()[0]


def test_page_has_the_table():
    assert len(list(rows())) >= 9 or foreign.has_gpu()


@pytest.mark.parametrize(("source", "target", "word"), list(rows()))
def test_exchange_does_what_the_table_states(source, target, word):
    if source.startswith("Spanwise") or target == "Spanwise":
        return
    try:
        from_library, to_library = foreign.library(source), foreign.library(target)
    except foreign.Unavailable as reason:
        pytest.skip(str(reason))
    if from_library.is_fake or to_library.is_fake:
        pytest.skip("the table was measured with the real libraries")
    array = from_library.make(np.ones((64, 64), np.float32))
    if word == "itself":
        assert sw.convert(array, target) is array
    elif word == "refuses":
        with pytest.raises(sw.Error):
            sw.convert(array, target, copyif=True)
    # On the CPU those two share memory only if it is aligned to 64 bytes, which is not certain here.
    elif target not in ("jax", "tensorflow") or from_library.device != "cpu":
        assert sw.explain(array, target).shares == (word == "shares")
