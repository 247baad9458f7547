// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/jit_compiler.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "backends/cpu/cpu_settings.hpp"
#include "backends/cpu/exec/fibers.hpp"
#include "backends/cpu/jit/preprocessor.hpp"
#include "backends/cpu/jit/process.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "backends/cpu/processor.hpp"
#include "backends/cpu/shim/spanwise/spanwise_abi.h"
#include "core/string_utils.hpp"
#include "embedded/translator_digest.hpp"
#include "parse/device_code.hpp"
#include "runtime/elf_image.hpp"
#include "runtime/files.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/instruction_sets.hpp"
#include "spanwise/runtime/interrupt.hpp"

namespace spanwise::cpu_backend {
namespace {

// Of the files that are compiled; objects of libraries have others.
constexpr std::string_view source_ending = ".cpp";

namespace fs = std::filesystem;

// The system's C++ compiler.
struct HostCompiler {
  std::string path;                    // path of the program
  std::vector<std::string> arguments;  // further words of CXX, e.g. of "ccache g++"
  // Path, size and mtime of the program: changes when it is replaced. Determined without running
  // it.
  std::string identity;
  bool is_clang = false;  // whether it takes clang's options; known where it is run
};

std::string identity_of(const std::string& path) {
  return text(path, " ", runtime::build_stamp(path));
}

std::optional<HostCompiler> compiler_from(const std::string& command) {
  std::istringstream words(command);
  HostCompiler compiler;
  std::string name;
  if (!(words >> name)) return {};
  compiler.path = find_program(name);
  if (compiler.path.empty()) return {};
  compiler.identity = identity_of(compiler.path);
  for (std::string word; words >> word;) {
    compiler.arguments.push_back(word);
    // For a wrapper, the program that it runs is part of the identity.
    if (const std::string program = find_program(word); !program.empty())
      compiler.identity.append(" ").append(identity_of(program));
  }
  return compiler;
}

// CXX; "" if it is not set or blank.
std::string chosen_compiler() { return std::string(trimmed(environment("CXX"))); }

// -fno-strict-aliasing: CUDA code often accesses objects through pointers to other types.
// -fno-trapping-math: floating-point exceptions are not observed, and preserving them prevents
// vectorization.
// -ffp-contract=fast: a * b + c is rounded once, as by nvcc.
// -fno-semantic-interposition, -Bsymbolic: functions of the module are never interposed.
// -z defs: undefined symbols are errors of the compiler, not of the loader.
// -fstack-protector-strong: a function whose local arrays were overrun fails the kernel.
// -fno-delete-null-pointer-checks: an access through null is a fault, not unreachable code.
// -fno-builtin-*, -U_FORTIFY_SOURCE (set by Ubuntu): calls of functions that the shim replaces stay
// calls, and headers of the system do not define them.
// -D__ioinit=*__ioinit: an object of libstdc++ before 13, which <iostream> initializes in each
// source, becomes a pointer without initialization.
constexpr std::string_view common_flags =
    "-x c++ -O3 -fPIC -shared -w -fno-strict-aliasing -fno-exceptions -fno-rtti "
    "-fno-threadsafe-statics -fno-math-errno -fno-trapping-math -ffp-contract=fast "
    "-fno-semantic-interposition -fstack-protector-strong -fno-delete-null-pointer-checks "
    "-fno-builtin-printf -fno-builtin-malloc -fno-builtin-free -U_FORTIFY_SOURCE "
    "-fvisibility=hidden -D__ioinit=*__ioinit "
    "-fdiagnostics-color=never -fstack-usage -Wl,-Bsymbolic -Wl,-z,defs -nodefaultlibs";

#if defined(__x86_64__)
constexpr const char* native_flag = "-march=native";
#else
constexpr const char* native_flag = "-mcpu=native";
#endif

// logical-op-non-short-circuit=0: `x < w && y < h` must stay two conditions, so that the compiler
// can split a loop at one of them and hoist the other. -fno-tree-slp-vectorize: it merges stores to
// threadIdx through its address; the compiler then assumes that any store may change threadIdx, and
// vectorizes no loop. -fno-isolate-erroneous-paths-dereference: it turns paths that divide by zero
// into traps. -fno-tree-loop-distribute-patterns: it makes calls of memcpy and memset for rows of a
// block, of 16 to 256 elements. -fno-gnu-unique: the shared variables of a template would otherwise
// be one object for all modules of the process, of the size that the first of them gives it. No
// -mtls-dialect=gnu2: its calls must preserve all registers, but those of glibc before 2.40 do not
// once a process has loaded so many modules that their thread-local data is allocated lazily (glibc
// bug 31372).
constexpr std::string_view gnu_flags =
#if defined(__x86_64__)
    "-fcf-protection=none "
#endif
    "-fno-gnu-unique --param=logical-op-non-short-circuit=0 -fno-tree-slp-vectorize "
    "-fno-isolate-erroneous-paths-dereference -fno-tree-loop-distribute-patterns -fmax-errors=20";

// Every access becomes a call. Loads are not moved out of loops and conditions: the source may not
// execute them there.
constexpr std::string_view gnu_access_flags =
    "-O1 -fsanitize=thread --param=tsan-distinguish-volatile=1 -fno-tree-loop-im "
    "-fno-hoist-adjacent-loads";
// -fno-optimize-sibling-calls: a check at the end of a kernel would have no frame with its line.
constexpr std::string_view gnu_check_flags =
    "-g -fno-optimize-sibling-calls -fsanitize=bounds,alignment";
// Where the lanes of a warp run in step, each statement has one place in the code, in the order of
// the source: no statement is copied to several paths.
constexpr std::string_view gnu_step_flags =
    "-fno-thread-jumps -fno-tree-dominator-opts -fno-tree-ch -fno-reorder-blocks";

// Also reads before a write of the same element become calls: a read at a null pointer faults.
constexpr std::string_view clang_access_flags =
    "-O1 -fsanitize=thread -mllvm -tsan-distinguish-volatile -mllvm "
    "-tsan-instrument-func-entry-exit=0 -mllvm -tsan-instrument-read-before-write";
constexpr std::string_view clang_check_flags =
    "-g -fno-optimize-sibling-calls -fsanitize=array-bounds,alignment";

constexpr std::string_view split_stack_flags =
#if defined(SW_STACK_LIMIT)
    "-fsplit-stack -DSW_SPLIT_STACK=1";
#else
    "";
#endif

// -fno-integrated-as: only GNU as expands macros that have the names of instructions, by which
// spanwise_cpu.h guards divisions.
constexpr std::string_view clang_flags =
#if defined(__x86_64__)
    "-fno-integrated-as "
#endif
    "-ferror-limit=20";

// Line counts of config cpu_coverage. Without optimization, each line of the source has code of its
// own. Several threads count at once.
constexpr std::string_view coverage_flags = "-O0 --coverage -fprofile-update=atomic";
constexpr std::string_view coverage_code =
    "\nextern \"C\" void __gcov_dump();"
    "\nextern \"C\" __attribute__((visibility(\"default\"), used)) void sw_write_coverage() "
    "{ __gcov_dump(); }\n";

std::vector<std::string> words_of(std::string_view flags) {
  const std::vector<std::string_view> words = split(flags, ' ');
  return {words.begin(), words.end()};
}

// The compiler that CXX names or, if that is unset or blank, the first of g++ and clang++ in PATH.
// Only reads the file system.
std::optional<HostCompiler> find_compiler() {
  // If CXX is set, no other compiler is tried.
  if (const std::string chosen = chosen_compiler(); !chosen.empty()) return compiler_from(chosen);
  if (auto compiler = compiler_from("g++")) return compiler;
  return compiler_from("clang++");
}

// As find_compiler(). Throws DeviceError naming CXX, or the programs searched and the package to
// install.
HostCompiler require_compiler() {
  if (auto compiler = find_compiler()) return *std::move(compiler);
  if (const std::string chosen = chosen_compiler(); !chosen.empty())
    fail<DeviceError>(
        "cpu: kernels are compiled by the C++ compiler that the environment variable CXX names; "
        "expected a program, got CXX=",
        chosen,
        ", whose first word is not a program in PATH. Install it, set CXX to another, or unset CXX "
        "to use the g++ or clang++ of PATH");
  fail<DeviceError>(
      "cpu: kernels are compiled by the system's C++ compiler, and none was found: looked for g++ "
      "and clang++ in PATH. Install one: sudo apt-get install g++");
}

// Options for every kernel, without the language standard.
std::vector<std::string> base_flags(bool is_clang) {
  return words_of(text(common_flags, ' ', native_flag, ' ', is_clang ? clang_flags : gnu_flags));
}

// Options for sources with recursion: functions call the shim (spanwise_cpu.h) if too little stack
// is left.
std::vector<std::string> recursion_flags() { return words_of(split_stack_flags); }

// Options that make the compiler call the shim (spanwise_check.h) for each memory access.
std::vector<std::string> access_flags(bool is_clang, const Translation& module) {
  std::string flags(is_clang ? clang_access_flags : gnu_access_flags);
  if (module.checked) flags += text(' ', is_clang ? clang_check_flags : gnu_check_flags);
  if (module.in_step && !is_clang) flags += text(' ', gnu_step_flags);
  return words_of(flags);
}

// All options above, for every compiler.
std::string flags_fingerprint() {
  return joined(std::array{std::string_view(native_flag), common_flags, gnu_flags, clang_flags,
                           split_stack_flags, gnu_access_flags, gnu_check_flags, gnu_step_flags,
                           clang_access_flags, clang_check_flags},
                " ");
}

// The first line that --version prints: "g++ (Debian 12.2.0-14) 12.2.0", "Debian clang
// version 14.0.6".
std::string version_of(const HostCompiler& compiler) {
  std::vector<std::string> command{compiler.path};
  command.insert(command.end(), compiler.arguments.begin(), compiler.arguments.end());
  command.push_back("--version");
  std::error_code error;
  const std::string folder = fs::temp_directory_path(error).string();
  const ProcessResult result = run_process(command, folder);
  const std::string version = result.output.substr(0, result.output.find('\n'));
  if (result.exit_code != 0)
    fail<DeviceError>(compiler.path, " does not run: ", version,
                      "; reinstall it, or set CXX to another C++ compiler");
  return version;
}

// Whether the compiler takes clang's options. The file name with symbolic links resolved says so
// for g++-12 and clang-14; of another program, such as ccache or a script, the version does.
bool is_clang_compiler(const HostCompiler& compiler) {
  std::error_code error;
  const std::string name = fs::canonical(compiler.path, error).filename().string();
  if (name.find("clang") != std::string::npos) return true;
  if (name.find("g++") != std::string::npos || name.find("gcc") != std::string::npos) return false;
  return version_of(compiler).find("clang") != std::string::npos;
}

// Bytes below the kernel's frames: for the stack switch, a library function such as powf, and the
// frame of a signal handler with all vector registers.
constexpr std::size_t base_reserve = 6 << 10;
// Bytes for printf, and for an unknown depth: recursion, or an array of variable length.
constexpr std::size_t printf_reserve = 16 << 10, unknown_depth_reserve = 128 << 10;

struct Frame {
  std::string_view function;
  std::size_t bytes = 0;
  bool is_fixed = true;
};

// "kernel.cu:3:17:void add(const float*)<tab>48<tab>static"
std::optional<Frame> read_frame(std::string_view line) {
  const std::size_t size = line.find('\t'), kind = line.find('\t', size + 1);
  if (size == std::string_view::npos || kind == std::string_view::npos) return {};
  Frame frame;
  frame.function = line.substr(0, size);
  frame.bytes = parse_number<std::size_t>(line.substr(size + 1, kind - size - 1)).value_or(0);
  frame.is_fixed = line.substr(kind + 1).find("dynamic") == std::string_view::npos ||
                   line.substr(kind + 1).find("bounded") != std::string_view::npos;
  return frame;
}

bool has_dynamic_frames(std::string_view report) {
  return std::ranges::any_of(split(report, '\n'), [](std::string_view line) {
    const std::optional<Frame> frame = read_frame(line);
    return frame && !frame->is_fixed;
  });
}

bool names_kernel(std::string_view function, const Translation& module) {
  return std::ranges::any_of(module.kernel_names, [&](const std::string& name) {
    return function.find(name) != std::string_view::npos;
  });
}

std::vector<std::string> command_line(const HostCompiler& compiler, const HostOptions& options,
                                      const std::vector<std::string>& sources,
                                      const std::string& output,
                                      const runtime::TemporaryFolder& folder,
                                      const Translation& module, bool with_system, bool with_cccl,
                                      bool is_covered) {
  std::vector<std::string> command{compiler.path};
  const auto add = [&](const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  add(compiler.arguments);
  add(base_flags(compiler.is_clang));
  command.push_back(options.language);
  // The shim's headers before all others: the C library's would clash with CUDA's intrinsics. CCCL
  // must not find them in place of the toolkit's.
  add({with_cccl ? "-iquote" : "-I", folder.path()});
  for (const std::string& include_dir : options.include_dirs) add({"-I", include_dir});
  if (with_cccl) add({"-isystem", module.cccl});
  add(options.flags);
  const bool calls_accesses = module.checked || module.in_step;
  if (calls_accesses) add(access_flags(compiler.is_clang, module));
  const std::string sanitizer = calls_accesses ? "" : sanitize_setting();
  if (module.recurses && sanitizer.empty()) add(recursion_flags());
  if (is_covered) add(words_of(coverage_flags));
  if (!sanitizer.empty()) add({"-O1", "-g", "-fsanitize=" + sanitizer, "-fno-omit-frame-pointer"});
  add(sources);
  add({"-o", output});
  if (with_system) add({"-fexceptions", "-Wl,--as-needed", "-lstdc++", "-lgcc_s"});
  if (is_covered) command.emplace_back("-lgcov");
  add({"-lm", "-lc", "-lgcc"});
  if (!sanitizer.empty()) {
    std::erase(command, "-nodefaultlibs");
    std::erase(command, "-Wl,-z,defs");  // the sanitizer's functions come with its runtime
  }
  return command;
}

// The compiler's output, without the temporary folder in file names.
std::string readable_log(std::string log, const runtime::TemporaryFolder& folder) {
  const std::string prefix = folder.path() + "/";
  for (std::size_t position = log.find(prefix); position != std::string::npos;
       position = log.find(prefix, position))
    log.erase(position, prefix.size());
  return log;
}

[[noreturn]] void fail_timeout(const runtime::CompileRequest& request, const HostCompiler& compiler,
                               const std::string& log) {
  throw CompileError(
      text(request.source->file_name, ": ", compiler.path, " was killed after ",
           process_limits().time.count(),
           " s, before it had compiled the source for the CPU. Remedy: raise config "
           "compile_timeout_s (0 is no limit), or see what the compiler waits for:\n",
           log),
      log, parse::with_line_numbers(request.source->text));
}

std::string remedy_for(const std::string& log, const Translation& module) {
  if (log.find("No such file or directory") != log.npos || log.find("file not found") != log.npos)
    return "Remedy: name the folder of the missing header with include_dirs or -I.\n";
  const std::string names = joined(module.left_out);
  if (names.empty()) return "";
  const bool needs_cccl = module.cccl.empty() && names.find("thrust/") != names.npos;
  return text("The CPU compiles device code only and has left out ", names,
              ". Guard device code that needs them with #ifndef SW_CPU",
              needs_cccl ? ", or install the headers of Thrust: python3 -m pip install "
                           "nvidia-cuda-cccl"
                         : "",
              ".\n");
}

[[noreturn]] void fail_compile(const runtime::CompileRequest& request, const HostCompiler& compiler,
                               const Translation& module, const std::string& log) {
  const parse::KernelSource* source = request.source;
  // The message of something that only a GPU has, which the compiler has found to be used.
  if (log.find("sw_refused_") != log.npos) {
    const std::string message = log.substr(0, log.find('\n'));
    throw CompileError(message, message, parse::with_line_numbers(source->text));
  }
  for (const parse::KernelSource& linked : request.linked)
    if (log.find(linked.file_name) != log.npos) source = &linked;
  if (!request.linked.empty() &&
      (log.find("undefined reference") != log.npos || log.find("multiple definition") != log.npos))
    throw CompileError(text(source->file_name, " and the sources linked with it: ", compiler.path,
                            " could not link them for the CPU:\n", log, runtime::link_remedy, '\n'),
                       log, "");
  throw CompileError(text(source->file_name, ": ", compiler.path,
                          " could not compile it for the CPU:\n", log, remedy_for(log, module)),
                     log, parse::with_line_numbers(source->text));
}

// Reads all .su files, because each compiler names the output of -fstack-usage differently.
std::string stack_reports(const runtime::TemporaryFolder& folder) {
  std::string all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
    if (entry.path().extension() == ".su") all += parse::read_whole_file(entry.path().string());
  return all;
}

// Whether a source of the module initializes variables by code. A libstdc++ that is linked
// statically does so in objects of its own, whose symbols follow the names of their files.
bool has_computed_initializers(const std::string& image) {
  bool is_source = false, has_any = false;
  runtime::ElfImage(image).for_each_symbol([&](const Elf64_Sym& symbol, std::string_view name) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE) is_source = name.ends_with(source_ending);
    has_any |= is_source && name.starts_with("_GLOBAL__sub_I_");
  });
  return has_any;
}

// The loader would run initializers outside of all kernels, where a fault ends the process. CUDA's
// compilers refuse them.
void expect_constant_initializers(const runtime::CompileRequest& request,
                                  const std::string& image) {
  // Sanitizers have such functions of their own.
  if (!sanitize_setting().empty() || !has_computed_initializers(image)) return;
  const std::string message = text(
      request.source->file_name, ": the initial value of a __device__ or __constant__ variable ",
      "is computed by code (dynamic initialization), which CUDA does not support. Remedy: a ",
      "constant or a constexpr constructor, and no destructor; or a kernel that writes it");
  throw CompileError(message, message, parse::with_line_numbers(request.source->text));
}

}  // namespace

