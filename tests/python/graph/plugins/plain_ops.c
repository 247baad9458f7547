// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A plug-in in C: `scale`, float64 of any layout times a property. The environment variable
// SW_TEST_FAULT selects an error in its tables, which load_ops() must report.

#include <spanwise/plugin.h>
#include <stdlib.h>
#include <string.h>

static const sw_host* host;

struct scale {
  double factor;
};

static sw_status scale_create(void* user_data, const sw_create* create, void** op) {
  struct scale* state = malloc(sizeof *state);
  if (state == NULL) return host->fail(create->call, SW_MEMORY_ERROR, "no memory for the op");
  state->factor = create->values[0].as.real * *(const double*)user_data;
  *op = state;
  return SW_OK;
}

static void scale_destroy(void* op) { free(op); }

static sw_status scale_infer(void* op, const sw_infer* infer) {
  const sw_type* x = &infer->inputs[0];
  (void)op;
  if (x->dtype.code != 2 || x->dtype.bits != 64)
    return host->fail(infer->call, SW_DTYPE_ERROR, "x: expected float64");
  return host->set_output_type(infer->call, 0, x);
}

// Writes factor * x from `axis` on, beginning at the element `offset` of x, to *out and advances
// it.
static void scale_axes(const sw_array* x, int axis, int64_t offset, double factor, double** out) {
  int64_t i;
  if (axis == x->rank) {
    *(*out)++ = ((const double*)x->data)[offset] * factor;
    return;
  }
  for (i = 0; i < x->shape[axis]; ++i)
    scale_axes(x, axis + 1, offset + i * x->strides[axis], factor, out);
}

static sw_status scale_run(void* op, const sw_run* run) {
  const sw_array* x = &run->inputs[0];
  const sw_array* z = host->new_output(run->call, 0, x->rank, x->shape);
  double* out;
  if (z == NULL) return SW_HOST_FAILED;
  out = z->data;
  scale_axes(x, 0, 0, ((const struct scale*)op)->factor, &out);
  return SW_OK;
}

// The user_data of the op, a factor too.
static double unit = 1;
// The second property, the alias, the reusable input and the last two gradient inputs are errors
// that apply_fault() puts into the tables.
static sw_property properties[] = {{"factor", {SW_REAL, 0, {0}}, 1},
                                   {"factor", {SW_REAL, 0, {0}}, 0}};
static sw_alias alias = {0, 7};
static int32_t reusable = 3;
static sw_condition condition = {0, 0, 1};
// The derivative of x * factor is that of the output, times factor.
static sw_gradient_input gradient_inputs[] = {{SW_FROM_GRADIENT, 0}, {SW_FROM_OUTPUT, 1}, {9, 0}};
static int32_t wrt[] = {0, 0};
static sw_op scale = {.struct_size = sizeof(sw_op),
                      .flags = SW_ON_CPU,
                      .name = "scale",
                      .summary = "x * factor",
                      .input_count = 1,
                      .output_count = 1,
                      .properties = properties,
                      .property_count = 1,
                      .user_data = &unit,
                      .create = scale_create,
                      .destroy = scale_destroy,
                      .infer = scale_infer,
                      .run = scale_run,
                      .gradient_op = "scale",
                      .gradient_inputs = gradient_inputs,
                      .gradient_wrt = wrt,
                      .gradient_input_count = 1,
                      .gradient_wrt_count = 1};
static const sw_op* ops[] = {&scale, &scale};
static sw_plugin plugin = {
    SW_PLUGIN_ABI_MAJOR, SW_PLUGIN_ABI_MINOR, sizeof(sw_plugin), 1, "plain", ops};

// Whether SW_TEST_FAULT selects this error.
static int fault_is(const char* fault) {
  const char* selected = getenv("SW_TEST_FAULT");
  return selected != NULL && strcmp(selected, fault) == 0;
}

static void apply_fault(void) {
  if (fault_is("newer major")) plugin.abi_major = 2;
  if (fault_is("short plugin")) plugin.struct_size = 16;
  if (fault_is("no namespace")) plugin.name_space = NULL;
  if (fault_is("bad namespace")) plugin.name_space = "not a name";
  if (fault_is("namespace of an op")) plugin.name_space = "add";
  if (fault_is("no ops")) plugin.op_count = 0;
  if (fault_is("null op")) ops[0] = NULL;
  if (fault_is("twice")) plugin.op_count = 2;
  if (fault_is("short op")) scale.struct_size = 40;
  if (fault_is("nameless op")) scale.name = NULL;
  if (fault_is("bad op name")) scale.name = "2scale";
  if (fault_is("no infer")) scale.infer = NULL;
  if (fault_is("no run")) scale.run = NULL;
  if (fault_is("create alone")) scale.destroy = NULL;
  if (fault_is("runs nowhere")) scale.flags = 0;
  if (fault_is("no outputs")) scale.output_count = 0;
  if (fault_is("properties nowhere")) scale.properties = NULL;
  if (fault_is("two properties")) scale.property_count = 2;
  if (fault_is("property kind")) properties[0].value.kind = 9;
  if (fault_is("alias")) scale.views = &alias, scale.view_count = 1;
  if (fault_is("gradient of another library")) scale.gradient_op = "add";
  if (fault_is("gradient input count")) scale.gradient_input_count = 2;
  if (fault_is("all gradient inputs")) scale.gradient_inputs = NULL, scale.gradient_input_count = 0;
  if (fault_is("gradient inputs nowhere")) scale.gradient_inputs = NULL;
  if (fault_is("gradient output")) scale.gradient_inputs = gradient_inputs + 1;
  if (fault_is("gradient kind")) scale.gradient_inputs = gradient_inputs + 2;
  if (fault_is("gradient wrt count")) scale.gradient_wrt_count = 2;
  if (fault_is("gradient wrt")) wrt[0] = 1;
  if (fault_is("element names")) scale.element_body = "z = x";
  if (fault_is("needed_if")) scale.needed_if = &condition, scale.needed_if_count = 1;
  if (fault_is("reusable")) scale.reusable_inputs = &reusable, scale.reusable_count = 1;
}

sw_status spanwise_plugin(const sw_host* functions, sw_call* call, const sw_plugin** table) {
  host = functions;
  if (fault_is("fails")) return host->fail(call, SW_DEVICE_ERROR, "needs a licence");
  if (fault_is("fails silently")) return 42;
  if (fault_is("no table")) return SW_OK;
  apply_fault();
  *table = &plugin;
  return SW_OK;
}
