// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Textures and surfaces, which sw.Texture and sw.Surface describe. Coordinates are those of the
// CUDA C++ Programming Guide 13.0, "Texture Fetching": texel i of N covers [i, i + 1), or [i/N,
// (i+1)/N) normalised; linear filtering weighs neighbours by the fraction of the coordinate less
// one half, in fixed point with 8 fractional bits.

// As sw.Texture writes it.
struct sw_texture {
  const char* texels;  // x runs fastest
  int kind;            // index into sw_kinds
  int rank;
  int extent[3];    // x, y, z; 1 where there is none
  int address[3];   // sw_address_*, one a direction
  int linear;       // filtering
  int normalized;   // coordinates in [0, 1)
  int as_fraction;  // integers are read as reals: 0 to 1, or -1 to 1
};
enum { sw_address_wrap, sw_address_clamp, sw_address_mirror, sw_address_border };
enum { sw_u8, sw_s8, sw_u16, sw_s16, sw_u32, sw_s32, sw_f32 };

template <class SwT>
struct sw_kind_of {
  static constexpr int value = -1;
};
#define SW_KIND(type, kind)            \
  template <>                          \
  struct sw_kind_of<type> {            \
    static constexpr int value = kind; \
  };
SW_KIND(unsigned char, sw_u8)
SW_KIND(signed char, sw_s8)
SW_KIND(char, sw_s8)
SW_KIND(unsigned short, sw_u16)
SW_KIND(short, sw_s16)
SW_KIND(unsigned, sw_u32)
SW_KIND(int, sw_s32)
SW_KIND(float, sw_f32)
#undef SW_KIND

SW_FN const sw_texture& sw_texture_at(unsigned long long object, int rank) {
  const auto* texture = reinterpret_cast<const sw_texture*>(object);
  if (texture == nullptr || texture->rank != rank)
    sw_fail("a texture or surface is read with another number of coordinates than it has", nullptr,
            0);
  return *texture;
}

// floor() without the mathematics part of the shim.
SW_FN float sw_floor(float x) { return __builtin_floorf(x); }

// Where coordinate i of direction d lies; -1 for the border.
SW_FN int sw_place(const sw_texture& t, int d, int i) {
  const int n = t.extent[d];
  if (i >= 0 && i < n) return i;
  // Only normalised coordinates repeat (CUDA driver API, cuTexObjectCreate).
  const int mode =
      t.normalized || t.address[d] == sw_address_border ? t.address[d] : (int)sw_address_clamp;
  if (mode == sw_address_border) return -1;
  if (mode == sw_address_clamp) return i < 0 ? 0 : n - 1;
  const int period = mode == sw_address_wrap ? n : 2 * n;
  const int at = (i % period + period) % period;
  return at < n ? at : 2 * n - 1 - at;
}

SW_FN unsigned long long sw_texel_index(const sw_texture& t, const int* at) {
  return ((unsigned long long)at[2] * t.extent[1] + at[1]) * t.extent[0] + at[0];
}

// A texel as filtering sees it; borders are 0.
SW_FN float sw_real_texel(const sw_texture& t, const int* at) {
  if (at[0] < 0 || at[1] < 0 || at[2] < 0) return 0;
  const unsigned long long i = sw_texel_index(t, at);
  switch (t.kind) {
    case sw_u8:
      return reinterpret_cast<const unsigned char*>(t.texels)[i] / 255.0f;
    case sw_u16:
      return reinterpret_cast<const unsigned short*>(t.texels)[i] / 65535.0f;
    case sw_s8: {
      const float value = reinterpret_cast<const signed char*>(t.texels)[i] / 127.0f;
      return value < -1 ? -1 : value;
    }
    case sw_s16: {
      const float value = reinterpret_cast<const short*>(t.texels)[i] / 32767.0f;
      return value < -1 ? -1 : value;
    }
    default:
      return reinterpret_cast<const float*>(t.texels)[i];
  }
}

SW_FN float sw_filtered(const sw_texture& t, const float* x) {
  int low[3] = {0, 0, 0};
  float weight[3] = {0, 0, 0};
  for (int d = 0; d < t.rank; ++d) {
    const float centred = x[d] - 0.5f, floor = sw_floor(centred);
    low[d] = (int)floor;
    weight[d] = sw_floor((centred - floor) * 256.0f + 0.5f) / 256.0f;
  }
  float sum = 0;
  for (int corner = 0; corner < 1 << t.rank; ++corner) {
    int at[3] = {0, 0, 0};
    float share = 1;
    for (int d = 0; d < t.rank; ++d) {
      const int up = corner >> d & 1;
      at[d] = sw_place(t, d, low[d] + up);
      share *= up ? weight[d] : 1 - weight[d];
    }
    if (share != 0) sum += share * sw_real_texel(t, at);
  }
  return sum;
}

// A texel as the kernel gets it without filtering.
template <class SwT>
SW_FN SwT sw_texel(const sw_texture& t, const int* at) {
  constexpr int kind = sw_kind_of<SwT>::value;
  if constexpr (kind == sw_f32) {
    if (t.as_fraction || t.kind == sw_f32) return sw_real_texel(t, at);
  }
  if (kind != t.kind || t.as_fraction)
    sw_fail("a texture is read as another type than it holds; integers read as fractions are float",
            nullptr, 0);
  if (at[0] < 0 || at[1] < 0 || at[2] < 0) return SwT(0);
  return reinterpret_cast<const SwT*>(t.texels)[sw_texel_index(t, at)];
}