std::size_t stack_need(std::string_view report, const Translation& module) {
  std::size_t kernel = 0, others = 0;
  bool is_bounded = !module.recurses;
  for (const std::string_view line : split(report, '\n')) {
    const std::optional<Frame> frame = read_frame(line);
    if (!frame) continue;
    // Fibers do not run split forms.
    if (frame->function.find("sw_split_") != line.npos ||
        frame->function.find("run_split") != line.npos)
      continue;
    is_bounded &= frame->is_fixed;
    // A kernel may be inlined into members of sw_code (spanwise_launch.h), which then have its
    // frame.
    if (names_kernel(frame->function, module) || frame->function.find("sw_code") != line.npos)
      kernel = std::max(kernel, frame->bytes);
    else
      others += frame->bytes;
  }
  // Twice the kernel's frame: its own, and that of the member of sw_code that calls it.
  return base_reserve + 2 * kernel + others + (module.prints ? printf_reserve : 0) +
         (is_bounded ? 0 : unknown_depth_reserve);
}

void set_stack_need(std::string& image, std::size_t bytes) {
  const std::uint64_t pattern[] = {SW_MODULE_MAGIC, SW_STACK_UNKNOWN};
  const std::string_view placeholder(reinterpret_cast<const char*>(pattern), sizeof pattern);
  const std::uint64_t need = bytes;
  std::size_t position = image.find(placeholder);
  if (position == std::string::npos)
    fail<DeviceError>(
        "cpu: the compiler's output is not a kernel module (it lacks sw_module_info)");
  for (; position != std::string::npos;
       position = image.find(placeholder, position + placeholder.size()))
    std::memcpy(image.data() + position + sizeof(std::uint64_t), &need, sizeof need);
}

