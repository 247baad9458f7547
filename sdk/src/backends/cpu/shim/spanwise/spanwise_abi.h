// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface between a compiled kernel module and the library that loads it. Both include this
// file; the library's copy of the text is part of the cache key, so they always agree. The shim
// includes it before any other header, so it includes none itself.

#define SW_MODULE_MAGIC 0x5350414e57495345ull
// Placeholder for the stack need, which is known only after compilation.
#define SW_STACK_UNKNOWN 0x535441434b3f3f3full

// Kinds of warp collectives. All lanes of a mask must call the same one.
enum sw_warp_op {
  sw_warp_sync,
  sw_warp_shuffle,
  sw_warp_shuffle_up,
  sw_warp_shuffle_down,
  sw_warp_shuffle_xor,
  sw_warp_ballot,
  sw_warp_all,
  sw_warp_any,
  sw_warp_match_any,
  sw_warp_match_all,
  sw_warp_add,
  sw_warp_min_signed,
  sw_warp_max_signed,
  sw_warp_min_unsigned,
  sw_warp_max_unsigned,
  sw_warp_and,
  sw_warp_or,
  sw_warp_xor,
  sw_warp_call,
  sw_warp_op_count
};

// sw_warp_call: each of the 32 lanes passes the address of one of these. The last lane to arrive
// calls run(). The result is 0, or 1 without a call if a lane is missing.
struct sw_lane_call {
  void (*run)(struct sw_lane_call* const* lanes);
};

// Kinds of block barriers: plain, and those that combine a predicate.
enum sw_barrier_op { sw_barrier_plain, sw_barrier_count, sw_barrier_and, sw_barrier_or };

struct sw_extent {
  unsigned x, y, z;
};

// Kinds of memory accesses of a checked module. Two accesses from sw_access_atomic on, atomic or
// volatile ones, are never a race.
enum sw_access_kind {
  sw_access_read,
  sw_access_write,
  sw_access_atomic,
  sw_access_volatile_read,
  sw_access_volatile_write
};

// Blocks [first, last) of a launch, in the linear order x, y, z, for one worker thread.
struct sw_range {
  void* worker;            // passed to the functions of sw_runtime
  void* const* arguments;  // one pointer per parameter
  void* dynamic_shared;
  sw_extent grid, block;
  unsigned long long first, last;
  int checked;  // report accesses, fences and returns to the library
};

// Runs one thread of the current block with the arguments packed at `arguments`.
typedef void (*sw_thread_function)(const void* arguments, unsigned x, unsigned y, unsigned z);
// Makes (x, y, z) the current block.
typedef void (*sw_block_function)(unsigned x, unsigned y, unsigned z);

// Functions of the library. If the launch fails they do not return, but leave the kernel.
struct sw_runtime {
  void (*run_blocks)(const sw_range* range, sw_block_function block, sw_thread_function thread,
                     const void* arguments);
  void (*barrier)(void* worker, int line);
  int (*barrier_vote)(void* worker, int op, int predicate, int line);
  // Waits while `word`, which another thread of the block changes, is `value`.
  void (*watch)(void* worker, const unsigned* word, unsigned value, int line);
  // Barrier `id`, 0 to 15, of `count` threads of the block, at which a thread waits or only counts
  // as arrived.
  void (*named_barrier)(void* worker, unsigned id, unsigned count, int waits, int line);
  // A collective of the lanes in `mask`. `value` holds the bits of the lane's value; `lane` is a
  // shuffle's source lane, delta or lane mask, `width` its segments' width.
  unsigned long long (*warp)(void* worker, int op, unsigned mask, unsigned long long value,
                             int lane, int width, int line);
  // Lanes of the calling thread's warp that arrive here together.
  unsigned (*active_mask)(void* worker, int line);
  // In modules whose warps run in step: the calling lane continues when the other lanes of its warp
  // have arrived here or wait elsewhere. `code` is the place of the call; null for a lane that
  // seems to wait in a loop for others, which then run first.
  void (*step)(void* worker, const void* code);
  // `file` may be null: that of the source; `line` 0: unknown.
  void (*fail)(void* worker, const char* problem, const char* file, int line,
               const sw_extent* block, const sw_extent* thread);
  // The calling thread has exceeded its stack.
  void (*out_of_stack)(void* worker, const sw_extent* block, const sw_extent* thread);
  // malloc(); free(), which returns false for an address that is not allocated; printf(), where
  // `arguments` is the address of a va_list.
  void* (*allocate)(void* worker, unsigned long bytes);
  bool (*release)(void* worker, void* address);
  int (*print)(void* worker, const char* format, void* arguments);

  // Of checked modules. Each call precedes the event that it reports: an access of `bytes` bytes,
  // where `code` is the return address of the compiler's call; a memory fence; the end of the
  // kernel's thread by a return statement.
  void (*access)(void* worker, const void* address, unsigned long long bytes, int kind,
                 const void* code);
  void (*fence)(void* worker);
  void (*returns)(void* worker);
  // memmove and memset, after access() has reported their accesses.
  void (*move)(void* to, const void* from, unsigned long long bytes);
  void (*set)(void* to, int value, unsigned long long bytes);
};

struct sw_parameter {
  unsigned offset, size;
};

// What the attributes of a kernel demand of its launches; zeros: nothing.
struct sw_bounds {
  unsigned max_threads;  // __launch_bounds__
  sw_extent cluster;     // __cluster_dims__
};

struct sw_kernel {
  const char* name;  // the name in KernelBinary::symbols
  void (*run)(const sw_range* range);
  const sw_parameter* parameters;
  int parameter_count;
  const char* (*types)();  // a text that contains the parameters' types, see sw_type_list
  // As run, one thread after the other: finds the thread of a fault.
  void (*run_slowly)(const sw_range* range);
  sw_bounds bounds;
};

// Exported by the module as the symbol sw_module_info; further linked sources have one each,
// sw_module_info_1, sw_module_info_2 and so on.
struct sw_module {
  unsigned long long magic;
  unsigned long long stack_bytes;  // per thread; written into the binary after compilation
  const sw_runtime** runtime;      // the library stores its functions here
  const sw_kernel* kernels;        // ends with a null name
  const char* file;                // the source's name, for messages
  int prints;                      // uses printf
  // Not 0: supports sw_range::checked, and runs threads in any order.
  int checked;
};
