// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_OP_LIBRARY_H
#define SPANWISE_OP_LIBRARY_H

#include <stdint.h>

/* Kernel ops of a bundle, called from C: for libraries that carry libspanwise and a bundle with
 * them, such as those of `python -m spanwise torch-library`. */

#ifdef __cplusplus
extern "C" {
#endif

#define SW_LIBRARY_MAX_RANK 16

typedef struct {
  void* data;
  char dtype[24]; /* "float32" */
  int32_t device; /* ordinal of a GPU; -1: the CPU */
  int32_t rank;   /* at most SW_LIBRARY_MAX_RANK */
  int64_t shape[SW_LIBRARY_MAX_RANK], strides[SW_LIBRARY_MAX_RANK]; /* in elements */
} sw_library_tensor;

typedef struct sw_op_library sw_op_library;

/* The functions return 0, or 1 with a message in `error`, of `capacity` bytes. */
typedef struct {
  /* `declarations` are those that spanwise.torch_library has encoded, of the ops of `bundle`, which
   * must both stay. */
  int (*open)(const void* bundle, uint64_t bundle_bytes, const char* declarations,
              uint64_t declaration_bytes, sw_op_library** library, char* error, uint64_t capacity);
  /* Sets dtype and shape of the outputs of op number `op` for such inputs. */
  int (*shapes)(sw_op_library* library, int32_t op, const sw_library_tensor* inputs,
                sw_library_tensor* outputs, char* error, uint64_t capacity);
  /* Writes the outputs, which are C-contiguous; on a GPU queues the work on `stream`, a CUstream.
   */
  int (*run)(sw_op_library* library, int32_t op, const sw_library_tensor* inputs,
             const sw_library_tensor* outputs, void* stream, char* error, uint64_t capacity);
} sw_op_library_functions;

/* For dlsym(): a function without parameters that returns a const sw_op_library_functions*. */
#define SW_OP_LIBRARY_SYMBOL "_ZN8spanwise20op_library_functionsEv"

#ifdef __cplusplus
}
#endif

#endif
