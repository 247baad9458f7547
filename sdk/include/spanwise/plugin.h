// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/* Ops in a shared library that sw.load_ops() loads: the interface between it and Spanwise, in plain
 * C. Only C types cross it, and no exception and no memory that one side allocates and the other
 * frees, so that the library may come from any compiler and link any C++ library. In C++ include
 * <spanwise/plugin.hpp>, which is written over it; nothing has to be linked for either.
 *
 * Versions. The entry function and the first three members of sw_host and sw_plugin never change.
 * The others are those of a major version. Tables (structs whose first member is struct_size, or
 * holds it third) may grow at their end, which the minor version counts: each side reads no more of
 * the other's than struct_size says. Structs without a size stay as they are.
 *
 * Functions of the plug-in give SW_OK, or the status that they got from sw_host.fail(). Texts and
 * arrays that one side hands to the other are the giver's and last for the call, but those of
 * sw_plugin and sw_op, which last as long as the library is loaded: to the end of the process.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SW_PLUGIN_ABI_MAJOR 1u
#define SW_PLUGIN_ABI_MINOR 1u /* 1: need_input, computed, SW_LAZY */

/* An extent that is known only when the op runs. */
#define SW_ANY_EXTENT (-1)

typedef int32_t sw_status;
enum {
  SW_OK = 0,
  SW_ERROR = 1,          /* in Python sw.GraphError */
  SW_ARGUMENT_ERROR = 2, /* sw.ArgumentError, which is a ValueError too */
  SW_DTYPE_ERROR = 3,    /* sw.DTypeError, a TypeError too */
  SW_LAYOUT_ERROR = 4,   /* sw.LayoutError: a shape, stride or axis; a ValueError too */
  SW_DEVICE_ERROR = 5,   /* sw.DeviceError */
  SW_MEMORY_ERROR = 6,   /* sw.OutOfMemoryError, a MemoryError too */
  SW_HOST_FAILED = 7     /* a function of sw_host failed, and has said why itself */
};

/* DLPack's numbers: kinds 0 int, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool. */
typedef struct sw_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes; /* 1 but for vector types */
} sw_dtype;

/* DLPack's numbers: kinds 1 the CPU, 2 a CUDA GPU. */
typedef struct sw_device {
  int32_t kind;
  int32_t ordinal;
} sw_device;

/* What is known of a value while a graph is built. */
typedef struct sw_type {
  sw_dtype dtype;
  int32_t rank;
  const int64_t* shape; /* rank extents, or SW_ANY_EXTENT */
} sw_type;

/* A value: element (i, j, ...) is at data + (i * strides[0] + j * strides[1] + ...) elements. */
typedef struct sw_array {
  void* data;             /* on device; may be null where there is no element */
  const int64_t* shape;   /* rank extents */
  const int64_t* strides; /* rank steps in elements, of any sign; 0 for a broadcast axis */
  sw_dtype dtype;
  int32_t rank;
  sw_device device;
} sw_array;

/* What a property of an op is, and its value. */
enum { SW_BOOL = 1, SW_INT = 2, SW_REAL = 3, SW_TEXT = 4, SW_INTS = 5 };
typedef struct sw_value {
  int32_t kind;
  int32_t count; /* of SW_INTS */
  union {
    int64_t integer; /* SW_INT, and 0 or 1 of SW_BOOL */
    double real;
    const char* text;
    const int64_t* integers;
  } as;
} sw_value;

/* A property that users give by keyword: sw.ops.signal.window(x, length=16). */
typedef struct sw_property {
  const char* name;
  sw_value value;   /* its kind, and what it is where the user gives none */
  int32_t required; /* 1: the user has to give it */
} sw_property;

/* Output `output` may share memory with, or overwrites, input `input`. */
typedef struct sw_alias {
  int32_t output;
  int32_t input;
} sw_alias;

/* What the host's functions need to know about the call that they are made in. A plug-in hands it
 * on, on the thread that it was called on, and keeps it no longer than its own function runs. */
typedef struct sw_call sw_call;

/* A compiled kernel. */
typedef struct sw_compiled_kernel sw_compiled_kernel;

/* CUDA C/C++ to compile: for a GPU by NVRTC, for the CPU by the system's C++ compiler, both with a
 * cache on disk. */
typedef struct sw_kernel_source {
  uint32_t struct_size;
  const char* text;
  const char* name;           /* of the __global__ function, or an instance: "scale<float>" */
  const char* const* options; /* compiler options, such as "-DN=4"; may be null */
  int32_t option_count;
} sw_kernel_source;

/* One argument of a kernel. */
enum { SW_ARRAY_ARGUMENT = 1, SW_INT_ARGUMENT = 2, SW_REAL_ARGUMENT = 3, SW_BYTES_ARGUMENT = 4 };
typedef struct sw_argument {
  int32_t kind;
  int32_t reserved; /* 0 */
  union {
    const sw_array* array; /* one that sw_run or the host's functions gave in this call */
    int64_t integer;       /* takes the parameter's type where that keeps its value; else fails */
    double real;
    const void* bytes; /* a struct by value */
  } as;
  int64_t byte_count; /* of SW_BYTES_ARGUMENT */
} sw_argument;

typedef struct sw_launch {
  uint32_t struct_size;
  int64_t grid[3];
  int64_t block[3];
  int64_t shared_bytes; /* dynamic shared memory of a block */
} sw_launch;

/* What Spanwise does for a plug-in. Lasts as long as the process. All functions are safe on any
 * thread, with a call of that thread. */
