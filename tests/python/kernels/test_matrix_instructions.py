# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions of a warp and nvcuda::wmma, compared with NumPy's products in double."""

import numpy as np
import pytest
from support.arrays import poisoned
from support.cuda_toolkit import needs, toolkit_headers

import spanwise as sw

ml_dtypes = pytest.importorskip("ml_dtypes")

# dtype of the elements, bits in a register, type in PTX
ELEMENTS = {
    "f16": np.dtype("float16"),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "tf32": np.dtype("float32"),
    "s8": np.dtype("int8"),
    "u8": np.dtype("uint8"),
    "f64": np.dtype("float64"),
}
SHAPES = [
    ("m16n8k8", "f32", "f16", "f32"),
    ("m16n8k16", "f32", "f16", "f32"),
    ("m16n8k8", "f16", "f16", "f16"),
    ("m16n8k16", "f16", "f16", "f16"),
    ("m16n8k8", "f32", "bf16", "f32"),
    ("m16n8k16", "f32", "bf16", "f32"),
    ("m16n8k4", "f32", "tf32", "f32"),
    ("m16n8k8", "f32", "tf32", "f32"),
    ("m8n8k16", "s32", "s8", "s32"),
    ("m16n8k16", "s32", "s8", "s32"),
    ("m16n8k32", "s32", "s8", "s32"),
    ("m16n8k32", "s32", "u8", "s32"),
    ("m8n8k4", "f64", "f64", "f64"),
]


