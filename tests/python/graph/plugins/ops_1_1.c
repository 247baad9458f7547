// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A plug-in that was compiled with version 1.1 of the interface: its sw_op ends where that of 1.1
// did, and other data follows. The layout is written out here, since a later header has longer
// tables.

#include <spanwise/plugin.h>
#include <stddef.h>

typedef struct {
  uint32_t struct_size, flags;
  const char *name, *summary;
  int32_t input_count, output_count;
  const sw_property* properties;
  int32_t property_count, view_count;
  const sw_alias *views, *overwrites;
  int32_t overwrite_count, reusable_count;
  const int32_t* reusable_inputs;
  void* user_data;
  sw_status (*create)(void*, const sw_create*, void**);
  void (*destroy)(void*);
  sw_status (*infer)(void*, const sw_infer*);
  sw_status (*bind)(void*, const sw_bind*, void**);
  void (*unbind)(void*);
  sw_status (*run)(void*, const sw_run*);
} sw_op_1_1;

static const sw_host* host;

static sw_status infer(void* op, const sw_infer* infer) {
  (void)op;
  return host->set_output_type(infer->call, 0, &infer->inputs[0]);
}

// x + 1 of a float64 vector in C order.
static sw_status run(void* op, const sw_run* run) {
  const sw_array* x = &run->inputs[0];
  const sw_array* z = host->new_output(run->call, 0, x->rank, x->shape);
  int64_t i;
  (void)op;
  if (z == NULL) return SW_HOST_FAILED;
  for (i = 0; i < x->shape[0]; ++i)
    ((double*)z->data)[i] = ((const double*)x->data)[i * x->strides[0]] + 1;
  return SW_OK;
}

static struct {
  sw_op_1_1 op;
  uintptr_t other_data[8]; /* a reader of longer tables would use these as pointers */
} increment = {{.struct_size = sizeof(sw_op_1_1),
                .flags = SW_ON_CPU,
                .name = "increment",
                .input_count = 1,
                .output_count = 1,
                .infer = infer,
                .run = run},
               {1, 1, 1, 1, 1, 1, 1, 1}};
static const sw_op* ops[] = {(const sw_op*)&increment};
static sw_plugin plugin = {1, 1, sizeof(sw_plugin), 1, "of_1_1", ops};

sw_status spanwise_plugin(const sw_host* functions, sw_call* call, const sw_plugin** table) {
  host = functions;
  /* The members of version 1.1 must have kept their offsets. */
  if (offsetof(sw_op, run) != offsetof(sw_op_1_1, run) ||
      offsetof(sw_op, reusable_inputs) != offsetof(sw_op_1_1, reusable_inputs))
    return host->fail(call, SW_ERROR, "the header has changed the layout of sw_op");
  *table = &plugin;
  return SW_OK;
}