Tool compiler_tool() {
  Tool tool{.name = "host compiler"};
  try {
    const HostCompiler compiler = require_compiler();
    tool.path = compiler.path;
    tool.version = version_of(compiler);
  } catch (const DeviceError& error) {
    tool.missing = error.what();
  }
  return tool;
}

std::string jit_fingerprint() {
  const auto compiler = find_compiler();
  return text(compiler ? compiler->identity : "", "\ncpu ", processor_features(), "\nshim ",
              shim_fingerprint(), "\ntranslator " SW_TRANSLATOR_DIGEST "\nflags ",
              flags_fingerprint(), "\norder ", reverse_order_setting() ? "reverse" : "forward",
              "\nsanitize ", sanitize_setting(), warps_in_step_setting() ? "\nwarps step" : "",
              fibers_setting() ? "\nbarriers fibers" : "");
}

namespace {

void require_text(const parse::KernelSource& source) {
  if (source.is_compiled)
    fail<ArgumentError>("cpu: expected ", source.file_name, " as CUDA C++ text, got ",
                        source.text.size(),
                        " bytes of compiled device code, which only a GPU runs. Remedy: give its "
                        "source");
}

// What a log has errors of: "kernel.cu:12:5: error: ...", and of the linker "undefined reference to
// `f(int)'".
std::set<Failure> failures_in(std::string_view log) {
  constexpr std::string_view undefined = "undefined reference to ";
  std::set<Failure> failures;
  for (const std::string_view line : split(log, '\n')) {
    if (const std::size_t at = line.find(undefined); at != line.npos) {
      // The last name before the parameters: "n::f(int)".
      std::string_view name = line.substr(at + undefined.size() + 1);
      name = name.substr(0, name.find_first_of("(<'"));
      const std::size_t scope = name.rfind(':');
      failures.insert({std::string(name.substr(scope == name.npos ? 0 : scope + 1)), 0});
      continue;
    }
    const std::size_t end = line.find(": error:");
    if (end == line.npos) continue;
    for (std::size_t colon = line.find(':'); colon < end; colon = line.find(':', colon + 1)) {
      std::string_view number = line.substr(colon + 1, end - colon - 1);
      const std::optional<int> found = take_number<int>(number);
      if (!found || (!number.empty() && number.front() != ':')) continue;
      failures.insert({std::string(line.substr(0, colon)), *found});
      break;
    }
  }
  return failures;
}

// Compiles a request; an object serves one call of run().
class JitCompilation {
 public:
  // `target` is an argument of -march; "": this processor.
  JitCompilation(const runtime::CompileRequest& request, const std::string& target)
      : request_(request),
        machine_flag_(target.empty() ? native_flag : "-march=" + target),
        options_(parse::host_options(request.options)),
        folder_(folder_for(request)) {
    options_.include_dirs.insert(options_.include_dirs.end(), request.include_dirs.begin(),
                                 request.include_dirs.end());
    compiler_.is_clang = is_clang_compiler(compiler_);
    if (request.is_covered) write_origins();
    if (request.keep)
      std::fprintf(stderr, "spanwise cpu: kept %s/kernel.cpp and the files compiled with it\n",
                   folder_.path().c_str());
  }

