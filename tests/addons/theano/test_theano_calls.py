# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of Theano functions: results of each form, arguments that stay as they are."""

import pytest
from addons.theano.runner import run_script

RESULTS = """
    import numpy, theano, theano.tensor as T
    import spanwise as sw
    from theano.sandbox.cuda.basic_ops import gpu_from_host
    x = T.fvector('x')
    argument = numpy.array([1, -2, 3], 'float32')
    on_host, on_gpu, is_positive = x * 2, gpu_from_host(x * 3), x > 0
    def kinds(results):
        return [type(r).__name__ + ' ' + str(r.dtype) + ' ' + str(numpy.asarray(r).tolist()) for r in results]
    for outputs in (on_host, on_gpu, is_positive):
        f = theano.function([x], outputs)
        print kinds([f(argument), f(x=argument)])
    f = theano.function([x], [on_host, on_gpu, is_positive])
    print kinds(f(argument)), type(f(argument)).__name__
    f = theano.function([x], {'h': on_host, 'g': on_gpu, 'p': is_positive})
    print kinds([f(argument)[key] for key in ('h', 'g', 'p')])
    f = theano.function([x], {'h': on_host})
    print kinds(f(argument).values()), f(argument).keys()
    try: f(argument, argument)
    except Exception as error: print type(error).__name__
    try: theano.function([x], on_gpu)()
    except Exception as error: print type(error).__name__
"""


def test_results_have_the_types_of_theanos(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", RESULTS, "device=gpu,floatX=float32")
    on_host = "ndarray float32 [2.0, -4.0, 6.0]"
    on_gpu = "CudaNdarray float32 [3.0, -6.0, 9.0]"
    positive = "ndarray bool [True, False, True]"
    lines = printed.splitlines()
    assert [eval(line) for line in lines[:3]] == [
        [kind] * 2 for kind in (on_host, on_gpu, positive)
    ]
    assert lines[3] == f"{[on_host, on_gpu, positive]} list"
    assert lines[4:6] == [str([on_host, on_gpu, positive]), f"{[on_host]} ['h']"]
    assert lines[6:] == ["InputError", "InputError"]


ARGUMENTS = """
    import numpy, theano, theano.tensor as T
    import spanwise as sw
    from theano.sandbox.cuda.basic_ops import gpu_from_host
    from theano.sandbox.cuda import CudaNdarray
    x, n = T.fvector('x'), T.fscalar('n')
    f = theano.function([x, theano.Param(n, default=2)], gpu_from_host(T.exp(x * n)))
    kept = numpy.array([1, -2, 3], 'float32')
    ours = sw.asarray(kept, device=str(sw.config.device))
    for argument in (CudaNdarray(kept), sw.array(ours), kept.copy()):
        for call in (lambda: f(argument), lambda: f(x=argument), lambda: f(argument, n=1)):
            call()
            assert (numpy.asarray(argument) == kept).all(), type(argument)
    print 'kept'
"""


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_arguments_are_not_overwritten(tmp_path, device):
    printed, _ = run_script(tmp_path / "s.py", ARGUMENTS, f"device={device},floatX=float32")
    assert printed == "kept\n"


UNCONVERTED = """
    import copy, pickle, numpy, theano, theano.tensor as T
    s = theano.shared(numpy.ones(3, 'float32'))
    f = theano.function([], T.exp(s))
    print f.__call__ is f.compiled, callable(f), isinstance(f, theano.compile.Function)
    print theano.function([], s > 0).__call__ is f.compiled
    g = theano.function([], [s > 0, s], name='g')
    for h in (pickle.loads(pickle.dumps(g)), g.copy(), copy.copy(g)):
        print h.name, [r.dtype.name for r in h()]
"""


def test_calls_without_conversions_run_the_compiled_function(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", UNCONVERTED, "device=cpu,floatX=float32")
    assert printed.splitlines() == ["True True True", "False", *["g ['bool', 'float32']"] * 3]
