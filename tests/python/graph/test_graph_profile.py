# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles of functions: times as numbers, tables and traces; and drawings of graphs."""

import io
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


#: Without fusion, so that each operation has a row.
NOT_FUSED = sw.Mode("fast_run").excluding("fuse")


class Slow(sw.Op):
    """x + 1, computed 100 times."""

    __props__ = ()

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        for _ in range(100):
            output_storage[0][0] = inputs[0] + 1


@pytest.fixture
def f(device):
    x = T.fmatrix("x")
    f = sw.function(
        [x], Slow()(sw.exp(x) * 2) + x, mode=NOT_FUSED, profile=True, name="f", device=device
    )
    for _ in range(3):
        f(np.ones((4, 5), "float32"))
    return f


def test_functions_have_no_profile_unless_asked(device):
    x = T.fmatrix("x")
    f = sw.function([x], x + 1, device=device)
    assert f.profile is None
    with pytest.raises(sw.GraphError, match="profile=True"):
        f._profile_data()
    with sw.config.change(profile=True):
        assert sw.function([x], x + 1, profile=False, device=device).profile is None


def test_profile_counts_calls_and_sums_times(f):
    profile = f.profile
    assert profile.calls == 3 and profile.name == "f"
    assert [calls for _, calls, _, _ in profile.nodes] == [3] * 4
    assert [size for *_, size in profile.nodes] == [80] * 4
    assert all(seconds >= 0 for _, _, seconds, _ in profile.nodes)
    assert profile.node_seconds > 0 and profile.call_seconds > 0 and profile.compile_seconds > 0
    rows = profile.ops()
    assert [row.seconds for row in rows] == sorted((r.seconds for r in rows), reverse=True)
    slow = next(row for row in rows if row.name == "Slow")
    assert slow.kind == "Py" and slow.calls == 3 and slow.nodes == 1


def test_profile_text_has_theanos_tables(f):
    text = f.profile.text()
    assert "Function profiling\n==================\n  Message: f, mode fast_run" in text
    assert "Time in 3 calls to CompiledFunction.__call__" in text
    assert "Number of Apply nodes: 4" in text
    header = "<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <Op name>"
    assert header in text and text.index("Class\n---") < text.index("Ops\n---") < text.index(
        "Apply\n--"
    )
    assert "(remaining 0 Ops account for   0.00%(0.00s) of the runtime)" in text
    stream = io.StringIO()
    sw.profile.summary(f, file=stream)
    assert stream.getvalue().startswith("Function profiling")


def test_trace_has_one_ordered_event_per_node_and_call(f, tmp_path):
    sw.profile.trace(tmp_path / "t.json", f)
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert len(spans) == 12 and {event["name"] for event in spans} >= {"Exp", "Slow"}
    assert all(event["dur"] >= 0 for event in spans)
    assert [e["ts"] for e in spans] == sorted(e["ts"] for e in spans)


def test_plot_has_a_row_for_each_op(f, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    sw.profile.plot(tmp_path / "t.svg", f)
    picture = (tmp_path / "t.svg").read_text()
    assert "<!-- Exp -->" in picture and "<!-- Slow -->" in picture and "milliseconds" in picture


def test_plot_without_matplotlib_says_what_to_install(f, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib; profile\.trace"):
        sw.profile.plot(tmp_path / "t.svg", f)


def test_failed_call_is_not_counted(device):
    class Fails(Slow):
        def perform(self, node, inputs, output_storage):
            raise RuntimeError("no")

    x = T.fmatrix("x")
    f = sw.function([x], Fails()(x), profile=True, device=device)
    with pytest.raises(RuntimeError):
        f(np.ones((1, 1), "float32"))
    assert f.profile.calls == 0 and f.profile.nodes[0][1] == 0


def test_profile_is_printed_at_exit_if_configured():
    program = (
        "import spanwise as sw\n"
        "x = sw.tensor.fscalar('x')\n"
        "sw.function([x], x + 1, name='last')(1.0)\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "SPANWISE_PROFILE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Message: last, mode fast_run" in completed.stderr


def test_graph_is_drawn_as_dot_or_svg(f, tmp_path, capsys):
    text = sw.printing.graph(f, tmp_path / "f.dot").read_text()
    assert text.startswith("digraph {") and text.count("->") == 7 and '"Slow"' in text
    written = sw.printing.graph(f, tmp_path / "f.svg")
    assert written == tmp_path / "f.svg" and "<svg" in written.read_text()
    if not shutil.which("dot"):
        assert sw.printing.graph(f, tmp_path / "f.png") == tmp_path / "f.dot"
        assert "not installed" in capsys.readouterr().err
    x = T.fmatrix('a"b')
    assert r"a\"b" in sw.printing.graph([x, x + 1], tmp_path / "x.dot").read_text()
    with pytest.raises(TypeError, match="graph: expected a Variable"):
        sw.printing.graph(3, tmp_path / "x.dot")


def test_a_deep_graph_can_be_drawn(tmp_path):
    x = T.fvector("x")
    for _ in range(3000):
        x = -x
    assert sw.printing.graph(x, tmp_path / "deep.dot").read_text().count("->") == 3001