def fragment(matrix, rows, per_register):
    """The registers of A, or of B if `matrix` is its transpose, of each lane: (32, count, per_register)."""
    out = np.zeros((32, matrix.size // 32 // per_register, per_register), matrix.dtype)
    for lane in range(32):
        group, place = lane // 4, lane % 4
        for r in range(out.shape[1]):
            row = group + (8 if rows == 16 and r % 2 else 0)
            column = place * per_register + (r // 2 if rows == 16 else r) * 4 * per_register
            out[lane, r] = matrix[row, column : column + per_register]
    return out


def accumulators(matrix):
    """The elements of C and D of each lane: (32, count)."""
    count = matrix.size // 32
    lanes, i = np.arange(32)[:, None], np.arange(count)[None, :]
    return matrix[lanes // 4 + i // 2 * 8, lanes % 4 * 2 + i % 2]


def numbers(random, shape, dtype):
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return random.standard_normal(shape).astype(dtype)


def product_source(shape, d, a, c, count_a, count_b, count_c):
    wide = a == "f64"
    register = "double" if wide else "unsigned"
    letter = "d" if wide else "r"
    letter_c, type_c = {"f32": ("f", "float"), "f64": ("d", "double")}.get(c, ("r", "unsigned"))

    def names(first, count):
        return "{" + ", ".join(f"%{first + i}" for i in range(count)) + "}"

    text = (
        f"mma.sync.aligned.{shape}.row.col.{d}.{a}.{a}.{c} {names(0, count_c)}, {names(count_c, count_a)}, "
        f"{names(count_c + count_a, count_b)}, {names(count_c + count_a + count_b, count_c)};"
    )
    outputs = ", ".join(f'"={letter_c}"(d[{i}])' for i in range(count_c))
    inputs = ", ".join(
        [f'"{letter}"(a[t * {count_a} + {i}])' for i in range(count_a)]
        + [f'"{letter}"(b[t * {count_b} + {i}])' for i in range(count_b)]
        + [f'"{letter_c}"(c[t * {count_c} + {i}])' for i in range(count_c)]
    )
    return f"""
__global__ void k(const {register}* a, const {register}* b, const {type_c}* c, {type_c}* out) {{
  const int t = threadIdx.x % 32;
  {type_c} d[{count_c}];
  asm volatile("{text}" : {outputs} : {inputs});
  for (int i = 0; i < {count_c}; ++i) out[threadIdx.x * {count_c} + i] = d[i];
}}
"""


@pytest.mark.parametrize(("shape", "d", "a", "c"), SHAPES, ids=["_".join(s) for s in SHAPES])
def test_mma_is_the_product_of_matrices(device, compiler, shape, d, a, c):
    """Two warps compute the same product; all registers are words of 32 bits but those of double."""
    needs(device, 8)
    rows, depth = (int(n) for n in shape.removeprefix("m").split("n8k"))
    random = np.random.default_rng(rows * depth)
    dtype, dtype_c = ELEMENTS[a], np.dtype({"f32": "f4", "f16": "f2", "s32": "i4", "f64": "f8"}[c])
    left, right = numbers(random, (rows, depth), dtype), numbers(random, (depth, 8), dtype)
    added = (
        numbers(random, (rows, 8), dtype_c)
        if dtype_c.kind == "f"
        else np.arange(rows * 8, dtype="i4").reshape(rows, 8) - 60
    )
    per = 1 if a == "f64" else 4 // dtype.itemsize
    word = np.dtype("f8" if a == "f64" else "u4")
    words_a = fragment(left, rows, per).view(word).reshape(32, -1)
    words_b = fragment(np.ascontiguousarray(right.T), 8, per).view(word).reshape(32, -1)
    words_c = np.ascontiguousarray(accumulators(added)).view(
        "u4" if c in ("f16", "s32") else dtype_c
    )
    source = product_source(shape, d, a, c, words_a.shape[1], words_b.shape[1], words_c.shape[1])
    out = poisoned((64, words_c.shape[1]), words_c.dtype, device)
    arrays = [sw.array(np.ascontiguousarray(w), device=device) for w in (words_a, words_b, words_c)]
    sw.SourceModule(source, device=device).get_function("k")(*arrays, out, block=64)
    if a == "tf32":  # the lower bits are not read
        left, right = ((m.view("u4") & np.uint32(0xFFFFE000)).view("f4") for m in (left, right))
    exact = left.astype("f8") @ right.astype("f8") + added.astype("f8")
    got = np.asarray(out.get()).view(dtype_c).reshape(2, 32, -1).astype("f8")
    tolerance = {"f32": 1e-5, "f16": 2e-2, "s32": 0, "f64": 1e-14}[c]
    for warp in got:
        np.testing.assert_allclose(warp, accumulators(exact), rtol=tolerance, atol=tolerance)


def test_integer_products_wrap_or_saturate(device):
    needs(device, 8)
    source = """
__global__ void k(int* out) {
  int d[4];
  const unsigned all = 0x7f7f7f7fu;
  const int c = 2147483600;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4}, {%4}, {%5, %5, %5, %5};" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(all), "r"(c));
  out[threadIdx.x] = d[3];
  asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4}, {%4}, {%5, %5, %5, %5};" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(all), "r"(c));
  out[32 + threadIdx.x] = d[0];
}
"""
    out = poisoned(64, "int32", device)
    sw.SourceModule(source, device=device).get_function("k")(out, block=32)
    total = 2147483600 + 16 * 127 * 127
    assert out.tolist() == [total - 2**32] * 32 + [2**31 - 1] * 32


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", ["", ".trans"])
def test_ldmatrix_distributes_rows(device, compiler, count, trans):
    needs(device, 7, 5)
    registers = ", ".join(f"%{i}" for i in range(count))
    outputs = ", ".join(f'"=r"(r[{i}])' for i in range(count))
    source = f"""
__global__ void k(const uint4* in, unsigned* out) {{
  __shared__ uint4 tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const unsigned address = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x % {8 * count}]);
  unsigned r[{count}];
  asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{registers}}}, [%{count}];" : {outputs} : "r"(address));
  for (int i = 0; i < {count}; ++i) out[threadIdx.x * {count} + i] = r[i];
}}
"""
    x = np.arange(256, dtype="uint16").reshape(4, 8, 8)
    out = poisoned((32, count), "uint32", device)
    words = sw.array(x.view("uint32").reshape(-1), device=device)
    sw.SourceModule(
        source.replace("const uint4* in", "const unsigned* words").replace(
            "tile[threadIdx.x] = in[threadIdx.x];",
            "tile[threadIdx.x] = ((const uint4*)words)[threadIdx.x];",
        ),
        device=device,
    ).get_function("k")(words, out, block=32)
    matrices = (x.transpose(0, 2, 1) if trans else x).astype("int64")
    expected = [
        [
            matrices[j, lane // 4, lane % 4 * 2] | matrices[j, lane // 4, lane % 4 * 2 + 1] << 16
            for j in range(count)
        ]
        for lane in range(32)
    ]
    assert out.tolist() == expected


def test_stmatrix_and_movmatrix(device):
    needs(device, 9)
    source = """
__global__ void k(unsigned* out) {
  __shared__ uint4 tile[16];
  const unsigned t = threadIdx.x, pair = (2 * t) | (2 * t + 1) << 16;
  const unsigned address = (unsigned)__cvta_generic_to_shared(&tile[t % 16]);
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" :: "r"(address), "r"(pair), "r"(pair + 0x400040u));
  __syncthreads();
  out[t] = ((unsigned*)tile)[t];
  out[32 + t] = ((unsigned*)tile)[32 + t];
  unsigned moved;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(pair));
  out[64 + t] = moved;
}
"""
    out = poisoned(96, "uint32", device)
    sw.SourceModule(source, device=device).get_function("k")(out, block=32)
    matrix = np.arange(64, dtype="uint16").reshape(8, 8)
    got = np.asarray(out.get())
    np.testing.assert_array_equal(got[:64].view("uint16"), np.arange(128))
    np.testing.assert_array_equal(got[64:].view("uint16").reshape(8, 8), matrix.T)


WMMA = """
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
__global__ void k(const A* a, const A* b, const C* c, C* d, int lda, int ldb, int ldc, int ldd) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::LA> left;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::LB> right;
  wmma::fragment<wmma::accumulator, M, N, K, C> sum, added;
  wmma::fill_fragment(sum, C(0.0f));
  for (int k = 0; k < 2; ++k) {
    wmma::load_matrix_sync(left, a + k * STEP_A, lda);
    wmma::load_matrix_sync(right, b + k * STEP_B, ldb);
    CONVERT
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::load_matrix_sync(added, c, ldc, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] * C(2.0f) + added.x[i];
  wmma::store_matrix_sync(d, sum, ldd, wmma::mem_LAYOUT);
}
"""
PRODUCTS = [
    ("half", "half", "float", (16, 16, 16)),
    ("half", "half", "half", (16, 16, 16)),
    ("half", "half", "float", (32, 8, 16)),
    ("half", "half", "float", (8, 32, 16)),
    ("__nv_bfloat16", "__nv_bfloat16", "float", (16, 16, 16)),
    ("wmma::precision::tf32", "float", "float", (16, 16, 8)),
    ("signed char", "signed char", "int", (16, 16, 16)),
    ("unsigned char", "unsigned char", "int", (8, 32, 16)),
    ("double", "double", "double", (8, 8, 4)),
]
DTYPES = {
    "half": np.dtype("float16"),
    "__nv_bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float": np.dtype("float32"),
    "double": np.dtype("float64"),
    "signed char": np.dtype("int8"),
    "unsigned char": np.dtype("uint8"),
    "int": np.dtype("int32"),
}


@pytest.mark.parametrize(
    "layouts",
    [
        "row_major row_major row_major",
        "row_major col_major col_major",
        "col_major row_major row_major",
    ],
)
@pytest.mark.parametrize(
    ("t", "a", "c", "shape"), PRODUCTS, ids=[f"{p[1]}_{p[2]}_{p[3]}" for p in PRODUCTS]
)
def test_wmma_is_the_product_of_matrices(device, t, a, c, shape, layouts):
    needs(device, 8)
    m, n, k = shape
    by_a, by_b, by_d = layouts.split()
    random = np.random.default_rng(3)
    left, right = numbers(random, (m, 2 * k), DTYPES[a]), numbers(random, (2 * k, n), DTYPES[a])
    if a == "float":
        left, right = ((x.view("u4") & np.uint32(0xFFFFE000)).view("f4") for x in (left, right))
    added = np.arange(m * n).reshape(m, n).astype(DTYPES[c])
    rows = {"row_major": np.ascontiguousarray, "col_major": lambda x: np.ascontiguousarray(x.T)}
    step_a = k if by_a == "row_major" else k * m
    step_b = k * n if by_b == "row_major" else k
    convert = (
        "for (int i = 0; i < left.num_elements; ++i) left.x[i] = wmma::__float_to_tf32(left.x[i]);"
        if "tf32" in t
        else ""
    )
    ldd = n if by_d == "row_major" else m
    replaced = {
        "CONVERT": convert,
        "STEP_A": str(step_a),
        "STEP_B": str(step_b),
        "wmma::LA": f"wmma::{by_a}",
        "wmma::LB": f"wmma::{by_b}",
        "mem_LAYOUT": f"mem_{by_d}",
    }
    source = WMMA
    for old, new in replaced.items():
        source = source.replace(old, new)
    defines = f"typedef {a} A;\ntypedef {c} C;\nenum {{ M = {m}, N = {n}, K = {k} }};\n"
    source = "#include <cuda_bf16.h>\n" + source.replace(
        "__global__", defines + f"typedef {t} T;\n__global__", 1
    )
    out = poisoned(m * n, DTYPES[c], device)
    arrays = [sw.array(x, device=device) for x in (rows[by_a](left), rows[by_b](right), added)]
    with toolkit_headers():
        kernel = sw.SourceModule(source, device=device).get_function("k")
    lda = 2 * k if by_a == "row_major" else m
    ldb = n if by_b == "row_major" else 2 * k
    kernel(*arrays, out, *map(np.int32, (lda, ldb, n, ldd)), block=32)
    exact = 2 * (left.astype("f8") @ right.astype("f8")) + added.astype("f8")
    got = np.asarray(out.get()).astype("f8").reshape((m, n) if by_d == "row_major" else (n, m))
    got = got if by_d == "row_major" else got.T
    tolerance = {"float": 1e-5, "half": 1e-2, "int": 0, "double": 1e-13}[c]
    np.testing.assert_allclose(got, exact, rtol=tolerance, atol=tolerance * 4)


def test_matrix_instructions_need_all_lanes():
    source = """
__global__ void k(unsigned* out) {
  unsigned r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(threadIdx.x));
  out[threadIdx.x] = r;
}
"""
    out = sw.zeros(32, "uint32", device="cpu")
    kernel = sw.SourceModule(source, device="cpu").get_function("k")
    with pytest.raises(sw.KernelFaultError, match="fewer than the 32 lanes"):
        kernel(out, block=16)


def test_checked_kernels_find_accesses_out_of_bounds_of_wmma():
    source = """
#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* a, float* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, a, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
"""
    a = np.random.default_rng(0).standard_normal((16, 16)).astype("float16")
    with sw.config.change(kernel_check="all"):
        kernel = sw.SourceModule(source, device="cpu").get_function("k")
        out = sw.zeros(256, "float32", device="cpu")
        kernel(sw.array(a, device="cpu"), out, block=32)
        exact = a.astype("f8") @ a.astype("f8").T
        np.testing.assert_allclose(out.get().reshape(16, 16), exact, rtol=1e-4, atol=1e-4)
        with pytest.raises(sw.KernelFaultError):
            kernel(sw.array(a[:15], device="cpu"), out, block=32)
