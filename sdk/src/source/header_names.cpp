// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "source/header_names.hpp"

#include <algorithm>
#include <array>

namespace spanwise::source {
namespace {

// Beginnings of the names of headers that host code needs.
constexpr std::array<std::string_view, 23> cuda_libraries{"cublas",
                                                          "cufft",
                                                          "cusparse",
                                                          "cusolver",
                                                          "curand.h",
                                                          "curand_mtgp32",
                                                          "cudnn",
                                                          "nccl",
                                                          "nvml",
                                                          "nvrtc",
                                                          "npp",
                                                          "nvToolsExt",
                                                          "nvtx3/",
                                                          "thrust/",
                                                          "cub/",
                                                          "cudaGL",
                                                          "cuda_gl_interop",
                                                          "cudaProfiler",
                                                          "cuda_profiler_api",
                                                          "cuda_d3d",
                                                          "cuda_egl",
                                                          "cudaEGL",
                                                          "nvjpeg"};
constexpr std::array<std::string_view, 27> other_libraries{
    "CL/",     "opencv",    "GL/",       "GLES",    "GLFW",
    "EGL/",    "glad/",     "OpenGL/",   "GLUT/",   "X11/",
    "mpi.h",   "SDL",       "glog/",     "gflags/", "gtest/",
    "boost/",  "hdf5",      "leveldb/",  "lmdb",    "google/protobuf",
    "vulkan/", "FreeImage", "windows.h", "nvmedia", "nvsci",
    "drm",     "xf86drm"};

template <std::size_t N>
bool starts_with_any(std::string_view name, const std::array<std::string_view, N>& stems) {
  return std::any_of(stems.begin(), stems.end(),
                     [&](std::string_view stem) { return name.starts_with(stem); });
}

}  // namespace

bool is_cuda_library_header(std::string_view name) { return starts_with_any(name, cuda_libraries); }

bool is_host_library_header(std::string_view name) {
  return is_cuda_library_header(name) || starts_with_any(name, other_libraries);
}

bool is_cccl_header(std::string_view name) {
  return name.starts_with("thrust/") || name.starts_with("cuda/") || name.starts_with("nv/");
}

bool is_c_header(std::string_view name) {
  static constexpr std::array<std::string_view, 6> folders{"sys/", "netinet/", "arpa/",
                                                           "asm/", "linux/",   "bits/"};
  static constexpr std::array<std::string_view, 47> names{
      "assert.h",   "cassert",  "ccomplex", "cctype",      "cerrno",     "cfenv",     "cfloat",
      "cinttypes",  "climits",  "clocale",  "cmath",       "complex.h",  "csetjmp",   "csignal",
      "cstdarg",    "cstddef",  "cstdint",  "cstdio",      "cstdlib",    "cstring",   "ctime",
      "ctype.h",    "dirent.h", "dlfcn.h",  "errno.h",     "fcntl.h",    "fenv.h",    "getopt.h",
      "inttypes.h", "libgen.h", "locale.h", "malloc.h",    "memory.h",   "omp.h",     "pthread.h",
      "sched.h",    "setjmp.h", "signal.h", "stdarg.h",    "stdbool.h",  "strings.h", "time.h",
      "unistd.h",   "values.h", "wchar.h",  "immintrin.h", "xmmintrin.h"};
  return starts_with_any(name, folders) ||
         std::find(names.begin(), names.end(), name) != names.end();
}

bool is_light_header(std::string_view name) {
  static constexpr std::array<std::string_view, 11> names{
      "type_traits", "limits",  "concepts", "initializer_list", "utility", "tuple",
      "array",       "numeric", "bit",      "numbers",          "optional"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_cpp_header(std::string_view name) {
  static constexpr std::array<std::string_view, 59> names{
      "algorithm",     "any",          "array",
      "atomic",        "bitset",       "charconv",
      "chrono",        "complex",      "condition_variable",
      "deque",         "exception",    "execution",
      "filesystem",    "forward_list", "fstream",
      "functional",    "future",       "initializer_list",
      "iomanip",       "ios",          "iosfwd",
      "iostream",      "istream",      "iterator",
      "limits",        "list",         "locale",
      "map",           "memory",       "memory_resource",
      "mutex",         "new",          "numeric",
      "optional",      "ostream",      "queue",
      "random",        "ratio",        "regex",
      "set",           "shared_mutex", "sstream",
      "stack",         "stdexcept",    "streambuf",
      "string",        "string_view",  "system_error",
      "thread",        "tuple",        "type_traits",
      "typeindex",     "typeinfo",     "unordered_map",
      "unordered_set", "utility",      "valarray",
      "variant",       "vector"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace spanwise::source
