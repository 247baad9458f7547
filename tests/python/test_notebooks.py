# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: tables of arrays, pictures of graphs, tables of profiles."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import spanwise as sw
from spanwise import tensor as T  # noqa: N812


def cells(html):
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]


def test_array_is_a_table_of_its_elements(device):
    x = sw.asarray(np.array([[1, 2, 3], [4, 5, 6]], np.int32)[:, ::-1], device=device)
    html = x._repr_html_()
    assert cells(html) == [["3", "2", "1"], ["6", "5", "4"]]
    assert f"int32 array of shape (2, 3) on {device}" in html
    ET.fromstring(html.replace("&#8942;", "..."))


def test_large_array_shows_its_edges_only(device):
    x = sw.arange(100 * 2000, dtype="int64", device=device).reshape(100, 2000)
    table = cells(x._repr_html_())
    assert [len(row) for row in table] == [11] * 11
    assert table[0][:2] == ["0", "1"] and table[-1][-1] == str(100 * 2000 - 1)
    assert table[1][0] == "2000" and table[5] == ["&#8942;"] * 11


@pytest.mark.parametrize("shape", [(), (0,), (2, 2, 2), (3, 0)])
def test_other_shapes_are_text(shape):
    html = sw.zeros(shape, device="cpu")._repr_html_()
    assert "<pre>" in html and f"of shape {shape}" in html


def test_variable_is_a_picture_of_its_graph():
    x, y = T.fmatrix("x<1>"), T.fvector("y")
    picture = ET.fromstring((sw.exp(T.dot(x, y)) + y)._repr_html_())
    texts = [node.text for node in picture.iter() if node.tag.endswith("}text")]
    assert {"x<1>", "y", "Exp"} <= set(texts)
    arrows = [node for node in picture.iter() if node.get("marker-end")]
    assert len(arrows) == 6  # x, y into dot; dot into Exp; Exp, y into Add; add to the result
    boxes = [node for node in picture.iter() if node.tag.endswith("}rect")]
    places = {(node.get("x"), node.get("y")) for node in boxes}
    assert len(boxes) == len(places) == 6
    heights = {texts_of(picture, at)[0]: float(at.get("y")) for at in boxes}
    assert heights["Exp"] < heights["result 0"]


def texts_of(picture, box):
    """The lines of text in a box."""
    left, top = float(box.get("x")), float(box.get("y"))
    right, bottom = left + float(box.get("width")), top + float(box.get("height"))
    return [
        node.text
        for node in picture.iter()
        if node.tag.endswith("}text")
        and left <= float(node.get("x")) <= right
        and top <= float(node.get("y")) <= bottom
    ]


def test_graph_too_large_for_a_picture_is_text():
    x = T.fvector("x")
    for _ in range(400):
        x = -x
    assert x._repr_html_().startswith("<pre>")


def test_profile_is_a_table_of_ops():
    x = T.fvector("x")
    f = sw.function([x], T.cumsum(T.exp(x)), profile=True, device="cpu")
    f(np.ones(3, np.float32))
    html = f.profile._repr_html_()
    rows = cells(html)[1:]
    assert "1 calls" in html and any("Cumsum" in row[-1] for row in rows)
    assert sum(float(row[0].split()[0]) for row in rows) == pytest.approx(100, abs=0.5)
