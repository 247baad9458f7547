// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Textures and surfaces: sw_texture, which sw.Texture and sw.Surface write, the types that a kernel
// may read, and the functions that read and write.

#include "spanwise_half_bits.h"

// Layout as written by _driver/textures.py. Texel (x, y, z) of a layer has its channels at
// texels + ((layer * extent[2] + z) * extent[1] + y) * pitch + x * bytes of a texel.
struct sw_texture {
  const char* texels;
  long long pitch;  // bytes from row to row
  int kind;         // sw_u8 .. sw_f16
  int channels;     // 1, 2 or 4
  int rank;         // without layers
  int layers;       // 0: not layered
  int extent[3];    // x, y, z; 1 beyond rank
  int address[3];   // sw_address_*, one per dimension
  int linear;       // linear filtering
  int normalized;   // coordinates in [0, 1)
  int as_fraction;  // integers are read as floats in [0, 1] or [-1, 1]
};
enum { sw_address_wrap, sw_address_clamp, sw_address_mirror, sw_address_border };
enum { sw_u8, sw_s8, sw_u16, sw_s16, sw_u32, sw_s32, sw_f32, sw_f16 };

// The kernel's type for a texel: a number, or a CUDA vector of 1, 2 or 4 numbers.
template <class SwT>
struct sw_kind_of {
  typedef SwT element;
  enum { value = -1, channels = 1 };
};
#define SW_KIND(type, number, kind, count)   \
  template <>                                \
  struct sw_kind_of<type> {                  \
    typedef number element;                  \
    enum { value = kind, channels = count }; \
  };
