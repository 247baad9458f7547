# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts for Theano: graphs with Theano's op names, results, own ops, scan and imports."""

import subprocess
import sys

import pytest
from addons.theano.runner import run_script

NODES = """
    import numpy, theano, theano.tensor as T
    from theano import function
    x, v, w = T.fmatrix('x'), T.fvector('v'), theano.shared(numpy.ones((3, 2), 'float32'), 'w')
    def show(*outputs, **options):
        print [str(node.op) for node in function([x, v], outputs, on_unused_input='ignore', **options).maker.fgraph.toposort()]
    show(T.dot(x, v))
    show(T.dot(x, w))
    show(x.sum(axis=0), x.max())
    show(T.exp(x.T) + 1)
    show(T.cast(x, 'float64'), x[1:])
    show(T.concatenate([v, v]))
    show(T.dot(x, w), updates={w: w * 2})
"""
EXPECTED = {
    "cpu": [
        ["CGemv{no_inplace}"],
        ["Dot22"],
        ["Sum{axis=[0], acc_dtype=float64}", "Reduce{maximum}{0, 1}"],
        ["InplaceDimShuffle{1,0}", "Elemwise{Composite{(exp(i0) + i1)}}"],
        ["Elemwise{Cast{float64}}", "Subtensor{int64::}"],
        ["Join"],
        ["Dot22", "Elemwise{mul,no_inplace}"],
    ],
    "gpu": [
        ["GpuFromHost", "GpuFromHost", "GpuGemv{no_inplace}", "HostFromGpu"],
        ["GpuFromHost", "GpuDot22", "HostFromGpu"],
        ["GpuFromHost", "GpuCAReduce{add}{1,0}", "GpuCAReduce{maximum}{1,1}", *["HostFromGpu"] * 2],
        [
            "GpuFromHost",
            "GpuDimShuffle{1,0}",
            "GpuElemwise{Composite{(exp(i0) + i1)}}",
            "HostFromGpu",
        ],
        [
            "GpuFromHost",
            "GpuElemwise{Cast{float64}}",
            "GpuSubtensor{int64::}",
            *["HostFromGpu"] * 2,
        ],
        ["GpuFromHost", "GpuJoin", "HostFromGpu"],
        ["GpuFromHost", "GpuDot22", "GpuElemwise{mul,no_inplace}", "HostFromGpu"],
    ],
}


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_nodes_have_theanos_names(tmp_path, device):
    printed, _ = run_script(tmp_path / "script.py", NODES, f"device={device},floatX=float32")
    assert [eval(line) for line in printed.splitlines()] == EXPECTED[device]


CLASSES = """
    import numpy, theano, theano.tensor as T, theano.tensor.elemwise, theano.tensor.blas_c
    import theano.sandbox.cuda.blas, theano.sandbox.cuda as cuda
    from theano.gof import Apply, Op
    x = T.fmatrix('x')
    f = theano.function([x], T.exp(T.dot(x, x[0])), name='f')
    product, exp = [node for node in f.maker.fgraph.toposort() if 'Gemv' in str(node) or 'exp' in str(node).lower()][:2]
    for op in (product.op, exp.op):
        print type(op).__module__, type(op).__name__, isinstance(op, T.Elemwise), isinstance(op, theano.Op)
    print exp.op.scalar_op, type(exp.op.scalar_op).__name__, exp.op.inplace_pattern, exp.op.destroy_map
    print exp.inputs[0].owner is product, exp.outputs[0].index, exp.nin, exp.nout, product.inputs[0]
    print f.maker.fgraph.inputs, len(f.maker.fgraph.apply_nodes) == len(f.maker.fgraph.toposort())
    print isinstance(exp.op, cuda.basic_ops.GpuElemwise), isinstance(product.op, cuda.blas.GpuGemv)
"""


