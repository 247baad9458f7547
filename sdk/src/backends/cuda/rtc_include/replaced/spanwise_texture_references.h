// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texture references, which CUDA 12 removed: variables that hold a texture object. The program
// stores the object's handle in the variable's first 8 bytes.

template <class SwT, enum cudaTextureReadMode SwMode>
struct sw_texel {
  typedef SwT type;
};
#define SW_NORMALIZED(Element, Value)                     \
  template <>                                             \
  struct sw_texel<Element, cudaReadModeNormalizedFloat> { \
    typedef Value type;                                   \
  };
SW_NORMALIZED(char, float)
SW_NORMALIZED(signed char, float)
SW_NORMALIZED(unsigned char, float)
SW_NORMALIZED(short, float)
SW_NORMALIZED(unsigned short, float)
SW_NORMALIZED(char2, float2)
SW_NORMALIZED(uchar2, float2)
SW_NORMALIZED(short2, float2)
SW_NORMALIZED(ushort2, float2)
SW_NORMALIZED(char4, float4)
SW_NORMALIZED(uchar4, float4)
SW_NORMALIZED(short4, float4)
SW_NORMALIZED(ushort4, float4)
#undef SW_NORMALIZED

template <class SwT, int SwDims = 1, enum cudaTextureReadMode SwMode = cudaReadModeElementType>
struct texture {
  cudaTextureObject_t object;
};

#define SW_TYPE typename sw_texel<SwT, SwMode>::type
#define SW_LIST(...) __VA_ARGS__
#define SW_FETCH(name, parameters, arguments)                                    \
  template <class SwT, int SwDims, enum cudaTextureReadMode SwMode>              \
  __device__ __forceinline__ SW_TYPE name(const texture<SwT, SwDims, SwMode>& t, \
                                          SW_LIST parameters) {                  \
    return name<SW_TYPE>(t.object, SW_LIST arguments);                           \
  }
SW_FETCH(tex1Dfetch, (int x), (x))
SW_FETCH(tex1D, (float x), (x))
SW_FETCH(tex2D, (float x, float y), (x, y))
SW_FETCH(tex3D, (float x, float y, float z), (x, y, z))
SW_FETCH(tex1DLayered, (float x, int layer), (x, layer))
SW_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer))
SW_FETCH(tex1DLod, (float x, float level), (x, level))
SW_FETCH(tex2DLod, (float x, float y, float level), (x, y, level))
SW_FETCH(tex3DLod, (float x, float y, float z, float level), (x, y, z, level))
#undef SW_FETCH
#undef SW_LIST
#undef SW_TYPE
