// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/blas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/interrupt.hpp"
#include "spanwise/runtime/linear_algebra.hpp"
#include "spanwise/runtime/parallel.hpp"

namespace spanwise::cpu_backend::blas {
namespace {

// CBLAS's enumerations (BLAS Technical Forum, "C interface to the Legacy BLAS") as int.
enum : int { row_major = 101, column_major = 102 };
enum : int { no_transpose = 111, transpose = 112, conjugate_transpose = 113 };
enum : int { upper = 121 };

// CBLAS takes real scalars by value and complex scalars by address.
template <class T>
using ScalarArgument = std::conditional_t<std::is_floating_point_v<T>, T, const void*>;

// The functions for elements T in a library whose integers are I.
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
  int threads = 0;                 ///< of the library when it was loaded; 0 if it cannot be queried
  int (*get_threads)() = nullptr;  ///< null if the library lacks it
  void (*set_threads)(int) = nullptr;  ///< null if the library lacks it
  bool can_set_threads() const noexcept { return threads > 0 && set_threads != nullptr; }
};

[[maybe_unused]] const bool blas_declared = config::declare({
    .name = "blas",
    .description = "the BLAS library for products on the CPU: a file, a folder that has one, or "
                   "none for Spanwise's own loops; empty looks for an OpenBLAS",
});

// What a library adds to names such as cblas_sgemm: SciPy's wheels a prefix, builds with 64-bit
// integers a suffix.
struct SymbolAffixes {
  const char *prefix, *suffix;
};
constexpr SymbolAffixes symbol_affixes[] = {
    {"scipy_", ""}, {"", ""}, {"scipy_", "64_"}, {"", "64_"}};

class Symbols {
 public:
  Symbols(void* handle, SymbolAffixes affixes) : handle_(handle), affixes_(affixes) {}

  template <class F>
  bool get(const std::string& name, F& function) const {
    const std::string full = text(affixes_.prefix, name, affixes_.suffix);
    function = reinterpret_cast<F>(dlsym(handle_, full.c_str()));
    return function != nullptr;
  }

  template <class T, class I>
  bool fill(const char* letter, Functions<T, I>& functions) const {
    const auto name = [&](const char* operation) { return text("cblas_", letter, operation); };
    constexpr bool is_real = std::is_floating_point_v<T>;
    return get(name("gemm"), functions.gemm) && get(name("gemv"), functions.gemv) &&
           get(name("syrk"), functions.syrk) &&
           get(name(is_real ? "dot" : "dotu_sub"), functions.dot) &&
           get(name(is_real ? "dot" : "dotc_sub"), functions.conjugated_dot);
  }
  template <class I>
  bool fill(Tables<I>& tables) const {
    return fill("s", tables.f32) && fill("d", tables.f64) && fill("c", tables.c64) &&
           fill("z", tables.c128);
  }

 private:
  void* handle_;
  SymbolAffixes affixes_;
};

// The name and number in "OpenBLAS 0.3.29 USE64BITINT DYNAMIC_ARCH ..."; "" if the library is not
// OpenBLAS.
std::string version_of_blas(const Symbols& symbols) {
  const char* (*get_config)() = nullptr;
  if (!symbols.get("openblas_get_config", get_config)) return {};
  const std::string config = get_config();
  const std::size_t name_end = config.find(' ');
  return config.substr(0, config.find(' ', name_end == config.npos ? name_end : name_end + 1));
}

// Null if the library cannot be used; the reason is appended to `reason`. Never closed: its threads
// keep running.
std::unique_ptr<BlasLibrary> open_blas(const std::string& path, bool must_be_openblas,
                                       std::string& reason) {
  const std::lock_guard loading(loader_mutex());
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = dlerror();
    reason += text("; ", error != nullptr ? error : path);
    return nullptr;
  }
  for (const SymbolAffixes& affixes : symbol_affixes) {
    const Symbols symbols(handle, affixes);
    auto result = std::make_unique<BlasLibrary>();
    result->has_wide_integers = *affixes.suffix != '\0';
    if (result->has_wide_integers ? !symbols.fill(result->wide) : !symbols.fill(result->narrow))
      continue;
    result->path = path;
    result->version = version_of_blas(symbols);
    if (must_be_openblas && result->version.empty()) continue;
    if (symbols.get("openblas_get_num_threads", result->get_threads))
      result->threads = result->get_threads();
    symbols.get("openblas_set_num_threads", result->set_threads);
    return result;
  }
  reason += text("; ", path, must_be_openblas ? " is no OpenBLAS with" : " has no",
                 " C interface (cblas_sgemm, ...)");
  return nullptr;
}