  runtime::KernelBinary run() {
    preprocess_sources();
    module_ = translate(request_, options_, texts_, {}, thread_order());
    compile();
    // Only code that compares the stack limit may have arrays of variable length: alloca(), too.
    std::string reports = stack_reports(folder_);
    if (has_dynamic_frames(reports) && !module_.recurses) {
      module_.recurses = true;
      if (!try_compile()) fail_compile(request_, compiler_, module_, log_);
      reports = stack_reports(folder_);
    }
    runtime::KernelBinary binary;
    binary.image = parse::read_whole_file(output());
    // Without optimization, more initial values are computed by code.
    if (!request_.is_covered) expect_constant_initializers(request_, binary.image);
    set_stack_need(binary.image, stack_need(reports, module_));
    log_fallbacks();
    binary.symbols = std::move(module_.symbols);
    return binary;
  }

 private:
  using Lifetime = runtime::TemporaryFolder::Lifetime;

  static runtime::TemporaryFolder folder_for(const runtime::CompileRequest& request) {
    if (request.is_covered) return runtime::TemporaryFolder(coverage_setting());
    return runtime::TemporaryFolder(request.keep ? Lifetime::kept : Lifetime::scope);
  }

  // The split form of a kernel has other statements than the source.
  ThreadOrder thread_order() const {
    return {reverse_order_setting(), warps_in_step_setting(),
            !fibers_setting() && !request_.is_covered};
  }

