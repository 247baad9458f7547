// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cuda/compile/cuda_linker.hpp"
#include "backends/cuda/compile/device_image.hpp"
#include "backends/cuda/device_context.hpp"
#include "backends/cuda/optional_library.hpp"
#include "core/string_utils.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda::nvjitlink {
namespace {

// Null where it cannot be loaded or is older than CUDA 12.3.
std::unique_ptr<Library> open_linker(const FoundLibrary& file) {
  const std::lock_guard loading(loader_mutex());
  void* handle = open_library(file.path);
  auto library = std::make_unique<Library>();
  Api& api = library->api;
  unsigned major = 0, minor = 0;
  if (!(handle != nullptr SW_NVJITLINK_FUNCTIONS(SW_FIND_FUNCTION)) ||
      api.version(&major, &minor) != success)
    return nullptr;
  library->path = file.path;
  library->major = static_cast<int>(major);
  library->minor = static_cast<int>(minor);
  return library;
}

std::vector<FoundLibrary> linker_candidates() { return libraries_for_driver("nvJitLink"); }

}  // namespace

const Library* library() {
  static NeverDestroyed<LoadedOnce<Library>> linker;
  return linker->get(linker_candidates, open_linker);
}

std::filesystem::path library_path() { return first_path(linker_candidates()); }

std::string remedy() {
  return text("install nvJitLink (python3 -m pip install nvidia-nvjitlink",
              driver_status().version / 1000 == 12 ? "-cu12" : "",
              ", or the CUDA toolkit), or name its folder in SPANWISE_CUDA_LIBRARY_PATH");
}

}  // namespace spanwise::cuda::nvjitlink

namespace spanwise::cuda {
namespace {

CUjitInputType driver_input_type(const LinkInput& input) {
  switch (image_kind(input.image)) {
    case ImageKind::cubin:
      return CU_JIT_INPUT_CUBIN;
    case ImageKind::ptx:
      return CU_JIT_INPUT_PTX;
    case ImageKind::fat_binary:
      return CU_JIT_INPUT_FATBINARY;
    case ImageKind::object:
      return CU_JIT_INPUT_OBJECT;
    case ImageKind::archive:
      return CU_JIT_INPUT_LIBRARY;
    default:
      fail<DeviceError>("cuda: the driver does not link ", input.name,
                        ", which is LTO-IR or not device code; ", nvjitlink::remedy());
  }
}

class DriverLink {
 public:
  explicit DriverLink(const DeviceContext& context) : context_(context), api_(context.api) {
    std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values{log_.data(), std::bit_cast<void*>(log_.size())};
    cuda::check(api_,
                api_.link_create(static_cast<unsigned>(options.size()), options.data(),
                                 values.data(), &state_),
                "starting the linker of ", context.device);
  }
  ~DriverLink() { api_.link_destroy(state_); }
  DriverLink(const DriverLink&) = delete;
  DriverLink& operator=(const DriverLink&) = delete;

  void add(LinkInput input) {
    const CUjitInputType type = driver_input_type(input);
    // The size of PTX includes its terminating NUL.
    const std::size_t bytes = input.image.size() + (type == CU_JIT_INPUT_PTX ? 1 : 0);
    check(api_.link_add_data(state_, type, input.image.data(), bytes, input.name.c_str(), 0,
                             nullptr, nullptr),
          input.name);
  }
  std::string complete() {
    void* cubin = nullptr;
    std::size_t bytes = 0;
    check(api_.link_complete(state_, &cubin, &bytes), "all inputs");
    return {static_cast<const char*>(cubin), bytes};
  }

 private:
  void check(CUresult code, const std::string& input) const {
    if (code == CUDA_SUCCESS) return;
    const std::string log(log_.data());
    if (log.empty()) cuda::check(api_, code, "linking ", input, " on ", context_.device);
    throw CompileError(text("linking failed on ", context_.device, " (the driver's linker, at ",
                            input, "):\n", log, runtime::link_remedy, '\n'),
                       log, "");
  }