// The files in a folder whose names contain "openblas" and ".so", the shortest name first.
std::vector<std::string> libraries_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.find("openblas") != name.npos && name.find(".so") != name.npos)
      paths.push_back(it->path().string());
  }
  std::ranges::sort(paths, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return paths;
}

std::unique_ptr<BlasLibrary> search(const std::string& setting, std::string& reason) {
  if (setting == "none") {
    reason = "; config blas is none";
    return nullptr;
  }
  std::error_code error;
  if (!setting.empty() && !std::filesystem::is_directory(setting, error))
    return open_blas(setting, false, reason);
  if (!setting.empty()) {
    for (const std::string& path : libraries_in(setting))
      if (auto result = open_blas(path, false, reason)) return result;
  }
  for (const char* name : {"libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libblas.so.3"})
    if (auto result = open_blas(name, true, reason)) return result;
  return nullptr;
}

// Keeps products and forks apart: OpenBLAS ends its threads before a fork, and that hangs while a
// product is running.
class BlasForkGuard final : public ForkParticipant {
 public:
  void enter() noexcept {
    while (running_.fetch_add(1), is_forking_.load()) {
      leave();
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // a fork takes longer
    }
  }
  void leave() noexcept { running_.fetch_sub(1); }

 private:
  bool try_pause() noexcept override {
    is_forking_.store(true);
    if (running_.load() == 0) return true;
    resume();
    return false;
  }
  void resume() noexcept override { is_forking_.store(false); }
  void after_fork_in_child(bool) noexcept override {
    running_.store(0);
    resume();
  }
  std::chrono::milliseconds pause_timeout() const noexcept override {
    return std::chrono::minutes(5);
  }

  std::atomic<int> running_{0};
  std::atomic<bool> is_forking_{false};
};
BlasForkGuard& fork_guard() {
  static NeverDestroyed<BlasForkGuard> instance;
  return *instance;
}

// Prevents forks during its lifetime. The library's functions must be called only while one exists.
class BlasCallGuard {
 public:
  BlasCallGuard() { fork_guard().enter(); }
  ~BlasCallGuard() { fork_guard().leave(); }
  BlasCallGuard(const BlasCallGuard&) = delete;
  BlasCallGuard& operator=(const BlasCallGuard&) = delete;
};

// Counts the SingleThreadGuard objects. One counter for all libraries: the library changes only
// with config "blas".
struct SingleThreadUses final : ForkParticipant {
  // The child has no other threads, so their products never end there.
  void after_fork_in_child(bool) noexcept override { count = 0; }

  Mutex mutex;
  int count = 0;
  int saved_threads = 0;  // the library's number of threads to restore
};
SingleThreadUses& single_thread_uses() {
  static NeverDestroyed<SingleThreadUses> instance;
  return *instance;
}

