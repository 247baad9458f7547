// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/* The values that cross the C interface of plug-ins (plugin.h): dtypes, devices, arrays and the
 * properties of ops. */

#include <stdint.h>

/* An extent that is not known until the op runs. */
#define SW_ANY_EXTENT (-1)

/* DLPack's DLDataType; code: 0 int, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool. */
typedef struct sw_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes; /* 1 but for vector types */
} sw_dtype;

/* DLPack's DLDevice; kind: 1 CPU, 2 CUDA GPU. */
typedef struct sw_device {
  int32_t kind;
  int32_t ordinal;
} sw_device;

/* The static type of a value in a graph. */
typedef struct sw_type {
  sw_dtype dtype;
  int32_t rank;
  const int64_t* shape; /* rank extents, or SW_ANY_EXTENT */
} sw_type;

/* A value: element (i, j, ...) is at data + (i * strides[0] + j * strides[1] + ...) elements. */
typedef struct sw_array {
  void* data;             /* in the memory of device; may be null for size 0 */
  const int64_t* shape;   /* rank extents */
  const int64_t* strides; /* rank steps in elements, of any sign; 0 for a broadcast axis */
  sw_dtype dtype;
  int32_t rank;
  sw_device device;
} sw_array;

/* The kind and value of a property of an op. */
enum { SW_BOOL = 1, SW_INT = 2, SW_REAL = 3, SW_TEXT = 4, SW_INTS = 5 };
typedef struct sw_value {
  int32_t kind;
  int32_t count; /* of SW_INTS */
  union {
    int64_t integer; /* SW_INT; 0 or 1 for SW_BOOL */
    double real;
    const char* text;
    const int64_t* integers;
  } as;
} sw_value;

/* A property that users pass by keyword: sw.ops.signal.window(x, length=16). */
typedef struct sw_property {
  const char* name;
  sw_value value;   /* its kind and default */
  int32_t required; /* 1: there is no default */
} sw_property;

/* Output `output` may share memory with (sw_op.views) or overwrites (sw_op.overwrites) input
 * `input`. */
typedef struct sw_alias {
  int32_t output;
  int32_t input;
} sw_alias;