typedef struct sw_host {
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t struct_size;
  const char* version; /* of Spanwise, "0.1.0" */

  /* Keeps status and message (UTF-8; copied) for the caller, and gives the status back. */
  sw_status (*fail)(sw_call* call, sw_status status, const char* message);

  /* In infer: the type of an output. To be called once for each. */
  sw_status (*set_output_type)(sw_call* call, int32_t output, const sw_type* type);

  /* In run. The array to compute an output into: in C order, not initialised, of the dtype that
   * infer gave, on the device that the op runs on. Null where it failed. */
  const sw_array* (*new_output)(sw_call* call, int32_t output, int32_t rank, const int64_t* shape);
  /* In run. The output is a window onto an input, which sw_op.views or sw_op.overwrites declares:
   * element (0, ...) lies `offset` elements after the input's. Without a shape the whole input.
   * Null where it failed. */
  const sw_array* (*output_from_input)(sw_call* call, int32_t output, int32_t input, int32_t rank,
                                       const int64_t* shape, const int64_t* strides,
                                       int64_t offset);
  /* In run. Memory for the time of the work that this call queues; null where it failed. */
  const sw_array* (*scratch)(sw_call* call, sw_dtype dtype, int32_t rank, const int64_t* shape);

  /* In bind and run. For the device of the call. */
  sw_status (*compile)(sw_call* call, const sw_kernel_source* source, sw_compiled_kernel** kernel);
  /* On any thread; null is nothing to release. */
  void (*release_kernel)(sw_compiled_kernel* kernel);
  /* In run. Checks the arguments against the kernel: count, types, sizes, layouts. A parameter
   * spanwise::View<T, N> takes an array of any strides, a pointer one in C order. Work is ordered
   * after what is queued on the arrays, and does not wait for the device. */
  sw_status (*launch)(sw_call* call, sw_compiled_kernel* kernel, const sw_launch* launch,
                      const sw_argument* arguments, int32_t count);

  /* Since 1.1. In run of an op that is SW_LAZY: the op wants to see an input that is not computed
   * yet, and is called again when it is. Having asked, run gives SW_OK and no output. */
  sw_status (*need_input)(sw_call* call, int32_t input);
} sw_host;

/* For sw_op.create: the op's properties. */
typedef struct sw_create {
  uint32_t struct_size;
  int32_t count;
  sw_call* call;
  const sw_value* values; /* one for each of sw_op.properties, of its kind */
} sw_create;

/* For sw_op.infer: one use of the op in a graph. */
typedef struct sw_infer {
  uint32_t struct_size;
  int32_t input_count;
  sw_call* call;
  const sw_type* inputs;
} sw_infer;

/* For sw_op.bind: a node of a function that is being compiled. */
typedef struct sw_bind {
  uint32_t struct_size;
  int32_t input_count;
  sw_call* call;
  const sw_type* inputs;
  sw_device device; /* where the node will run */
} sw_bind;

/* For sw_op.run. */
typedef struct sw_run {
  uint32_t struct_size;
  int32_t input_count;
  sw_call* call;
  const sw_array* inputs; /* all on device */
  void* state;            /* what bind made */
  sw_device device;
  /* The CUstream of a GPU's primary context on which the inputs are ready; null on the CPU. The
   * outputs must be ready on it as well. Who launches by the CUDA runtime says
   * cudaSetDevice(device.ordinal) first. */
  void* stream;
  /* Since 1.1. One for each input, 0 where it is not computed: that sw_array has no element, and
   * may be asked for by need_input(). Null: all are there, as for every op that is not SW_LAZY. */
  const uint8_t* computed;
} sw_run;

enum {
  SW_ON_CPU = 1,      /* runs on the CPU; what is elsewhere is moved there */
  SW_ON_GPU = 2,      /* runs on GPUs */
  SW_NOT_PURE = 4,    /* equal inputs may give other outputs: never computed while compiling */
  SW_MORE_INPUTS = 8, /* takes input_count inputs or more */
  /* Since 1.1. run is called before the inputs are computed, and asks for those that it needs. Has
   * no views, overwrites and reusable inputs. */
  SW_LAZY = 16
};

/* An op. infer and run are called with what create made, or with user_data where create is null.
 * Different threads may call them for one op at once. */
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
  /* Of an op with one output: inputs in whose memory it may be computed where nobody else needs
   * them, element for element; new_output() then gives that memory. */
  int32_t reusable_count;
  const int32_t* reusable_inputs;
  void* user_data;

  /* One op with its properties; may be null together with destroy. */
  sw_status (*create)(void* user_data, const sw_create* create, void** op);
  void (*destroy)(void* op);
  /* Checks the inputs' types and says the outputs'. Equal inputs must give equal types. */
  sw_status (*infer)(void* op, const sw_infer* infer);
  /* Prepares one node of one function, before its first call; may be null together with unbind. */
  sw_status (*bind)(void* op, const sw_bind* bind, void** state);
  void (*unbind)(void* state);
  /* Computes. On a GPU it queues its work on the stream. */
  sw_status (*run)(void* op, const sw_run* run);
} sw_op;

typedef struct sw_plugin {
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t struct_size;
  int32_t op_count;
  const char* name_space; /* a Python name: its ops are sw.ops.<name_space>.<name> */
  const sw_op* const* ops;
} sw_plugin;

#define SW_PLUGIN_EXPORT __attribute__((visibility("default")))

/* The one function that a plug-in exports. Called once. */
SW_PLUGIN_EXPORT sw_status spanwise_plugin(const sw_host* host, sw_call* call,
                                           const sw_plugin** plugin);

#ifdef __cplusplus
}
#endif
