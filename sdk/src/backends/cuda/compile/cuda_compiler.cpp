// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/cuda/compile/cuda_compiler.hpp"
#include "backends/cuda/compile/cuda_linker.hpp"
#include "backends/cuda/compile/device_image.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "core/string_utils.hpp"
#include "embedded/rtc_replaced_headers.hpp"
#include "parse/compiler_options.hpp"
#include "parse/device_code.hpp"
#include "parse/kernel_source.hpp"
#include "parse/lexer.hpp"
#include "runtime/backend.hpp"
#include "runtime/files.hpp"
#include "runtime/library_search.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"

// Compiles kernel source with NVRTC: the removal of host code, the fingerprint, the attempts and
// their errors.
namespace spanwise::cuda {
namespace {

namespace fs = std::filesystem;
using nvrtc::Library;
using parse::c_literal;
using parse::Include;
using parse::NvrtcOptions;
using parse::Token;
using runtime::build_stamp;
using runtime::CompileRequest;
using runtime::KernelBinary;

// A source without host code, and the user's headers that it includes.
struct DeviceSource {
  parse::KernelSource source;
  std::vector<std::pair<std::string, std::string>> headers;  // name in #include, contents
};

// The folders of the translated options, which are all written as -I<folder>, and of include_dirs.
std::vector<std::string> folders_of(const CompileRequest& request, const NvrtcOptions& options) {
  std::vector<std::string> folders;
  for (const std::string& word : options.arguments)
    if (word.starts_with("-I")) folders.push_back(word.substr(2));
  folders.insert(folders.end(), request.include_dirs.begin(), request.include_dirs.end());
  return folders;
}

bool never_replaced(std::string_view) { return false; }

bool is_sample_header(std::string_view name) {
  return std::any_of(embedded::rtc_replaced_headers.begin(), embedded::rtc_replaced_headers.end(),
                     [&](const embedded::TextFile& file) { return file.name == name; });
}

// Removes host code from a source and its headers. `toolkit` are the folders of CUDA's headers.
class HostCodeRemoval {
 public:
  HostCodeRemoval(std::vector<std::string> folders, const std::vector<fs::path>& toolkit)
      : files_(std::move(folders), never_replaced), toolkit_(toolkit) {
    const RtcHeaders known = rtc_headers(!toolkit.empty());
    known_to_nvrtc_.insert(known.names.begin(), known.names.end());
  }

  void add_names(std::string_view text) {
    for (const Token& token : parse::lex(text))
      if (token.kind == Token::Kind::identifier) files_.device_code().add_root(token.text);
  }

  void read(const parse::KernelSource& source) {
    source_ = &source;
    files_.add_main(source.text, here);
  }

  // Removes code that no kernel reaches from the lines in which NVRTC's `log` has errors,
  // "kernel.cu(12): error: ..."; returns whether there was any.
  bool remove_unreached(std::string_view log) {
    bool has_removed = false;
    for (const std::string_view line : split(log, '\n')) {
      const std::size_t end = line.find("): ");
      const std::size_t open = line.substr(0, end).rfind('(');
      if (end == line.npos || open == line.npos || line.find("error", end) == line.npos) continue;
      const auto number = parse_number<int>(line.substr(open + 1, end - open - 1));
      const std::string path(line.substr(0, open));
      if (!number) continue;
      const bool is_header = headers_.contains(path);
      if (!is_header && path != source_->file_name) continue;
      has_removed |= files_.device_code().remove_unreached(
          is_header ? files_.text_of(path) : std::string_view(source_->text), *number);
    }
    return has_removed;
  }

  // Nothing if the source has no function of the host and no header or name that NVRTC lacks, and
  // nothing was removed from it: its error then is in code of kernels.
  std::optional<DeviceSource> result(bool has_removed) {
    headers_.clear();
    DeviceSource result{*source_, {}};
    result.source.text = rewritten(source_->text, here);
    if (!lacks_header_ && !has_removed && !files_.device_code().has_host_functions()) return {};
    result.source.text =
        text("#include \"spanwise_nvcc.h\"\n",
             has_texture_references_ ? "#include \"spanwise_texture_references.h\"\n#line 1 "
                                     : "#line 1 ",
             c_literal(source_->file_name), "\n", result.source.text);
    for (const auto& [path, header] : headers_)
      result.headers.emplace_back(header.name, header.text);
    for (const embedded::TextFile& file : embedded::rtc_replaced_headers)
      result.headers.emplace_back(file.name, file.text);
    return result;
  }

