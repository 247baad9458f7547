// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by textures and surfaces: sw_texture, which sw.Texture and sw.Surface write, and the types
// that a kernel may read.

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
#define SW_READ_INTO(name)                                          \
  template <class SwT, class... SwX>                                \
  SW_FN void name(SwT* out, unsigned long long object, SwX... at) { \
    *out = name<SwT>(object, at...);                                \
  }

SW_FN int sw_texel_bytes(const sw_texture& t) {
  const int size = t.kind <= sw_s8 ? 1 : t.kind <= sw_s16 || t.kind == sw_f16 ? 2 : 4;
  return size * t.channels;
}

SW_FN const sw_texture& sw_texture_at(unsigned long long object, int rank, bool is_layered) {
  const auto* texture = reinterpret_cast<const sw_texture*>(object);
  if (texture == nullptr || texture->rank != rank || (texture->layers > 0) != is_layered)
    sw_fail(
        "a texture or surface is read with another number of coordinates than it has, or with a "
        "layer where it has none",
        nullptr, 0);
  return *texture;
}

SW_FN const char* sw_texel_at(const sw_texture& t, const int* at, int layer) {
  const long long row = ((long long)layer * t.extent[2] + at[2]) * t.extent[1] + at[1];
  return t.texels + row * t.pitch + (long long)at[0] * sw_texel_bytes(t);
}
