# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A graph for each op and each function of spanwise.tensor: ``function(*variables)``, and values
for the variables."""

import functools

import numpy as np

import spanwise as sw

T = sw.tensor
RNG = np.random.default_rng(5)
MATRIX = RNG.uniform(0.2, 0.8, (3, 3))
MATRIX_2 = RNG.uniform(0.2, 0.8, (3, 3))
VECTOR = RNG.uniform(1.2, 1.8, (3,))
NUMBER = np.array(0.7)
INTEGERS = np.array([3, 1, 2])


@functools.cache
def own_communicator():
    """A communicator of this process only."""
    from spanwise import collectives

    return collectives.init(name="alone", device="cpu")


def summed_over_ranks(a):
    from spanwise import collectives

    return collectives.all_reduce(a, own_communicator())


#: Examples of the registered ops that are not ufuncs.
OPS = {
    "all": (T.all, [MATRIX]),
    "angle": (sw.angle, [MATRIX]),
    "any": (T.any, [MATRIX]),
    "arange": (lambda n: T.arange(n.astype("int64") + 3), [NUMBER]),
    "argmax": (lambda a: T.argmax(a, axis=0), [MATRIX]),
    "argmin": (lambda a: T.argmin(a, axis=0), [MATRIX]),
    "broadcast_to": (lambda a: T.broadcast_to(a, (2, 3, 3)), [MATRIX]),
    "cast": (lambda a: T.cast(a, "float32"), [MATRIX]),
    "clip": (T.clip, [MATRIX, np.array(0.3), np.array(0.6)]),
    "collective": (summed_over_ranks, [MATRIX]),
    "concatenate": (lambda a, b: T.concatenate([a, b]), [MATRIX, MATRIX_2]),
    "consider_constant": (T.consider_constant, [MATRIX]),
    "contiguous": (lambda a: T.contiguous(a.T), [MATRIX]),
    "count_nonzero": (T.count_nonzero, [MATRIX]),
    "cumprod": (lambda a: T.cumprod(a, axis=0), [MATRIX]),
    "cumsum": (lambda a: T.cumsum(a, axis=0), [MATRIX]),
    "dimshuffle": (lambda a: a.dimshuffle(1, "x", 0), [MATRIX]),
    "disconnected_grad": (T.disconnected_grad, [MATRIX]),
    "ifelse": (lambda n, a, b: T.ifelse(n > 0.5, a, b), [NUMBER, MATRIX, MATRIX_2]),
    "inc_subtensor": (lambda a, b: T.inc_subtensor(a[np.array([0, 0])], b), [MATRIX, VECTOR]),
    "affine": (
        lambda a, b, c: sw.graph.apply_registered("affine", a, b, c, alpha=0.5, beta=2.0),
        [MATRIX, MATRIX_2, VECTOR],
    ),
    "log_softmax": (T.log_softmax, [MATRIX]),
    "matmul": (T.matmul, [MATRIX, MATRIX_2]),
    "max": (lambda a: T.max(a, axis=0), [MATRIX]),
    "mean": (lambda a: T.mean(a, axis=0), [MATRIX]),
    "min": (lambda a: T.min(a, axis=0), [MATRIX]),
    "nansum": (lambda a: T.nansum(a, axis=0), [MATRIX]),
    "prod": (lambda a: T.prod(a, axis=0), [MATRIX]),
    "ptp": (lambda a: T.ptp(a, axis=0), [MATRIX]),
    "reshape": (lambda a: a.reshape(9), [MATRIX]),
    "set_subtensor": (lambda a, b: T.set_subtensor(a[1], b), [MATRIX, VECTOR]),
    # Of a boolean index, since a shape that the type states is a constant.
    "shape": (lambda a: a[a[:, 0] > 0.5].shape, [MATRIX]),
    "std": (lambda a: T.std(a, axis=0), [MATRIX]),
    "subtensor": (lambda a: a[1:, ::-1], [MATRIX]),
    "sum": (lambda a: T.sum(a, axis=0), [MATRIX]),
    "sum_to": (lambda a, b: sw.ops.sum_to(a, b), [MATRIX, VECTOR]),
    # The second CPU device is the same processor, so every machine has it.
    "transfer": (lambda a: a.transfer("cpu:1"), [MATRIX]),
    "var": (lambda a: T.var(a, axis=0), [MATRIX]),
    "where": (lambda a, b: T.where(a > 0.5, a, b), [MATRIX, MATRIX_2]),
}

#: Examples of functions of spanwise.tensor that are made of several ops, or of one with another name.
FUNCTIONS = {
    "argsort": (lambda a: T.argsort(a, axis=0), [MATRIX]),
    "astype": (lambda a: T.astype(a, "float32"), [MATRIX]),
    "atleast_1d": (T.atleast_1d, [NUMBER]),
    "atleast_2d": (T.atleast_2d, [VECTOR]),
    "atleast_3d": (T.atleast_3d, [MATRIX]),
    "batched_dot": (lambda a, b: T.batched_dot(a[None], b[None]), [MATRIX, MATRIX_2]),
    "column_stack": (lambda a, b: T.column_stack([a, b]), [VECTOR, MATRIX]),
    "diag": (lambda a: T.diag(a, 1), [MATRIX]),
    "diagonal": (lambda a: T.diagonal(a, -1), [MATRIX]),
    "divmod": (lambda a, b: T.divmod(a, b)[1], [MATRIX, MATRIX_2]),
    "dot": (T.dot, [MATRIX, VECTOR]),
    "dstack": (lambda a, b: T.dstack([a, b]), [MATRIX, MATRIX_2]),
    "einsum": (lambda a, b: T.einsum("ij,kj->ik", a, b), [MATRIX, MATRIX_2]),
    "expand_dims": (lambda a: T.expand_dims(a, 0), [MATRIX]),
    "eye": (lambda n: T.eye(n.astype("int64") + 3), [NUMBER]),
    "flatten": (T.flatten, [MATRIX]),
    "flip": (T.flip, [MATRIX]),
    "hstack": (lambda a, b: T.hstack([a, b]), [MATRIX, MATRIX_2]),
    "identity_like": (T.identity_like, [MATRIX]),
    "join": (lambda a, b: T.join(1, a, b), [MATRIX, MATRIX_2]),
    "matrix_transpose": (T.matrix_transpose, [MATRIX]),
    "moveaxis": (lambda a: T.moveaxis(a, 0, 1), [MATRIX]),
    "ones_like": (T.ones_like, [MATRIX]),
    "outer": (T.outer, [VECTOR, VECTOR + 1]),
    "ravel": (T.ravel, [MATRIX]),
    "repeat": (lambda a: T.repeat(a, 2, axis=1), [MATRIX]),
    "rot90": (T.rot90, [MATRIX]),
    "round": (T.round, [MATRIX]),
    "shape_padleft": (T.shape_padleft, [MATRIX]),
    "shape_padright": (T.shape_padright, [MATRIX]),
    "softmax": (T.softmax, [MATRIX]),
    "sort": (lambda a: T.sort(a, axis=0), [MATRIX]),
    "squeeze": (lambda a: T.squeeze(a[:1], 0), [MATRIX]),
    "stack": (lambda a, b: T.stack([a, b]), [MATRIX, MATRIX_2]),
    "swapaxes": (lambda a: T.swapaxes(a, 0, 1), [MATRIX]),
    "take": (lambda a: T.take(a, np.array([2, 0]), axis=1), [MATRIX]),
    "tensordot": (lambda a, b: T.tensordot(a, b, 1), [MATRIX, MATRIX_2]),
    "tile": (lambda a: T.tile(a, (2, 1)), [MATRIX]),
    "trace": (T.trace, [MATRIX]),
    "transpose": (T.transpose, [MATRIX]),
    "tril": (T.tril, [MATRIX]),
    "triu": (T.triu, [MATRIX]),
    "vstack": (lambda a, b: T.vstack([a, b]), [MATRIX, MATRIX_2]),
    "zero_grad": (T.zero_grad, [MATRIX]),
    "zeros_like": (T.zeros_like, [MATRIX]),
}


def elementwise_example(name):
    """The example of a ufunc, with integers where it takes no float64; None for an op that is no ufunc."""
    ufunc = getattr(sw, name, None)
    if not isinstance(ufunc, sw.ufunc):
        return None
    if name == "arccosh":
        return ufunc, [MATRIX + 1.5]  # it is defined from 1 on
    values = [MATRIX, MATRIX_2][: ufunc.nin]
    try:
        ufunc(*(T.tensor("float64", value.shape) for value in values))
    except sw.DTypeError:
        values = [INTEGERS, INTEGERS + 1][: ufunc.nin]
    return ufunc, values


def example_of(name):
    """(function, values) for a registered op; None if it has no example."""
    return OPS[name] if name in OPS else elementwise_example(name)


def graph_of(function, values):
    """(inputs, output) of the function, applied to variables of the dtypes and shapes of `values`."""
    inputs = [T.tensor(str(value.dtype), value.shape, f"x{i}") for i, value in enumerate(values)]
    return inputs, function(*inputs)