 private:
  struct Header {
    std::string name, text;
  };

  static constexpr const char* here = ".";

  // NVRTC declares these, but the assembler refuses them, and libcu++ has other functions of their
  // names: spanwise_nvcc.h defines sw__any.
  static constexpr std::string_view old_votes = "__any __all __ballot";
  // What GPUs from compute capability 7.0 on lack, and spanwise_nvcc.h has.
  static constexpr std::string_view old_collectives =
      "__shfl __shfl_up __shfl_down __shfl_xor __any __all __ballot";

  // Names in a file that decide about its headers.
  struct Uses {
    bool std_names = false;
    bool thrust_names = false;
    bool driver_types = false;    // such as CUtensorMap
    bool implicit_names = false;  // such as uint, which nvcc's implicit headers declare
    bool texture_references = false;
  };
  static Uses uses_of(const std::vector<Token>& tokens) {
    Uses uses;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string_view name = tokens[i].text;
      if (tokens[i].kind != Token::Kind::identifier) continue;
      uses.texture_references |= name == "texture" && i + 1 < tokens.size() &&
                                 tokens[i + 1].text == "<" &&
                                 !(i > 0 && is_one_of(tokens[i - 1].text, {"::", "struct"}));
      uses.std_names |= name == "std";
      uses.thrust_names |= name == "thrust";
      uses.implicit_names |= parse::is_implicit_name(name) || is_word_of(name, old_collectives);
      uses.driver_types |=
          name.starts_with("CU") && name.size() > 2 && name[2] >= 'a' && name[2] <= 'z';
    }
    return uses;
  }

  std::string rewritten(std::string_view original, const std::string& folder) {
    std::string text = files_.device_code().without_host_code(original);
    const std::vector<Token> tokens = parse::lex(text);
    const Uses uses = uses_of(tokens);
    lacks_header_ |= uses.implicit_names || uses.texture_references;
    has_texture_references_ |= uses.texture_references;
    std::string out;
    std::size_t copied = 0;
    for (const Token& token : tokens) {
      if (is_word_of(token.text, old_votes)) {
        out.append(text, copied, token.offset - copied).append("sw").append(token.text);
        copied = token.offset + token.text.size();
      }
      if (token.kind != Token::Kind::directive) continue;
      const Include include = files_.read_include(token.text, folder);
      if (!include.is_include || include.name.empty()) continue;
      out.append(text, copied, token.offset - copied);
      out += replacement(include, uses).value_or(std::string(token.text));
      copied = token.offset + token.text.size();
    }
    return out.append(text, copied);
  }

  // The text in place of a directive; nothing if the directive stays.
  std::optional<std::string> replacement(const Include& include, const Uses& uses) {
    const std::string& name = include.name;
    if (!include.path.empty()) return "#include " + c_literal(header_name(include.path));
    // The driver's functions have parameters called N, which sources and options define as macros.
    if (name == "cuda.h") return uses.driver_types ? std::nullopt : std::optional<std::string>("");
    if (known_to_nvrtc_.contains(name)) return {};
    if (name.starts_with("thrust/") && !uses.thrust_names) {
      lacks_header_ = true;
      return "";
    }
    // The whole of CUB has host code; its primitives of blocks and warps have none.
    if (name == "cub/cub.cuh" || name.starts_with("cub/device/")) {
      lacks_header_ = true;
      return "#include \"spanwise_cub.h\"";
    }
    const bool is_sample = is_sample_header(name), is_cpp = parse::is_cpp_header(name);
    if (!is_sample && !is_cpp && !parse::is_c_header(name) && !is_host_only(name)) return {};
    lacks_header_ = true;
    if (is_sample) return {};
    if (name.starts_with("cublas") && !toolkit_.empty()) return "#include \"spanwise_cublas.h\"";
    return is_cpp && uses.std_names ? libcudacxx_include(name) : "";
  }

  std::string header_name(const std::string& path) {
    const auto [entry, is_new] = headers_.try_emplace(path);
    // Registered before it is read, because headers may include one another cyclically.
    if (is_new) {
      entry->second.name = text("spanwise_device_", headers_.size(), ".h");
      std::string contents = rewritten(files_.text_of(path), fs::path(path).parent_path().string());
      headers_.at(path).text = text("#line 1 ", c_literal(path), "\n", contents, "\n");
    }
    return headers_.at(path).name;
  }

