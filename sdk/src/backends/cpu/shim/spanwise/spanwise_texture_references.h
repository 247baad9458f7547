// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fetches by texture references, texture<float, 2> t, which CUDA 12 removed: the reference holds a
// texture object, which the program stores in it.

#include "spanwise_host_api.h"
#include "spanwise_textures.h"
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

SW_FN cudaTextureObject_t sw_bound_object(const textureReference& reference) {
  if (reference.object == 0)
    sw_fail("a texture reference is fetched from before a texture object is stored in it", nullptr,
            0);
  return reference.object;
}
#define SW_FETCH(name, dim, parameters, arguments)                                           \
  template <class SwT, cudaTextureReadMode SwMode>                                           \
  SW_FN typename sw_fetch_result<SwT, SwMode>::type name(const texture<SwT, dim, SwMode>& t, \
                                                         SW_UNPACK parameters) {             \
    return name<typename sw_fetch_result<SwT, SwMode>::type>(sw_bound_object(t),             \
                                                             SW_UNPACK arguments);           \
  }
#define SW_UNPACK(...) __VA_ARGS__
SW_FETCH(tex1Dfetch, 1, (int x), (x))
SW_FETCH(tex1D, 1, (float x), (x))
SW_FETCH(tex2D, 2, (float x, float y), (x, y))
SW_FETCH(tex3D, 3, (float x, float y, float z), (x, y, z))
#undef SW_UNPACK
#undef SW_FETCH