  // For spanwise.coverage, which finds the files that the texts are from.
  void write_origins() const {
    if (compiler_.is_clang)
      fail<DeviceError>("cpu: config cpu_coverage: expected g++, whose gcov counts lines, got ",
                        compiler_.path, "; set CXX=g++, or cpu_coverage to nothing");
    const auto write = [&](const parse::KernelSource& source) {
      folder_.write("sw_sources/" + source.file_name, source.text);
    };
    write(*request_.source);
    std::ranges::for_each(request_.linked, write);
    folder_.write("sw_include_dirs", joined(request_.include_dirs, "\n"));
  }
  std::string output() const { return folder_.path() + "/kernel.so"; }

  void log_fallbacks() const {
    const std::string& file = request_.source->file_name;
    if (!module_.fibers.empty() && !module_.checked && !fibers_setting())
      log_message(LogLevel::info, text(file,
                                       ": threads run as fibers, not as loops between "
                                       "barriers, in ",
                                       joined(module_.fibers, ", ")));
    if (module_.removed > 0)
      log_message(LogLevel::info, text(file, ": code that no kernel reaches is left out, for ",
                                       module_.removed, " compiler errors in it"));
  }

  void preprocess_sources() {
    texts_.clear();
    std::vector<std::string> command{compiler_.path};
    command.insert(command.end(), compiler_.arguments.begin(), compiler_.arguments.end());
    for (const std::string& flag : base_flags(compiler_.is_clang)) command.push_back(flag);
    std::ranges::replace(command, native_flag, machine_flag_);
    command.push_back(options_.language);
    command.insert(command.end(), options_.flags.begin(), options_.flags.end());
    const auto add = [&](const parse::KernelSource& source) {
      require_text(source);
      texts_.push_back(preprocess(source, options_, command));
      if (const std::string& log = texts_.back().log; !log.empty())
        fail_compile(request_, compiler_, module_, log);
    };
    add(*request_.source);
    for (const parse::KernelSource& linked : request_.linked) add(linked);
  }