  // The directive for the header of libcu++ in place of that of the C++ library, with its names in
  // namespace std; "" if the toolkit has no such header.
  std::string libcudacxx_include(const std::string& name) {
    std::error_code error;
    const fs::path file = fs::path("cuda") / "std" / name;
    const auto has_file = [&](const fs::path& folder) {
      return fs::is_regular_file(folder / file, error);
    };
    if (std::ranges::none_of(toolkit_, has_file)) return "";
    Header& header = headers_[file.string()];
    header.name = "spanwise_std_" + name;
    header.text = text("#include <", file.string(), ">\n",
                       "namespace std { using namespace ::cuda::std; }\n");
    // Still in the libraries of hosts.
    if (name == "functional")
      header.text +=
          "namespace std {\n"
          "template <class A, class R> struct unary_function {\n"
          "  typedef A argument_type; typedef R result_type; };\n"
          "template <class A, class B, class R> struct binary_function {\n"
          "  typedef A first_argument_type; typedef B second_argument_type;\n"
          "  typedef R result_type; };\n}\n";
    return "#include " + c_literal(header.name);
  }

  // CUB and Thrust also serve kernels.
  static bool is_host_only(const std::string& name) {
    return is_one_of(name, {"endian.h", "byteswap.h", "alloca.h"}) ||
           (parse::is_host_library_header(name) && !name.starts_with("cub/") &&
            !name.starts_with("thrust/"));
  }

  parse::IncludedFiles files_;
  const std::vector<fs::path>& toolkit_;
  const parse::KernelSource* source_ = nullptr;
  std::set<std::string, std::less<>> known_to_nvrtc_;
  std::map<std::string, Header> headers_;  // path -> rewritten header
  bool lacks_header_ = false, has_texture_references_ = false;
};

// Prepares the removal of host code (ADR 15) from `source`, of the request, and from the user's
// headers. Throws DeviceError if a header cannot be read.
void prepare(HostCodeRemoval& removal, const CompileRequest& request,
             const parse::KernelSource& source, const NvrtcOptions& options) {
  for (const std::string& expression : request.names) removal.add_names(expression);
  for (const std::string& directive : options.directives) removal.add_names(directive);
  if (&source != request.source) removal.add_names(request.source->text);
  for (const parse::KernelSource& linked : request.linked)
    if (&source != &linked && !linked.is_compiled) removal.add_names(linked.text);
  removal.read(source);
}

// Whether the text contains a launch, kernel<<<...>>>(...), possibly in host-only code that NVRTC
// skips. False for compiled sources.
bool may_launch_kernels(const parse::KernelSource& source) {
  if (source.is_compiled || source.text.find("<<<") == std::string::npos) return false;
  const std::vector<parse::Token> tokens = parse::lex(source.text);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (parse::opens_launch(tokens, i)) return true;
  return false;
}

// The archive of the device runtime as a compiled source to link. Throws DeviceError if it cannot
// be read.
parse::KernelSource read_device_runtime(const fs::path& archive) {
  std::ifstream file(archive, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.fail() || bytes.empty())
    fail<DeviceError>(
        "cuda: the device runtime, which kernels that launch kernels are linked with, "
        "cannot be read: ",
        archive.string(), "; check its permissions");
  parse::KernelSource source;
  source.text = std::move(bytes);
  source.file_name = archive.filename().string();
  source.is_compiled = true;
  return source;
}

bool includes_anything(const CompileRequest& request) {
  const auto has_include = [](const std::string& text) {
    return text.find("include") != text.npos;
  };
  const auto in_text = [&](const parse::KernelSource& source) {
    return !source.is_compiled && has_include(source.text);
  };
  return in_text(*request.source) || std::ranges::any_of(request.linked, in_text) ||
         std::ranges::any_of(request.options, has_include);
}

}  // namespace

fs::path device_runtime_archive(const fs::path& library) {
  std::vector<fs::path> folders = runtime::library_folders();
  folders.insert(folders.begin(), library.parent_path());
  for (const fs::path& folder : folders) {
    std::error_code error;
    fs::path archive = folder / "libcudadevrt.a";
    if (fs::is_regular_file(archive, error)) return archive;
  }
  return {};
}

