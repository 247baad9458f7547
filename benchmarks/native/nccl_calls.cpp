// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The host's time of ncclAllReduce by itself. NCCL's prototypes as its documentation has them.
#include <dlfcn.h>

#include <chrono>
#include <cstddef>

namespace {

struct Id {
  char bytes[128];
};
using GetId = int (*)(Id*);
using Init = int (*)(void**, int, Id, int);
using AllReduce = int (*)(const void*, void*, std::size_t, int, int, void*, void*);

void* nccl = nullptr;
void* comm = nullptr;

}  // namespace

// A communicator of one rank on the current device. 0 where it succeeds.
extern "C" int start(const char* path) {
  nccl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (nccl == nullptr) return -1;
  const auto get_id = reinterpret_cast<GetId>(dlsym(nccl, "ncclGetUniqueId"));
  const auto init = reinterpret_cast<Init>(dlsym(nccl, "ncclCommInitRank"));
  Id id;
  if (get_id == nullptr || init == nullptr || get_id(&id) != 0) return -2;
  return init(&comm, 1, id, 0);
}

// Seconds per call of `times` sums of `count` float32 on `stream`; negative where one fails.
extern "C" double queue(const void* from, void* to, std::size_t count, void* stream, int times) {
  const auto all_reduce = reinterpret_cast<AllReduce>(dlsym(nccl, "ncclAllReduce"));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i)
    if (all_reduce(from, to, count, 7, 0, comm, stream) != 0) return -1;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return took.count() / times;
}