  // Tries each head; if none compiles, with C++20 in place of C++17, and without failing code that
  // no kernel reaches. Each round finds at least one more such failure; a source that fails after
  // many is not worth the time. The error that is reported is that of the source as it is.
  void compile() {
    if (try_heads()) return;
    std::string first_log = log_;
    std::set<Failure> failures = failures_in(log_);
    if (!parse::sets_standard(request_.options)) {
      set_language("-std=c++20");
      if (try_heads()) return;
      std::set<Failure> others = failures_in(log_);
      if (others.size() < failures.size()) {
        first_log = log_;
        failures = std::move(others);
      } else {
        set_language(parse::host_options(request_.options).language);
      }
    }
    // All errors of a round at once.
    options_.flags.emplace_back(compiler_.is_clang ? "-ferror-limit=1000" : "-fmax-errors=1000");
    // The linker leaves out what no kernel reaches, with its undefined names: virtual functions of
    // host classes.
    for (const char* flag : {"-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"})
      options_.flags.emplace_back(flag);
    if (first_log.find("undefined reference") != first_log.npos && try_heads()) return;
    for (int round = 0; round < 12; ++round) {
      const std::size_t removed = module_.removed;
      module_ = translate(request_, options_, texts_, failures, thread_order());
      if (module_.removed == removed) break;
      if (try_heads()) return;
      failures.merge(failures_in(log_));
    }
    fail_compile(request_, compiler_, module_, first_log);
  }