std::string compiler_fingerprint(ComputeCapability capability, const CompileRequest& request) {
  std::string compiler;
  const auto installed = nvrtc::installation();
  if (!installed->library.empty()) {
    compiler = text("nvrtc ", installed->library.filename().string(), ' ',
                    build_stamp(installed->library));
    if (includes_anything(request)) {
      for (const auto& folder : installed->headers)
        compiler += text(" headers ", folder.string(), ' ', build_stamp(folder / "cuda_fp16.h"));
    }
  }
  if (!compiler.empty() && !request.linked.empty()) {
    const auto linker = nvjitlink::library_path();
    compiler += text(" nvjitlink ", linker.filename().string(), ' ', build_stamp(linker));
  }
  if (!compiler.empty() && may_launch_kernels(*request.source)) {
    const auto archive = device_runtime_archive(installed->library);
    compiler += text(" cudadevrt ", archive.string(), ' ', build_stamp(archive));
  }
  return text(compiler, "\ncuda ",
              parse::nvrtc_architecture(request.options, capability.major, capability.minor), ' ',
              default_options_digest());
}

namespace {

std::string missing_header_hint(const Library& library, const std::string& log,
                                const std::vector<fs::path>& folders) {
  if (log.find("could not open source file") == log.npos &&
      log.find("cannot open source file") == log.npos)
    return "";
  // Headers of CCCL: nv/target (included by cooperative_groups.h) and cuda/std/...
  const bool is_cccl = log.find("nv/target") != log.npos || log.find("\"cuda/") != log.npos;
  if (is_cccl && !folders.empty())
    return text(
        "That header is one of CCCL's, which NVIDIA's wheel of CUDA's headers leaves out: "
        "python3 -m pip install nvidia-cuda-cccl",
        library.major == 12 ? "-cu12" : "",
        ", or install the CUDA toolkit; or name its folder with -I or include_dirs.\n");
  const std::string folder_list =
      joined(folders, ", ", [](const auto& folder) { return folder.string(); });
  return text(
      "NVRTC has no host headers: it provides stdint.h, stddef.h, limits.h, float.h, math.h, "
      "stdio.h, stdlib.h, string.h, assert.h and their C++ forms",
      folder_list.empty() ? "; CUDA's own headers were not found (python3 -m pip install "
                            "nvidia-cuda-runtime, or the CUDA toolkit)"
                          : text(", and CUDA's headers in ", folder_list,
                                 " (among them cuda/std/... for the C++ library)"),
      ". Name other folders with -I or include_dirs.\n");
}

// For headers of CCCL that were found, but whose host code NVRTC does not compile.
std::string host_code_hint(const std::string& log) {
  if (log.find("/thrust/") == log.npos && log.find("/cub/device/") == log.npos) return "";
  return "NVRTC compiles CUB's primitives of blocks and warps, and Thrust's function objects and "
         "tuples, but neither Thrust's algorithms and complex numbers nor CUB's device-wide "
         "algorithms. Remedy: cuda::std::complex, spanwise's functions, or nvcc and "
         "spanwise.HostLibrary.\n";
}

// Throws the error for a compilation for which NVRTC returned `result` and the messages `log`:
// ArgumentError for options, CompileError for the source, else DeviceError. `folders` hold CUDA's
// headers.
[[noreturn]] void fail_compilation(const Library& library, nvrtc::Result result,
                                   const parse::KernelSource& source,
                                   const std::string& architecture, const std::string& log,
                                   const std::vector<fs::path>& folders) {
  const std::string& file = source.file_name;
  if (result == nvrtc::invalid_option)
    fail<ArgumentError>("SourceModule: NVRTC ", library.major, '.', library.minor,
                        " does not take the options for ", file, ": ", log);
  if (result != nvrtc::compilation_error)
    fail<DeviceError>("cuda: NVRTC failed at compiling ", file, ": ",
                      library.api.get_error_string(result), "\n", log);
  const std::string hint = host_code_hint(log);
  throw CompileError(text("SourceModule: ", file, " does not compile for ", architecture,
                          " (NVRTC ", library.major, '.', library.minor, "):\n", log,
                          hint.empty() ? missing_header_hint(library, log, folders) : hint),
                     log, parse::with_line_numbers(source.text));
}

// Implements keep=True: writes source and binary to a new folder and prints its path to standard
// error. Throws DeviceError if the folder cannot be written.
void keep_kernel_files(const parse::KernelSource& source, std::string_view image,
                       std::string_view suffix) {
  using runtime::TemporaryFolder;
  const TemporaryFolder folder(TemporaryFolder::Lifetime::kept);
  const fs::path name = fs::path(source.file_name).filename();
  folder.write(name.string(), source.text);
  folder.write(fs::path(name).replace_extension(suffix).string(), image);
  std::fprintf(stderr, "spanwise: kernel files kept in %s\n", folder.path().c_str());
}

std::string version_of(const Library& library) { return text(library.major, '.', library.minor); }

// The architecture to compile for: `requested`, or, if NVRTC does not support it, PTX for the
// newest older architecture that NVRTC supports; the driver compiles the PTX for the device.
std::string supported_architecture(const Library& library, const std::string& requested) {
  const int number = parse::architecture_number(requested);
  const std::vector<int>& supported = library.architectures;
  if (supported.empty() || std::ranges::find(supported, number) != supported.end())
    return requested;
  const auto above = std::ranges::upper_bound(supported, number);
  if (above == supported.begin())
    fail<DeviceError>("cuda: NVRTC ", version_of(library), " (", library.path.string(),
                      ") no longer compiles for ", requested, ", the oldest is sm_",
                      supported.front(), "; install an older NVRTC (nvidia-cuda-nvrtc-cu12)");
  return text("compute_", *(above - 1));
}

// The source text for NVRTC: the directives and pre-includes of the options, then the user's text
// with its own line numbers.
std::string with_directives(const parse::KernelSource& source, const NvrtcOptions& options) {
  if (options.directives.empty() && options.pre_includes.empty()) return source.text;
  std::string out = "#line 1 \"options\"\n";
  for (const std::string& line : options.directives) out += line + '\n';
  for (const std::string& file : options.pre_includes)
    out += text("#include ", c_literal(file), '\n');
  return text(out, "#line 1 ", c_literal(source.file_name), '\n', source.text);
}

std::vector<std::string> arguments_for(const CompileRequest& request, const NvrtcOptions& options,
                                       const std::string& architecture,
                                       const std::vector<fs::path>& header_folders) {
  std::vector<std::string> all{"--gpu-architecture=" + architecture};
  for (std::string& option : default_options(options.arguments)) all.push_back(std::move(option));
  all.insert(all.end(), options.arguments.begin(), options.arguments.end());
  for (const std::string& folder : request.include_dirs) all.push_back("-I" + folder);
  // Last, so that the user's files of the same name are found first.
  for (const auto& folder : header_folders) all.push_back("-I" + folder.string());
  return all;
}

// An output format of NVRTC and the options that select it.
struct ImageForm {
  const char* suffix;  // file extension for keep=True
  std::string (NvrtcProgram::*read)() const;
  std::vector<std::string> options{};
};
const ImageForm executable_cubin{"cubin", &NvrtcProgram::cubin};
const ImageForm executable_ptx{"ptx", &NvrtcProgram::ptx};
const ImageForm relocatable_cubin{
    "cubin", &NvrtcProgram::cubin, {"--relocatable-device-code=true"}};
const ImageForm relocatable_ptx{"ptx", &NvrtcProgram::ptx, {"--relocatable-device-code=true"}};
const ImageForm relocatable_lto_ir{
    "ltoir", &NvrtcProgram::lto_ir, {"--relocatable-device-code=true", "-dlto"}};

// Compiles one request with NVRTC.
class NvrtcCompilation {
 public:
  NvrtcCompilation(ComputeCapability capability, const CompileRequest& request)
      : request_(request),
        device_architecture_(text("sm_", capability.major, capability.minor)),
        options_(parse::nvrtc_options(request.options, capability.major, capability.minor)),
        library_(nvrtc::library()),
        architecture_(supported_architecture(library_, options_.architecture)),
        folders_(nvrtc::installation()->headers) {}