// While an object of this class exists, the library computes in the calling thread only, if its
// number of threads can be set. Spanwise shares the calls among its own threads, which then never
// wait for a thread of the library. The last destructor restores the number of threads. Meanwhile
// products of other users of the same library, such as NumPy, are correct but slower.
class SingleThreadGuard {
 public:
  explicit SingleThreadGuard(const BlasLibrary& library) : library_(library) {
    SingleThreadUses& all = single_thread_uses();
    const std::lock_guard lock(all.mutex);
    if (all.count++ > 0 || !library.can_set_threads()) return;
    all.saved_threads = library.get_threads();
    if (all.saved_threads > 1) library.set_threads(1);
  }
  SingleThreadGuard(const SingleThreadGuard&) = delete;
  SingleThreadGuard& operator=(const SingleThreadGuard&) = delete;
  ~SingleThreadGuard() {
    SingleThreadUses& all = single_thread_uses();
    const std::lock_guard lock(all.mutex);
    if (--all.count > 0 || !library_.can_set_threads()) return;
    // If the number is not 1 any more, other code has set it: keep it.
    if (all.saved_threads > 1 && library_.get_threads() == 1)
      library_.set_threads(all.saved_threads);
  }

 private:
  const BlasLibrary& library_;
};

struct BlasState {
  Mutex mutex;
  std::string setting, why;
  std::vector<std::unique_ptr<BlasLibrary>> opened;
  std::atomic<std::uint64_t> version{0};  // config::version() at the last search
  std::atomic<const BlasLibrary*> library{nullptr};
};
BlasState& blas_state() {
  // Never destroyed: other threads may use it until the process ends.
  static NeverDestroyed<BlasState> instance;
  return *instance;
}

// The library in use, or null with the reason in `why`. Searched at the first call and again when
// config "blas" changes; libraries are never unloaded. The order is: config "blas" (a file, a
// folder, or "none"; the Python package sets it to the folder of a wheel), then the system's
// OpenBLAS. A library that config "blas" does not name must be OpenBLAS: the reference BLAS is
// slower than Spanwise's own loops.
const BlasLibrary* library(std::string* why = nullptr) {
  BlasState& now = blas_state();
  const std::uint64_t version = config::version();
  if (now.version.load(std::memory_order_acquire) == version && why == nullptr)
    return now.library.load(std::memory_order_relaxed);
  const std::lock_guard lock(now.mutex);
  const bool is_first = now.version.load(std::memory_order_relaxed) == 0;
  if (std::string setting = config::get("blas"); is_first || setting != now.setting) {
    now.setting = std::move(setting);
    now.why.clear();
    auto result = search(now.setting, now.why);
    now.library.store(result.get(), std::memory_order_relaxed);
    if (result) renew_fork_handlers();
    if (result) now.opened.push_back(std::move(result));
  }
  now.version.store(version, std::memory_order_release);
  if (why != nullptr) *why = now.why;
  return now.library.load(std::memory_order_relaxed);
}

// A block of rows and columns of a result.
struct ProductPart {
  std::int64_t row, rows, column, columns;
};

// Minimum multiply-adds of a part: less work is not worth another thread.
constexpr double min_part_work = 65536.0 * 4;

// Parts start at multiples of this many rows or columns, a multiple of the tile sizes of most BLAS
// kernels.
constexpr std::int64_t part_alignment = 16;

double work_of(const GemmCall& call) {
  return static_cast<double>(call.rows) * static_cast<double>(call.columns) *
         static_cast<double>(call.depth);
}

// At most `max_parts`, and so few that each has min_part_work.
std::int64_t part_count(const GemmCall& call, std::int64_t max_parts) {
  const double count = work_of(call) / min_part_work;
  return count < 2 ? 1 : std::min(max_parts, static_cast<std::int64_t>(std::min(count, 1e6)));
}

// The extent of one part if `extent` is split into about `count` parts.
std::int64_t part_extent(std::int64_t extent, std::int64_t count) {
  const std::int64_t exact = (extent + count - 1) / count;
  return std::min(extent, (exact + part_alignment - 1) / part_alignment * part_alignment);
}

std::byte* element_address(const void* data, std::int64_t elements, DType dtype) {
  return static_cast<std::byte*>(const_cast<void*>(data)) + elements * dtype.itemsize();
}

