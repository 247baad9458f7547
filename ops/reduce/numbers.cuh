// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The types of elements in memory, for both devices; see bodies.cuh.

struct Bool {
  unsigned char byte;  // as another library may have left it: any but 0 is true
};
struct Half {
  unsigned short bits;
};
struct BFloat {
  unsigned short bits;
};
template <class T>
struct Complex {
  T re, im;
};
