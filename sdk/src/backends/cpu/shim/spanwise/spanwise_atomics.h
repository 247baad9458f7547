// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Atomic functions (CUDA C++ Programming Guide 13.0, "Atomic Functions"), in relaxed order except
// for atomicCAS. Blocks run on several processors at once, so these use the processor's atomic
// instructions.

// Stores f(old) in a compare-and-swap loop; returns the old value.
template <class SwT, class SwF>
SW_FN SwT sw_atomic_update(SwT* address, SwF f) {
  SwT old, desired;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    desired = f(old);
  } while (!__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED));
  return old;
}

#define SW_ATOMIC_EXCHANGE(T)                                   \
  SW_FN T atomicExch(T* address, T value) {                     \
    T old;                                                      \
    __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED); \
    return old;                                                 \
  }
#define SW_ATOMIC_COMPARE(T)                                                       \
  SW_FN T atomicCAS(T* address, T expected, T value) {                             \
    __atomic_compare_exchange(address, &expected, &value, false, __ATOMIC_SEQ_CST, \
                              __ATOMIC_SEQ_CST);                                   \
    return expected;                                                               \
  }

#define SW_ATOMIC_FETCH(name, T, fetch) \
  SW_FN T name(T* address, T value) { return fetch(address, value, __ATOMIC_RELAXED); }
#define SW_ATOMIC_INTEGER(T)                                                            \
  SW_ATOMIC_EXCHANGE(T)                                                                 \
  SW_ATOMIC_COMPARE(T)                                                                  \
  SW_ATOMIC_FETCH(atomicAdd, T, __atomic_fetch_add)                                     \
  SW_ATOMIC_FETCH(atomicSub, T, __atomic_fetch_sub)                                     \
  SW_ATOMIC_FETCH(atomicAnd, T, __atomic_fetch_and)                                     \
  SW_ATOMIC_FETCH(atomicOr, T, __atomic_fetch_or)                                       \
  SW_ATOMIC_FETCH(atomicXor, T, __atomic_fetch_xor)                                     \
  SW_FN T atomicMin(T* address, T value) {                                              \
    return sw_atomic_update(address, [=](T old) { return old < value ? old : value; }); \
  }                                                                                     \
  SW_FN T atomicMax(T* address, T value) {                                              \
    return sw_atomic_update(address, [=](T old) { return old > value ? old : value; }); \
  }
SW_ATOMIC_INTEGER(int)
SW_ATOMIC_INTEGER(unsigned)
SW_ATOMIC_INTEGER(long)
SW_ATOMIC_INTEGER(unsigned long)
SW_ATOMIC_INTEGER(long long)
SW_ATOMIC_INTEGER(unsigned long long)
#undef SW_ATOMIC_INTEGER
#undef SW_ATOMIC_FETCH
SW_ATOMIC_COMPARE(unsigned short)

#define SW_ATOMIC_REAL(T)                                                 \
  SW_ATOMIC_EXCHANGE(T)                                                   \
  SW_FN T atomicAdd(T* address, T value) {                                \
    return sw_atomic_update(address, [=](T old) { return old + value; }); \
  }
SW_ATOMIC_REAL(float)
SW_ATOMIC_REAL(double)
#undef SW_ATOMIC_REAL
#undef SW_ATOMIC_EXCHANGE
#undef SW_ATOMIC_COMPARE

SW_FN unsigned atomicInc(unsigned* address, unsigned limit) {
  return sw_atomic_update(address, [=](unsigned old) { return old >= limit ? 0u : old + 1u; });
}
SW_FN unsigned atomicDec(unsigned* address, unsigned limit) {
  return sw_atomic_update(
      address, [=](unsigned old) { return old == 0u || old > limit ? limit : old - 1u; });
}

// Block and system scope are the same as device scope here.
#define SW_ATOMIC_SCOPES(name)                           \
  template <class SwT, class... SwU>                     \
  SW_FN SwT name##_block(SwT* address, SwU... values) {  \
    return name(address, (SwT)values...);                \
  }                                                      \
  template <class SwT, class... SwU>                     \
  SW_FN SwT name##_system(SwT* address, SwU... values) { \
    return name(address, (SwT)values...);                \
  }
SW_ATOMIC_SCOPES(atomicAdd)
SW_ATOMIC_SCOPES(atomicSub)
SW_ATOMIC_SCOPES(atomicExch)
SW_ATOMIC_SCOPES(atomicMin)
SW_ATOMIC_SCOPES(atomicMax)
SW_ATOMIC_SCOPES(atomicInc)
SW_ATOMIC_SCOPES(atomicDec)
SW_ATOMIC_SCOPES(atomicCAS)
SW_ATOMIC_SCOPES(atomicAnd)
SW_ATOMIC_SCOPES(atomicOr)
SW_ATOMIC_SCOPES(atomicXor)
#undef SW_ATOMIC_SCOPES