// Splits one result into about `max_parts` parts, nearly square and of at least min_part_work
// each; returns the whole as one part if it is too small.
std::vector<ProductPart> parts_of(const GemmCall& call, std::int64_t max_parts) {
  const std::int64_t count = part_count(call, max_parts);
  // Each part reads its rows of `left` and its columns of `right`; of all parts of the same area, a
  // square reads least.
  std::int64_t row_parts = 1;
  double min_reads = 0;
  for (std::int64_t n = 1; n <= count; ++n) {
    if (count % n != 0) continue;
    const double reads = static_cast<double>(part_extent(call.rows, n)) +
                         static_cast<double>(part_extent(call.columns, count / n));
    if (n == 1 || reads < min_reads) {
      min_reads = reads;
      row_parts = n;
    }
  }
  const std::int64_t rows = part_extent(call.rows, row_parts);
  const std::int64_t columns = part_extent(call.columns, count / row_parts);
  std::vector<ProductPart> parts;
  for (std::int64_t row = 0; row < call.rows; row += rows)
    for (std::int64_t column = 0; column < call.columns; column += columns)
      parts.push_back(
          {row, std::min(rows, call.rows - row), column, std::min(columns, call.columns - column)});
  return parts;
}

// The parts of a matrix's product with its own transpose that are on or above the diagonal. Parts
// on the diagonal are square.
std::vector<ProductPart> upper_parts_of(const GemmCall& call, std::int64_t max_parts) {
  const auto sides = static_cast<std::int64_t>(
      std::ceil(std::sqrt(static_cast<double>(part_count(call, max_parts)))));
  const std::int64_t side = part_extent(call.rows, std::max<std::int64_t>(1, sides));
  std::vector<ProductPart> parts;
  for (std::int64_t row = 0; row < call.rows; row += side)
    for (std::int64_t column = row; column < call.columns; column += side)
      parts.push_back(
          {row, std::min(side, call.rows - row), column, std::min(side, call.columns - column)});
  // Parts on the diagonal take half the time; they come last, to balance the threads.
  std::stable_partition(parts.begin(), parts.end(),
                        [](const ProductPart& part) { return part.row != part.column; });
  return parts;
}

// The call that computes `part` of the first result of the batch.
GemmCall part_of(const GemmCall& call, const ProductPart& part) {
  GemmCall part_call = call;
  part_call.batch = 1;
  part_call.rows = part.rows;
  part_call.columns = part.columns;
  const std::int64_t left_step = call.left.is_transposed ? 1 : call.left.leading;
  const std::int64_t right_step = call.right.is_transposed ? call.right.leading : 1;
  part_call.left.data = element_address(call.left.data, part.row * left_step, call.dtype);
  part_call.right.data = element_address(call.right.data, part.column * right_step, call.dtype);
  part_call.result =
      element_address(call.result, part.row * call.result_leading + part.column, call.dtype);
  return part_call;
}

// Multiply-adds of a product up to which OpenBLAS uses only the calling thread (its
// interface/gemm.c: SMP_THRESHOLD_MIN * GEMM_MULTITHREAD_THRESHOLD), so that several matrices can
// be multiplied in parallel.
constexpr double max_one_thread_work = 65536.0 * 4;
// Multiply-adds of one call of the library, which takes about a second on one processor.
constexpr double max_call_work = 3e10;
// Elements per piece of a dot product. The pieces have a fixed size, so that the sum does not
// depend on the number of threads.
constexpr std::int64_t dot_piece = 1 << 14;
// Length up to which the library's own threads multiply vectors: such vectors stay in the caches,
// and the library's threads still spin after a product of NumPy.
constexpr std::int64_t max_cached_length = 1 << 19;
// Minimum order of the product of a matrix and its own transpose for which computing one triangle
// and copying it is faster than computing both.
constexpr std::int64_t min_symmetric_rows = 32;

template <class T>
ScalarArgument<T> scalar_argument(const T& value) {
  if constexpr (std::is_floating_point_v<T>)
    return value;
  else
    return &value;
}

