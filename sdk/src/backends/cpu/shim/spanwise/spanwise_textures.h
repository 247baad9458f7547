// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texture fetches. Coordinates are those of the CUDA C++ Programming Guide 13.0, "Texture
// Fetching": texel i of N covers [i, i + 1), or [i/N, (i+1)/N) normalised; linear filtering weighs
// neighbours by the fraction of the coordinate less one half, in fixed point with 8 fractional
// bits. A layer is selected by its index; an index out of range selects the last layer.

#include "spanwise_half_bits.h"
#include "spanwise_texels.h"

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

// The texel at index `at` or, if filtered, at the coordinates `x`; null `x` means no filtering.
template <class SwT>
SW_FN SwT sw_texel(const sw_texture& t, const int* at, const float* x, int layer) {
  typedef sw_kind_of<SwT> kind;
  if (kind::value < 0 || kind::channels > t.channels ||
      (int)kind::value != (sw_reads_as_float(t) ? (int)sw_f32 : t.kind))
    sw_fail(
        "a texture is read as another type than it holds; reals of 16 bits and integers read as "
        "fractions are float",
        nullptr, 0);
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
SW_FN SwT tex2Dgather(cudaTextureObject_t object, float x, float y, int channel = 0) {
  typedef sw_kind_of<SwT> kind;
  const sw_texture& t = sw_texture_at(object, 2, false);
  const bool is_real = (int)kind::value == (int)sw_f32;
  if (kind::channels != 4 || channel < 0 || channel >= t.channels ||
      (int)kind::value != (sw_reads_as_float(t) ? (int)sw_f32 : t.kind))
    sw_fail(
        "tex2Dgather: expected a type of four numbers as the texture holds, and a channel of it",
        nullptr, 0);
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
SW_FN SwT tex1Dfetch(cudaTextureObject_t object, int x) {
  const sw_texture& t = sw_texture_at(object, 1, false);
  const bool is_outside = x < 0 || x >= t.extent[0];  // which gives 0, not the edge
  const int at[3] = {is_outside ? -1 : x, 0, 0};
  return sw_texel<SwT>(t, at, nullptr, 0);
}
SW_READ_INTO(tex1Dfetch)
SW_READ_INTO(tex2Dgather)

#define SW_UNWRAP(...) __VA_ARGS__
#define SW_TEXTURE_FETCH(name, rank, is_layered, layer, parameters, ...)               \
  template <class SwT>                                                                 \
  SW_FN SwT name(cudaTextureObject_t object, SW_UNWRAP parameters) {                   \
    const float coordinates[rank] = {__VA_ARGS__};                                     \
    return sw_fetch<SwT>(sw_texture_at(object, rank, is_layered), coordinates, layer); \
  }                                                                                    \
  SW_READ_INTO(name)
SW_TEXTURE_FETCH(tex1D, 1, false, 0, (float x), x)
SW_TEXTURE_FETCH(tex2D, 2, false, 0, (float x, float y), x, y)
SW_TEXTURE_FETCH(tex3D, 3, false, 0, (float x, float y, float z), x, y, z)
SW_TEXTURE_FETCH(tex1DLayered, 1, true, layer, (float x, int layer), x)
SW_TEXTURE_FETCH(tex2DLayered, 2, true, layer, (float x, float y, int layer), x, y)
#undef SW_TEXTURE_FETCH
#undef SW_UNWRAP