SW_KIND(char, char, sw_s8, 1)
#if defined(SW_WITH_VECTORS) || defined(SW_WITH_ALL)
#define SW_KINDS(vector, number, kind) \
  SW_KIND(number, number, kind, 1)     \
  SW_KIND(vector##1, number, kind, 1)  \
  SW_KIND(vector##2, number, kind, 2)  \
  SW_KIND(vector##4, number, kind, 4)
#else
#define SW_KINDS(vector, number, kind) SW_KIND(number, number, kind, 1)
#endif
SW_KINDS(uchar, unsigned char, sw_u8)
SW_KINDS(char, signed char, sw_s8)
SW_KINDS(ushort, unsigned short, sw_u16)
SW_KINDS(short, short, sw_s16)
SW_KINDS(uint, unsigned, sw_u32)
SW_KINDS(int, int, sw_s32)
SW_KINDS(float, float, sw_f32)
#undef SW_KINDS
#undef SW_KIND

// The form of a read that stores the result at an address.
#define SW_READ_INTO(name)                                 \
  template <class SwT, class... SwX>                       \
  SW_FN void name(SwT* out, sw_object object, SwX... at) { \
    *out = name<SwT>(object, at...);                       \
  }

// A texture or surface object, and the line of the call that it is passed to.
struct sw_object {
  const sw_texture* texture;
  int line;
  sw_object(unsigned long long object, int at = __builtin_LINE())
      : texture(reinterpret_cast<const sw_texture*>(object)), line(at) {}
};

SW_FN int sw_texel_bytes(const sw_texture& t) {
  const int size = t.kind <= sw_s8 ? 1 : t.kind <= sw_s16 || t.kind == sw_f16 ? 2 : 4;
  return size * t.channels;
}

SW_FN const sw_texture& sw_texture_at(sw_object object, int rank, bool is_layered) {
  const sw_texture* texture = object.texture;
  if (texture == nullptr || texture->rank != rank || (texture->layers > 0) != is_layered)
    sw_fail(
        "a texture or surface is read with another number of coordinates than it has, or with a "
        "layer where it has none",
        nullptr, object.line);
  return *texture;
}

SW_FN const char* sw_texel_at(const sw_texture& t, const int* at, int layer) {
  const long long row = ((long long)layer * t.extent[2] + at[2]) * t.extent[1] + at[1];
  return t.texels + row * t.pitch + (long long)at[0] * sw_texel_bytes(t);
}

// Texture fetches. Coordinates are those of the CUDA C++ Programming Guide 13.0, "Texture
// Fetching": texel i of N covers [i, i + 1), or [i/N, (i+1)/N) normalised; linear filtering weighs
// neighbours by the fraction of the coordinate less one half, in fixed point with 8 fractional
// bits. A layer is selected by its index; an index out of range selects the last layer.

// The texel index for coordinate i of dimension d, by the address mode; -1 for the border.
SW_FN int sw_texel_index(const sw_texture& t, int d, int i) {
  const int n = t.extent[d];
  if (i >= 0 && i < n) return i;
  // Wrap and mirror apply only to normalized coordinates (CUDA driver API, cuTexObjectCreate).
  const int mode =
      t.normalized || t.address[d] == sw_address_border ? t.address[d] : (int)sw_address_clamp;
  if (mode == sw_address_border) return -1;
  if (mode == sw_address_clamp) return i < 0 ? 0 : n - 1;
  const int period = mode == sw_address_wrap ? n : 2 * n;
  const int at = (i % period + period) % period;
  return at < n ? at : 2 * n - 1 - at;
}

SW_FN bool sw_is_border(const int* at) { return at[0] < 0 || at[1] < 0 || at[2] < 0; }

// A texel's channel as float: integers as fractions in [0, 1] or [-1, 1], 0 for the border.
SW_FN float sw_channel_as_float(const sw_texture& t, const int* at, int layer, int channel) {
  if (sw_is_border(at)) return 0;
  const char* texel = sw_texel_at(t, at, layer);
  switch (t.kind) {
    case sw_u8:
      return reinterpret_cast<const unsigned char*>(texel)[channel] / 255.0f;
    case sw_u16:
      return reinterpret_cast<const unsigned short*>(texel)[channel] / 65535.0f;
    case sw_s8: {
      const float value = reinterpret_cast<const signed char*>(texel)[channel] / 127.0f;
      return value < -1 ? -1 : value;
    }
    case sw_s16: {
      const float value = reinterpret_cast<const short*>(texel)[channel] / 32767.0f;
      return value < -1 ? -1 : value;
    }
    case sw_f16:
      return sw_half_to_float(reinterpret_cast<const unsigned short*>(texel)[channel]);
    default:
      return reinterpret_cast<const float*>(texel)[channel];
  }
}

// A channel by linear filtering at the coordinates `x`, which count texels.
SW_FN float sw_filtered(const sw_texture& t, const float* x, int layer, int channel) {
  int low[3] = {0, 0, 0};
  float weight[3] = {0, 0, 0};
  for (int d = 0; d < t.rank; ++d) {
    const float centred = x[d] - 0.5f, floor = __builtin_floorf(centred);
    low[d] = (int)floor;
    weight[d] = __builtin_floorf((centred - floor) * 256.0f + 0.5f) / 256.0f;
  }
  float sum = 0;
  for (int corner = 0; corner < 1 << t.rank; ++corner) {
    int at[3] = {0, 0, 0};
    float share = 1;
    for (int d = 0; d < t.rank; ++d) {
      const int up = corner >> d & 1;
      at[d] = sw_texel_index(t, d, low[d] + up);
      share *= up ? weight[d] : 1 - weight[d];
    }
    if (share != 0) sum += share * sw_channel_as_float(t, at, layer, channel);
  }
  return sum;
}

SW_FN bool sw_reads_as_float(const sw_texture& t) {
  return t.as_fraction || t.kind == sw_f32 || t.kind == sw_f16;
}

// sw_texture_at() for fetches of type SwT.
template <class SwT>
SW_FN const sw_texture& sw_texture_of(sw_object object, int rank, bool is_layered) {
  typedef sw_kind_of<SwT> kind;
  const sw_texture& t = sw_texture_at(object, rank, is_layered);
  if (kind::value < 0 || kind::channels > t.channels ||
      (int)kind::value != (sw_reads_as_float(t) ? (int)sw_f32 : t.kind))
    sw_fail(
        "a texture is read as another type than it holds; reals of 16 bits and integers read as "
        "fractions are float",
        nullptr, object.line);
  return t;
}

// The texel at index `at` or, if filtered, at the coordinates `x`; null `x` means no filtering.
template <class SwT>
SW_FN SwT sw_texel(const sw_texture& t, const int* at, const float* x, int layer) {
  typedef sw_kind_of<SwT> kind;
  typename kind::element values[kind::channels] = {};
  if constexpr ((int)kind::value == (int)sw_f32) {
    const bool filters = t.linear && x != nullptr;
    for (int c = 0; c < kind::channels; ++c)
      values[c] = filters ? sw_filtered(t, x, layer, c) : sw_channel_as_float(t, at, layer, c);
  } else if (!sw_is_border(at)) {
    __builtin_memcpy(values, sw_texel_at(t, at, layer), sizeof values);
  }
  SwT out;
  __builtin_memcpy(&out, values, sizeof out);
  return out;
}

// A coordinate that counts texels, clamped to fit into an int: every mode but wrap and mirror gives
// the edge or border there anyway.
SW_FN float sw_coordinate(const sw_texture& t, int d, float x) {
  const float at = t.normalized ? x * t.extent[d] : x;
  if (!(at > -1.0e9f)) return -1.0e9f;
  return at > 1.0e9f ? 1.0e9f : at;
}

template <class SwT>
SW_FN SwT sw_fetch(const sw_texture& t, const float* coordinates, int layer = 0) {
  float x[3] = {0, 0, 0};
  int at[3] = {0, 0, 0};
  for (int d = 0; d < t.rank; ++d) {
    x[d] = sw_coordinate(t, d, coordinates[d]);
    at[d] = sw_texel_index(t, d, (int)__builtin_floorf(x[d]));
  }
  // GPUs treat the index as unsigned (observed on compute capability 9.0): a negative one selects
  // the last layer.
  const int last = t.layers > 0 ? t.layers - 1 : 0;
  if ((unsigned)layer > (unsigned)last) layer = last;
  return sw_texel<SwT>(t, at, x, layer);
}

// One channel of the four texels that linear filtering combines: (x, y + 1), (x + 1, y + 1),
// (x + 1, y), (x, y).
template <class SwT>
SW_FN SwT tex2Dgather(sw_object object, float x, float y, int channel = 0) {
  typedef sw_kind_of<SwT> kind;
  const sw_texture& t = sw_texture_at(object, 2, false);
  const bool is_real = (int)kind::value == (int)sw_f32;
  if (kind::channels != 4 || channel < 0 || channel >= t.channels ||
      (int)kind::value != (sw_reads_as_float(t) ? (int)sw_f32 : t.kind))
    sw_fail(
        "tex2Dgather: expected a type of four numbers as the texture holds, and a channel of it",
        nullptr, object.line);
  const int low[2] = {(int)__builtin_floorf(sw_coordinate(t, 0, x) - 0.5f),
                      (int)__builtin_floorf(sw_coordinate(t, 1, y) - 0.5f)};
  typename kind::element values[kind::channels] = {};
  for (int i = 0; i < (int)kind::channels; ++i) {
    const int at[3] = {sw_texel_index(t, 0, low[0] + (i == 1 || i == 2)),
                       sw_texel_index(t, 1, low[1] + (i < 2)), 0};
    if (is_real)
      values[i] = (typename kind::element)sw_channel_as_float(t, at, 0, channel);
    else if (!sw_is_border(at))
      __builtin_memcpy(&values[i], sw_texel_at(t, at, 0) + channel * sizeof values[i],
                       sizeof values[i]);
  }
  SwT out;
  __builtin_memcpy(&out, values, sizeof out);
  return out;
}

template <class SwT>
SW_FN SwT tex1Dfetch(sw_object object, int x) {
  const sw_texture& t = sw_texture_of<SwT>(object, 1, false);
  const bool is_outside = x < 0 || x >= t.extent[0];  // which gives 0, not the edge
  const int at[3] = {is_outside ? -1 : x, 0, 0};
  return sw_texel<SwT>(t, at, nullptr, 0);
}
SW_READ_INTO(tex1Dfetch)
SW_READ_INTO(tex2Dgather)

#define SW_UNWRAP(...) __VA_ARGS__
#define SW_TEXTURE_FETCH(name, rank, is_layered, layer, parameters, ...)                    \
  template <class SwT>                                                                      \
  SW_FN SwT name(sw_object object, SW_UNWRAP parameters) {                                  \
    const float coordinates[rank] = {__VA_ARGS__};                                          \
    return sw_fetch<SwT>(sw_texture_of<SwT>(object, rank, is_layered), coordinates, layer); \
  }                                                                                         \
  SW_READ_INTO(name)
SW_TEXTURE_FETCH(tex1D, 1, false, 0, (float x), x)
SW_TEXTURE_FETCH(tex2D, 2, false, 0, (float x, float y), x, y)
SW_TEXTURE_FETCH(tex3D, 3, false, 0, (float x, float y, float z), x, y, z)
SW_TEXTURE_FETCH(tex1DLayered, 1, true, layer, (float x, int layer), x)
SW_TEXTURE_FETCH(tex2DLayered, 2, true, layer, (float x, float y, int layer), x, y)
#undef SW_TEXTURE_FETCH

// Surface reads and writes, whose x counts bytes (CUDA C++ Programming Guide 13.0, "Surface
// Functions"). A texel of several channels may be accessed as a whole or in parts.

enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2
};

// Moves `index` into [0, extent) according to the mode; returns false if the access is skipped.
SW_FN bool sw_try_bound(int& index, int extent, cudaSurfaceBoundaryMode mode, int line) {
  if (index >= 0 && index < extent) return true;
  if (mode == cudaBoundaryModeTrap)
    sw_fail("an access outside of a surface (x counts bytes)", nullptr, line);
  index = index < 0 ? 0 : extent - 1;
  return mode != cudaBoundaryModeZero;
}

// Surfaces do not convert, so 16-bit integers may access float16 texels.
SW_FN bool sw_may_access_as(int kind, int texels) {
  return kind == texels || (texels == sw_f16 && (kind == sw_u16 || kind == sw_s16));
}

// The address of the element at byte x; null if the access is skipped.
template <class SwT>
SW_FN SwT* sw_surface_address(sw_object object, int rank, bool is_layered, int x, int y, int z,
                              int layer, cudaSurfaceBoundaryMode mode) {
  const sw_texture& t = sw_texture_at(object, rank, is_layered);
  const int bytes = (int)sizeof(SwT), width = t.extent[0] * sw_texel_bytes(t);
  if (!sw_may_access_as(sw_kind_of<SwT>::value, t.kind) || width % bytes != 0)
    sw_fail("a surface is accessed as another type than it holds", nullptr, object.line);
  if (x % bytes != 0)
    sw_fail("a surface's x counts bytes, and this one is inside an element", nullptr, object.line);
  int column = x / bytes;
  int at[3] = {0, y, z};
  const int line = object.line;
  const bool is_inside = sw_try_bound(column, width / bytes, mode, line) &
                         sw_try_bound(at[1], t.extent[1], mode, line) &
                         sw_try_bound(at[2], t.extent[2], mode, line) &
                         (!is_layered || sw_try_bound(layer, t.layers, mode, line));
  if (!is_inside) return nullptr;
  return reinterpret_cast<SwT*>(const_cast<char*>(sw_texel_at(t, at, layer))) + column;
}

#define SW_SURFACE_READ(name, parameters, ...)                               \
  template <class SwT>                                                       \
  SW_FN SwT name(sw_object object, SW_UNWRAP parameters,                     \
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    const SwT* address = sw_surface_address<SwT>(object, __VA_ARGS__, mode); \
    return address == nullptr ? SwT{} : *address;                            \
  }                                                                          \
  SW_READ_INTO(name)
#define SW_SURFACE_WRITE(name, parameters, ...)                                              \
  template <class SwT>                                                                       \
  SW_FN void name(SwT value, sw_object object, SW_UNWRAP parameters,                         \
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

#if defined(SW_WITH_TEXTURE_REFERENCES) || defined(SW_WITH_ALL)
// Fetches by texture references, texture<float, 2> t, which CUDA 12 removed: the reference holds a
// texture object, which the program stores in it.

#include "spanwise_host_api.h"
#include "spanwise_vectors.h"

struct textureReference {
  cudaTextureObject_t object;
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
template <class SwT, int SwDim = 1, cudaTextureReadMode SwMode = cudaReadModeElementType>
struct texture : textureReference {};
enum { cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3 };

// The type of a fetched texel: with cudaReadModeNormalizedFloat that of integers is float.
template <class SwT, cudaTextureReadMode SwMode>
struct sw_fetch_result {
  typedef SwT type;
};
template <class SwT>
struct sw_as_float;
#define SW_AS_FLOAT(T, real) \
  template <>                \
  struct sw_as_float<T> {    \
    typedef real type;       \
  };
#define SW_VECTORS_AS_FLOAT(T, name) \
  SW_AS_FLOAT(T, float)              \
  SW_AS_FLOAT(name##1, float1)       \
  SW_AS_FLOAT(name##2, float2)       \
  SW_AS_FLOAT(name##4, float4)
SW_VECTORS_AS_FLOAT(char, char)
SW_VECTORS_AS_FLOAT(unsigned char, uchar)
SW_VECTORS_AS_FLOAT(short, short)
SW_VECTORS_AS_FLOAT(unsigned short, ushort)
SW_AS_FLOAT(signed char, float)
#undef SW_VECTORS_AS_FLOAT
#undef SW_AS_FLOAT

template <class SwT>
struct sw_fetch_result<SwT, cudaReadModeNormalizedFloat> {
  typedef typename sw_as_float<SwT>::type type;
};

SW_FN sw_object sw_bound_object(const textureReference& reference, int line) {
  if (reference.object == 0)
    sw_fail("a texture reference is fetched from before a texture object is stored in it", nullptr,
            line);
  return sw_object(reference.object, line);
}
#define SW_FETCH(name, dim, parameters, arguments)                                             \
  template <class SwT, cudaTextureReadMode SwMode>                                             \
  SW_FN typename sw_fetch_result<SwT, SwMode>::type name(                                      \
      const texture<SwT, dim, SwMode>& t, SW_UNWRAP parameters, int line = __builtin_LINE()) { \
    return name<typename sw_fetch_result<SwT, SwMode>::type>(sw_bound_object(t, line),         \
                                                             SW_UNWRAP arguments);             \
  }
SW_FETCH(tex1Dfetch, 1, (int x), (x))
SW_FETCH(tex1D, 1, (float x), (x))
SW_FETCH(tex2D, 2, (float x, float y), (x, y))
SW_FETCH(tex3D, 3, (float x, float y, float z), (x, y, z))
#undef SW_FETCH
#endif
#undef SW_UNWRAP