  void set_language(const std::string& language) {
    options_.language = language;
    preprocess_sources();
    module_ = translate(request_, options_, texts_, {}, thread_order());
  }

  bool try_heads() {
    std::size_t count = 1;
    for (const TranslationUnit& unit : module_.units) count = std::max(count, unit.heads.size());
    for (head_ = 0; head_ < count; ++head_)
      if (try_compile()) return true;
    head_ = 0;
    return false;
  }

  // Compiles the units below their heads number `head_`; returns false, and the compiler's output
  // in `log_`, if that fails. Split forms that the compiler refuses are left out.
  bool try_compile() {
    for (;;) {
      std::string defines = module_.splits ? "#define SW_SPLIT_KERNELS 1\n" : "";
      for (const std::string& name : whole_kernels_)
        defines += text("#define SW_WITHOUT_", name, " 1\n");
      if (try_compile(defines)) return true;
      const std::size_t before = whole_kernels_.size();
      constexpr std::string_view prefix = "sw_split_";
      for (std::size_t at = 0; (at = log_.find(prefix, at)) != log_.npos;) {
        const std::size_t end = log_.find_first_not_of("0123456789", at + prefix.size());
        whole_kernels_.insert(log_.substr(at, end - at));
        at += prefix.size();
      }
      if (!module_.splits || whole_kernels_.size() == before) return false;
    }
  }
  bool try_compile(const std::string& defines) {
    bool with_system = false, with_cccl = false;
    std::vector<std::string> inputs;
    for (const TranslationUnit& unit : module_.units) {
      const std::string& head = unit.heads[std::min(head_, unit.heads.size() - 1)];
      const std::string name =
          text(inputs.empty() ? "kernel" : text("link[", inputs.size() - 1, "]"), source_ending);
      const bool writes_coverage = request_.is_covered && inputs.empty();
      inputs.push_back(folder_.write(
          name, text(head, defines, unit.text, writes_coverage ? coverage_code : "")));
      with_system |= is_system_head(head);
      with_cccl |= is_cccl_head(head);
    }
    write_shim(folder_, !with_system);
    auto command = command_line(compiler_, options_, inputs, output(), folder_, module_,
                                with_system, with_cccl, request_.is_covered);
    std::ranges::replace(command, native_flag, machine_flag_);
    const ProcessResult result = run_process(command, folder_.path());
    log_ = readable_log(result.output, folder_);
    constexpr std::string_view refused = "sw_refused_";
    if (const std::size_t at = log_.find(refused); at != log_.npos) {
      std::string_view number = std::string_view(log_).substr(at + refused.size());
      log_.insert(0, module_.refusals[take_number<std::size_t>(number).value_or(0)] + '\n');
    }
    if (result.timed_out) fail_timeout(request_, compiler_, log_);
    return result.exit_code == 0 && fs::exists(output());
  }

