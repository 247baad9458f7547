// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_BULK_COPY_CUH
#define SPANWISE_BULK_COPY_CUH

// For CUDA C kernels: #include <spanwise/bulk_copy.cuh>. Asynchronous copies of contiguous memory
// by one thread, for devices of compute capability 9.0 or higher.

namespace spanwise {

/// A barrier in shared memory that completes once in each phase (mbarrier). Phases are counted
/// modulo 2 from 0 on: wait(phase) returns as soon as that phase is complete, also if it was
/// completed before.
class PhaseBarrier {
 public:
  /// For `count` arrivals in each phase. By one thread, before fence() and a barrier of the block.
  __device__ __forceinline__ void init(unsigned int count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(count) : "memory");
  }
  /// Makes the initialized barriers visible to bulk copies and to the rest of the block's cluster.
  static __device__ __forceinline__ void fence() {
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::
                     : "memory");
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address()) : "memory");
  }
  /// Arrives; the phase is complete only when `bytes` have been copied too.
  __device__ __forceinline__ void arrive_and_expect(unsigned int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes)
                 : "memory");
  }
  __device__ __forceinline__ void wait(unsigned int phase) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\n"
        "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(address()),
        "r"(phase)
        : "memory");
  }
  __device__ __forceinline__ unsigned int address() const {
    return (unsigned int)__cvta_generic_to_shared(&word_);
  }

 private:
  unsigned long long word_;
};

/// A position in a ring of buffers, with the phase of its barriers.
template <int stages>
struct RingStage {
  int index = 0;
  unsigned int phase = 0;
  __device__ __forceinline__ void advance(int by = 1) {
    index += by;
    if (index >= stages) index -= stages, phase ^= 1;
  }
};

/// Begins to copy `bytes` to shared memory; `barrier` counts them. Addresses and size are multiples
/// of 16.
__device__ __forceinline__ void bulk_fetch(void* shared, const void* global, unsigned int bytes,
                                           const PhaseBarrier& barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"((unsigned int)__cvta_generic_to_shared(shared)),
      "l"(global), "r"(bytes), "r"(barrier.address())
      : "memory");
}
/// Begins to copy `bytes` from shared memory, as one bulk group. Addresses and size are multiples
/// of
/// 16. Before, each thread that wrote the bytes has called fence_bulk_store(), and then a barrier.
__device__ __forceinline__ void bulk_store(void* global, const void* shared, unsigned int bytes) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
      "cp.async.bulk.commit_group;" ::"l"(global),
      "r"((unsigned int)__cvta_generic_to_shared(shared)), "r"(bytes)
      : "memory");
}
__device__ __forceinline__ void fence_bulk_store() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Waits until the calling thread's bulk_store()s, except for the last `groups`, have read their
/// shared memory.
template <int groups>
__device__ __forceinline__ void wait_for_bulk_reads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory");
}

}  // namespace spanwise

#endif
