// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA's complex numbers (cuComplex.h of the toolkit), and their plain arithmetic.

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define SW_COMPLEX(type, R, r, f)                                                                 \
  SW_FN type make_##type(R x, R y) { return {x, y}; }                                             \
  SW_FN R cuCreal##r(type z) { return z.x; }                                                      \
  SW_FN R cuCimag##r(type z) { return z.y; }                                                      \
  SW_FN type cuConj##r(type z) { return {z.x, -z.y}; }                                            \
  SW_FN type cuCadd##r(type a, type b) { return {a.x + b.x, a.y + b.y}; }                         \
  SW_FN type cuCsub##r(type a, type b) { return {a.x - b.x, a.y - b.y}; }                         \
  SW_FN type cuCmul##r(type a, type b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  SW_FN type cuCdiv##r(type a, type b) {                                                          \
    const R scale = 1 / (fabs##f(b.x) + fabs##f(b.y));                                            \
    const R ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;               \
    const R norm = 1 / (bx * bx + by * by);                                                       \
    return {(ax * bx + ay * by) * norm, (ay * bx - ax * by) * norm};                              \
  }                                                                                               \
  SW_FN R cuCabs##r(type z) { return hypot##f(z.x, z.y); }                                        \
  SW_FN type cuCfma##r(type a, type b, type c) { return cuCadd##r(cuCmul##r(a, b), c); }
SW_COMPLEX(cuFloatComplex, float, f, f)
SW_COMPLEX(cuDoubleComplex, double, , )
#undef SW_COMPLEX
SW_FN cuComplex make_cuComplex(float x, float y) { return {x, y}; }
SW_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
SW_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return {(float)z.x, (float)z.y}; }
