# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""jacobian, hessian and trace of Theano's names."""

from addons.theano.runner import run_script

VALUES = """
    import numpy, theano, theano.tensor as T
    from theano.tensor.nlinalg import trace
    x, y, m = T.dvector('x'), T.dvector('y'), T.dmatrix('m')
    vector = numpy.array([1., 2., 3.])
    def value(outputs, *arguments):
        result = theano.function([x, y, m][:len(arguments)], outputs, on_unused_input='ignore')(*arguments)
        print [v.tolist() for v in result] if isinstance(result, list) else result.tolist()
    j = T.jacobian((x ** 2 * y).reshape((3,)), [x, y])
    print type(j).__name__
    value(j, vector, vector + 1)
    value(theano.gradient.jacobian(x.sum(), x), vector)
    value(T.jacobian(T.dot(numpy.ones((2, 3)), x.reshape((3,))), x), vector)
    value(T.jacobian((m ** 2).reshape((2,)), m), vector, vector, numpy.array([[3., 4.]]))
    w = x.reshape((3,))
    value(T.hessian((w ** 3).sum() + w[0] * w[1], w), vector)
    value(list(T.hessian((w * 2).sum(), (w,))), vector)
    value([T.jacobian(x ** 2, x), T.hessian((x ** 3).sum(), x)], vector)
    value([trace(m), m.trace(), theano.grad(T.trace(m), m)], vector, vector, numpy.arange(6.).reshape(2, 3))
"""


def test_jacobian_hessian_and_trace_match_the_derivatives(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", VALUES, "device=cpu")
    lines = printed.splitlines()
    assert lines[0] == "list"
    assert [eval(line) for line in lines[1:]] == [
        [
            [[4, 0, 0], [0, 12, 0], [0, 0, 24]],
            [[1, 0, 0], [0, 4, 0], [0, 0, 9]],
        ],
        [1, 1, 1],
        [[1, 1, 1], [1, 1, 1]],
        [[[6, 0]], [[0, 8]]],
        [[6, 1, 0], [1, 12, 0], [0, 0, 18]],
        [[[0, 0, 0], [0, 0, 0], [0, 0, 0]]],
        [
            [[2, 0, 0], [0, 4, 0], [0, 0, 6]],
            [[6, 0, 0], [0, 12, 0], [0, 0, 18]],
        ],
        [4, 4, [[1, 0, 0], [0, 1, 0]]],
    ]


ERRORS = """
    import theano, theano.tensor as T
    x, m = T.dvector('x'), T.dmatrix('m')
    for make in (
        lambda: T.jacobian(m, m),
        lambda: T.hessian(m.sum(), m),
        lambda: T.jacobian(T.constant([1., 2.]), x),
    ):
        try: make()
        except Exception as error: print type(error).__name__, str(error).splitlines()[0]
"""


def test_unsupported_arguments_raise(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", ERRORS, "device=cpu")
    lines = printed.splitlines()
    kinds = [line.partition(" ")[0].rstrip(":") for line in lines]
    assert kinds == ["GraphError", "GraphError", "DisconnectedInputError"], kinds
    parts = [
        ["jacobian", "expected a vector", "matrix", "flatten()"],
        ["hessian", "vectors", "matrix"],
        ["disconnected_inputs"],
    ]
    assert len(lines) == len(parts)
    for line, line_parts in zip(lines, parts, strict=True):
        assert all(part in line for part in line_parts), line
