// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Surface reads and writes, whose x counts bytes (CUDA C++ Programming Guide 13.0, "Surface
// Functions"). A texel of several channels may be accessed as a whole or in parts.

#include "spanwise_texels.h"

enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2
};

// Moves `index` into [0, extent) according to the mode; returns false if the access is skipped.
SW_FN bool sw_try_bound(int& index, int extent, cudaSurfaceBoundaryMode mode) {
  if (index >= 0 && index < extent) return true;
  if (mode == cudaBoundaryModeTrap)
    sw_fail("an access outside of a surface (x counts bytes)", nullptr, 0);
  index = index < 0 ? 0 : extent - 1;
  return mode != cudaBoundaryModeZero;
}

// Surfaces do not convert, so 16-bit integers may access float16 texels.
SW_FN bool sw_may_access_as(int kind, int texels) {
  return kind == texels || (texels == sw_f16 && (kind == sw_u16 || kind == sw_s16));
}

// The address of the element at byte x; null if the access is skipped.
template <class SwT>
SW_FN SwT* sw_surface_address(cudaSurfaceObject_t object, int rank, bool is_layered, int x, int y,
                              int z, int layer, cudaSurfaceBoundaryMode mode) {
  const sw_texture& t = sw_texture_at(object, rank, is_layered);
  const int bytes = (int)sizeof(SwT), width = t.extent[0] * sw_texel_bytes(t);
  if (!sw_may_access_as(sw_kind_of<SwT>::value, t.kind) || width % bytes != 0)
    sw_fail("a surface is accessed as another type than it holds", nullptr, 0);
  if (x % bytes != 0)
    sw_fail("a surface's x counts bytes, and this one is inside an element", nullptr, 0);
  int column = x / bytes;
  int at[3] = {0, y, z};
  const bool is_inside =
      sw_try_bound(column, width / bytes, mode) & sw_try_bound(at[1], t.extent[1], mode) &
      sw_try_bound(at[2], t.extent[2], mode) & (!is_layered || sw_try_bound(layer, t.layers, mode));
  if (!is_inside) return nullptr;
  return reinterpret_cast<SwT*>(const_cast<char*>(sw_texel_at(t, at, layer))) + column;
}

#define SW_UNWRAP(...) __VA_ARGS__
#define SW_SURFACE_READ(name, parameters, ...)                               \
  template <class SwT>                                                       \
  SW_FN SwT name(cudaSurfaceObject_t object, SW_UNWRAP parameters,           \
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    const SwT* address = sw_surface_address<SwT>(object, __VA_ARGS__, mode); \
    return address == nullptr ? SwT{} : *address;                            \
  }                                                                          \
  SW_READ_INTO(name)
#define SW_SURFACE_WRITE(name, parameters, ...)                                              \
  template <class SwT>                                                                       \
  SW_FN void name(SwT value, cudaSurfaceObject_t object, SW_UNWRAP parameters,               \
                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                     \
    if (SwT* address = sw_surface_address<SwT>(object, __VA_ARGS__, mode)) *address = value; \
  }
SW_SURFACE_READ(surf1Dread, (int x), 1, false, x, 0, 0, 0)
SW_SURFACE_READ(surf2Dread, (int x, int y), 2, false, x, y, 0, 0)
SW_SURFACE_READ(surf3Dread, (int x, int y, int z), 3, false, x, y, z, 0)
SW_SURFACE_READ(surf1DLayeredread, (int x, int layer), 1, true, x, 0, 0, layer)
SW_SURFACE_READ(surf2DLayeredread, (int x, int y, int layer), 2, true, x, y, 0, layer)
SW_SURFACE_WRITE(surf1Dwrite, (int x), 1, false, x, 0, 0, 0)
SW_SURFACE_WRITE(surf2Dwrite, (int x, int y), 2, false, x, y, 0, 0)
SW_SURFACE_WRITE(surf3Dwrite, (int x, int y, int z), 3, false, x, y, z, 0)
SW_SURFACE_WRITE(surf1DLayeredwrite, (int x, int layer), 1, true, x, 0, 0, layer)
SW_SURFACE_WRITE(surf2DLayeredwrite, (int x, int y, int layer), 2, true, x, y, 0, layer)
#undef SW_SURFACE_READ
#undef SW_SURFACE_WRITE
#undef SW_UNWRAP
