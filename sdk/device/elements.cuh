// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// For CUDA C kernels: #include <spanwise/elements.cuh>. Types for elements that C has no type for,
// under the names that element_text() of spanwise/parse/c_text.hpp gives. Compiled by NVRTC
// and by the host's C++ compiler, so it includes nothing.
//
// The types belong to the namespace that includes the text. Functions for them in that namespace
// are therefore found by argument-dependent lookup, and host code compiled for one instruction set
// does not share its instantiations with code compiled for another. Hence there is no include
// guard: include it once in each namespace.

struct Bool {
  unsigned char byte;  // any value but 0 is true: other libraries may store other values than 1
};
struct Half {
  unsigned short bits;  // IEEE 754 binary16
};
struct BFloat {
  unsigned short bits;  // the upper half of a float
};
template <class T>
struct Complex {  // aligned as T, because arrays need no more
  T re, im;
};
