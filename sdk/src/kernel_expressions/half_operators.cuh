// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Operators of 16-bit floats and numbers of C, which CUDA's headers leave ambiguous. As in CuPy
// they compute in float, or in double. SW_HALF is the type.

#ifndef SW_MIXED
#define SW_MIXED
template <class Number>
struct sw_mixed {};
template <class Result>
struct sw_mixed_result {
  typedef Result type;
  typedef bool truth;
};
template <>
struct sw_mixed<bool> : sw_mixed_result<float> {};
template <>
struct sw_mixed<char> : sw_mixed_result<float> {};
template <>
struct sw_mixed<signed char> : sw_mixed_result<float> {};
template <>
struct sw_mixed<unsigned char> : sw_mixed_result<float> {};
template <>
struct sw_mixed<short> : sw_mixed_result<float> {};
template <>
struct sw_mixed<unsigned short> : sw_mixed_result<float> {};
template <>
struct sw_mixed<int> : sw_mixed_result<float> {};
template <>
struct sw_mixed<unsigned> : sw_mixed_result<float> {};
template <>
struct sw_mixed<long> : sw_mixed_result<float> {};
template <>
struct sw_mixed<unsigned long> : sw_mixed_result<float> {};
template <>
struct sw_mixed<long long> : sw_mixed_result<float> {};
template <>
struct sw_mixed<unsigned long long> : sw_mixed_result<float> {};
template <>
struct sw_mixed<float> : sw_mixed_result<float> {};
template <>
struct sw_mixed<double> : sw_mixed_result<double> {};
#endif

#define SW_MIXED_OPERATOR(op, kind)                                          \
  template <class N>                                                         \
  __device__ inline typename sw_mixed<N>::kind operator op(SW_HALF a, N b) { \
    typedef typename sw_mixed<N>::type Wide;                                 \
    return static_cast<Wide>(static_cast<float>(a)) op static_cast<Wide>(b); \
  }                                                                          \
  template <class N>                                                         \
  __device__ inline typename sw_mixed<N>::kind operator op(N a, SW_HALF b) { \
    typedef typename sw_mixed<N>::type Wide;                                 \
    return static_cast<Wide>(a) op static_cast<Wide>(static_cast<float>(b)); \
  }
SW_MIXED_OPERATOR(+, type)
SW_MIXED_OPERATOR(-, type)
SW_MIXED_OPERATOR(*, type)
SW_MIXED_OPERATOR(/, type)
SW_MIXED_OPERATOR(==, truth)
SW_MIXED_OPERATOR(!=, truth)
SW_MIXED_OPERATOR(<, truth)
SW_MIXED_OPERATOR(<=, truth)
SW_MIXED_OPERATOR(>, truth)
SW_MIXED_OPERATOR(>=, truth)
#undef SW_MIXED_OPERATOR

#ifndef SW_CPU  // whose headers have them
#define SW_HALF_FUNCTION(name) \
  __device__ inline float name(SW_HALF x) { return ::name(static_cast<float>(x)); }
SW_HALF_FUNCTION(exp)
SW_HALF_FUNCTION(exp2)
SW_HALF_FUNCTION(expm1)
SW_HALF_FUNCTION(log)
SW_HALF_FUNCTION(log2)
SW_HALF_FUNCTION(log10)
SW_HALF_FUNCTION(log1p)
SW_HALF_FUNCTION(sqrt)
SW_HALF_FUNCTION(rsqrt)
SW_HALF_FUNCTION(sin)
SW_HALF_FUNCTION(cos)
SW_HALF_FUNCTION(tan)
SW_HALF_FUNCTION(sinh)
SW_HALF_FUNCTION(cosh)
SW_HALF_FUNCTION(tanh)
SW_HALF_FUNCTION(erf)
SW_HALF_FUNCTION(abs)
SW_HALF_FUNCTION(fabs)
SW_HALF_FUNCTION(floor)
SW_HALF_FUNCTION(ceil)
SW_HALF_FUNCTION(rint)
#undef SW_HALF_FUNCTION
__device__ inline SW_HALF max(SW_HALF a, SW_HALF b) { return __hmax(a, b); }
__device__ inline SW_HALF min(SW_HALF a, SW_HALF b) { return __hmin(a, b); }
#endif