def test_ops_of_nodes_are_instances_of_theanos_classes(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", CLASSES, "device=cpu")
    assert printed.splitlines() == [
        "theano.tensor.blas_c CGemv False True",
        "theano.tensor.elemwise Elemwise True True",
        "exp Exp {0: 0} {0: [0]}",
        "True 0 1 1 x",
        "[x] True",
        "False False",
    ]
    printed, _ = run_script(tmp_path / "script.py", CLASSES, "device=gpu")
    assert printed.splitlines() == [
        "theano.sandbox.cuda.blas GpuGemv False True",
        "theano.sandbox.cuda.basic_ops GpuElemwise False True",
        "exp Exp {0: 0} {0: [0]}",
        "True 0 1 1 GpuFromHost.0",
        "[x] True",
        "True True",
    ]


RESULTS = """
    import numpy, theano, theano.tensor as T
    x, n = T.matrix('x'), T.iscalar('n')
    f = theano.function([x, theano.Param(n, default=2)], {'scaled': x * n, 'positive': x > 0})
    row = numpy.array([[1, -2]], theano.config.floatX)
    result = f(row)
    print type(result['scaled']).__name__, result['scaled'], result['positive'], result['positive'].dtype, f(row, n=3)['scaled']
    s = theano.shared(row, 's')
    g = theano.function([x], [], updates=[(s, s + x)])
    print g(row), g(x=row), s.get_value(), type(s.get_value()).__name__, row
    s.set_value(row * 10)
    print numpy.asarray(s.eval()), (s * x).eval({x: row}), (s * x).eval({x: row + 1})
    h = g.copy(swap={s: theano.shared(row, 'other')})
    h(row)
    print s.get_value(), [v.name for v in h.get_shared()], h.name == g.name
    print x.broadcastable, T.row().broadcastable, theano.function([], s)().__class__.__name__
    for wrong in (lambda: theano.function([x], 1 * n), lambda: theano.function([x], x)([['a']])):
        try: wrong()
        except Exception, error: print type(error).__name__
"""


@pytest.mark.parametrize("device", ["cpu", "gpu", "cuda"])
def test_results_updates_and_shared_variables_have_theanos_values(tmp_path, device):
    printed, _ = run_script(tmp_path / "script.py", RESULTS, f"device={device},floatX=float32")
    lines = printed.splitlines()
    assert lines[0] == "ndarray [[ 2. -4.]] [[ True False]] bool [[ 3. -6.]]"
    assert lines[1] == "[] [] [[ 3. -6.]] ndarray [[ 1. -2.]]"
    assert lines[2] == "[[ 10. -20.]] [[ 10.  40.]] [[ 20.  20.]]"
    assert lines[3] == "[[ 10. -20.]] ['other'] True"
    kind = {"cpu": "ndarray", "gpu": "CudaNdarray", "cuda": "GpuArray"}[device]
    assert lines[4] == f"(False, False) (True, False) {kind}"
    assert lines[5:] == ["UnusedInputError", "InputError"]


def test_only_float32_is_on_the_gpu_with_cudandarray(tmp_path):
    source = """
        import numpy, theano
        x = theano.shared(numpy.zeros(3))
        print repr(x), theano.function([], theano.tensor.exp(x)).maker.fgraph.toposort()
    """
    printed, _ = run_script(tmp_path / "script.py", source, "device=gpu")
    name = "<TensorType(float64, vector)>"
    assert printed == f"{name} [Elemwise{{exp,no_inplace}}({name})]\n"


OPS = """
    import numpy, theano, theano.tensor as T
    class Scaled(theano.Op):
        __props__ = ('by',)
        def __init__(self, by):
            self.by = by
        def make_node(self, x):
            x = T.as_tensor_variable(x)
            return theano.Apply(self, [x], [x.type()])
        def perform(self, node, inputs, output_storage):
            x, = inputs
            z, = output_storage
            print type(x).__name__, type(z[0]).__name__
            z[0] = numpy.asarray(x * self.by, dtype=node.outputs[0].dtype.name if hasattr(node.outputs[0].dtype, 'name') else str(node.outputs[0].dtype))
        def grad(self, inputs, gradients):
            return [gradients[0] * self.by]
    x = T.dvector('x')
    y = Scaled(3)(x)
    f = theano.function([x], [y, T.grad(y.sum(), x)])
    print f([1., 2.]), f.maker.fgraph.toposort()[0].op
    @theano.compile.ops.as_op(itypes=[T.dvector], otypes=[T.dscalar])
    def largest(x):
        return numpy.asarray(x.max())
    print largest(x).eval({x: [1., 5., 2.]})
    @theano.compile.ops.as_op(T.dvector().type, [T.dscalar, T.dscalar])
    def ends(x):
        assert type(x) is numpy.ndarray
        return x.min(), x.max()
    print theano.function([x], ends(x))([1., 5., 2.])
    try: largest(T.dmatrix())
    except Exception, error: print type(error).__name__
"""


def test_ops_defined_in_scripts_compute(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", OPS)
    assert printed.splitlines() == [
        "ndarray NoneType",
        "[array([ 3.,  6.]), array([ 3.,  3.])] Scaled{by=3}",
        "5.0",
        "[array(1.0), array(5.0)]",
        "GraphError",
    ]


def test_scan_returns_outputs_and_updates(tmp_path):
    source = """
        import numpy, theano, theano.tensor as T
        k, A = T.iscalar('k'), T.vector('A')
        result, updates = theano.scan(fn=lambda prior_result, A: prior_result * A,
                                      outputs_info=T.ones_like(A), non_sequences=A, n_steps=k)
        power = theano.function(inputs=[A, k], outputs=result[-1], updates=updates)
        print power(range(10), 2)
        coefficients, x = T.vector('coefficients'), T.scalar('x')
        components, updates = theano.scan(fn=lambda c, power, free: c * (free ** power),
                                          outputs_info=None,
                                          sequences=[coefficients, T.arange(10000)], non_sequences=x)
        polynomial = components.sum()
        f = theano.function([coefficients, x], [polynomial, T.grad(polynomial, x)])
        print [float(v) for v in f(numpy.asarray([1, 0, 2], dtype=numpy.float64), 3)]
    """
    printed, _ = run_script(tmp_path / "script.py", source, "floatX=float64")
    lines = printed.splitlines()
    assert " ".join(lines[0].split()) == "[ 0. 1. 4. 9. 16. 25. 36. 49. 64. 81.]"
    assert lines[1] == "[19.0, 12.0]"


def test_import_theano_gives_spanwise_theano(tmp_path):
    source = """
        import sys
        assert "spanwise.theano.tensor" not in sys.modules
        import theano, theano.tensor as T, theano.tensor.nnet, spanwise.theano.tensor
        assert sys.modules["theano.tensor"] is spanwise.theano.tensor is T is theano.tensor
        assert T.__name__ == "spanwise.theano.tensor" and T.__spec__.name == T.__name__
        x = T.dvector()
        print(T.nnet.relu(x).eval({x: [-1.0, 2.0]}))
        try:
            import theano.sparse
        except ImportError as error:
            print(error)
        try:
            theano.sparse
        except AttributeError as error:
            print(error)
    """
    printed, _ = run_script(tmp_path / "script.py", source)
    lines = printed.splitlines()
    assert lines[0] == "[ 0.  2.]" and lines[1] == "No module named 'theano.sparse'"
    assert lines[2].startswith("module 'theano' has no attribute 'sparse'")


def test_install_gives_theano_without_the_runner():
    program = """
import numpy, spanwise.theano.install, theano, theano.tensor as T
x = T.dvector("x")
assert theano.function([x], T.exp(x))([0.0]).tolist() == [1.0]
assert type(theano.shared(numpy.zeros(2)).get_value()) is numpy.ndarray
print(numpy.ones(2))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[1. 1.]\n"), done.stderr
