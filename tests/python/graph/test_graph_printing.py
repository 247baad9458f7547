# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""debugprint, in Theano's format to the last space."""

import io

import pytest

import spanwise as sw

T = sw.tensor


@pytest.fixture
def graph():
    x, y = T.fmatrix("x"), T.fmatrix("y")
    z = (x + y) * -(x + y)
    return x, y, z


def test_variable_is_printed_as_theanos_tree(graph):
    _, _, z = graph
    assert sw.printing.debugprint(z, file="str") == (
        "Multiply [id A] ''   \n"
        " |Add [id B] ''   \n"
        " | |x [id C]\n"
        " | |y [id D]\n"
        " |Negative [id E] ''   \n"
        "   |Add [id F] ''   \n"
        "     |x [id C]\n"
        "     |y [id D]\n"
    )


def test_printed_subgraphs_are_not_repeated():
    x = T.fmatrix("x")
    y = -x
    y.name = "y"
    assert sw.printing.debugprint(y + y, file="str") == (
        "Add [id A] ''   \n |Negative [id B] 'y'   \n | |x [id C]\n |Negative [id B] 'y'   \n"
    )


def test_nodes_of_a_function_are_printed_with_their_order():
    x = T.fmatrix("x")
    f = sw.function([x], [T.cumsum(sw.exp(x), axis=0), x])
    assert sw.printing.debugprint(f, file="str") == (
        "Cumsum{axis=(0,)} [id A] ''   1\n |Exp [id B] ''   0\n   |x [id C]\nx [id C]\n"
    )


def test_options_select_types_ids_depth_and_names(graph):
    x, _, z = graph
    show = sw.printing.debugprint
    assert (
        show(-x, print_type=True, file="str").splitlines()[1]
        == " |x [id B] <TensorType(float32, matrix)>"
    )
    assert show(-x, ids="int", file="str").startswith("Negative [id 0]")
    assert show(-x, ids="", file="str") == "Negative  ''   \n |x \n"
    assert show(z, depth=2, file="str").count("\n") == 3
    z.name = "z"
    assert show(z, stop_on_name=True, file="str") == "Multiply [id A] 'z'   \n"
    with pytest.raises(ValueError, match="ids"):
        show(z, ids="roman")
    with pytest.raises(TypeError, match="expected a Variable"):
        show(3)


def test_outputs_of_an_op_with_several_are_printed_with_an_index(graph):
    class Two(sw.Op):
        def make_node(self, x):
            return sw.Apply(self, [x], [x.type(), x.type()])

    x, *_ = graph
    first, second = Two()(x)
    text = sw.printing.debugprint([first, second], file="str")
    assert text == "Two.0 [id A] ''   \n |x [id B]\nTwo.1 [id A] ''   \n"
    assert sw.printing.debugprint(first.owner, file="str") == text


def test_file_is_a_stream_or_standard_output(graph, capsys):
    x, *_ = graph
    stream = io.StringIO()
    sw.printing.debugprint(x, file=stream)
    assert stream.getvalue() == "x [id A]\n" and capsys.readouterr().out == ""
    sw.printing.debugprint(x)
    assert capsys.readouterr().out == "x [id A]\n"


def test_deep_graph_is_printed_and_ids_continue_after_z():
    x = T.fvector("x")
    for _ in range(2000):
        x = -x
    lines = sw.printing.debugprint(x, file="str").splitlines()
    assert len(lines) == 2001 and "[id Z]" in lines[25] and "[id BA]" in lines[26]