// Computes the products of a call one after the other.
template <class T, class I>
class GemmCalls {
 public:
  // `threads`: Spanwise's threads that share a product; 0 leaves each product to the library's own
  // threads.
  GemmCalls(const Functions<T, I>& functions, const GemmCall& call, int threads)
      : functions_(functions),
        call_(call),
        alpha_(static_cast<Real>(call.alpha)),
        beta_(static_cast<Real>(call.beta)),
        threads_(threads) {}

  void run(std::int64_t first, std::int64_t last) const {
    for (std::int64_t i = first; i < last; ++i) multiply(i);
  }

  // Computes one result after the other, each split among all threads into about `max_parts` parts.
  void run_in_parts(std::int64_t max_parts) const {
    for (std::int64_t i = 0; i < call_.batch; ++i) {
      if (call_.rows == 1 && call_.columns == 1) {
        multiply_vectors(i);
        continue;
      }
      GemmCall product = call_;
      product.left.data = left(i);
      product.right.data = right(i);
      product.result = result(i);
      multiply_parts(product, is_own_transpose(i), max_parts);
    }
  }

 private:
  using Data = typename Functions<T, I>::Data;
  using Real = decltype(std::real(T()));

  static I to_integer(std::int64_t number) { return static_cast<I>(number); }
  const T* left(std::int64_t i) const {
    return static_cast<const T*>(call_.left.data) + i * call_.left.batch_stride;
  }
  const T* right(std::int64_t i) const {
    return static_cast<const T*>(call_.right.data) + i * call_.right.batch_stride;
  }
  T* result(std::int64_t i) const {
    return static_cast<T*>(call_.result) + i * call_.result_batch_stride;
  }
  // Element stride of a single row of `left`, and of a single column of `right`.
  I row_step() const { return to_integer(call_.left.is_transposed ? call_.left.leading : 1); }
  I column_step() const { return to_integer(call_.right.is_transposed ? 1 : call_.right.leading); }

