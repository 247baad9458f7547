// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/compiler.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "backends/cpu/exec/stack_limit.hpp"
#include "core/string_utils.hpp"
#include "runtime/system/unix_file.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

bool is_program(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// Decides by the file name with symbolic links resolved: c++ is g++-12 or clang-14. For a wrapper
// such as ccache, decides by the words of the command.
bool looks_like_clang(const std::string& path, const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  const std::string name = real.filename().string();
  if (name.find("clang") != std::string::npos) return true;
  if (name.find("g++") != std::string::npos || name.find("gcc") != std::string::npos) return false;
  std::string command = std::filesystem::path(path).filename().string();
  for (const std::string& word : arguments) command.append(" ").append(word);
  return command.find("clang") != std::string::npos;
}

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
  compiler.is_clang = looks_like_clang(compiler.path, compiler.arguments);
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
constexpr std::string_view common_flags =
    "-x c++ -O3 -fPIC -shared -w -fno-strict-aliasing -fno-exceptions -fno-rtti "
    "-fno-threadsafe-statics -fno-math-errno -fno-trapping-math -ffp-contract=fast "
    "-fno-semantic-interposition -fno-stack-protector -fvisibility=hidden "
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
// into traps. -fno-gnu-unique: the shared variables of a template would otherwise be one object for
// all modules of the process, of the size that the first of them gives it. No -mtls-dialect=gnu2:
// its calls must preserve all registers, but those of glibc before 2.40 do not once a process has
// loaded so many modules that their thread-local data is allocated lazily (glibc bug 31372).
constexpr std::string_view gnu_flags =
#if defined(__x86_64__)
    "-fcf-protection=none "
#endif
    "-fno-gnu-unique --param=logical-op-non-short-circuit=0 -fno-tree-slp-vectorize "
    "-fno-isolate-erroneous-paths-dereference -fmax-errors=20";

// Every access becomes a call. Loads are not moved out of loops and conditions: the source may not
// execute them there.
constexpr std::string_view gnu_check_flags =
    "-O1 -g -fsanitize=thread,bounds --param=tsan-distinguish-volatile=1 -fno-tree-loop-im "
    "-fno-hoist-adjacent-loads -fno-builtin-printf";

constexpr std::string_view clang_check_flags =
    "-O1 -g -fsanitize=thread -fsanitize=array-bounds -mllvm -tsan-distinguish-volatile -mllvm "
    "-tsan-instrument-func-entry-exit=0 -fno-builtin-printf";

constexpr std::string_view split_stack_flags =
#if defined(SW_STACK_LIMIT)
    "-fsplit-stack -DSW_SPLIT_STACK=1";
#else
    "";
#endif

// -fno-integrated-as: only GNU as expands macros that have the names of instructions, by which
// spanwise_division.h guards divisions.
constexpr std::string_view clang_flags =
#if defined(__x86_64__)
    "-fno-integrated-as "
#endif
    "-ferror-limit=20";

std::vector<std::string> words_of(std::string_view flags) {
  const std::vector<std::string_view> words = split(flags, ' ');
  return {words.begin(), words.end()};
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string_view folder :
       split(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    const std::string candidate = text(folder.empty() ? "." : folder, "/", name);
    if (is_program(candidate)) return candidate;
  }
  return "";
}

std::optional<HostCompiler> find_compiler() {
  // If CXX is set, no other compiler is tried.
  if (const std::string chosen = chosen_compiler(); !chosen.empty()) return compiler_from(chosen);
  if (auto compiler = compiler_from("g++")) return compiler;
  return compiler_from("clang++");
}

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

std::vector<std::string> base_flags(const HostCompiler& compiler) {
  return words_of(
      text(common_flags, ' ', native_flag, ' ', compiler.is_clang ? clang_flags : gnu_flags));
}

std::vector<std::string> recursion_flags() { return words_of(split_stack_flags); }

std::vector<std::string> check_flags(const HostCompiler& compiler) {
  return words_of(compiler.is_clang ? clang_check_flags : gnu_check_flags);
}

std::string flags_fingerprint() {
  return joined(std::array{std::string_view(native_flag), common_flags, gnu_flags, clang_flags,
                           split_stack_flags, gnu_check_flags, clang_check_flags},
                " ");
}

}  // namespace spanwise::cpu_backend
