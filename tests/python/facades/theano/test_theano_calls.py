# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of Theano functions: results of each form, arguments that stay as they are."""

import pytest
from python.facades.theano.runner import run_script

RESULTS = """
    import numpy, theano, theano.tensor as T
    import spanwise as sw
    from theano.sandbox.cuda.basic_ops import gpu_from_host
    x = T.fvector('x')
    given = numpy.array([1, -2, 3], 'float32')
    here, there, is_positive = x * 2, gpu_from_host(x * 3), x > 0
    def kinds(results):
        return [type(r).__name__ + ' ' + str(r.dtype) + ' ' + str(numpy.asarray(r).tolist()) for r in results]
    for outputs in (here, there, is_positive):
        f = theano.function([x], outputs)
        print kinds([f(given), f(x=given)])
    f = theano.function([x], [here, there, is_positive])
    print kinds(f(given)), type(f(given)).__name__
    f = theano.function([x], {'h': here, 't': there, 'p': is_positive})
    print kinds([f(given)[key] for key in ('h', 't', 'p')])
    f = theano.function([x], {'h': here})
    print kinds(f(given).values()), f(given).keys()
    try: f(given, given)
    except Exception as error: print type(error).__name__
    try: theano.function([x], there)()
    except Exception as error: print type(error).__name__
"""


def test_results_of_each_form(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", RESULTS, "device=gpu,floatX=float32")
    here = "ndarray float32 [2.0, -4.0, 6.0]"
    there = "CudaNdarray float32 [3.0, -6.0, 9.0]"
    positive = "ndarray int8 [1, 0, 1]"
    lines = printed.splitlines()
    assert [eval(line) for line in lines[:3]] == [[one] * 2 for one in (here, there, positive)]
    assert lines[3] == f"{[here, there, positive]} list"
    assert lines[4:6] == [str([here, there, positive]), f"{[here]} ['h']"]
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
    for given in (CudaNdarray(kept), sw.array(ours), kept.copy()):
        for call in (lambda: f(given), lambda: f(x=given), lambda: f(given, n=1)):
            call()
            assert (numpy.asarray(given) == kept).all(), type(given)
    print 'kept'
"""


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_arguments_are_not_overwritten(tmp_path, device):
    printed, _ = run_script(tmp_path / "s.py", ARGUMENTS, f"device={device},floatX=float32")
    assert printed == "kept\n"


DIRECT = """
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
    printed, _ = run_script(tmp_path / "script.py", DIRECT, "device=cpu,floatX=float32")
    assert printed.splitlines() == ["True True True", "False", *["g ['int8', 'float32']"] * 3]