  KernelBinary alone() const {
    KernelBinary binary;
    std::map<std::string, std::string> named;
    binary.image = compile(*request_.source, makes_ptx() ? executable_ptx : executable_cubin,
                           request_.names, named);
    add_symbols(binary, named);
    return binary;
  }

  KernelBinary linked(std::optional<int> ordinal) const {
    KernelBinary binary;
    std::map<std::string, std::string> named, unnamed;
    const ImageForm& form = form_to_link();
    // PTX can be linked only from LTO-IR. Relocatable PTX is linked to a cubin for the device.
    const bool to_cubin = makes_ptx() && &form == &relocatable_ptx;
    LinkJob job{to_cubin ? device_architecture_ : architecture_, {}, options_.arguments};
    job.inputs.push_back(
        {request_.source->file_name, compile(*request_.source, form, request_.names, named)});
    for (const parse::KernelSource& source : request_.linked)
      job.inputs.push_back({source.file_name,
                            source.is_compiled ? source.text : compile(source, form, {}, unnamed)});
    binary.image = link(job, ordinal);
    add_symbols(binary, named);
    return binary;
  }

 private:
  bool makes_ptx() const { return architecture_.starts_with("compute_"); }

  // LTO-IR, so that functions are inlined across sources. Not with device debugging, not if
  // nvJitLink is missing or older than NVRTC, and not together with inputs that are already
  // compiled, because nvJitLink does not resolve their calls to functions in LTO-IR.
  const ImageForm& form_to_link() const {
    const bool has_debug_option =
        std::ranges::any_of(options_.arguments, [](const std::string& argument) {
          return argument == "-G" || argument == "--device-debug";
        });
    const bool can_be_lto_ir =
        std::ranges::all_of(request_.linked, [](const parse::KernelSource& source) {
          return !source.is_compiled || is_lto_ir(source.text);
        });
    if (can_be_lto_ir && !has_debug_option && links_lto_ir(library_.major, library_.minor))
      return relocatable_lto_ir;
    return makes_ptx() ? relocatable_ptx : relocatable_cubin;
  }

