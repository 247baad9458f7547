// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the header of NVIDIA's CUDA samples: arithmetic and geometry of vector types.

#include "spanwise_math.h"
#include "spanwise_vectors.h"

// Component by component, for two vectors and for a vector and a number.
#define SW_EACH2(E) {E(x), E(y)}
#define SW_EACH3(E) {E(x), E(y), E(z)}
#define SW_EACH4(E) {E(x), E(y), E(z), E(w)}
#define SW_ADD(c) a.c + b.c
#define SW_ADD_NUMBER(c) a.c + b
#define SW_SUB(c) a.c - b.c
#define SW_SUB_NUMBER(c) a.c - b
#define SW_NUMBER_SUB(c) a - b.c
#define SW_MUL(c) a.c* b.c
#define SW_MUL_NUMBER(c) a.c* b
#define SW_DIV(c) a.c / b.c
#define SW_DIV_NUMBER(c) a.c / b
#define SW_NUMBER_DIV(c) a / b.c
#define SW_NEGATED(c) -a.c
#define SW_MIN(c) min(a.c, b.c)
#define SW_MAX(c) max(a.c, b.c)
#define SW_LEAST_REAL(c) fminf(a.c, b.c)
#define SW_MOST_REAL(c) fmaxf(a.c, b.c)
#define SW_CLAMPED(c) clamp(v.c, a.c, b.c)
#define SW_CLAMPED_NUMBER(c) clamp(v.c, a, b)
#define SW_FLOOR(c) floorf(v.c)
#define SW_FRACTION(c) fracf(v.c)
#define SW_ABSOLUTE(c) fabsf(v.c)
#define SW_MODULO(c) fmodf(a.c, b.c)
#define SW_BETWEEN(c) a.c + t*(b.c - a.c)
#define SW_SMOOTH(c) smoothstep(a.c, b.c, v.c)

#define SW_COMPOUND(V, T, op)                          \
  SW_FN void operator op##=(V& a, V b) { a = a op b; } \
  SW_FN void operator op##=(V& a, T b) { a = a op b; }
#define SW_ARITHMETIC(V, T, EACH)                                  \
  SW_FN V operator+(V a, V b) { return EACH(SW_ADD); }             \
  SW_FN V operator+(V a, T b) { return EACH(SW_ADD_NUMBER); }      \
  SW_FN V operator+(T b, V a) { return EACH(SW_ADD_NUMBER); }      \
  SW_FN V operator-(V a, V b) { return EACH(SW_SUB); }             \
  SW_FN V operator-(V a, T b) { return EACH(SW_SUB_NUMBER); }      \
  SW_FN V operator-(T a, V b) { return EACH(SW_NUMBER_SUB); }      \
  SW_FN V operator*(V a, V b) { return EACH(SW_MUL); }             \
  SW_FN V operator*(V a, T b) { return EACH(SW_MUL_NUMBER); }      \
  SW_FN V operator*(T b, V a) { return EACH(SW_MUL_NUMBER); }      \
  SW_COMPOUND(V, T, +)                                             \
  SW_COMPOUND(V, T, -)                                             \
  SW_COMPOUND(V, T, *)                                             \
  SW_FN V clamp(V v, T a, T b) { return EACH(SW_CLAMPED_NUMBER); } \
  SW_FN V clamp(V v, V a, V b) { return EACH(SW_CLAMPED); }
#define SW_INTEGERS(V, T, EACH)                  \
  SW_ARITHMETIC(V, T, EACH)                      \
  SW_FN V min(V a, V b) { return EACH(SW_MIN); } \
  SW_FN V max(V a, V b) { return EACH(SW_MAX); }
#define SW_SIGNED(V, EACH) \
  SW_FN V operator-(V a) { return EACH(SW_NEGATED); }
