// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

/// The BLAS of this machine, loaded at run time, and its C interface (CBLAS: BLAS Technical Forum,
/// "C interface to the Legacy BLAS"), whose enumerations are declared as int here.
namespace spanwise::cpu_backend::blas {

enum : int { row_major = 101, column_major = 102 };
enum : int { no_transpose = 111, transpose = 112, conjugate_transpose = 113 };
enum : int { upper = 121 };

/// CBLAS takes real scalars by value and complex scalars by address.
template <class T>
using ScalarArgument = std::conditional_t<std::is_floating_point_v<T>, T, const void*>;

/// The functions for elements T in a library whose integers are I.
template <class T, class I>
struct Functions {
  using Data = std::conditional_t<std::is_floating_point_v<T>, T, void>;
  using Gemm = void (*)(int order, int left, int right, I rows, I columns, I depth,
                        ScalarArgument<T> alpha, const Data* a, I lda, const Data* b, I ldb,
                        ScalarArgument<T> beta, Data* c, I ldc);
  using Gemv = void (*)(int order, int matrix, I rows, I columns, ScalarArgument<T> alpha,
                        const Data* a, I lda, const Data* x, I incx, ScalarArgument<T> beta,
                        Data* y, I incy);
  using Syrk = void (*)(int order, int triangle, int matrix, I rows, I depth,
                        ScalarArgument<T> alpha, const Data* a, I lda, ScalarArgument<T> beta,
                        Data* c, I ldc);
  using RealDot = T (*)(I n, const Data* x, I incx, const Data* y, I incy);
  using ComplexDot = void (*)(I n, const Data* x, I incx, const Data* y, I incy, Data* result);
  using Dot = std::conditional_t<std::is_floating_point_v<T>, RealDot, ComplexDot>;

  Gemm gemm = nullptr;
  Gemv gemv = nullptr;
  Syrk syrk = nullptr;
  Dot dot = nullptr;
  Dot conjugated_dot = nullptr;  ///< conjugates the first vector; same as dot for real numbers
};

template <class I>
struct Tables {
  Functions<float, I> f32;
  Functions<double, I> f64;
  Functions<std::complex<float>, I> c64;
  Functions<std::complex<double>, I> c128;
};

struct BlasLibrary {
  std::string path, version;
  bool has_wide_integers = false;  ///< 64 bits: `wide` is filled, else `narrow`
  Tables<std::int32_t> narrow;
  Tables<std::int64_t> wide;
  int threads =
      0;  ///< number of the library's threads when it was loaded; 0 if it cannot be queried
  int (*get_threads)() = nullptr;      ///< null if the library lacks it
  void (*set_threads)(int) = nullptr;  ///< null if the library lacks it
  bool can_set_threads() const noexcept { return threads > 0 && set_threads != nullptr; }
};

/// Prevents forks during its lifetime. The library's functions must be called only while one
/// exists.
class BlasCallGuard {
 public:
  BlasCallGuard();
  ~BlasCallGuard();
  BlasCallGuard(const BlasCallGuard&) = delete;
  BlasCallGuard& operator=(const BlasCallGuard&) = delete;
};

/// While an object of this class exists, the library computes in the calling thread only, if its
/// number of threads can be set. Spanwise shares the calls among its own threads, which then never
/// wait for a thread of the library. The last destructor restores the number of threads. Meanwhile
/// products of other users of the same library, such as NumPy, are correct but slower.
class SingleThreadGuard {
 public:
  explicit SingleThreadGuard(const BlasLibrary& library);
  SingleThreadGuard(const SingleThreadGuard&) = delete;
  SingleThreadGuard& operator=(const SingleThreadGuard&) = delete;
  ~SingleThreadGuard();

 private:
  const BlasLibrary& library_;
};

/// The library in use, or null with the reason in `why`. Searched at the first call and again when
/// config "blas" changes; libraries are never unloaded. The order is: config "blas" (a file, a
/// folder, or "none"; the Python package sets it to the folder of a wheel), then the system's
/// OpenBLAS. A library that config "blas" does not name must be OpenBLAS: the reference BLAS is
/// slower than Spanwise's own loops.
const BlasLibrary* library(std::string* why = nullptr);

}  // namespace spanwise::cpu_backend::blas
