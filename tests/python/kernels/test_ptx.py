# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PTX instructions in asm statements, compared with Python's integers and NumPy."""

import math

import numpy as np
import pytest
from support.arrays import poisoned
from support.cuda_toolkit import needs

import spanwise as sw

from .device_functions import integer_functions as integers
from .device_functions.table import Function, check

WORD, LONG = 2**32, 2**64


def instruction(text, operands, reference, result="uint32", outputs="r", ulps=0.0):
    """The function that runs one asm statement; its output is o."""
    register = {
        "uint32": "unsigned",
        "int32": "int",
        "uint64": "unsigned long long",
        "float32": "float",
        "float64": "double",
    }[result]
    letter = {"float32": "f", "float64": "d", "uint64": "l"}.get(result, "r")
    inputs = ", ".join(f'"{c}"({e})' for c, e in operands)
    code = f'[&] {{ {register} o = {{}}; asm volatile("{text}" : "={letter}"(o) : {inputs}); return o; }}()'
    return Function((text,), code, reference, result, ulps)


def s32(x):
    return integers.signed(x, 32)


def s64(x):
    return integers.signed(x, 64)


XY = [("r", "x"), ("r", "y")]
XYZ = [*XY, ("r", "z")]
WIDE_X = "(unsigned long long)x << 32 | y"
WIDE = [("l", WIDE_X)]


def w(x, y):
    return int(x) << 32 | int(y)


def bfe(x, first, count, bits, is_signed):
    first, count = int(first) & 0xFF, int(count) & 0xFF
    value = integers.signed(x, bits) if is_signed else int(x)
    if count == 0:
        return 0
    field = value >> min(first, bits * 2)
    if count >= bits:
        return field
    field &= 2**count - 1
    if is_signed and first + count > bits - 1:
        return value >> min(first, bits - 1)
    return field - 2**count if is_signed and field >> (count - 1) else field


def bfi(x, y, first, count, bits):
    first, count = int(first) & 0xFF, int(count) & 0xFF
    if first >= bits:
        return int(y)
    mask = (2 ** min(count, bits) - 1) << first & (2**bits - 1)
    return (int(y) & ~mask) | (int(x) << first & mask)