  const DeviceContext& context_;
  const DriverApi& api_;
  std::array<char, 8192> log_{};
  CUlinkState state_ = nullptr;
};

}  // namespace

std::string link_with_driver(const LinkJob& job, int ordinal) {
  DeviceContext& context = DeviceContext::of(ordinal);
  const ContextGuard guard(context);
  const RelaxedCaptureMode relaxed(context.api);
  DriverLink linking(context);
  for (const LinkInput& input : job.inputs) linking.add(input);
  return linking.complete();
}

namespace {

int input_type(const LinkInput& input) {
  // In the order of ImageKind.
  constexpr std::array types{nvjitlink::cubin_input,  nvjitlink::ptx_input,
                             nvjitlink::lto_ir_input, nvjitlink::fat_binary_input,
                             nvjitlink::object_input, nvjitlink::archive_input};
  const auto kind = static_cast<std::size_t>(image_kind(input.image));
  if (kind < types.size()) return types[kind];
  fail<ArgumentError>(input.name,
                      ": expected CUDA C++ text or compiled device code (cubin, PTX, LTO-IR, fat "
                      "binary, object, archive), got ",
                      input.image.size(), " bytes of an unknown format");
}

// NVRTC's code generation options in nvJitLink's spelling: nvJitLink generates the code of LTO-IR.
std::vector<std::string> lto_options(const std::vector<std::string>& options) {
  using namespace std::string_view_literals;
  static constexpr std::array with_values{
      std::pair{"--ftz="sv, "-ftz="sv},
      std::pair{"--prec-div="sv, "-prec-div="sv},
      std::pair{"--prec-sqrt="sv, "-prec-sqrt="sv},
      std::pair{"--fmad="sv, "-fma="sv},
      std::pair{"--maxrregcount="sv, "-maxrregcount="sv},
      std::pair{"--ptxas-options="sv, "-Xptxas="sv},
  };
  std::vector<std::string> out{"-lto"};
  for (const std::string& option : options) {
    const std::string long_form = option.starts_with("--") ? option : "-" + option;  // -ftz=true
    if (long_form == "--use_fast_math" || long_form == "--use-fast-math")
      out.insert(out.end(), {"-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1"});
    if (long_form == "--generate-line-info" || long_form == "--lineinfo")
      out.emplace_back("-lineinfo");
    for (const auto& [from, to] : with_values) {
      if (!long_form.starts_with(from)) continue;
      std::string value = long_form.substr(from.size());
      if (value == "true" || value == "false") value = value == "true" ? "1" : "0";
      out.push_back(text(to, value));
    }
  }
  return out;
}

bool has_lto_ir(const LinkJob& job) {
  return std::ranges::any_of(job.inputs, is_lto_ir, &LinkInput::image);
}

class NvJitLink {
 public:
  NvJitLink(const nvjitlink::Library& library, const std::vector<std::string>& options)
      : library_(library) {
    std::vector<const char*> option_pointers;
    option_pointers.reserve(options.size());
    for (const std::string& option : options) option_pointers.push_back(option.c_str());
    const nvjitlink::Result result = library_.api.create(
        &link_, static_cast<std::uint32_t>(option_pointers.size()), option_pointers.data());
    if (result != nvjitlink::success)
      fail<DeviceError>("cuda: nvJitLink ", library_.major, '.', library_.minor, " (",
                        library_.path.string(), ") does not start, result ", result,
                        "; its options are ", joined(options, " "));
  }
  ~NvJitLink() { library_.api.destroy(&link_); }
  NvJitLink(const NvJitLink&) = delete;
  NvJitLink& operator=(const NvJitLink&) = delete;

  void add(const LinkInput& input) {
    check(library_.api.add_data(link_, input_type(input), input.image.data(), input.image.size(),
                                input.name.c_str()),
          input.name);
  }
  void complete() { check(library_.api.complete(link_), "all inputs"); }
  std::string cubin() const { return read(library_.api.get_cubin_size, library_.api.get_cubin); }
  std::string ptx() const {
    std::string ptx = read(library_.api.get_ptx_size, library_.api.get_ptx);
    while (ptx.ends_with('\0')) ptx.pop_back();
    return ptx;
  }

 private:
  template <class Size, class Get>
  std::string read(Size get_size, Get get) const {
    std::size_t size = 0;
    nvjitlink::Result result = get_size(link_, &size);
    std::string bytes(size, '\0');
    if (result == nvjitlink::success && size > 0) result = get(link_, bytes.data());
    if (result != nvjitlink::success)
      fail<DeviceError>("cuda: nvJitLink failed at reading a result: ", result);
    return bytes;
  }
  void check(nvjitlink::Result result, std::string_view input) const {
    if (result == nvjitlink::success) return;
    std::string log = read(library_.api.get_error_log_size, library_.api.get_error_log);
    log.resize(std::min(log.find('\0'), log.size()));
    throw CompileError(text("linking failed (nvJitLink ", library_.major, '.', library_.minor,
                            ", at ", input, "):\n", log, runtime::link_remedy, '\n'),
                       log, "");
  }

  const nvjitlink::Library& library_;
  nvjitlink::Link link_ = nullptr;
};

}  // namespace

bool links_lto_ir(int major, int minor) {
  const nvjitlink::Library* library = nvjitlink::library();
  return library != nullptr && std::pair(library->major, library->minor) >= std::pair(major, minor);
}

std::string link(const LinkJob& job, std::optional<int> ordinal) {
  const nvjitlink::Library* library = nvjitlink::library();
  if (library == nullptr) {
    if (!ordinal.has_value() || has_lto_ir(job))
      fail<DeviceError>("cuda: ", has_lto_ir(job) ? "LTO-IR" : "device code",
                        " is linked by nvJitLink, and none was found; ", nvjitlink::remedy());
    return link_with_driver(job, *ordinal);
  }
  const bool to_ptx = job.architecture.starts_with("compute_");
  std::vector<std::string> options{"-arch=" + job.architecture};
  if (to_ptx) options.emplace_back("-ptx");
  if (has_lto_ir(job))
    for (std::string& option : lto_options(job.options)) options.push_back(std::move(option));
  NvJitLink linker(*library, options);
  for (const LinkInput& input : job.inputs) linker.add(input);
  linker.complete();
  return to_ptx ? linker.ptx() : linker.cubin();
}

}  // namespace spanwise::cuda
