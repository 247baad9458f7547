// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

/// NCCL, loaded at run time. The prototypes are declared here (NCCL documentation, "NCCL API"); a
/// test compares them with the real header if it is installed.
namespace spanwise::nccl {

using Stream = void*;  ///< cudaStream_t
using Result = int;
inline constexpr Result success = 0, in_progress = 7;
struct CommState;
using Comm = CommState*;
inline constexpr std::size_t id_bytes = 128;
struct UniqueId {
  char bytes[id_bytes];
};
/// ncclDataType_t.
inline constexpr int int8 = 0, uint8 = 1, int32 = 2, uint32 = 3, int64 = 4, uint64 = 5, float16 = 6,
                     float32 = 7, float64 = 8, bfloat16 = 9;
/// ncclRedOp_t.
inline constexpr int sum = 0, prod = 1, max = 2, min = 3, average = 4;

/// ncclConfig_t as of version 2.18, which later libraries accept: `size` and `version` say which
/// members there are.
struct Config {
  static constexpr int undefined = std::numeric_limits<int>::min();
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = undefined;
  int cga_cluster_size = undefined, min_ctas = undefined, max_ctas = undefined;
  const char* net_name = nullptr;
  int split_share = undefined;
};

/// X(member of Api, NCCL's function, its result and parameter types)
#define SW_NCCL_FUNCTIONS(X)                                                                    \
  X(get_version, ncclGetVersion, Result(int*))                                                  \
  X(get_unique_id, ncclGetUniqueId, Result(UniqueId*))                                          \
  X(init, ncclCommInitRankConfig, Result(Comm*, int, UniqueId, int, Config*))                   \
  X(split, ncclCommSplit, Result(Comm, int, int, Comm*, Config*))                               \
  X(destroy, ncclCommDestroy, Result(Comm))                                                     \
  X(abort, ncclCommAbort, Result(Comm))                                                         \
  X(get_async_error, ncclCommGetAsyncError, Result(Comm, Result*))                              \
  X(get_error_string, ncclGetErrorString, const char*(Result))                                  \
  X(get_last_error, ncclGetLastError, const char*(Comm))                                        \
  X(all_reduce, ncclAllReduce, Result(const void*, void*, std::size_t, int, int, Comm, Stream)) \
  X(reduce, ncclReduce, Result(const void*, void*, std::size_t, int, int, int, Comm, Stream))   \
  X(broadcast, ncclBroadcast, Result(const void*, void*, std::size_t, int, int, Comm, Stream))  \
  X(all_gather, ncclAllGather, Result(const void*, void*, std::size_t, int, Comm, Stream))      \
  X(reduce_scatter, ncclReduceScatter,                                                          \
    Result(const void*, void*, std::size_t, int, int, Comm, Stream))                            \
  X(send, ncclSend, Result(const void*, std::size_t, int, int, Comm, Stream))                   \
  X(recv, ncclRecv, Result(void*, std::size_t, int, int, Comm, Stream))                         \
  X(group_start, ncclGroupStart, Result())                                                      \
  X(group_end, ncclGroupEnd, Result())

/// The same for functions of newer versions; null where the library lacks them.
#define SW_NCCL_NEWER_FUNCTIONS(X) \
  X(all_to_all, ncclAlltoAll, Result(const void*, void*, std::size_t, int, Comm, Stream))

struct Api {
#define SW_DECLARE(name, function, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  SW_NCCL_FUNCTIONS(SW_DECLARE)
  SW_NCCL_NEWER_FUNCTIONS(SW_DECLARE)
#undef SW_DECLARE
  int version = 0;  ///< 22809 for 2.28.9
};

/// Loaded at the first call, the copy that the process has loaded already if there is one; null if
/// there is none of version 2.18 or newer. A failed search is repeated after a configuration
/// change.
const Api* library();

}  // namespace spanwise::nccl
