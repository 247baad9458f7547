// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/* The C interface between Spanwise and a shared library of ops that sw.load_ops() loads. Only C
 * types cross it: no exceptions, and no memory that one side allocates and the other frees, so the
 * library may be built with any compiler and C++ standard library. In C++ include
 * <spanwise/plugin.hpp>, a wrapper of this header; neither needs linking.
 *
 * Versions. The entry function and the first three members of sw_host and sw_plugin never change.
 * All others are fixed for a major version. Tables (structs whose first or third member is
 * struct_size) may get further members at their end with a minor version: each side reads at most
 * struct_size bytes of the other's tables. Structs without struct_size do not change.
 *
 * Functions of the plug-in return SW_OK, or the status that sw_host.fail() returned. Strings and
 * arrays passed across the interface are owned by the side that passes them and valid during the
 * call, except those in sw_plugin and sw_op, which must be valid as long as the library is loaded:
 * until the process exits. */

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

#ifdef __cplusplus
extern "C" {
#endif

#define SW_PLUGIN_ABI_MAJOR 1u
/* Since 1: need_input, computed, SW_LAZY; since 2: gradient_op, element_body; since 3: needed_if */
#define SW_PLUGIN_ABI_MINOR 3u

typedef int32_t sw_status;
enum {
  SW_OK = 0,
  SW_ERROR = 1,          /* in Python sw.GraphError */
  SW_ARGUMENT_ERROR = 2, /* sw.ArgumentError, which is a ValueError too */
  SW_DTYPE_ERROR = 3,    /* sw.DTypeError, a TypeError too */
  SW_LAYOUT_ERROR = 4,   /* sw.LayoutError: a shape, stride or axis; a ValueError too */
  SW_DEVICE_ERROR = 5,   /* sw.DeviceError */
  SW_MEMORY_ERROR = 6,   /* sw.OutOfMemoryError, a MemoryError too */
  SW_HOST_FAILED = 7     /* a function of sw_host failed and has stored the reason */
};

/* Since 1.2. An input of the op that computes derivatives (sw_op.gradient_op). */
enum {
  SW_FROM_INPUT = 1,   /* input `index` of the node */
  SW_FROM_OUTPUT = 2,  /* its output `index` */
  SW_FROM_GRADIENT = 3 /* the derivative of the cost with respect to its output `index`; zeros if
                          the cost does not depend on that output */
};
typedef struct sw_gradient_input {
  int32_t kind;
  int32_t index;
} sw_gradient_input;

/* The context of a call from the host. The plug-in passes it to the host's functions, on the same
 * thread, and must not keep it after its own function has returned. */
typedef struct sw_call sw_call;

/* A compiled kernel. */
typedef struct sw_compiled_kernel sw_compiled_kernel;

/* CUDA C/C++ source: compiled for a GPU by NVRTC, for the CPU by the system's C++ compiler, both
 * with a cache on disk. */
typedef struct sw_kernel_source {
  uint32_t struct_size;
  const char* text;
  const char* name;           /* __global__ function or template instance: "scale<float>" */
  const char* const* options; /* compiler options, such as "-DN=4"; may be null */
  int32_t option_count;
} sw_kernel_source;

/* One argument of a kernel. */
enum { SW_ARRAY_ARGUMENT = 1, SW_INT_ARGUMENT = 2, SW_REAL_ARGUMENT = 3, SW_BYTES_ARGUMENT = 4 };
typedef struct sw_argument {
  int32_t kind;
  int32_t reserved; /* 0 */
  union {
    const sw_array* array; /* from sw_run or a host function, in this call */
    int64_t integer;       /* converted to the parameter's type; fails if inexact */
    double real;
    const void* bytes; /* a struct by value */
  } as;
  int64_t byte_count; /* of SW_BYTES_ARGUMENT */
} sw_argument;

typedef struct sw_launch {
  uint32_t struct_size;
  int64_t grid[3];      /* blocks along x, y, z */
  int64_t block[3];     /* threads of a block */
  int64_t shared_bytes; /* dynamic shared memory per block */
} sw_launch;

/* The host's functions. Valid until the process exits. All functions may be called on any thread,
 * with an sw_call of that thread. */
typedef struct sw_host {
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t struct_size;
  const char* version; /* of Spanwise, "0.1.0" */

  /* Stores status and message (UTF-8, copied) as the error of the call; returns the status. */
  sw_status (*fail)(sw_call* call, sw_status status, const char* message);

  /* In infer: sets the type of an output. Call it once for each output. */
  sw_status (*set_output_type)(sw_call* call, int32_t output, const sw_type* type);

  /* In run: allocates an output in C order, uninitialised, with the dtype that infer set, on the
   * op's device. Returns null on failure. */
  const sw_array* (*new_output)(sw_call* call, int32_t output, int32_t rank, const int64_t* shape);
  /* In run: makes the output a view of an input; sw_op.views or sw_op.overwrites must declare the
   * pair. Element (0, ..., 0) is `offset` elements after the input's. Without shape and strides the
   * view is the whole input. Returns null on failure. */
  const sw_array* (*output_from_input)(sw_call* call, int32_t output, int32_t input, int32_t rank,
                                       const int64_t* shape, const int64_t* strides,
                                       int64_t offset);
  /* In run: scratch memory, valid for the work that this call queues. Returns null on failure. */
  const sw_array* (*scratch)(sw_call* call, sw_dtype dtype, int32_t rank, const int64_t* shape);

  /* In bind and run: compiles a kernel for the device of the call. */
  sw_status (*compile)(sw_call* call, const sw_kernel_source* source, sw_compiled_kernel** kernel);
  /* On any thread; null is ignored. */
  void (*release_kernel)(sw_compiled_kernel* kernel);
  /* In run: checks the arguments against the kernel (count, types, sizes, layouts) and queues it on
   * the stream, after earlier work on the arrays. Does not wait for the device. A parameter
   * spanwise::View<T, N> accepts an array with any strides, a pointer one in C order. */
  sw_status (*launch)(sw_call* call, sw_compiled_kernel* kernel, const sw_launch* launch,
                      const sw_argument* arguments, int32_t count);

  /* Since 1.1. In run of an SW_LAZY op: requests an input that is not computed yet; run is called
   * again when it is. After a request, run returns SW_OK without producing outputs. */
  sw_status (*need_input)(sw_call* call, int32_t input);
} sw_host;

/* Arguments of sw_op.create: the op's properties. */
typedef struct sw_create {
  uint32_t struct_size;
  int32_t count;
  sw_call* call;
  const sw_value* values; /* one per sw_op.properties, of that kind */
} sw_create;

/* Arguments of sw_op.infer: one node in a graph. */
typedef struct sw_infer {
  uint32_t struct_size;
  int32_t input_count;
  sw_call* call;
  const sw_type* inputs;
} sw_infer;

/* Arguments of sw_op.bind: a node of a function that is being compiled. */
typedef struct sw_bind {
  uint32_t struct_size;
  int32_t input_count;
  sw_call* call;
  const sw_type* inputs;
  sw_device device; /* where the node will run */
} sw_bind;

/* Arguments of sw_op.run. */
typedef struct sw_run {
  uint32_t struct_size;
  int32_t input_count;
  sw_call* call;
  const sw_array* inputs; /* all on device */
  void* state;            /* made by bind */
  sw_device device;
  /* The CUstream, of the GPU's primary context, in whose order the inputs are ready and the outputs
   * must be; null on the CPU. Before launching through the CUDA runtime call
   * cudaSetDevice(device.ordinal). */
  void* stream;
  /* Since 1.1. One per input; 0: not computed, its sw_array has no elements and it can be requested
   * with need_input(). Null: all inputs are computed, as for every op without SW_LAZY. */
  const uint8_t* computed;
} sw_run;

enum {
  SW_ON_CPU = 1,      /* runs on the CPU; inputs on other devices are moved there */
  SW_ON_GPU = 2,      /* runs on GPUs */
  SW_NOT_PURE = 4,    /* equal inputs may give different outputs: never evaluated while compiling */
  SW_MORE_INPUTS = 8, /* takes input_count inputs or more */
  /* Since 1.1. run is called before the inputs are computed and requests those that it needs.
   * Excludes views, overwrites and reusable_inputs. */
  SW_LAZY = 16
};

/* Of an SW_LAZY op: run requests `input` only where the number in input `condition` is not 0, or,
 * with is_true 0, where it is 0. */
typedef struct sw_condition {
  int32_t input;
  int32_t condition;
  int32_t is_true;
} sw_condition;

/* An op. The `op` argument of infer, bind and run is the result of create, or user_data where
 * create is null. Several threads may call them for one op at the same time. */
typedef struct sw_op {
  uint32_t struct_size;
  uint32_t flags; /* SW_ON_CPU, SW_ON_GPU or both, and others */
  const char* name;
  const char* summary; /* for Python's help(); may be null */
  int32_t input_count;
  int32_t output_count;
  const sw_property* properties;
  int32_t property_count;
  int32_t view_count;
  const sw_alias* views;
  const sw_alias* overwrites;
  int32_t overwrite_count;
  /* For an op with one output, computed elementwise: inputs whose memory the output may reuse where
   * no other node needs them; new_output() then returns that memory. */
  int32_t reusable_count;
  const int32_t* reusable_inputs;
  void* user_data;

  /* Makes an op from its properties; may be null together with destroy. */
  sw_status (*create)(void* user_data, const sw_create* create, void** op);
  void (*destroy)(void* op);
  /* Checks the inputs' types and sets the outputs'. Equal input types must give equal output
   * types. */
  sw_status (*infer)(void* op, const sw_infer* infer);
  /* Prepares one node of a compiled function before its first run; may be null together with
   * unbind. */
  sw_status (*bind)(void* op, const sw_bind* bind, void** state);
  void (*unbind)(void* state);
  /* Computes the outputs. On a GPU it queues the work on the stream. */
  sw_status (*run)(void* op, const sw_run* run);

  /* Since 1.2. The name of an op of this library whose outputs are the derivatives of a cost with
   * respect to inputs of this op; null if there is none. It gets the values of those of its
   * properties that this op has too, under the same name and of the same kind. */
  const char* gradient_op;
  /* The inputs of gradient_op, in order. Null: all inputs of the node, all its outputs, and the
   * derivatives with respect to all its outputs. */
  const sw_gradient_input* gradient_inputs;
  /* The inputs of this op with respect to which output 0, 1, ... of gradient_op is the derivative,
   * of the same rank; the derivative with respect to others is undefined. Null: input 0, 1, ... */
  const int32_t* gradient_wrt;
  int32_t gradient_input_count;
  int32_t gradient_wrt_count;

  /* Since 1.2. What the op computes for each element: statements in CUDA C that read and assign the
   * names below, and may read properties that are numbers. Inputs broadcast to the shape of the
   * outputs, dtypes are real, and 16-bit floats are float in the text. The op may then be a part of
   * a fused kernel, for which run is not called. Null: the op is not elementwise. */
  const char* element_body;
  const char* const* element_names; /* of input_count inputs, then output_count outputs */

  /* Since 1.3. The derivatives with respect to these inputs, which gradient_op computes for the
   * case that the condition holds, are 0 elsewhere, and are computed only where it holds. */
  const sw_condition* needed_if;
  int32_t needed_if_count;
} sw_op;

typedef struct sw_plugin {
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t struct_size;
  int32_t op_count;
  const char* name_space; /* a Python identifier: the ops are sw.ops.<name_space>.<name> */
  const sw_op* const* ops;
} sw_plugin;

#define SW_PLUGIN_EXPORT __attribute__((visibility("default")))

/* The entry function, the only export of a plug-in. Called once. */
SW_PLUGIN_EXPORT sw_status spanwise_plugin(const sw_host* host, sw_call* call,
                                           const sw_plugin** plugin);

#ifdef __cplusplus
}
#endif
