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


def test_graphs_are_searched_compared_and_copied_as_in_theano(tmp_path):
    source = """
        import numpy as np, theano, theano.tensor as T
        from theano.gof.graph import inputs, is_same_graph
        from theano.scan_module.scan_utils import equal_computations
        a, b, c = (theano.shared(float(i), n) for i, n in enumerate('abc'))
        print([x.name for x in inputs(iter([a * b + c, b]))], inputs([a * b + c], [c])[-1].name)
        x, y = T.vectors('xy')
        print(is_same_graph(x + y * 2, x + y * 2), is_same_graph(x + y, y + x),
              is_same_graph(x + 1, y + 1), is_same_graph(x + 1, y + 1, {x: y}),
              equal_computations([x + 1], [y + 1], [x], [y]), equal_computations([2.0], [2.0]))
        copied = theano.clone(x * a, share_inputs=False)
        print(inputs([copied])[0] is x, [v.name for v in inputs([copied])])
        print(theano.clone(x * 2, {x: T.ivector('i')}, strict=False).dtype)
    """
    printed, _ = run_script(tmp_path / "script.py", source)
    assert printed.splitlines() == [
        "['b', 'a', 'c'] c",
        "True False False True True True",
        "False ['x', 'a']",
        "float64",
    ]


def test_variables_have_attributes_of_scripts_and_numpys_functions_of_lists(tmp_path):
    source = """
        import collections, inspect, numpy as np, theano, theano.tensor as T
        x = T.matrix('x')
        w = theano.shared(np.ones((2, 3)), 'w')
        x._keras_shape, w.regularizable = (None, 3), True
        x.name = 'renamed'
        print(x._keras_shape, w.regularizable, hasattr(x, '_uses_learning_phase'), x.name)
        print(np.prod([x.shape[0], 3, x.shape[1]]).eval({x: np.ones((2, 5))}))
        print(x[[slice(None), slice(1, 2)]].eval({x: np.arange(6.).reshape(2, 3)}).tolist())
        print(T.nnet.softmax(T.vector()).ndim, theano.gpuarray.dnn.dnn_present())
        try:
            T.nnet.softmax(T.tensor3())
        except ValueError as error:
            print(str(error)[:30])
        from theano.tensor.xlogx import xlogx
        v = T.vector()
        print(xlogx(v).eval({v: [0., 1., np.e]}).tolist(), T.grad(xlogx(v).sum(), v).eval({v: [1.]}))
        theano.config.warn.subtensor_merge_bug = False
        print(theano.config.traceback.limit, theano.config.scan.allow_gc)
        print(issubclass(dict, collections.Mapping), inspect.getargspec(lambda a, b=1: 0).args)
        k = theano.shared(np.int64(3))
        print(T.grad(k * w.sum(), w).eval()[0, 0])
    """
    printed, _ = run_script(tmp_path / "script.py", source)
    assert printed.splitlines() == [
        "(None, 3) True False renamed",
        "30",
        "[[1.0], [4.0]]",
        "2 False",
        "x must be 1-d or 2-d tensor of",
        "[0.0, 0.0, 2.718281828459045] [ 1.]",
        "8 False",
        "True ['a', 'b']",
        "3.0",
    ]


def test_inputs_with_updates_are_states_of_the_function(tmp_path):
    source = """
        import pickle, theano, theano.tensor as T
        from theano import In, function
        u, x, s = T.scalars('u', 'x', 's')
        inc = function([u, In(x, value=3), In(s, update=s + x * u, value=10.0)], [])
        print(inc(5), inc[s], inc(3, 4), inc['s'], inc[x], inc(3, 4, 7), inc[s])
        inc[s] = 10
        print(repr(inc[s]), inc.container[s].value is inc[s], inc.value['s'] is inc[s])
        y, w = T.scalar(), T.scalar('w')
        f = function([y, u, ((w, w + y), 0)], y + u)
        print(f(1, u=2), f[w], f(1, 2, w=400), f[w])
        for call in (lambda: f(1), lambda: f(1, 2, v=3), lambda: f(1, 2, 3, 4)):
            try:
                call()
            except TypeError as error:
                print(str(error).split(': ')[-1].split('.')[0])
        again = pickle.loads(pickle.dumps(f))
        print(again(1, 2), again['w'])
        try:
            In(s, update=s + 1)
        except TypeError as error:
            print('first value' in str(error))
        state = theano.shared(0.)
        counter = function([u], state, updates=[(state, state + u)])
        print(float(counter(1.)), counter.copy(swap={state: theano.shared(5.)})(1.))
    """
    printed, _ = run_script(tmp_path / "script.py", source)
    assert printed.splitlines() == [
        "[] 25.0 [] 37.0 3.0 [] 19.0",
        "array(10.0) True True",
        "3.0 1.0 3.0 401.0",
        "u",
        "v",
        "expected at most 3 arguments, got 4",
        "3.0 1.0",
        "True",
        "0.0 [array(5.0)]",
    ]


def test_types_by_name_texts_of_results_and_clients(tmp_path):
    source = """
        import numpy as np, theano, theano.tensor as T
        x = T.dmatrix('x')
        print(x.type == T.dmatrix, T.fvector, isinstance(T.dmatrix, theano.gof.Type))
        print([x + 2, x.dimshuffle(0, 'x', 1), T.shape_padaxis(x, 0), x.sum()], T.exp(x).name)
        print(theano.pp(T.exp(-x) / (x + 1)), theano.printing.pprint(T.dot(x, x)))
        f = theano.function([x], T.dot(x, x) + 1, mode='FAST_COMPILE')
        nodes = f.maker.fgraph.toposort()
        node, place = nodes[0].outputs[0].clients[0]
        print(node in nodes, node.inputs[place] is nodes[0].outputs[0], nodes[-1].outputs[0].clients)
        theano.printing.debugprint(f.maker.fgraph.outputs[0], depth=1)
        print(T.get_scalar_constant_value(T.zeros((2, 3))), theano.tensor.inplace.exp_inplace(x).ndim)
        class TestOp(theano.tests.unittest_tools.InferShapeTester):
            def test_shape(self):
                self._compile_and_check([x], [x.T, x.sum(0)], [np.ones((2, 3))], None)
        import unittest
        result = unittest.TestLoader().loadTestsFromTestCase(TestOp).run(unittest.TestResult())
        print(result.testsRun, result.wasSuccessful())
    """
    printed, _ = run_script(tmp_path / "script.py", source)
    lines = printed.splitlines()
    assert lines[:3] == [
        "True TensorType(float32, vector) True",
        "[Elemwise{add,no_inplace}.0, InplaceDimShuffle{0,x,1}.0, InplaceDimShuffle{x,0,1}.0, "
        "Sum{acc_dtype=float64}.0] None",
        r"(exp((-x)) / (x + TensorConstant{1.0})) (x \dot x)",
    ]
    assert lines[3] == "True True [('output', 0)]"
    assert lines[4].startswith("Elemwise{add,no_inplace}")
    assert lines[-2:] == ["0.0 2", "1 True"]
