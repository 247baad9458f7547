# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs for Theano with OpFromGraph, default updates, checks of values, and random streams."""

import pytest
from addons.theano.runner import run_script

with_cpu_and_gpu_flags = pytest.mark.parametrize("flags", ["", "device=gpu,floatX=float32"])


@with_cpu_and_gpu_flags
def test_op_from_graph_computes_values_and_gradients(tmp_path, flags):
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


@with_cpu_and_gpu_flags
def test_default_updates_nan_guard_and_test_values_work(tmp_path, flags):
    source = """
        import numpy, theano, theano.tensor as T
        from theano.compile.nanguardmode import NanGuardMode
        n = theano.shared(numpy.float32(1), 'n')
        n.default_update = n * 2
        f = theano.function([], n + 0, mode=NanGuardMode(nan_is_error=True))
        g = theano.function([], n + 0, no_default_updates=True)
        print([float(v) for v in (f(), f(), g(), g())])
        x = T.fvector('x')
        h = theano.function([x], T.log(x), mode='NanGuardMode')
        try:
            h(numpy.float32([0, 1]))
        except Exception as error:
            print(str(error).splitlines()[1])
        theano.config.compute_test_value = 'raise'
        x.tag.test_value = numpy.float32([1, 2])
        print((x + x).tag.test_value.tolist())
        try:
            x + numpy.ones(3, 'float32')
        except ValueError as error:
            print('broadcast' in str(error))
    """
    printed, _ = run_script(tmp_path / "script.py", source, flags)
    assert printed.splitlines() == [
        "[1.0, 2.0, 4.0, 4.0]",
        "Inputs ranges: [x: from 0 to 1]",
        "[2.0, 4.0]",
        "True",
    ]


@with_cpu_and_gpu_flags
def test_random_streams_draw_as_documented(tmp_path, flags):
    source = """
        import theano.tensor as T
        from theano import function
        from theano.sandbox.rng_mrg import MRG_RandomStreams
        from theano.tensor.shared_randomstreams import RandomStreams
        for kind in (RandomStreams, MRG_RandomStreams):
            srng = kind(seed=234)
            rv_u, rv_n = srng.uniform((2, 2)), srng.normal((2, 2))
            f = function([], rv_u)
            g = function([], rv_n, no_default_updates=True)
            nearly_zeros = function([], rv_u + rv_u - 2 * rv_u)
            print((f() == f()).all(), (g() == g()).all(), abs(nearly_zeros()).max() < 1e-6)
        print(sorted(function([], RandomStreams(1).permutation(n=4))().tolist()))
    """
    printed, _ = run_script(tmp_path / "script.py", source, flags)
    assert printed.splitlines() == ["False True True"] * 2 + ["[0, 1, 2, 3]"]


@with_cpu_and_gpu_flags
def test_random_numbers_in_scan_differ_with_and_without_its_updates(tmp_path, flags):
    source = """
        import theano
        import theano.tensor as T
        from theano.sandbox.rng_mrg import MRG_RandomStreams
        from theano.tensor.shared_randomstreams import RandomStreams
        for kind in (RandomStreams, MRG_RandomStreams):
            srng = kind(seed=234)
            v = T.vector('v')
            def step(x, last):
                return x * last + srng.normal(())
            out, updates = theano.scan(step, v, T.zeros_like(v[0]))
            for f in (theano.function([v], out, updates=updates), theano.function([v], out)):
                values = [float(x) for _ in range(2) for x in f([0, 0, 0])]
                print(len(set(values)))
            print(len(updates), [x in srng.updates()[0] for x in updates])
            f = theano.function([v], [out, T.grad(out.sum(), v)], updates=updates)
            values, slopes = f([0, 0, 0])
            print((slopes[1:] == values[:-1]).all())
    """
    printed, _ = run_script(tmp_path / "script.py", source, flags)
    assert printed.splitlines() == ["6", "6", "1 [True]", "True"] * 2
