# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Small programs in the style of Theano's tutorial: PROGRAMS is {name: (program, expected values)}.

A program follows START, sees `theano`, `T`, `np` and `ifelse`, and assigns `result`; the expected values are
computed by NumPy. PyTensor runs the same programs.
"""

import numpy as np

X = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
V = np.array([0.5, -1.0, 2.0])
LOGISTIC = 1 / (1 + np.exp(-X))

START = """
x, y, v, w, n = T.dmatrix("x"), T.dmatrix("y"), T.dvector("v"), T.dvector("w"), T.lscalar("n")
X = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
V = np.array([0.5, -1.0, 2.0])
function, shared, grad = theano.function, theano.shared, T.grad
"""

PROGRAMS = {
    # functions
    "add_scalars": (
        "a, b = T.dscalars('a', 'b')\nresult = [function([a, b], a + b)(2, 3)]",
        [5.0],
    ),
    "add_matrices": ("result = [function([x, y], x + y)(X, 10 * X)]", [11 * X]),
    "several_outputs": (
        "d = x - y\nresult = function([x, y], [d, abs(d), d ** 2])(X, np.ones((2, 3)))",
        [X - 1, abs(X - 1), (X - 1) ** 2],
    ),
    "logistic": ("result = [function([x], 1 / (1 + T.exp(-x)))(X)]", [LOGISTIC]),
    "logistic_by_tanh": ("result = [function([x], (1 + T.tanh(x / 2)) / 2)(X)]", [LOGISTIC]),
    "default_input": (
        "f = function([v, theano.In(n, value=2)], v * n)\nresult = [f(V), f(V, 5)]",
        [2 * V, 5 * V],
    ),
    "named_default_input": (
        "k = T.dscalar()\nf = function([v, theano.In(n, value=2), theano.In(k, value=1., name='k')], (v + k) * n)\n"
        "result = [f(V), f(V, k=3.), f(V, 1, k=0.)]",
        [2 * (V + 1), 2 * (V + 3), V],
    ),
    "list_of_one_output": ("result = function([v], [v * 2])(V)", [2 * V]),
    "eval": ("result = [(v * 2).eval({v: V}), (v + w).eval({v: V, w: V})]", [2 * V, 2 * V]),
    "constants_fold": ("result = [function([], T.constant(3.0) * T.constant(V))()]", [3 * V]),
    # shared variables, updates, givens
    "accumulator": (
        "s = shared(0)\nf = function([n], s, updates=[(s, s + n)])\n"
        "result = [f(1), f(300), s.get_value()]\ns.set_value(-1)\nresult += [f(3), s.get_value()]",
        [0, 1, 301, -1, 2],
    ),
    "two_functions_of_one_state": (
        "s = shared(0)\nup = function([n], s, updates=[(s, s + n)])\n"
        "down = function([n], s, updates=[(s, s - n)])\nresult = [up(10), down(4), s.get_value()]",
        [0, 10, 6],
    ),
    "updates_are_simultaneous": (
        "a, b = shared(1.0), shared(2.0)\nf = function([], [a, b], updates=[(a, b), (b, a + b)])\n"
        "f()\nf()\nresult = [a.get_value(), b.get_value()]",
        [3.0, 5.0],
    ),
    "updates_as_dict": (
        "s = shared(V)\nfunction([], [], updates={s: s * 3})()\nresult = [s.get_value()]",
        [3 * V],
    ),
    "givens": (
        "s = shared(0.0)\nk = T.scalar(dtype=s.dtype)\nf = function([k], s * 2 + k, givens=[(s, k)])\n"
        "result = [f(5.0), s.get_value()]",
        [15.0, 0.0],
    ),
    "givens_of_a_row": (
        "s, i = shared(X), T.lscalar()\nresult = [function([i], (v ** 2).sum(), givens={v: s[i]})(1)]",
        [77.0],
    ),
    "copy_of_a_function": (
        "s, other = shared(0), shared(100)\nf = function([n], s, updates=[(s, s + n)])\nf(1)\n"
        "g = f.copy(swap={s: other})\ng(7)\nh = f.copy(delete_updates=True)\n"
        "result = [h(9), s.get_value(), other.get_value()]",
        [[1], 1, 107],
    ),
    "borrowed_values": (
        "s = shared(V, borrow=False)\nt = s.get_value()\nt[0] = 9\nresult = [s.get_value(), t[0]]",
        [V, 9.0],
    ),
    # gradients
    "grad_of_a_power": (
        "k = T.dscalar()\nf = function([k], grad(k ** 2, k))\nresult = [f(4), f(94.2)]",
        [8.0, 188.4],
    ),
    "grad_of_the_logistic": (
        "result = [function([x], grad(T.sum(1 / (1 + T.exp(-x))), x))(X)]",
        [LOGISTIC * (1 - LOGISTIC)],
    ),
    "grads_of_a_product": (
        "result = function([x, v], grad(T.dot(x, v).sum(), [x, v]))(X, V)",
        [np.tile(V, (2, 1)), X.sum(0)],
    ),
    "jacobian_by_rows": (
        "q = v ** 2\nresult = [np.stack([function([v], grad(q[i], v))(V) for i in range(3)])]",
        [np.diag(2 * V)],
    ),
    "hessian_times_vector": (
        "g = grad(T.sum(v ** 3), v)\nresult = [function([v, w], grad(T.sum(g * w), v))(V, V + 1)]",
        [6 * V * (V + 1)],
    ),
    "consider_constant": (
        "c = theano.gradient.disconnected_grad(v)\nresult = [function([v], grad((c * v).sum(), v))(V)]",
        [V],
    ),
    "gradient_descent": (
        "s = shared(np.zeros(3))\ncost = T.sum((s - v) ** 2)\n"
        "f = function([v], cost, updates=[(s, s - 0.25 * grad(cost, s))])\n"
        "result = [f(V), f(V), s.get_value()]",
        [(V**2).sum(), (V**2).sum() / 4, 0.75 * V],
    ),
    # conditions and comparisons
    "switch": (
        "result = [function([x], T.switch(x > 0, x, 0.1 * x))(X)]",
        [np.where(X > 0, X, 0.1 * X)],
    ),
    "ifelse": (
        "a, b = T.dscalars('a', 'b')\nf = function([a, b, x], ifelse(T.lt(a, b), T.mean(x), T.max(x)))\n"
        "result = [f(0, 1, X), f(1, 0, X)]",
        [X.mean(), 5.0],
    ),
    "comparisons": (
        "result = function([x], [T.gt(x, 1), T.le(x, 1), T.eq(x, 4), T.neq(x, 4)])(X)",
        [X > 1, X <= 1, X == 4, X != 4],
    ),
    "clip_and_round": (
        "result = [function([x], T.clip(x, -2.5, 3.5))(X)]",
        [np.clip(X, -2.5, 3.5)],
    ),
    # shapes and products
    "dot_products": (
        "result = function([x, v], [T.dot(x, v), T.dot(x, x.T), T.dot(v, v)])(X, V)",
        [X @ V, X @ X.T, V @ V],
    ),
    "dimshuffle": (
        "result = function([x, v], [x.dimshuffle(1, 0), v.dimshuffle('x', 0), v.dimshuffle(0, 'x')])(X, V)",
        [X.T, V[None], V[:, None]],
    ),
    "broadcast_row_and_column": (
        "r, c = T.row('r'), T.col('c')\n"
        "result = [function([r, c], r * c, allow_input_downcast=True)(V[None], X[:, :1])]",
        [V * X[:, :1]],
    ),
    "reductions": (
        "result = function([x], [x.sum(), x.mean(axis=0), x.max(axis=1), T.argmax(x, axis=1), T.prod(x), x.std()])(X)",
        [X.sum(), X.mean(0), X.max(1), X.argmax(1), X.prod(), X.std()],
    ),
    "reshape_and_flatten": (
        "result = function([x], [x.reshape((3, 2)), x.flatten(), x.reshape((x.shape[1], x.shape[0]))])(X)",
        [X.reshape(3, 2), X.ravel(), X.reshape(3, 2)],
    ),
    "concatenate_and_stack": (
        "result = function([x, v], [T.concatenate([x, x], axis=1), T.stack([v, v + 1])])(X, V)",
        [np.hstack([X, X]), np.stack([V, V + 1])],
    ),
    "shape_of_a_result": (
        "result = function([x], [x.shape[0] * 2, T.dot(x, x.T).shape])(X)",
        [4, np.array([2, 2])],
    ),
    # elements
    "subtensor": (
        "result = function([x, n], [x[n], x[:, 1:], x[::-1, ::2], x[n, n]])(X, 1)",
        [X[1], X[:, 1:], X[::-1, ::2], 5.0],
    ),
    "elements_by_arrays": (
        "i = T.lvector()\nresult = function([x, i], [x[:, i], x[T.arange(x.shape[0]), i[:2]]])(X, np.array([2, 0, 2]))",
        [X[:, [2, 0, 2]], X[[0, 1], [2, 0]]],
    ),
    "set_and_inc_subtensor": (
        "result = function([x], [T.set_subtensor(x[:, 1], 0.0), T.inc_subtensor(x[0], 10.0)])(X)",
        [X * [1, 0, 1], X + np.array([[10], [0]])],
    ),
    "diagonal_and_eye": (
        "result = function([x], [T.diag(T.dot(x, x.T)), T.eye(2, 3), T.diag(T.dot(x, x.T)).sum()])(X)",
        [np.diag(X @ X.T), np.eye(2, 3), np.trace(X @ X.T)],
    ),
}
