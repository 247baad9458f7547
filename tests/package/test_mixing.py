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


def exchanges():
    """(source, target, first word of the cell) of each cell for two foreign libraries, in the part for
    this kind of machine."""
    kind = "gpu" if foreign.has_gpu() else "cpu"
    part = re.search(rf"<!-- {kind} -->.*<!-- end of {kind} -->", PAGE, re.DOTALL)
    if part is None:
        return
    lines = [line.strip("| ").split(" | ") for line in part.group(0).splitlines() if "|" in line]
    head, _, *body = lines
    for source, *cells in body:
        for target, cell in zip(head[1:], cells, strict=True):
            if not source.startswith("Spanwise") and target != "Spanwise":
                yield source, target, cell.split()[0]


def test_page_has_the_table():
    assert list(exchanges())


@pytest.mark.parametrize(("source", "target", "word"), list(exchanges()))
def test_exchange_does_what_the_table_states(source, target, word):
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
    # On the CPU JAX and TensorFlow share only memory aligned to 64 bytes, which this may not be.
    elif target not in ("jax", "tensorflow") or from_library.device != "cpu":
        assert sw.explain(array, target).shares == (word == "shares")
