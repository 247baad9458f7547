# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that rely on the lanes of a warp executing each statement together, on the CPU. GPUs since
compute capability 7.0 do not promise it, so these tests run on the CPU only."""

import itertools

import numpy as np
import pytest

import spanwise as sw
from spanwise import legacy

# The seven steps of the tree reduction that textbooks of 2007 to 2017 show: the first ones with
# barriers only, those from 4 on with a last warp without them.
REDUCE = r"""
template <class T> struct Shared {
  __device__ operator T *() { extern __shared__ char raw[]; return (T *)raw; }
};
template <class T> __global__ void reduce0(const T *in, T *out, unsigned n) {
  T *s = Shared<T>();
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned k = 1; k < blockDim.x; k *= 2) {
    if (t % (2 * k) == 0) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T> __global__ void reduce1(const T *in, T *out, unsigned n) {
  T *s = Shared<T>();
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned k = 1; k < blockDim.x; k *= 2) {
    int at = 2 * k * t;
    if (at < blockDim.x) s[at] += s[at + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T> __global__ void reduce2(const T *in, T *out, unsigned n) {
  T *s = Shared<T>();
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned k = blockDim.x / 2; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T> __global__ void reduce3(const T *in, T *out, unsigned n) {
  T *s = Shared<T>();
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  T mine = i < n ? in[i] : 0;
  if (i + blockDim.x < n) mine += in[i + blockDim.x];
  s[t] = mine;
  __syncthreads();
  for (unsigned k = blockDim.x / 2; k > 0; k >>= 1) {
    if (t < k) s[t] = mine = mine + s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T, unsigned size> __global__ void reduce4(const T *in, T *out, unsigned n) {
  T *s = Shared<T>();
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  T mine = i < n ? in[i] : 0;
  if (i + size < n) mine += in[i + size];
  s[t] = mine;
  __syncthreads();
  for (unsigned k = blockDim.x / 2; k > 32; k >>= 1) {
    if (t < k) s[t] = mine = mine + s[t + k];
    __syncthreads();
  }
  if (t < 32) {
    volatile T *m = s;
    if (size >= 64) m[t] = mine = mine + m[t + 32];
    if (size >= 32) m[t] = mine = mine + m[t + 16];
    if (size >= 16) m[t] = mine = mine + m[t + 8];
    if (size >= 8) m[t] = mine = mine + m[t + 4];
    if (size >= 4) m[t] = mine = mine + m[t + 2];
    if (size >= 2) m[t] = mine = mine + m[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T, unsigned size> __device__ void last_warp(volatile T *s, unsigned t) {
  if (size >= 64) s[t] += s[t + 32];
  if (size >= 32) s[t] += s[t + 16];
  if (size >= 16) s[t] += s[t + 8];
  if (size >= 8) s[t] += s[t + 4];
  if (size >= 4) s[t] += s[t + 2];
  if (size >= 2) s[t] += s[t + 1];
}
template <class T, unsigned size> __device__ void whole_block(T *s, unsigned t) {
  if (size >= 1024) { if (t < 512) s[t] += s[t + 512]; __syncthreads(); }
  if (size >= 512) { if (t < 256) s[t] += s[t + 256]; __syncthreads(); }
  if (size >= 256) { if (t < 128) s[t] += s[t + 128]; __syncthreads(); }
  if (size >= 128) { if (t < 64) s[t] += s[t + 64]; __syncthreads(); }
  if (t < 32) last_warp<T, size>(s, t);
}
template <class T, unsigned size> __global__ void reduce5(const T *in, T *out, unsigned n) {
  T *s = Shared<T>();
  unsigned t = threadIdx.x, i = blockIdx.x * (size * 2) + t;
  T mine = i < n ? in[i] : 0;
  if (i + size < n) mine += in[i + size];
  s[t] = mine;
  __syncthreads();
  whole_block<T, size>(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T, unsigned size> __global__ void reduce6(const T *in, T *out, unsigned n) {
  T *s = Shared<T>();
  unsigned t = threadIdx.x, i = blockIdx.x * size * 2 + t, step = size * 2 * gridDim.x;
  T mine = 0;
  while (i < n) {
    mine += in[i];
    if (i + size < n) mine += in[i + size];
    i += step;
  }
  s[t] = mine;
  __syncthreads();
  whole_block<T, size>(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}
"""
SIZES = (32, 64, 128, 256, 512, 1024)


@pytest.fixture(scope="module")
def reductions():
    """One module of one element type each; compiled when it is used first."""
    modules = {}

    def module(ctype):
        if ctype not in modules:
            names = [f"reduce{k}<{ctype}>" for k in range(4)]
            names += [f"reduce{k}<{ctype},{size}>" for k in (4, 5, 6) for size in SIZES]
            modules[ctype] = sw.SourceModule(REDUCE, names=names, device="cpu")
        return modules[ctype]

    return module


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ctype", ["int", "float", "double"])
def test_every_step_of_the_tree_reduction(reductions, ctype, size, order):
    x = (
        np.random.default_rng(size)
        .integers(-100, 100, 5000)
        .astype({"int": "i4", "float": "f4", "double": "f8"}[ctype])
    )
    for k in range(7):
        per_block = size * (2 if k >= 3 else 1)
        blocks = 3 if k == 6 else -(-x.size // per_block)
        out = sw.full(blocks, -7, dtype=x.dtype.name, device="cpu")
        name = f"reduce{k}<{ctype}>" if k < 4 else f"reduce{k}<{ctype},{size}>"
        # Two warps of shared memory beyond the block: the smallest blocks read there.
        with sw.config.change(cpu_thread_order=order):
            reductions(ctype).get_function(name)(
                sw.array(x, device="cpu"),
                out,
                np.uint32(x.size),
                block=size,
                grid=blocks,
                shared=(size + 64) * x.itemsize,
            )
        assert out.numpy().astype("float64").sum() == x.astype("float64").sum(), name


HEAD = "#define T 32\n__global__ void k(int *o, const int *x, int n) { int t = threadIdx.x;\n"

# Bodies: o has 64 elements, x is 0, 1, ..., 63 and one block of 64 threads runs.
BODIES = {
    "scan": (
        """__shared__ volatile int s[64]; s[t] = x[t]; int lane = t & 31;
        if (lane >= 1) s[t] += s[t - 1];
        if (lane >= 2) s[t] += s[t - 2];
        if (lane >= 4) s[t] += s[t - 4];
        if (lane >= 8) s[t] += s[t - 8];
        if (lane >= 16) s[t] += s[t - 16];
        o[t] = s[t];""",
        lambda x: np.concatenate([np.cumsum(x[:32]), np.cumsum(x[32:])]),
    ),
    "scan in a loop": (
        """__shared__ int a[64]; volatile int *s = a; s[t] = x[t];
        for (int d = 1; d < 32; d *= 2) if ((t & 31) >= d) s[t] = s[t] + s[t - d];
        o[t] = a[t];""",
        lambda x: np.concatenate([np.cumsum(x[:32]), np.cumsum(x[32:])]),
    ),
    "both branches": (
        """__shared__ volatile int s[64]; s[t] = x[t];
        if (t & 1) { s[t] = s[t ^ 2]; s[t] += s[t ^ 4]; s[t] += s[t ^ 8]; }
        else { s[t] += s[t ^ 2]; s[t] = s[t] * 2 + s[t ^ 4]; }
        s[t] += s[t ^ 1];
        o[t] = s[t];""",
        None,
    ),
    "loops of different lengths": (
        """__shared__ volatile int s[64]; s[t] = x[t];
        for (int i = 0; i < (t & 3); ++i) s[t] += s[t ^ 3] + s[(t + 4) & 63 & ~32 | t & 32];
        s[t] += s[t ^ 16];
        o[t] = s[t];""",
        None,
    ),
    "lanes that leave": (
        """__shared__ volatile int s[64]; s[t] = x[t]; o[t] = -1;
        if (t & 8) return;
        s[t] += s[t ^ 1]; s[t] += s[t ^ 2]; s[t] += s[t ^ 4];
        o[t] = s[t];""",
        lambda x: np.where(np.arange(64) & 8, -1, x.reshape(8, 8).sum(1).repeat(8)),
    ),
    "between __syncwarp": (
        """__shared__ int s[96]; s[t] = x[t]; s[t + 32] = x[(t + 32) & 63]; __syncthreads();
        if (t < 32) { s[t] += s[t + 16]; __syncwarp(); s[t] += s[t + 8]; __syncwarp();
        s[t] += s[t + 4]; __syncwarp(); s[t] += s[t + 2]; __syncwarp(); s[t] += s[t + 1]; __syncwarp(); }
        __syncthreads(); o[t] = s[0];""",
        lambda x: np.full(64, x[:32].sum()),
    ),
    "exchange": (
        """volatile int *s = o; s[t] = x[t]; s[t] = s[t ^ 1]; s[t] = s[t ^ 31];""",
        lambda x: x[np.arange(64) ^ 30],
    ),
    "stores without reads of the same name": (
        """__shared__ int s[64]; *(volatile int *)&s[t] = x[t]; o[t] = s[t ^ 5];""",
        lambda x: x[np.arange(64) ^ 5],
    ),
    "cast": (
        """__shared__ int s[64]; s[t] = x[t];
        ((volatile int *)s)[t] += ((volatile int *)s)[t ^ 7];
        o[t] = static_cast<volatile int *>(s)[t ^ 1];""",
        lambda x: (x + x[np.arange(64) ^ 7])[np.arange(64) ^ 1],
    ),
    "tags": (
        """__shared__ volatile unsigned bins[8]; if (t < 8) bins[t] = 0; __syncthreads();
        unsigned tag = t << 24, b = x[t] % 8, count;
        if (t < 32) do {
          count = bins[b] & 0xffffff; count = tag | (count + 1); bins[b] = count;
        } while (bins[b] != count);
        __syncthreads();
        o[t] = bins[t & 7] & 0xffffff;""",
        lambda x: np.full(64, 4),
    ),
    "lock": (
        """__shared__ int lock, total; volatile int *sum = &total;
        if (t == 0) lock = total = 0; __syncthreads();
        bool done = false;
        while (!done) {
          if (atomicCAS(&lock, 0, 1) == 0) {
            *sum = *sum + x[t]; __threadfence_block(); atomicExch(&lock, 0); done = true;
          }
        }
        __syncthreads(); o[t] = total;""",
        lambda x: np.full(64, x.sum()),
    ),
    "stores of one warp between barriers": (
        """__shared__ int a[64]; volatile int *s = a; a[t] = x[t]; __syncthreads();
        if (t < 32) a[t] += s[t + 16];
        __syncthreads();
        if (t < 32) a[t] += s[t + 8];
        __syncthreads();
        if (t < warpSize) a[t] += a[t + 4];
        __syncthreads(); o[t] = a[t];""",
        lambda x: reduced_in_step(x),
    ),
}
ALIASES = {
    "macro": "#define VOLATILE volatile\n",
    "typedef": "typedef volatile int VOLATILE_int;\n",
    "using": "using VOLATILE_int = volatile int;\n",
}


def reduced_in_step(x):
    for distance in (16, 8, 4):
        x = np.concatenate([x[:32] + x[distance : distance + 32], x[32:]])
    return x


def in_step(body, x):
    """What `body` computes if all lanes of a warp execute each assignment together: evaluated
    statement by statement over arrays, for the bodies without a shorter expression."""
    t = np.arange(64)
    if "(t & 1)" in body:
        s, odd = x.copy(), (t & 1) == 1
        s = np.where(odd, s[t ^ 2], s)
        s = np.where(odd, s + s[t ^ 4], s)
        s = np.where(odd, s + s[t ^ 8], s)
        s = np.where(~odd, s + s[t ^ 2], s)
        s = np.where(~odd, s * 2 + s[t ^ 4], s)
        return s + s[t ^ 1]
    s = x.copy()
    for i in range(3):
        s = np.where(i < (t & 3), s + s[t ^ 3] + s[((t + 4) & 31) | (t & 32)], s)
    return s + s[t ^ 16]


def run(source, x, block=64, **options):
    kernel = sw.SourceModule(source, device="cpu", **options).get_function("k")
    out = sw.full(64, -7, dtype="int32", device="cpu")
    kernel(out, sw.array(x, device="cpu"), np.int32(64), block=block)
    return out.numpy()


@pytest.mark.parametrize("check", ["none", "bounds"])
@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("name", BODIES)
def test_lanes_read_before_one_of_them_stores(name, order, check):
    body, expected = BODIES[name]
    x = np.arange(64, dtype="int32")
    with sw.config.change(cpu_thread_order=order, kernel_check=check):
        result = run(HEAD + body + "}", x)
    np.testing.assert_array_equal(result, expected(x) if expected else in_step(body, x))


@pytest.mark.parametrize("name", ALIASES)
def test_other_words_for_volatile(name):
    declared = "VOLATILE int" if name == "macro" else "VOLATILE_int"
    body = f"__shared__ int a[64]; {declared} *s = a; s[t] = x[t]; s[t] = s[t ^ 1]; o[t] = a[t];"
    x = np.arange(64, dtype="int32")
    np.testing.assert_array_equal(run(ALIASES[name] + HEAD + body + "}", x), x[x ^ 1])


def test_a_row_of_a_sparse_matrix_for_each_warp():
    source = """
    __global__ void spmv(const float *val, const float *vec, const int *cols, const int *first,
                         float *out, int rows) {
      __shared__ volatile float part[128];
      int t = threadIdx.x, lane = t & 31, row = (blockIdx.x * blockDim.x + t) / 32;
      if (row >= rows) return;
      float sum = 0;
      for (int j = first[row] + lane; j < first[row + 1]; j += 32) sum += val[j] * vec[cols[j]];
      part[t] = sum;
      if (lane < 16) part[t] = sum = sum + part[t + 16];
      if (lane < 8) part[t] = sum = sum + part[t + 8];
      if (lane < 4) part[t] = sum = sum + part[t + 4];
      if (lane < 2) part[t] = sum = sum + part[t + 2];
      if (lane < 1) part[t] = sum = sum + part[t + 1];
      if (lane == 0) out[row] = sum;
    }"""
    rng = np.random.default_rng(3)
    rows, cols = 37, 150
    counts = rng.integers(0, 100, rows)
    first = np.concatenate([[0], np.cumsum(counts)]).astype("int32")
    at = rng.integers(0, cols, first[-1]).astype("int32")
    val, vec = (rng.integers(-9, 9, n).astype("float32") for n in (first[-1], cols))
    out = sw.full(rows, np.nan, dtype="float32", device="cpu")
    put = lambda a: sw.array(a, device="cpu")  # noqa: E731
    sw.SourceModule(source, device="cpu").get_function("spmv")(
        put(val), put(vec), put(at), put(first), out, np.int32(rows), block=128, grid=10
    )
    products = val.astype("float64") * vec[at]
    expected = [products[a:b].sum() for a, b in itertools.pairwise(first)]
    np.testing.assert_array_equal(out.numpy(), expected)


PLAIN = "__shared__ int s[64]; s[t] = x[t]; s[t] += s[t ^ 1]; o[t] = s[t];"


def test_cpu_warps_step_includes_plain_stores():
    x = np.arange(64, dtype="int32")
    expected = x + x[x ^ 1]
    np.testing.assert_array_equal(run(HEAD + PLAIN + "}", x, cpu_warps="step"), expected)
    with sw.config.change(cpu_warps="step"):
        np.testing.assert_array_equal(run(HEAD + PLAIN + "// as config\n}", x), expected)
    # Without it, a lane reads what the lane before it has stored: the source shows no reliance.
    assert (run(HEAD + PLAIN + "}", x) != expected).any()


def test_cpu_warps_refuses_other_values():
    with pytest.raises(sw.ArgumentError, match='cpu_warps: expected "auto" or "step", got "on"'):
        sw.SourceModule(HEAD + "}", device="cpu", cpu_warps="on")


def test_last_lanes_of_a_block_that_is_no_multiple_of_a_warp():
    body = """__shared__ volatile int s[64]; s[t] = x[t]; s[t] = s[t ^ 1]; s[t] += s[t ^ 2]; o[t] = s[t];"""
    x = np.arange(64, dtype="int32")
    t = np.arange(44)
    s = x[t ^ 1]
    np.testing.assert_array_equal(run(HEAD + body + "}", x, block=44)[:44], s + s[t ^ 2])


@pytest.mark.parametrize(
    "body",
    [
        "volatile int y = x[t]; y += 1; o[t] = y;",
        "volatile int y[4]; y[0] = x[t]; y[1] = y[0]; o[t] = y[1];",
        "const volatile int *p = x; o[t] = p[t] + p[t ^ 1];",
        "__shared__ int s[64]; s[t] = x[t]; __syncthreads(); if (t < 32) s[t] += s[t + 32]; __syncthreads(); o[t] = s[0];",
        "__shared__ volatile int s[64]; s[t] = x[t]; __syncthreads(); o[t] = s[t ^ 1];",
        "__shared__ int s[64]; s[t] = x[t]; __syncwarp(); if (t < 16) s[t] += s[t + 16]; __syncwarp(); o[t] = s[t];",
        'asm volatile("membar.gl;"); o[t] = x[t];',
    ],
)
def test_sources_that_rely_on_nothing(body):
    assert sw._core._warp_step_lines(HEAD + body + "}") == []


def test_list_names_the_lines(tmp_path, capsys):
    path = tmp_path / "k.cu"
    path.write_text(HEAD + "volatile int *s = o; s[t] = x[t];\ns[t] += s[t ^ 1];\n}\n")
    assert legacy.main([str(path)]) == 0
    assert "relies on warps in step, lines 3, 4" in capsys.readouterr().out
