# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions of dask.array, one per line, of the arrays that operands() makes:

a, b: float64 of shape (12, 10); v: a vector; i: integers; p: positive; m: a mask;
s: square and well-conditioned; t: `a` in chunks of whole rows; o: `a` in one chunk.
"""

import dask.array as da
import numpy as np

#: Expressions whose results have chunks of spanwise.Array.
EXPRESSIONS = r"""
a + b
a - b
a * b
a / b
a // p
a % p
p ** 2
p ** b
-a
abs(a)
a + 1
2 - a
a * np.float32(2)
a < b
a <= b
a == b
a != b
(a > 0) & m
m | (b > 0)
m ^ m
~m
i << 1
i >> 1
i & 3
divmod(p, 2)[0]
da.exp(a)
da.log(p)
da.sqrt(p)
da.sin(a)
da.tanh(a)
da.arctan2(a, b)
da.hypot(a, b)
da.maximum(a, b)
da.minimum(a, b)
da.fmax(a, b)
da.clip(a, -1, 1)
da.sign(a)
da.floor(a)
da.rint(a)
da.isnan(a)
da.isfinite(a)
da.logical_and(m, a > 0)
da.where(m, a, b)
da.where(a > 0, a, 0)
da.square(a)
da.cbrt(a)
da.log1p(p)
da.expm1(a)
da.angle(a)
da.round(a, 2)
a.astype("float32")
a.real
a.conj()
a.sum()
a.sum(axis=0)
a.sum(axis=1, keepdims=True)
a.mean()
a.mean(axis=1)
a.std()
a.std(axis=0)
a.var(ddof=1)
a.min()
a.max(axis=0)
a.prod(axis=1)
m.any()
m.all(axis=0)
a.argmin(axis=0)
a.argmax(axis=1)
a.argmax()
a.cumsum(axis=0)
a.cumprod(axis=1)
da.nansum(a)
da.nanmean(a, axis=0)
da.nanstd(a)
da.ptp(a, axis=0)
da.average(a, axis=0)
da.average(a, axis=1, weights=v)
a.moment(3)
da.diff(a, axis=0)
da.ediff1d(v)
da.count_nonzero(m)
a.T
a.transpose(1, 0)
da.swapaxes(a, 0, 1)
da.moveaxis(a, 0, 1)
a.ravel()
a[2:7]
a[::2, ::-1]
a[3]
a[:, None]
a[..., 1]
a[[1, 3, 5]]
a[:, [0, 2]]
v[v > 0]
a[m]
a.rechunk((12, 2))
da.concatenate([a, b])
da.concatenate([a, b], axis=1)
da.stack([a, b])
da.vstack([a, b])
da.hstack([a, b])
da.dstack([a, b])
da.block([[a, b], [b, a]])
da.broadcast_to(v, (3, 10))
da.tile(v, 2)
da.repeat(a, 2, axis=0)
da.roll(a, 3, axis=0)
da.flip(a, 0)
da.fliplr(a)
da.rot90(a)
da.pad(a, 1, mode="constant")
da.pad(a, ((1, 1), (2, 2)), mode="edge")
da.squeeze(a[None])
da.expand_dims(a, 1)
da.take(a, [0, 4], axis=1)
da.compress([True, False, True], a[:3], axis=0)
da.tril(s)
da.triu(s)
da.diag(v)
da.diagonal(s)
da.trace(s)
a @ b.T
a.dot(v)
da.dot(a.T, b)
da.tensordot(a, b, axes=((0,), (0,)))
da.tensordot(a, b.T, 1)
da.einsum("ij,ij->i", a, b)
da.einsum("ij,kj->ik", a, b)
da.matmul(a, b.T)
da.vdot(v, v)
da.outer(v, v)
da.linalg.norm(a)
da.linalg.norm(a, axis=1)
da.corrcoef(a)
da.cov(a)
da.choose(i % 2, [a, b])
da.select([a > 0, b > 0], [a, b], 0)
da.allclose(a, a)
da.isclose(a, b)
da.map_blocks(np.negative, a)
da.map_overlap(lambda x: x + 1, a, depth=1)
da.overlap.overlap(a, depth=1, boundary="reflect")
da.coarsen(np.sum, a[:10, :10], {0: 5, 1: 2})
da.ones_like(a)
da.zeros_like(a)
da.full_like(a, 3)
da.blockwise(lambda x, y: x + y, "ij", a, "ij", b, "ij", dtype="f8")
a.map_blocks(lambda x: x.sum(keepdims=True), chunks=(1, 1))
a.reshape(4, 3, 10)
""".strip().splitlines()

#: Expressions that NumPy computes for chunks on the CPU; for chunks on a GPU they raise.
NUMPY_ON_CPU = r"""
da.nan_to_num(a)
da.nanmax(a, axis=1)
da.nanmin(a)
da.nanprod(a, axis=0)
da.nanargmax(a, axis=0)
da.topk(v, 3)
da.linalg.qr(t)[1].__abs__()
da.linalg.svd(t)[1]
da.linalg.tsqr(t)[1].__abs__()
da.linalg.cholesky(s)
da.median(a, axis=0)
da.nanmedian(a, axis=1)
da.quantile(o, 0.3, axis=0)
da.unique(i)
da.bincount(i.ravel(), minlength=10)
da.histogram(a, bins=5, range=(-3, 3))[0]
da.digitize(a, np.array([-1., 0., 1.]))
da.searchsorted(da.from_array(np.array([-1., 0., 1.]), chunks=3), v)
da.isin(i, [1, 2])
da.gradient(a, axis=0)
da.fft.fft(o, axis=0)
da.fft.rfft(o, axis=1)
da.fft.ifft(o)
da.apply_along_axis(np.sum, 1, a)
da.map_blocks(np.sort, a)
da.map_blocks(np.argsort, a)
da.map_blocks(np.partition, v, 0)
v.rechunk(10).map_blocks(np.interp, np.arange(10.0), np.arange(10.0))
""".strip().splitlines()

#: Expressions that SciPy computes or Dask merges on the host: results are NumPy arrays.
ON_HOST = r"""
da.linalg.inv(s)
da.linalg.solve(s, v)
da.linalg.lu(s)[2]
da.percentile(v, [25, 50, 75])
da.argwhere(m)
da.nonzero(m)[0]
da.flatnonzero(m)
""".strip().splitlines()


def operands(convert):
    """Names and Dask arrays of several chunks; `convert` is applied to each of them."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 12, 10))
    chunked = {
        "a": (a, (5, 4)),
        "b": (b, (5, 4)),
        "v": (a[0], (4,)),
        "i": (rng.integers(0, 9, (12, 10)), (5, 4)),
        "p": (np.abs(a) + 0.5, (5, 4)),
        "m": (a > 0, (5, 4)),
        "t": (a, (5, 10)),
        "s": (a.T @ a + 10 * np.eye(10), (5, 5)),
        "o": (a, (12, 10)),
    }
    return {name: convert(da.from_array(x, chunks=c)) for name, (x, c) in chunked.items()}