template <class SwT>
SW_FN SwT sw_fetch(const sw_texture& t, const float* coordinates) {
  float x[3] = {0, 0, 0};
  int at[3] = {0, 0, 0};
  for (int d = 0; d < t.rank; ++d) {
    x[d] = t.normalized ? coordinates[d] * t.extent[d] : coordinates[d];
    // Beyond what an int holds every mode but repetition gives the edge, and the driver none.
    if (!(x[d] > -1.0e9f)) x[d] = -1.0e9f;
    if (x[d] > 1.0e9f) x[d] = 1.0e9f;
    at[d] = sw_place(t, d, (int)sw_floor(x[d]));
  }
  if constexpr (sw_kind_of<SwT>::value == sw_f32) {
    if (t.linear) return sw_filtered(t, x);
  }
  return sw_texel<SwT>(t, at);
}

template <class SwT>
SW_FN SwT tex1Dfetch(cudaTextureObject_t object, int x) {
  const sw_texture& t = sw_texture_at(object, 1);
  if (x < 0 || x >= t.extent[0]) return SwT(0);  // not the edge
  const int at[3] = {x, 0, 0};
  return sw_texel<SwT>(t, at);
}
template <class SwT>
SW_FN SwT tex1D(cudaTextureObject_t object, float x) {
  return sw_fetch<SwT>(sw_texture_at(object, 1), &x);
}
template <class SwT>
SW_FN SwT tex2D(cudaTextureObject_t object, float x, float y) {
  const float coordinates[2] = {x, y};
  return sw_fetch<SwT>(sw_texture_at(object, 2), coordinates);
}
template <class SwT>
SW_FN SwT tex3D(cudaTextureObject_t object, float x, float y, float z) {
  const float coordinates[3] = {x, y, z};
  return sw_fetch<SwT>(sw_texture_at(object, 3), coordinates);
}
// The forms with a place for the result.
template <class SwT>
SW_FN void tex1Dfetch(SwT* out, cudaTextureObject_t object, int x) {
  *out = tex1Dfetch<SwT>(object, x);
}
template <class SwT>
SW_FN void tex1D(SwT* out, cudaTextureObject_t object, float x) {
  *out = tex1D<SwT>(object, x);
}
template <class SwT>
SW_FN void tex2D(SwT* out, cudaTextureObject_t object, float x, float y) {
  *out = tex2D<SwT>(object, x, y);
}
template <class SwT>
SW_FN void tex3D(SwT* out, cudaTextureObject_t object, float x, float y, float z) {
  *out = tex3D<SwT>(object, x, y, z);
}

// ---- surfaces: x counts bytes ----

enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2
};

// Null where the access is to be left out.
template <class SwT>
SW_FN SwT* sw_surface_place(cudaSurfaceObject_t object, int rank, const int* where,
                            cudaSurfaceBoundaryMode mode) {
  const sw_texture& t = sw_texture_at(object, rank);
  if (sw_kind_of<SwT>::value != t.kind)
    sw_fail("a surface is accessed as another type than it holds", nullptr, 0);
  int at[3] = {where[0] / (int)sizeof(SwT), where[1], where[2]};
  if (where[0] % (int)sizeof(SwT) != 0)
    sw_fail("a surface's x counts bytes, and this one is inside an element", nullptr, 0);
  for (int d = 0; d < rank; ++d) {
    if (at[d] >= 0 && at[d] < t.extent[d]) continue;
    if (mode == cudaBoundaryModeTrap)
      sw_fail("an access outside of a surface (x counts bytes)", nullptr, 0);
    if (mode == cudaBoundaryModeZero) return nullptr;
    at[d] = at[d] < 0 ? 0 : t.extent[d] - 1;
  }
  return reinterpret_cast<SwT*>(const_cast<char*>(t.texels)) + sw_texel_index(t, at);
}

#define SW_UNWRAP(...) __VA_ARGS__
#define SW_SURFACE_READ(name, rank, parameters, ...)                          \
  template <class SwT>                                                        \
  SW_FN SwT name(cudaSurfaceObject_t object, SW_UNWRAP parameters,            \
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {       \
    const int where[3] = {__VA_ARGS__};                                       \
    const SwT* place = sw_surface_place<SwT>(object, rank, where, mode);      \
    return place == nullptr ? SwT(0) : *place;                                \
  }                                                                           \
  template <class SwT>                                                        \
  SW_FN void name(SwT* out, cudaSurfaceObject_t object, SW_UNWRAP parameters, \
                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    const int where[3] = {__VA_ARGS__};                                       \
    const SwT* place = sw_surface_place<SwT>(object, rank, where, mode);      \
    *out = place == nullptr ? SwT(0) : *place;                                \
  }
#define SW_SURFACE_WRITE(name, rank, parameters, ...)                                  \
  template <class SwT>                                                                 \
  SW_FN void name(SwT value, cudaSurfaceObject_t object, SW_UNWRAP parameters,         \
                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {               \
    const int where[3] = {__VA_ARGS__};                                                \
    if (SwT* place = sw_surface_place<SwT>(object, rank, where, mode)) *place = value; \
  }
SW_SURFACE_READ(surf1Dread, 1, (int x), x, 0, 0)
SW_SURFACE_READ(surf2Dread, 2, (int x, int y), x, y, 0)
SW_SURFACE_READ(surf3Dread, 3, (int x, int y, int z), x, y, z)
SW_SURFACE_WRITE(surf1Dwrite, 1, (int x), x, 0, 0)
SW_SURFACE_WRITE(surf2Dwrite, 2, (int x, int y), x, y, 0)
SW_SURFACE_WRITE(surf3Dwrite, 3, (int x, int y, int z), x, y, z)
#undef SW_SURFACE_READ
#undef SW_SURFACE_WRITE
#undef SW_UNWRAP