  void multiply_parts(const GemmCall& product, bool is_symmetric, std::int64_t max_parts) const {
    const std::vector<ProductPart> parts =
        is_symmetric ? upper_parts_of(product, max_parts) : parts_of(product, max_parts);
    if (parts.size() == 1) return GemmCalls(functions_, product, threads_).run(0, 1);
    StopPoint stop;
    const auto run_parts = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t n = first; n < last && stop.pass(); ++n) {
        const ProductPart& part = parts[static_cast<std::size_t>(n)];
        GemmCalls(functions_, part_of(product, part), threads_).run(0, 1);
        if (is_symmetric && part.row != part.column)
          mirror(static_cast<T*>(product.result), product.result_leading, part);
      }
    };
    const auto count = static_cast<std::int64_t>(parts.size());
    if (threads_ <= 1) return run_parts(0, count);  // the library's own threads share each part
    parallel_for(count, 1, run_parts);
  }

  // Copies the elements of a part that are above the diagonal, transposed, to below the diagonal.
  static void mirror(T* data, std::int64_t leading, const ProductPart& part) {
    constexpr std::int64_t tile = 32;  // the tiles that are read and written stay in L1
    const std::int64_t end = part.column + part.columns;
    for (std::int64_t first = part.column; first < end; first += tile)
      for (std::int64_t row = part.row; row < part.row + part.rows; ++row)
        for (std::int64_t column = std::max(first, row + 1); column < std::min(first + tile, end);
             ++column)
          data[column * leading + row] = data[row * leading + column];
  }

  void multiply(std::int64_t i) const {
    const bool is_row = call_.rows == 1, is_column = call_.columns == 1;
    if (is_row && is_column) return multiply_vectors(i);
    if (is_column) return multiply_by_column(i);
    if (is_row && !(call_.conjugate_left && !std::is_floating_point_v<T>))
      return multiply_by_row(i);
    if (is_own_transpose(i)) return multiply_by_own_transpose(i);
    multiply_matrices(i);
  }

  void multiply_vectors(std::int64_t i) const {
    const std::int64_t pieces = threads_ == 0 ? 1 : (call_.depth + dot_piece - 1) / dot_piece;
    if (pieces == 1) {
      set_result(i, dot(left(i), right(i), call_.depth));
      return;
    }
    std::vector<T> sums(static_cast<std::size_t>(pieces));
    parallel_for(pieces, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t n = first; n < last; ++n) {
        const std::int64_t from = n * dot_piece;
        sums[static_cast<std::size_t>(n)] =
            dot(left(i) + from * row_step(), right(i) + from * column_step(),
                std::min(dot_piece, call_.depth - from));
      }
    });
    T sum(0);
    for (const T& piece : sums) sum += piece;
    set_result(i, sum);
  }
  void set_result(std::int64_t i, T product) const {
    T& element = *result(i);
    if (call_.alpha != 1) product *= alpha_;
    element = call_.beta == 0 ? product : product + beta_ * element;
  }
  T dot(const T* x, const T* y, std::int64_t count) const {
    const auto function = call_.conjugate_left ? functions_.conjugated_dot : functions_.dot;
    if constexpr (std::is_floating_point_v<T>) {
      return function(to_integer(count), x, row_step(), y, column_step());
    } else {
      T sum;
      function(to_integer(count), x, row_step(), y, column_step(), &sum);
      return sum;
    }
  }
  void multiply_by_column(std::int64_t i) const {
    functions_.gemv(call_.left.is_transposed ? column_major : row_major, no_transpose,
                    to_integer(call_.rows), to_integer(call_.depth), scalar_argument(alpha_),
                    left(i), to_integer(call_.left.leading), right(i), column_step(),
                    scalar_argument(beta_), result(i), to_integer(call_.result_leading));
  }
  void multiply_by_row(std::int64_t i) const {
    functions_.gemv(call_.right.is_transposed ? column_major : row_major, transpose,
                    to_integer(call_.depth), to_integer(call_.columns), scalar_argument(alpha_),
                    right(i), to_integer(call_.right.leading), left(i), row_step(),
                    scalar_argument(beta_), result(i), 1);
  }

  bool is_own_transpose(std::int64_t i) const {
    return call_.beta == 0 && left(i) == right(i) && call_.rows == call_.columns &&
           call_.rows >= min_symmetric_rows &&
           call_.left.is_transposed != call_.right.is_transposed &&
           call_.left.leading == call_.right.leading;
  }
  // Computes the upper triangle and copies it to the lower one.
  void multiply_by_own_transpose(std::int64_t i) const {
    const std::int64_t n = call_.rows, step = call_.result_leading;
    functions_.syrk(row_major, upper, call_.left.is_transposed ? transpose : no_transpose,
                    to_integer(n), to_integer(call_.depth), scalar_argument(alpha_), left(i),
                    to_integer(call_.left.leading), scalar_argument(beta_), result(i),
                    to_integer(step));
    mirror(result(i), step, {0, n, 0, n});
  }

  void multiply_matrices(std::int64_t i) const {
    // A single row of any stride is the transpose of a column, so it can be passed as
    // conjugate_transpose.
    const bool is_conjugated = call_.conjugate_left && call_.rows == 1;
    const int left_operation = is_conjugated              ? conjugate_transpose
                               : call_.left.is_transposed ? transpose
                                                          : no_transpose;
    const I left_leading = is_conjugated ? row_step() : to_integer(call_.left.leading);
    functions_.gemm(row_major, left_operation, call_.right.is_transposed ? transpose : no_transpose,
                    to_integer(call_.rows), to_integer(call_.columns), to_integer(call_.depth),
                    scalar_argument(alpha_), left(i), left_leading, right(i),
                    to_integer(call_.right.leading), scalar_argument(beta_), result(i),
                    to_integer(call_.result_leading));
  }

  const Functions<T, I>& functions_;
  const GemmCall& call_;
  T alpha_, beta_;
  int threads_;
};

