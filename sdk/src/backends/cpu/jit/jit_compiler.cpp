// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/jit_compiler.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "backends/cpu/jit/compiler.hpp"
#include "backends/cpu/jit/process.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "backends/cpu/jit/stack_usage.hpp"
#include "backends/cpu/jit/translation_unit.hpp"
#include "backends/cpu/processor.hpp"
#include "backends/cpu/settings.hpp"
#include "core/string_utils.hpp"
#include "runtime/system/temporary_folder.hpp"
#include "parse/included_files.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::cpu_backend {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> command_line(const HostCompiler& compiler, const HostOptions& options,
                                      const std::vector<std::string>& sources,
                                      const std::string& output,
                                      const runtime::TemporaryFolder& folder,
                                      const Translation& module, bool with_system, bool with_cccl) {
  std::vector<std::string> command{compiler.path};
  const auto add = [&](const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  add(compiler.arguments);
  add(base_flags(compiler));
  command.push_back(options.language);
  // The shim's headers before all others: the C library's would clash with CUDA's intrinsics. CCCL
  // must not find them in place of the toolkit's.
  add({with_cccl ? "-iquote" : "-I", folder.path()});
  for (const std::string& include_dir : options.include_dirs) add({"-I", include_dir});
  if (with_cccl) add({"-isystem", module.cccl});
  add(options.flags);
  if (module.checked) add(check_flags(compiler));
  const std::string sanitizer = module.checked ? "" : sanitize_setting();
  if (module.recurses && sanitizer.empty()) add(recursion_flags());
  if (!sanitizer.empty()) add({"-O1", "-g", "-fsanitize=" + sanitizer, "-fno-omit-frame-pointer"});
  add(sources);
  add({"-o", output});
  if (with_system) add({"-fexceptions", "-Wl,--as-needed", "-lstdc++", "-lgcc_s"});
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

}  // namespace

std::string jit_fingerprint() {
  const auto compiler = find_compiler();
  return text(compiler ? compiler->identity : "", "\ncpu ", processor_features(), "\nshim ",
              shim_fingerprint(), "\nflags ", flags_fingerprint(), "\norder ",
              reverse_order_setting() ? "reverse" : "forward", "\nsanitize ", sanitize_setting());
}

runtime::KernelBinary jit_compile(const runtime::CompileRequest& request) {
  const HostOptions options = translate_options(request.options, request.include_dirs);
  Translation module = translate(request, options, reverse_order_setting());
  const HostCompiler compiler = require_compiler();

  using Lifetime = runtime::TemporaryFolder::Lifetime;
  const runtime::TemporaryFolder folder(request.keep ? Lifetime::kept : Lifetime::scope);
  if (request.keep)
    std::fprintf(stderr, "spanwise cpu: kept %s/kernel.cpp and the files compiled with it\n",
                 folder.path().c_str());
  std::vector<std::string> names, inputs;
  std::size_t attempts = 1;
  for (const TranslationUnit& unit : module.units) {
    names.push_back(names.empty() ? "kernel.cpp" : text("link[", names.size() - 1, "].cpp"));
    inputs.push_back(folder.path() + "/" + names.back());
    for (const auto& [name, contents] : unit.headers) folder.write(name, contents);
    attempts = std::max(attempts, unit.heads.size());
  }
  const std::string output = folder.path() + "/kernel.so";
  // Compiles the units below their heads number `attempt`; returns false, and the compiler's output
  // in `log`, if that fails.
  const auto try_compile = [&](std::size_t attempt, std::string& log) {
    bool with_system = false, with_cccl = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const TranslationUnit& unit = module.units[i];
      const std::string& head = unit.heads[std::min(attempt, unit.heads.size() - 1)];
      folder.write(names[i], head + unit.text);
      with_system |= is_system_head(head);
      with_cccl |= is_cccl_head(head);
    }
    write_shim(folder, !with_system);
    const auto command =
        command_line(compiler, options, inputs, output, folder, module, with_system, with_cccl);
    const ProcessResult result = run_process(command, folder.path());
    log = readable_log(result.output, folder);
    if (result.timed_out) fail_timeout(request, compiler, log);
    return result.exit_code == 0 && fs::exists(output);
  };
  std::string log;
  std::size_t attempt = 0;
  while (!try_compile(attempt, log))
    if (++attempt >= attempts) fail_compile(request, compiler, module, log);

  runtime::KernelBinary binary;
  binary.image = parse::read_whole_file(output);
  set_stack_need(binary.image, stack_need(stack_reports(folder), module));
  binary.symbols = std::move(module.symbols);
  return binary;
}

}  // namespace spanwise::cpu_backend