def lop3(a, b, c, table):
    return sum(
        (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i
        for i in range(32)
    )


SMALL = [("r", "x"), ("r", "y & 63u"), ("r", "z & 63u")]
INTEGER = [
    instruction("add.u32 %0, %1, %2;", XY, lambda x, y, z: int(x) + int(y)),
    instruction("sub.s32 %0, %1, %2;", XY, lambda x, y, z: int(x) - int(y)),
    instruction("mul.lo.u32 %0, %1, %2;", XY, lambda x, y, z: int(x) * int(y)),
    instruction("mul.hi.s32 %0, %1, %2;", XY, lambda x, y, z: s32(x) * s32(y) >> 32),
    instruction("mul.hi.u32 %0, %1, %2;", XY, lambda x, y, z: int(x) * int(y) >> 32),
    instruction("mul.wide.u32 %0, %1, %2;", XY, lambda x, y, z: int(x) * int(y), "uint64"),
    instruction("mul.wide.s32 %0, %1, %2;", XY, lambda x, y, z: s32(x) * s32(y), "uint64"),
    instruction("mul.hi.u64 %0, %1, %2;", [("l", WIDE_X), ("l", "~0ull - z")], lambda x, y, z: w(x, y) * (LONG - 1 - int(z)) >> 64, "uint64"),
    instruction("mad.lo.s32 %0, %1, %2, %3;", XYZ, lambda x, y, z: int(x) * int(y) + int(z)),
    instruction("mad.wide.u32 %0, %1, %2, %3;", [*XY, ("l", "(unsigned long long)z << 20")], lambda x, y, z: int(x) * int(y) + (int(z) << 20), "uint64"),
    instruction("min.s32 %0, %1, %2;", XY, lambda x, y, z: min(s32(x), s32(y))),
    instruction("max.u32 %0, %1, %2;", XY, lambda x, y, z: max(int(x), int(y))),
    instruction("abs.s32 %0, %1;", XY[:1], lambda x, y, z: abs(s32(x))),
    instruction("neg.s32 %0, %1;", XY[:1], lambda x, y, z: -int(x)),
    instruction("sad.u32 %0, %1, %2, %3;", XYZ, lambda x, y, z: abs(int(x) - int(y)) + int(z)),
    instruction("add.sat.s32 %0, %1, %2;", XY, lambda x, y, z: min(max(s32(x) + s32(y), -(2**31)), 2**31 - 1)),
    instruction("and.b32 %0, %1, %2;", XY, lambda x, y, z: int(x) & int(y)),
    instruction("or.b64 %0, %1, 255;", WIDE, lambda x, y, z: w(x, y) | 255, "uint64"),
    instruction("xor.b32 %0, %1, 0xff00;", XY[:1], lambda x, y, z: int(x) ^ 0xFF00),
    instruction("not.b32 %0, %1;", XY[:1], lambda x, y, z: ~int(x)),
    instruction("cnot.b32 %0, %1;", XY[:1], lambda x, y, z: int(x == 0)),
    instruction("shl.b32 %0, %1, %2;", SMALL[:2], lambda x, y, z: int(x) << (int(y) & 63)),
    instruction("shr.u32 %0, %1, %2;", SMALL[:2], lambda x, y, z: int(x) >> (int(y) & 63)),
    instruction("shr.s32 %0, %1, %2;", SMALL[:2], lambda x, y, z: s32(x) >> (int(y) & 63)),
    instruction("shr.s64 %0, %1, %2;", [*WIDE, ("r", "z & 127u")], lambda x, y, z: s64(w(x, y)) >> (int(z) & 127), "uint64"),
    instruction("bfe.u32 %0, %1, %2, %3;", SMALL, lambda x, y, z: bfe(x, y & 63, z & 63, 32, False)),
    instruction("bfe.s32 %0, %1, %2, %3;", SMALL, lambda x, y, z: bfe(x, y & 63, z & 63, 32, True)),
    instruction("bfe.u64 %0, %1, %2, %3;", [*WIDE, ("r", "y & 127u"), ("r", "z & 127u")], lambda x, y, z: bfe(w(x, y), y & 127, z & 127, 64, False), "uint64"),
    instruction("bfe.s64 %0, %1, %2, %3;", [*WIDE, ("r", "y & 127u"), ("r", "z & 127u")], lambda x, y, z: bfe(w(x, y), y & 127, z & 127, 64, True), "uint64"),
    instruction("bfi.b32 %0, %1, %2, %3, %4;", [*XY, ("r", "x & 63u"), ("r", "z & 63u")], lambda x, y, z: bfi(x, y, x & 63, z & 63, 32)),
    instruction("bfi.b64 %0, %1, %2, %3, %4;", [*WIDE, ("l", "(unsigned long long)y << 32 | z"), ("r", "x & 127u"), ("r", "z & 127u")], lambda x, y, z: bfi(w(x, y), w(y, z), x & 127, z & 127, 64), "uint64"),
    instruction("bfind.u32 %0, %1;", XY[:1], lambda x, y, z: int(x).bit_length() - 1),
    instruction("bfind.s32 %0, %1;", XY[:1], lambda x, y, z: (~s32(x) if s32(x) < 0 else s32(x)).bit_length() - 1),
    instruction("popc.b32 %0, %1;", XY[:1], lambda x, y, z: int(x).bit_count()),
    instruction("popc.b64 %0, %1;", WIDE, lambda x, y, z: w(x, y).bit_count()),
    instruction("clz.b64 %0, %1;", WIDE, lambda x, y, z: 64 - w(x, y).bit_length()),
    instruction("brev.b32 %0, %1;", XY[:1], lambda x, y, z: integers.reverse(x, 32)),
    instruction("brev.b64 %0, %1;", WIDE, lambda x, y, z: integers.reverse(w(x, y), 64), "uint64"),
    instruction("prmt.b32 %0, %1, %2, %3;", XYZ, integers.prmt),
    instruction("prmt.b32.f4e %0, %1, %2, %3;", XYZ, lambda x, y, z: (int(x) | int(y) << 32) >> 8 * (int(z) & 3)),
    instruction("lop3.b32 %0, %1, %2, %3, 0xEA;", XYZ, lambda x, y, z: lop3(int(x), int(y), int(z), 0xEA)),
    instruction("lop3.b32 %0, %1, %2, %3, %4;", [*XYZ, ("n", "0x96")], lambda x, y, z: int(x) ^ int(y) ^ int(z)),
    instruction("shf.l.wrap.b32 %0, %1, %2, %3;", XYZ, lambda x, y, z: (int(x) | int(y) << 32) << (int(z) & 31) >> 32),
    instruction("shf.r.clamp.b32 %0, %1, %2, %3;", [("r", "x"), ("r", "y"), ("r", "z & 63u")], lambda x, y, z: (int(x) | int(y) << 32) >> min(int(z) & 63, 32)),
    instruction("dp4a.u32.u32 %0, %1, %2, %3;", XYZ, lambda x, y, z: integers.dot(x, y, z, 8, 8, 4, 0, False)),
    instruction("dp4a.s32.s32 %0, %1, %2, %3;", XYZ, lambda x, y, z: integers.dot(x, y, z, 8, 8, 4, 0, True)),
    instruction("mov.b64 %0, {%1, %2};", XY, lambda x, y, z: int(x) | int(y) << 32, "uint64"),
    instruction("mov.s32 %0, %1;", XY[:1], lambda x, y, z: int(x)),
    instruction("mov.u32 %0, 7;", XY[:1], lambda x, y, z: 7),
    instruction("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %1; xor.b32 %0, lo, hi; }", WIDE, lambda x, y, z: int(x) ^ int(y)),
    instruction("{ .reg .b16 a, b; mov.b32 {a, b}, %1; mov.b32 %0, {b, a}; }", XY[:1], lambda x, y, z: int(x) << 16 | int(x) >> 16),
    instruction("{ .reg .pred p; setp.lt.u32 p, %1, %2; selp.u32 %0, %1, %2, p; }", XY, lambda x, y, z: min(int(x), int(y))),
    instruction("{ .reg .pred p<2>; setp.ge.s32 p0|p1, %1, %2; @p1 mov.u32 %0, 1; @p0 mov.u32 %0, 2; }", XY, lambda x, y, z: 2 if s32(x) >= s32(y) else 1),
    instruction("{ .reg .pred %p; mov.u32 %0, 0; setp.ne.and.u32 %p, %1, %2, 1; @!%p mov.u32 %0, 3; }", XY, lambda x, y, z: 3 if x == y else 0),
    instruction("cvt.u32.u64 %0, %1;", WIDE, lambda x, y, z: int(y)),
    instruction("cvt.s64.s32 %0, %1;", XY[:1], lambda x, y, z: s32(x), "uint64"),
    instruction("cvt.sat.u8.s32 %0, %1;", XY[:1], lambda x, y, z: min(max(s32(x), 0), 255)),
    instruction("{ .reg .u32 t1; // two steps\\n\\t add.u32 t1, %1, %2;\\n\\t mul.lo.u32 %0, t1, t1;\\n }", XY, lambda x, y, z: (int(x) + int(y)) ** 2),
    instruction("add.cc.u32 %0, %1, %2; addc.u32 %0, %0, 0;", XY, lambda x, y, z: (int(x) + int(y)) % WORD + (int(x) + int(y) >> 32)),
]  # fmt: skip


def test_integer_instructions(device, compiler):
    check(INTEGER, integers.words(), device)


F = [("f", "x"), ("f", "y"), ("f", "z")]
REAL = [
    instruction("add.f32 %0, %1, %2;", F[:2], lambda x, y, z: x + y, "float32"),
    instruction("mul.rn.ftz.f32 %0, %1, %2;", F[:2], lambda x, y, z: x * y, "float32"),
    instruction("fma.rn.f32 %0, %1, %2, %3;", F, lambda x, y, z: np.float32(float(x) * float(y) + float(z)), "float32"),
    instruction("div.full.f32 %0, %1, %2;", F[:2], lambda x, y, z: x / y, "float32", ulps=2),
    instruction("neg.f32 %0, %1;", F[:1], lambda x, y, z: -x, "float32"),
    instruction("abs.f32 %0, %1;", F[:1], lambda x, y, z: abs(x), "float32"),
    instruction("min.f32 %0, %1, %2;", F[:2], lambda x, y, z: min(x, y), "float32"),
    instruction("max.ftz.f32 %0, %1, %2;", F[:2], lambda x, y, z: max(x, y), "float32"),
    instruction("ex2.approx.ftz.f32 %0, %1;", F[:1], lambda x, y, z: np.exp2(x), "float32", ulps=4),
    instruction("tanh.approx.f32 %0, %1;", F[:1], lambda x, y, z: np.tanh(x), "float32", ulps=20000),
    instruction("sqrt.rn.f32 %0, %1;", [("f", "fabsf(x)")], lambda x, y, z: np.sqrt(abs(x)), "float32"),
    instruction("cvt.rni.f32.f32 %0, %1;", F[:1], lambda x, y, z: np.rint(x), "float32"),
    instruction("cvt.rzi.s32.f32 %0, %1;", F[:1], lambda x, y, z: int(x), "int32"),
    instruction("cvt.rmi.s32.f32 %0, %1;", F[:1], lambda x, y, z: math.floor(x), "int32"),
    instruction("cvt.f64.f32 %0, %1;", F[:1], lambda x, y, z: float(x), "float64"),
    instruction("add.sat.f32 %0, %1, %2;", F[:2], lambda x, y, z: np.float32(min(max(x + y, 0), 1)), "float32"),
    instruction("{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.f32.f16 %0, h; }", F[:1], lambda x, y, z: np.float32(np.float16(x)), "float32"),
    instruction("{ .reg .b32 h; .reg .b16 a, b; cvt.rn.f16x2.f32 h, %1, %2; mov.b32 {a, b}, h; cvt.f32.f16 %0, b; }", F[:2], lambda x, y, z: np.float32(np.float16(x)), "float32"),
    instruction("{ .reg .b32 h, k; cvt.rn.f16x2.f32 h, %1, %2; fma.rn.f16x2 k, h, h, h; .reg .b16 a, b; mov.b32 {a, b}, k; cvt.f32.f16 %0, a; }", F[:2], lambda x, y, z: np.float32(np.float16(float(np.float16(y)) ** 2 + float(np.float16(y)))), "float32"),
    instruction("mov.b32 %0, %1;", F[:1], lambda x, y, z: int(np.float32(x).view("uint32")), "uint32"),
    instruction("{ .reg .pred p; setp.gt.f32 p, %1, 0f3F800000; selp.f32 %0, %2, %3, p; }", F, lambda x, y, z: y if x > 1 else z, "float32"),
]  # fmt: skip


def test_instructions_of_reals(device, compiler):
    random = np.random.default_rng(2)
    x, y, z = (random.standard_normal((3, 300)) * 3).astype("float32")
    check(REAL, [x, y, z], device)


def run(source, device, *arrays, block, grid=1, shared=0):
    sw.SourceModule(source, device=device).get_function("k")(
        *arrays, block=block, grid=grid, shared=shared
    )


def test_an_input_that_an_instruction_writes_is_a_copy(device, compiler):
    source = """
    __device__ unsigned long long swapped(const unsigned x, const unsigned y) {
      unsigned long long r;
      asm("prmt.b32 %1, %1, 0, 0x0123;\\n\\tprmt.b32 %2, %2, 0, 0x0123;\\n\\tmov.b64 %0, {%1,%2};\\n\\t"
          : "=l"(r) : "r"(x), "r"(y));
      return r;
    }
    __global__ void k(unsigned long long *o) { unsigned x = 0x01020304u; o[0] = swapped(x, 0x0a0b0c0du); o[1] = x; }
    """
    out = sw.zeros(2, dtype="uint64", device=device)
    sw.SourceModule(source, device=device).get_function("k")(out, block=1)
    assert out.tolist() == [0x0D0C0B0A04030201, 0x01020304]


def test_loads_and_stores_of_vectors_with_cache_hints(device, compiler):
    source = """
__global__ void k(const float4* in, float4* out, const long long* wide, long long* wide_out) {
  const int i = threadIdx.x;
  float a, b, c, d;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(in + i));
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" :: "l"(out + i), "f"(d), "f"(c), "f"(b), "f"(a) : "memory");
  long long v;
  asm volatile("ld.global.cg.s64 %0, [%1+8];" : "=l"(v) : "l"(wide + i));
  asm volatile("st.volatile.global.u64 [%0], %1;" :: "l"(wide_out + i), "l"(v));
  unsigned char byte;
  unsigned short half;
  asm("ld.global.ca.u8 %0, [%1];" : "=h"(half) : "l"((const char*)(wide + i)));
  byte = (unsigned char)half;
  if (byte != (unsigned char)wide[i]) wide_out[i] = -1;
}
"""
    x = np.arange(128, dtype="float32").reshape(32, 4)
    wide = np.arange(33, dtype="int64") * 2**33 + 200
    out, wide_out = poisoned((32, 4), "float32", device), poisoned(32, "int64", device)
    run(
        source,
        device,
        sw.array(x, device=device),
        out,
        sw.array(wide, device=device),
        wide_out,
        block=32,
    )
    np.testing.assert_array_equal(out.get(), x[:, ::-1])
    np.testing.assert_array_equal(wide_out.get(), wide[1:])


def test_shared_memory_by_addresses_of_32_bits(device, compiler):
    """Static and dynamic shared memory, several arrays of each, by both kinds of conversion."""
    source = """
__global__ void k(const unsigned* in, unsigned* out) {
  __shared__ unsigned first[64];
  __shared__ unsigned second[64];
  extern __shared__ unsigned dynamic[];
  const int i = threadIdx.x;
  const unsigned a = (unsigned)__cvta_generic_to_shared(first + i);
  unsigned b;
  asm("{ .reg .u64 p; cvta.to.shared.u64 p, %1; cvt.u32.u64 %0, p; }" : "=r"(b) : "l"(second));
  const unsigned c = static_cast<unsigned>(__cvta_generic_to_shared(&dynamic[64]));
  asm volatile("st.shared.u32 [%0], %1;" :: "r"(a), "r"(in[i]));
  asm volatile("st.shared.u32 [%0+0], %1;" :: "r"(b + i * 4), "r"(in[i] * 2));
  asm volatile("st.shared.u32 [%0], %1;" :: "r"(c + i * 4), "r"(in[i] * 3));
  __syncthreads();
  unsigned v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(c + (63 - i) * 4));
  out[i] = first[63 - i] + second[63 - i] + v + dynamic[64 + i];
  __syncthreads();
  asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(a), "r"(1u));
  asm volatile("atom.shared.add.u32 %0, [%1], 5;" : "=r"(v) : "r"(a));
  if (first[i] != in[i] + 6 || v != in[i] + 1) out[i] = 0;
}
"""
    x = np.arange(1, 65, dtype="uint32")
    out = poisoned(64, "uint32", device)
    run(source, device, sw.array(x, device=device), out, block=64, shared=512)
    assert out.tolist() == (x[::-1] * 6 + x * 3).tolist()


def test_atomics(device):
    source = """
__global__ void k(unsigned* counts, float* sum, unsigned long long* largest) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("red.global.add.u32 [%0], %1;" :: "l"(counts), "r"(t) : "memory");
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(sum), "f"(0.5f) : "memory");
  asm volatile("red.global.max.u64 [%0], %1;" :: "l"(largest), "l"((unsigned long long)t << 33));
  unsigned old;
  asm volatile("atom.global.inc.u32 %0, [%1], 9;" : "=r"(old) : "l"(counts + 1));
  asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(counts + 2), "r"(7), "r"(8));
  asm volatile("red.global.or.b32 [%0], %1;" :: "l"(counts + 3), "r"(1u << (t & 31)));
}
"""
    counts = sw.array(np.array([0, 0, 7, 0], "uint32"), device=device)
    total, largest = sw.zeros(1, "float32", device=device), sw.zeros(1, "uint64", device=device)
    run(source, device, counts, total, largest, block=64, grid=4)
    assert counts.tolist() == [255 * 128, 256 % 10, 8, WORD - 1]
    assert total.item() == 128
    assert largest.item() == 255 << 33


def test_asynchronous_copies(device):
    needs(device, 8, 0, "cp.async")
    source = """
__global__ void k(const float4* in, float4* out) {
  __shared__ float4 tile[64];
  const unsigned a = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
  const int valid = threadIdx.x % 4 == 0 ? 4 : 16;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2, %3;" :: "r"(a), "l"(in + threadIdx.x), "n"(16), "r"(valid));
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group %0;" :: "n"(0));
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
"""
    x = np.arange(1, 257, dtype="float32").reshape(64, 4)
    out = poisoned((64, 4), "float32", device)
    run(source, device, sw.array(x, device=device), out, block=64)
    expected = x.copy()
    expected[::4, 1:] = 0
    np.testing.assert_array_equal(out.get(), expected[::-1])


def test_named_barriers(device, compiler):
    """Two warps produce and two consume: consumers wait, producers only arrive."""
    source = """
__global__ void k(int* out) {
  __shared__ int buffer[64];
  const int t = threadIdx.x;
  for (int step = 0; step < 3; ++step) {
    if (t < 64) {
      if (step > 0) asm volatile("bar.sync %0, %1;" :: "r"(2), "n"(128) : "memory");
      buffer[t] = t * 10 + step;
      __threadfence_block();
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      out[(t - 64) * 3 + step] = buffer[127 - t];
      if (step < 2) asm volatile("barrier.cta.arrive 2, 128;" ::: "memory");
    }
  }
  asm volatile("bar.sync 3;");
  if (t < 64) asm volatile("bar.sync 4, 64;");
}
"""
    out = poisoned(192, "int32", device)
    run(source, device, out, block=128)
    assert out.reshape(64, 3).tolist() == [[(63 - t) * 10 + s for s in range(3)] for t in range(64)]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");', ("bar.sync 1, 64", "line 2")),
        ('asm volatile("bar.sync 1, 65;");', ("65 threads", "1 to 64")),
        ('asm volatile("bar.sync 16, 64;");', ("barrier 16", "0 to 15")),
        (
            'if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); else asm volatile("bar.sync 1, 32;");',
            ("barrier 1 waits for 64",),
        ),
    ],
)
def test_wrong_named_barriers_are_errors(body, words):
    kernel = sw.SourceModule("__global__ void k() {\n" + body + "\n}", device="cpu").get_function(
        "k"
    )
    with pytest.raises(sw.KernelFaultError) as caught:
        kernel(block=64)
    for word in words:
        assert word in str(caught.value)