  struct Attempt {
    std::unique_ptr<NvrtcProgram> program;
    nvrtc::Result result = nvrtc::success;
  };

  // Stores the symbol of each name expression of `names` in `named`. A source that does not compile
  // as it is may have host code, and is compiled again without it; then as C++20, if no option
  // chooses another standard; then without code that no kernel reaches in lines that have errors.
  std::string compile(const parse::KernelSource& source, const ImageForm& form,
                      const std::vector<std::string>& names,
                      std::map<std::string, std::string>& named) const {
    std::optional<HostCodeRemoval> removal;
    std::optional<DeviceSource> device;
    bool is_newer = false;  // C++20
    const auto run = [&] { return attempt(source, device, form, names, is_newer); };
    const auto is_success = [](const Attempt& each) { return each.result == nvrtc::success; };
    Attempt best = run();
    if (is_success(best)) return accept(source, form, names, named, *best.program);
    if (best.result == nvrtc::compilation_error)
      prepare(removal.emplace(folders_of(request_, options_), folders_), request_, source,
              options_);
    if (removal && (device = removal->result(false))) best = run();
    if (is_success(best)) return accept(device->source, form, names, named, *best.program);
    if (removal && !parse::sets_standard(request_.options)) {
      is_newer = true;
      Attempt newer = run();
      is_newer = is_success(newer) || error_count(newer) < error_count(best);
      if (is_newer) best = std::move(newer);
      if (is_success(best)) return accept(source, form, names, named, *best.program);
    }
    // The error that is reported is that of the source with all code that no kernel reaches.
    std::string log = best.program->log();
    for (int round = 0; round < 16 && removal && removal->remove_unreached(log); ++round) {
      device = removal->result(true);
      const Attempt next = run();
      if (is_success(next)) return accept(device->source, form, names, named, *next.program);
      log = next.program->log();
    }
    fail_compilation(library_, best.result, source, architecture_, best.program->log(), folders_);
  }

  static std::size_t error_count(const Attempt& attempt) {
    const std::string log = attempt.program->log();
    std::size_t count = attempt.result == nvrtc::compilation_error ? 0 : log.npos;
    for (std::size_t at = log.find("error:"); at != log.npos; at = log.find("error:", at + 1))
      ++count;
    return count;
  }

