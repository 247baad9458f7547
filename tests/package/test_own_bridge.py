# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A bridge outside the tree: examples/own_bridge, built against the installed package."""

import os
import sys
import textwrap

from support import package
from support.tree import ROOT

EXAMPLE = ROOT / "examples" / "own_bridge"

PROGRAM = """
    import gc, sys
    import frames, frames_bridge
    import numpy as np
    import spanwise as sw

    frame = frames.Frame(3, 5)
    assert frame.pitch == 64
    ours = sw.asarray(frame)
    assert (ours.shape, ours.strides, ours.dtype) == ((3, 5), (64, 4), "float32")
    assert ours.ptr == frame.address
    ours[...] = np.arange(15).reshape(3, 5)
    frame.brighten(1)
    assert list(frame.row(2)) == [11, 12, 13, 14, 15]
    exported = sw.convert(frame, "numpy")
    assert np.shares_memory(exported, np.asarray(ours))

    wide = sw.zeros((4, 8), dtype="float32", device="cpu")
    assert sw.explain(wide[:, :6], "frames").shares
    shared = sw.convert(wide[:, :6], "frames")
    shared.brighten(2)
    assert wide.numpy().sum() == 48
    for unfit in (wide.T, wide[::-1], wide[:, ::2], sw.broadcast_to(wide[:1], (4, 8))):
        try:
            sw.convert(unfit, "frames")
        except sw.CopyNeededError as error:
            assert "copyif=True" in str(error)
        else:
            raise AssertionError(unfit)
        copied = sw.convert(unfit, "frames", copyif=True)
        assert list(copied.row(1)) == unfit[1].tolist()
    for call in (lambda: sw.convert(wide.astype("float64"), "frames"),
                 lambda: sw.convert(wide[0], "frames")):
        try:
            call()
        except (TypeError, ValueError):
            pass
        else:
            raise AssertionError

    assert sw.explain(frames_bridge.zeros((2, 3), "cpu"), "frames").shares
    try:
        frames_bridge.zeros("two", "cpu")
    except sw.DTypeError as error:
        assert "expected an int or a sequence of ints" in str(error)
    else:
        raise AssertionError

    held = sys.getrefcount(frame)
    del ours, exported
    gc.collect()
    assert sys.getrefcount(frame) == held - 2
    del wide
    gc.collect()
    shared.brighten(1)
    assert list(shared.row(0)) == [3] * 6
    (info,) = [info for info in sw.bridges() if info.name == "frames"]
    print(info.directions, info.copies)
"""


def test_example_bridge_imports_and_exports(tmp_path):
    build = tmp_path / "build"
    prefix = package.install(tmp_path / "installed")
    package.build(EXAMPLE, build, prefix, *package.python_options())
    path = os.pathsep.join([str(build), str(EXAMPLE), *(p for p in sys.path if p)])
    environment = dict(os.environ, PYTHONPATH=path)
    out = package.run(sys.executable, "-c", textwrap.dedent(PROGRAM), env=environment)
    assert out.split() == ["in,", "out", "4"]
