# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs for Theano that build graphs out of graphs."""

import pytest
from support.theano_runner import run_script

FLAGS = pytest.mark.parametrize("flags", ["", "device=gpu,floatX=float32"])


@FLAGS
def test_op_from_graph(tmp_path, flags):
    source = """
        import theano
        import theano.tensor as T
        from theano import function, OpFromGraph
        assert theano.compile.builders.OpFromGraph is OpFromGraph
        x, y, z = T.scalars('xyz')
        e = x + y * z
        op = OpFromGraph([x, y, z], [e])
        e2 = op(x, y, z) + op(z, y, x)
        fn = function([x, y, z], [e2, theano.grad(e2, y)])
        print([float(v) for v in fn(2.0, 3.0, 4.0)])
        print([str(n.op) for n in fn.maker.fgraph.toposort()].count('OpFromGraph'))
    """
    printed, _ = run_script(tmp_path / "script.py", source, flags)
    assert printed.splitlines() == ["[24.0, 6.0]", "4"]