template <class T, class I>
void run_all(const Functions<T, I>& functions, const GemmCall& call, int threads) {
  const GemmCalls<T, I> products(functions, call, threads);
  const double work = work_of(call);
  // One call of the library cannot be stopped by Ctrl-C, so a long product is several.
  if (work > max_call_work)
    return products.run_in_parts(
        std::max(static_cast<std::int64_t>(std::min(work / max_call_work, 1e6)) + 1, 2L * threads));
  // Two parts per thread, so that an interrupted thread delays the result less.
  if (threads > 1 && (call.batch < threads || call.depth > dot_piece) && work >= min_part_work)
    return products.run_in_parts(2 * threads);
  if (call.batch == 1 || (threads == 0 && work > max_one_thread_work))
    return products.run(0, call.batch);
  const auto grain = static_cast<std::int64_t>(max_one_thread_work / 4 / work) + 1;
  parallel_for(call.batch, grain,
               [&](std::int64_t first, std::int64_t last) { products.run(first, last); });
}

template <class I>
bool fits(const GemmCall& call) {
  const std::int64_t max_value = std::numeric_limits<I>::max();
  for (const std::int64_t number : {call.rows, call.columns, call.depth, call.left.leading,
                                    call.right.leading, call.result_leading})
    if (number > max_value) return false;
  return true;
}

template <class I>
bool run_with(const Tables<I>& tables, const GemmCall& call, int threads) {
  if (!fits<I>(call)) return false;
  if (call.dtype == float32)
    run_all(tables.f32, call, threads);
  else if (call.dtype == float64)
    run_all(tables.f64, call, threads);
  else if (call.dtype == complex64)
    run_all(tables.c64, call, threads);
  else if (call.dtype == complex128)
    run_all(tables.c128, call, threads);
  else
    return false;
  return true;
}

// The number of Spanwise's threads that may call the library at a time: config "cpu_threads", but
// not more than the library was started with. 0 if the library's number of threads cannot be set.
int calling_threads(const BlasLibrary& library) {
  return library.can_set_threads() ? std::min(parallel_workers(), library.threads) : 0;
}

// Whether the library's own threads compute the product: a single product, if these threads are not
// more than config "cpu_threads" allows. After a product of NumPy, which may use the same library,
// they spin for some milliseconds and would compete with Spanwise's threads for the processors. Not
// for long vectors, whose sum in fixed pieces is more accurate and does not depend on the number of
// threads, and not for complex vectors, for which OpenBLAS uses one thread.
bool uses_library_threads(const BlasLibrary& library, const GemmCall& call) {
  const bool is_of_vectors = call.rows == 1 && call.columns == 1;
  const bool keeps_threads = call.depth <= max_cached_length && !call.dtype.is_complex();
  return library.can_set_threads() && call.batch == 1 && (!is_of_vectors || keeps_threads) &&
         library.get_threads() <= parallel_workers();
}

bool run_with(const BlasLibrary& library, const GemmCall& call, int threads) {
  return library.has_wide_integers ? run_with(library.wide, call, threads)
                                   : run_with(library.narrow, call, threads);
}

}  // namespace

Tool tool() {
  Tool tool{.name = "BLAS"};
  std::string why;
  if (const BlasLibrary* loaded = library(&why)) {
    tool.version = loaded->version.empty() ? "of unknown version" : loaded->version;
    tool.path = loaded->path;
  } else {
    tool.missing = text(
        "Products on the CPU run in Spanwise's own loops, which are slower. Install one (python3 "
        "-m pip install scipy-openblas32), or name its file in SPANWISE_BLAS",
        why);
  }
  return tool;
}

bool gemm(const GemmCall& call) {
  const BlasLibrary* loaded = library();
  if (loaded == nullptr) {
    static constinit std::atomic_flag is_logged;
    if (!is_logged.test_and_set()) log_message(LogLevel::info, tool().missing);
    return false;
  }
  const BlasCallGuard running;
  if (uses_library_threads(*loaded, call)) return run_with(*loaded, call, 0);
  const SingleThreadGuard one_thread(*loaded);
  return run_with(*loaded, call, calling_threads(*loaded));
}

}  // namespace spanwise::cpu_backend::blas
