// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/header_names.hpp"

#include "core/string_utils.hpp"

namespace spanwise::parse {
namespace {

// Beginnings of the names of headers that host code needs.
constexpr std::string_view cuda_libraries =
    "cublas cufft cusparse cusolver curand.h curand_mtgp32 cudnn nccl nvml nvrtc npp nvToolsExt "
    "nvtx3/ thrust/ cub/ cudaGL cuda_gl_interop cudaProfiler cuda_profiler_api cuda_d3d cuda_egl "
    "cudaEGL nvjpeg";
constexpr std::string_view other_libraries =
    "CL/ opencv GL/ GLES GLFW EGL/ glad/ OpenGL/ GLUT/ X11/ mpi.h SDL glog/ gflags/ gtest/ boost/ "
    "hdf5 leveldb/ lmdb google/protobuf vulkan/ FreeImage windows.h nvmedia nvsci drm xf86drm";

}  // namespace

bool is_cuda_library_header(std::string_view name) {
  return starts_with_word_of(name, cuda_libraries);
}

bool is_host_library_header(std::string_view name) {
  return is_cuda_library_header(name) || starts_with_word_of(name, other_libraries);
}

bool is_cccl_header(std::string_view name) {
  return name.starts_with("thrust/") || name.starts_with("cuda/") || name.starts_with("nv/");
}

bool is_c_header(std::string_view name) {
  static constexpr std::string_view folders = "sys/ netinet/ arpa/ asm/ linux/ bits/";
  static constexpr std::string_view names =
      "assert.h cassert ccomplex cctype cerrno cfenv cfloat cinttypes climits clocale cmath "
      "complex.h csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime ctype.h "
      "dirent.h dlfcn.h errno.h fcntl.h fenv.h getopt.h inttypes.h libgen.h locale.h malloc.h "
      "memory.h omp.h pthread.h sched.h setjmp.h signal.h stdarg.h stdbool.h strings.h time.h "
      "unistd.h values.h wchar.h immintrin.h xmmintrin.h";
  return starts_with_word_of(name, folders) || is_word_of(name, names);
}

bool can_follow_shim(std::string_view name) {
  static constexpr std::string_view names =
      "type_traits limits concepts initializer_list utility tuple array numeric bit numbers "
      "optional";
  return is_word_of(name, names);
}

bool is_cpp_header(std::string_view name) {
  static constexpr std::string_view names =
      "algorithm any array atomic bitset charconv chrono complex condition_variable deque "
      "exception execution filesystem forward_list fstream functional future initializer_list "
      "iomanip ios iosfwd iostream istream iterator limits list locale map memory memory_resource "
      "mutex new numeric optional ostream queue random ratio regex set shared_mutex sstream stack "
      "stdexcept streambuf string string_view system_error thread tuple type_traits typeindex "
      "typeinfo unordered_map unordered_set utility valarray variant vector";
  return is_word_of(name, names);
}

}  // namespace spanwise::parse
