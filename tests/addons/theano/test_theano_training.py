# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A classifier in the style of the Deep Learning Tutorials, and ifelse, as scripts in Python 2."""

import pytest
from addons.theano.runner import run_script

TRAINING = """
    import numpy, theano, theano.tensor as T
    from theano.compile.mode import get_mode
    class LogisticRegression(object):
        def __init__(self, input, n_in, n_out):
            self.W = theano.shared(value=numpy.zeros((n_in, n_out), dtype=theano.config.floatX), name='W', borrow=True)
            self.b = theano.shared(value=numpy.zeros((n_out,), dtype=theano.config.floatX), name='b', borrow=True)
            self.p_y_given_x = T.nnet.softmax(T.dot(input, self.W) + self.b)
            self.y_pred = T.argmax(self.p_y_given_x, axis=1)
            self.params = [self.W, self.b]
        def negative_log_likelihood(self, y):
            return -T.mean(T.log(self.p_y_given_x)[T.arange(y.shape[0]), y])
        def errors(self, y):
            if y.ndim != self.y_pred.ndim:
                raise TypeError('y should have the same shape as self.y_pred', ('y', y.type, 'y_pred', self.y_pred.type))
            if y.dtype.startswith('int'):
                return T.mean(T.neq(self.y_pred, y))
            else:
                raise NotImplementedError()
    rng = numpy.random.RandomState(1)
    data = rng.randn(200, 5); labels = (data[:, 0] > 0) + (data[:, 1] > 0)
    sx = theano.shared(numpy.asarray(data, dtype=theano.config.floatX), borrow=True)
    sy = T.cast(theano.shared(numpy.asarray(labels, dtype=theano.config.floatX), borrow=True), 'int32')
    index = T.lscalar(); x = T.matrix('x'); y = T.ivector('y')
    c = LogisticRegression(x, 5, 3)
    cost = c.negative_log_likelihood(y)
    g_W = T.grad(cost=cost, wrt=c.W); g_b = T.grad(cost=cost, wrt=c.b)
    train = theano.function(inputs=[index], outputs=cost, updates=[(c.W, c.W - 0.5 * g_W), (c.b, c.b - 0.5 * g_b)],
      givens={x: sx[index * 20:(index + 1) * 20], y: sy[index * 20:(index + 1) * 20]}, mode=get_mode('FAST_RUN').excluding('gpu', 'inplace'))
    test = theano.function([index], c.errors(y), givens={x: sx[index * 20:(index + 1) * 20], y: sy[index * 20:(index + 1) * 20]})
    for epoch in xrange(30):
        for i in xrange(200 / 20):
            avg = train(i)
    print 'error %f %%' % (100 * numpy.mean([test(i) for i in xrange(10)])), avg < 0.6
    z = T.dvector('z')
    print theano.function([z], theano.printing.Print('z')(z) * 2)([1., 2.])
    print T.arange(2, T.lscalar('n')).ndim, theano.tensor.arange(3).eval()
"""


@pytest.mark.parametrize("device", ["cpu", "gpu", "cuda"])
def test_classifier_script_learns(tmp_path, device):
    flags = f"device={device},floatX=float32"
    printed, errors = run_script(tmp_path / "script.py", TRAINING, flags)
    lines = printed.splitlines()
    assert lines[0].startswith("error ") and lines[0].endswith("% True")
    assert float(lines[0].split()[1]) < 20
    assert lines[1:] == ["z __str__ = [ 1.  2.]", "[ 2.  4.]", "1 [0 1 2]"]
    assert "script.py:32: integer division" in errors


IFELSE = """
    import numpy as np
    import theano
    import theano.tensor as T
    from theano.ifelse import ifelse

    a, b = T.scalars('a', 'b')
    x, y = T.matrices('x', 'y')
    f = theano.function([a, b, x, y], ifelse(T.lt(a, b), T.mean(x), T.mean(y)))
    big = np.ones((3, 4), theano.config.floatX)
    print f(0., 1., big, 2 * big), f(1., 0., big, 2 * big)
    lazy = theano.function([a], ifelse(a > 0, [a, 2 * a], [-a, a * 0]))
    print [float(r) for r in lazy(-3.)]
"""


def test_ifelse_script_prints_the_chosen_branch(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", IFELSE)
    assert printed == "1.0 2.0\n[3.0, -0.0]\n"
