// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// For CUDA C kernels: #include <spanwise/elements.cuh>. What those elements are in memory that C
// has no type for, by the names that element_text() of spanwise/element_text.hpp gives. Compiled by
// NVRTC and by the host's C++ compiler, so it includes nothing.
//
// The types belong to the namespace that the text is included in, so that functions written for
// them there are found wherever they are called, and what the host compiles for one set of
// instructions does not share them with another. Hence no include guard: once in each namespace.

struct Bool {
  unsigned char byte;  // as another library may have left it: any but 0 is true
};
struct Half {
  unsigned short bits;  // IEEE 754 binary16
};
struct BFloat {
  unsigned short bits;  // the upper half of a float
};
template <class T>
struct Complex {  // aligned as a T is, which is all that an array has to be
  T re, im;
};