  // Compiles `device` or, without it, `original`.
  Attempt attempt(const parse::KernelSource& original, const std::optional<DeviceSource>& device,
                  const ImageForm& form, const std::vector<std::string>& names,
                  bool is_newer) const {
    const parse::KernelSource& source = device ? device->source : original;
    RtcHeaders headers = rtc_headers(!folders_.empty());
    if (device) {
      for (const auto& [name, contents] : device->headers) {
        headers.names.push_back(name.c_str());
        headers.texts.push_back(contents.c_str());
      }
    }
    const std::string source_text = with_directives(source, options_);
    auto arguments = arguments_for(request_, options_, architecture_, folders_);
    arguments.insert(arguments.end(), form.options.begin(), form.options.end());
    if (is_newer) std::ranges::replace(arguments, "-std=c++17", "-std=c++20");
    const auto run = [&]() -> Attempt {
      auto program =
          std::make_unique<NvrtcProgram>(library_, source_text, source.file_name, headers);
      for (const std::string& name : names) program->add_name(name);
      const nvrtc::Result result = program->compile(arguments);
      return {std::move(program), result};
    };
    if (has_minimal_option(library_.major, library_.minor) && may_be_minimal(source_text)) {
      arguments.emplace_back(minimal_option);
      if (Attempt minimal = run(); minimal.result == nvrtc::success) return minimal;
      arguments.pop_back();  // so that the log is that of a compilation with all declarations
    }
    return run();
  }

  std::string accept(const parse::KernelSource& source, const ImageForm& form,
                     const std::vector<std::string>& names,
                     std::map<std::string, std::string>& named, const NvrtcProgram& program) const {
    for (const std::string& name : names) named[name] = program.lowered(name);
    std::string image = (program.*form.read)();
    if (request_.keep) keep_kernel_files(source, image, form.suffix);
    return image;
  }

  static void add_symbols(KernelBinary& binary, std::map<std::string, std::string>& named) {
    binary.symbols = names_of(read_symbols(binary.image).kernels);
    for (auto& [name, symbol] : named) binary.symbols[name] = std::move(symbol);
  }

  const CompileRequest& request_;
  const std::string device_architecture_;
  const NvrtcOptions options_;
  const Library& library_;
  const std::string architecture_;
  const std::vector<fs::path> folders_;
};

bool any_may_launch(const CompileRequest& request) {
  return may_launch_kernels(*request.source) ||
         std::ranges::any_of(request.linked, may_launch_kernels);
}

KernelBinary with_device_runtime(ComputeCapability capability, CompileRequest request,
                                 const fs::path& archive, std::optional<int> ordinal) {
  request.linked.push_back(read_device_runtime(archive));
  return NvrtcCompilation(capability, request).linked(ordinal);
}

KernelBinary without_device_runtime(ComputeCapability capability, const CompileRequest& request,
                                    std::optional<int> ordinal) {
  const NvrtcCompilation compilation(capability, request);
  return request.linked.empty() ? compilation.alone() : compilation.linked(ordinal);
}

}  // namespace

KernelBinary compile(ComputeCapability capability, const CompileRequest& request,
                     std::optional<int> ordinal) {
  if (!any_may_launch(request)) return without_device_runtime(capability, request, ordinal);
  const fs::path archive = device_runtime_archive(nvrtc::library().path);
  try {
    return without_device_runtime(capability, request, ordinal);
  } catch (const CompileError& error) {
    // A launch in host-only code, which NVRTC skips, needs no device runtime; therefore the first
    // attempt links without it. A source that fails so may launch kernels from the device.
    if (!archive.empty()) return with_device_runtime(capability, request, archive, ordinal);
    throw CompileError(
        text(error.what(),
             "\nIf it is for kernels that launch kernels: they are linked with the "
             "device runtime, libcudadevrt.a of the CUDA toolkit, which was not found; "
             "name its folder in SPANWISE_CUDA_LIBRARY_PATH"),
        error.log(), error.source());
  }
}

KernelBinary compile_for(const std::string& target, const CompileRequest& request) {
  const int number = parse::architecture_number(target);
  const bool is_known = (target.starts_with("sm_") || target.starts_with("compute_")) &&
                        number >= 10 && number < 1000;
  if (!is_known)
    fail<ArgumentError>("compile: expected an architecture such as sm_90 or compute_80, got '",
                        target, "'");
  CompileRequest complete = request;
  complete.options.push_back("-arch=" + target);
  return compile({number / 10, number % 10}, complete);
}

int suitability(ComputeCapability device, std::string_view target) {
  const int number = parse::architecture_number(target);
  const int own = device.major * 10 + device.minor;
  // Binaries with the suffix "a" run on that architecture only.
  const bool is_specific = !target.empty() && (target.back() == 'a' || target.back() == 'f');
  if (number > own || (is_specific && number != own)) return 0;
  if (target.starts_with("compute_")) return number;
  return number / 10 == device.major ? 1000 + number + (is_specific ? 1 : 0) : 0;
}

}  // namespace spanwise::cuda
