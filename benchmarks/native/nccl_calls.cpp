// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Measures the host time of ncclAllReduce alone. NCCL is loaded at run time; the types below repeat
// those of nccl.h, with int for its enumerations and void* for its handles, so that its header is
// not needed.
#include <dlfcn.h>

#include <chrono>
#include <cstddef>

namespace {

struct UniqueId {
  char bytes[128];
};
using GetUniqueId = int (*)(UniqueId*);
using CommInitRank = int (*)(void**, int, UniqueId, int);
using AllReduce = int (*)(const void*, void*, std::size_t, int, int, void*, void*);

void* nccl = nullptr;
void* comm = nullptr;

}  // namespace

// Makes a communicator of one rank on the current device, by the libnccl.so at `path`. 0 on
// success, -1 if the library cannot be loaded, -2 if it lacks a function or returns no unique id,
// else the ncclResult_t of ncclCommInitRank.
extern "C" int init_communicator(const char* path) {
  nccl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (nccl == nullptr) return -1;
  const auto get_id = reinterpret_cast<GetUniqueId>(dlsym(nccl, "ncclGetUniqueId"));
  const auto init = reinterpret_cast<CommInitRank>(dlsym(nccl, "ncclCommInitRank"));
  UniqueId id;
  if (get_id == nullptr || init == nullptr || get_id(&id) != 0) return -2;
  return init(&comm, 1, id, 0);
}

// Seconds per call of `times` sums of `count` float32 on `stream`; negative if a call fails. Does
// not wait for the sums.
extern "C" double all_reduce_seconds(const void* from, void* to, std::size_t count, void* stream,
                                     int times) {
  const auto all_reduce = reinterpret_cast<AllReduce>(dlsym(nccl, "ncclAllReduce"));
  constexpr int nccl_float32 = 7, nccl_sum = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i)
    if (all_reduce(from, to, count, nccl_float32, nccl_sum, comm, stream) != 0) return -1;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return elapsed.count() / times;
}