def test_collectives_of_a_warp(device):
    source = """
__global__ void k(unsigned* out) {
  const unsigned t = threadIdx.x;
  unsigned a, b, c, d, inside;
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 3, 0x1f, 0xffffffff; selp.u32 %1, 1, 0, p; }" : "=r"(a), "=r"(inside) : "r"(t * 2));
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x181f, -1;" : "=r"(b) : "r"(t), "r"(5));
  asm volatile("{ .reg .pred q; setp.lt.u32 q, %1, 7; vote.sync.ballot.b32 %0, q, 0xffffffff; }" : "=r"(c) : "r"(t));
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(d) : "r"(t % 4));
  out[t * 5] = a;
  out[t * 5 + 1] = inside;
  out[t * 5 + 2] = b;
  out[t * 5 + 3] = c;
  out[t * 5 + 4] = d;
}
"""
    out = poisoned((32, 5), "uint32", device)
    run(source, device, out, block=32)
    expected = [
        [
            2 * (t + 3 if t < 29 else t),
            int(t < 29),
            t ^ 5 if (t ^ 5) // 8 <= t // 8 else t,
            0x7F,
            0x11111111 << t % 4,
        ]
        for t in range(32)
    ]
    assert out.tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        "wgmma.fence.sync.aligned;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0}, %1, %2, 1, 1, 1;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%0];",
        "mbarrier.init.shared.b64 [%0], 1;",
        "barrier.cluster.arrive.aligned;",
        "mapa.shared::cluster.u32 %0, %0, 1;",
        "tcgen05.wait::ld.sync.aligned;",
        "bra L;",
    ],
)
def test_unsupported_instructions_are_named(text):
    source = f'__global__ void k(int* out) {{\n  int a = 1;\n  asm volatile("mov.s32 %0, %0;\\n\\t{text}" : "+r"(a) : "l"(out), "r"(a));\n}}'
    with pytest.raises(sw.CompileError) as caught:
        sw.SourceModule(source, device="cpu")
    assert text.removesuffix(";") in str(caught.value)
    assert "SW_CPU" in str(caught.value)


def test_operands_may_have_the_names_that_the_translation_uses(device):
    source = """
__global__ void k(unsigned* out) {
  unsigned a = 1, b = 2, c = 3, T = 4, value = 5, to = 6, word = 7;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(a) : "r"(c), "r"(T), "r"(b));
  asm("add.u32 %0, %1, %2;" : "=r"(value) : "r"(value), "r"(to));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(to), "=r"(word) : "l"((unsigned long long)word << 32 | a));
  out[0] = a;
  out[1] = value;
  out[2] = to;
  out[3] = word;
}
"""
    out = poisoned(4, "uint32", device)
    run(source, device, out, block=1)
    assert out.tolist() == [14, 11, 14, 7]