  const runtime::CompileRequest& request_;
  const std::string machine_flag_;
  HostOptions options_;
  HostCompiler compiler_ = require_compiler();
  const runtime::TemporaryFolder folder_;
  std::vector<PreprocessedSource> texts_;
  Translation module_;
  std::string log_;
  std::size_t head_ = 0;
  std::set<std::string> whole_kernels_;  // names of split forms that the compiler refuses
};

}  // namespace

runtime::KernelBinary jit_compile(const runtime::CompileRequest& request,
                                  const std::string& target) {
  return JitCompilation(request, target).run();
}

namespace {

// The levels of the x86-64 psABI; of other architectures the first.
constexpr std::array cpu_targets{
#if defined(__x86_64__)
    "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"
#else
    "armv8-a"
#endif
};

}  // namespace

runtime::KernelBinary jit_compile_for(const std::string& target,
                                      const runtime::CompileRequest& request) {
  if (std::ranges::find(cpu_targets, target) == cpu_targets.end())
    fail<ArgumentError>("compile: expected a target of ",
                        joined(cpu_targets, ", ", [](const char* each) { return each; }),
                        " for the CPU, or sm_90 or compute_80 for GPUs, got '", target, "'");
  return jit_compile(request, target);
}

int cpu_suitability(std::string_view target) {
  const auto found = std::ranges::find(cpu_targets, target);
  const auto level = static_cast<int>(found - cpu_targets.begin()) + 1;
  if (found == cpu_targets.end()) return 0;
#if defined(__x86_64__)
  const bool has_v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool has_v3 = has_v2 && has_avx2_and_fma() && __builtin_cpu_supports("bmi2");
  const int supported = has_v3 && has_avx512() ? 4 : has_v3 ? 3 : has_v2 ? 2 : 1;
  return level <= supported ? level : 0;
#else
  return level;
#endif
}

}  // namespace spanwise::cpu_backend