#define SW_REAL(V, EACH)                                          \
  SW_ARITHMETIC(V, float, EACH)                                   \
  SW_SIGNED(V, EACH)                                              \
  SW_FN V operator/(V a, V b) { return EACH(SW_DIV); }            \
  SW_FN V operator/(V a, float b) { return EACH(SW_DIV_NUMBER); } \
  SW_FN V operator/(float a, V b) { return EACH(SW_NUMBER_DIV); } \
  SW_COMPOUND(V, float, /)                                        \
  SW_FN V fminf(V a, V b) { return EACH(SW_LEAST_REAL); }         \
  SW_FN V fmaxf(V a, V b) { return EACH(SW_MOST_REAL); }          \
  SW_FN V floorf(V v) { return EACH(SW_FLOOR); }                  \
  SW_FN V fracf(V v) { return EACH(SW_FRACTION); }                \
  SW_FN V fabs(V v) { return EACH(SW_ABSOLUTE); }                 \
  SW_FN V fmodf(V a, V b) { return EACH(SW_MODULO); }             \
  SW_FN V lerp(V a, V b, float t) { return EACH(SW_BETWEEN); }    \
  SW_FN V smoothstep(V a, V b, V v) { return EACH(SW_SMOOTH); }   \
  SW_FN float length(V v) { return sqrtf(dot(v, v)); }            \
  SW_FN V normalize(V v) { return v * rsqrtf(dot(v, v)); }        \
  SW_FN V reflect(V v, V normal) { return v - 2.0f * normal * dot(normal, v); }

SW_FN float clamp(float v, float a, float b) { return fmaxf(a, fminf(v, b)); }
SW_FN int clamp(int v, int a, int b) { return max(a, min(v, b)); }
SW_FN unsigned clamp(unsigned v, unsigned a, unsigned b) { return max(a, min(v, b)); }
SW_FN float lerp(float a, float b, float t) { return a + t * (b - a); }
SW_FN float fracf(float v) { return v - floorf(v); }
SW_FN float smoothstep(float a, float b, float v) {
  const float t = clamp((v - a) / (b - a), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

#define SW_DOT(V, T)                                                        \
  SW_FN T dot(V##2 a, V##2 b) { return a.x * b.x + a.y * b.y; }             \
  SW_FN T dot(V##3 a, V##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; } \
  SW_FN T dot(V##4 a, V##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
#define SW_VECTORS(n)                  \
  SW_REAL(float##n, SW_EACH##n)        \
  SW_INTEGERS(int##n, int, SW_EACH##n) \
  SW_SIGNED(int##n, SW_EACH##n)        \
  SW_INTEGERS(uint##n, unsigned, SW_EACH##n)
SW_DOT(float, float)
SW_DOT(int, int)
SW_DOT(uint, unsigned)
SW_VECTORS(2)
SW_VECTORS(3)
SW_VECTORS(4)
SW_FN float3 cross(float3 a, float3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Vectors from a number, from shorter and longer vectors, and from those of other elements.
#define SW_MAKE(T, S)                                           \
  SW_FN T##2 make_##T##2(S s) { return {s, s}; }                \
  SW_FN T##3 make_##T##3(S s) { return {s, s, s}; }             \
  SW_FN T##4 make_##T##4(S s) { return {s, s, s, s}; }          \
  SW_FN T##2 make_##T##2(T##3 v) { return {v.x, v.y}; }         \
  SW_FN T##3 make_##T##3(T##2 v) { return {v.x, v.y, 0}; }      \
  SW_FN T##3 make_##T##3(T##2 v, S s) { return {v.x, v.y, s}; } \
  SW_FN T##3 make_##T##3(T##4 v) { return {v.x, v.y, v.z}; }    \
  SW_FN T##4 make_##T##4(T##3 v) { return {v.x, v.y, v.z, 0}; } \
  SW_FN T##4 make_##T##4(T##3 v, S s) { return {v.x, v.y, v.z, s}; }
#define SW_CONVERT(T, S, F)                                           \
  SW_FN T##2 make_##T##2(F##2 v) { return {(S)v.x, (S)v.y}; }         \
  SW_FN T##3 make_##T##3(F##3 v) { return {(S)v.x, (S)v.y, (S)v.z}; } \
  SW_FN T##4 make_##T##4(F##4 v) { return {(S)v.x, (S)v.y, (S)v.z, (S)v.w}; }
SW_MAKE(float, float)
SW_MAKE(int, int)
SW_MAKE(uint, unsigned)
SW_CONVERT(float, float, int)
SW_CONVERT(float, float, uint)
SW_CONVERT(int, int, float)
SW_CONVERT(int, int, uint)
SW_CONVERT(uint, unsigned, int)
#undef SW_MAKE
#undef SW_CONVERT
