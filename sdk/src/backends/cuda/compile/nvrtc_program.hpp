// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/compile/default_options.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {

/// Throws DeviceError unless `result` is success; `operation` names the operation.
inline void check_nvrtc(const nvrtc::Library& library, nvrtc::Result result,
                        const char* operation) {
  if (result != nvrtc::success)
    fail<DeviceError>("cuda: NVRTC failed at ", operation, ": ",
                      library.api.get_error_string(result));
}

/// A program of NVRTC, from its source text to the results of its compilation. Each function throws
/// DeviceError where NVRTC reports an error, except compile(), which returns it.
class NvrtcProgram {
 public:
  NvrtcProgram(const nvrtc::Library& library, const std::string& text, const std::string& file_name,
               const RtcHeaders& headers)
      : library_(library) {
    check_nvrtc(library,
                library.api.create_program(&program_, text.c_str(), file_name.c_str(),
                                           static_cast<int>(headers.names.size()),
                                           headers.texts.data(), headers.names.data()),
                "creating a program");
  }
  ~NvrtcProgram() { library_.api.destroy_program(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  void add_name(const std::string& expression) {
    check_nvrtc(library_, library_.api.add_name_expression(program_, expression.c_str()),
                "adding a name expression");
  }
  nvrtc::Result compile(const std::vector<std::string>& options) {
    std::vector<const char*> arguments;
    arguments.reserve(options.size());
    for (const std::string& option : options) arguments.push_back(option.c_str());
    return library_.api.compile_program(program_, static_cast<int>(arguments.size()),
                                        arguments.data());
  }
  std::string lowered(const std::string& expression) const {
    const char* name = nullptr;
    check_nvrtc(library_, library_.api.get_lowered_name(program_, expression.c_str(), &name),
                "looking up the symbol of a name expression");
    return name;
  }
  std::string log() const {
    return read(library_.api.get_program_log_size, library_.api.get_program_log);
  }
  std::string cubin() const {
    return read(library_.api.get_cubin_size, library_.api.get_cubin, true);
  }
  std::string ptx() const { return read(library_.api.get_ptx_size, library_.api.get_ptx); }
  std::string lto_ir() const {
    return read(library_.api.get_lto_ir_size, library_.api.get_lto_ir, true);
  }

 private:
  template <class Size, class Get>
  std::string read(Size get_size, Get get, bool binary = false) const {
    std::size_t size = 0;
    check_nvrtc(library_, get_size(program_, &size), "reading the size of a result");
    std::string bytes(size, '\0');
    if (size > 0) check_nvrtc(library_, get(program_, bytes.data()), "reading a result");
    // NVRTC counts the terminating NUL of a text as part of its size.
    while (!binary && bytes.ends_with('\0')) bytes.pop_back();
    return bytes;
  }

  const nvrtc::Library& library_;
  nvrtc::Program program_ = nullptr;
};

}  // namespace spanwise::cuda
