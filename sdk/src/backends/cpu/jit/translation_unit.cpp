// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/translation_unit.hpp"

#include <algorithm>
#include <sstream>

#include "backends/cpu/jit/rewrite.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "backends/cpu/jit/source_files.hpp"
#include "core/string_utils.hpp"
#include "runtime/system/library_search.hpp"
#include "parse/header_names.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/token.hpp"

namespace spanwise::cpu_backend {
namespace {

using Kernel = RewriteResult::MarkedKernel;

// A use of a macro counts as a use of the identifiers in its body.
void add_macro_uses(const HostOptions& options, parse::ReferenceGraph& uses) {
  for (const std::string& directive : options.directives) {
    const std::vector<parse::Token> tokens = parse::lex(std::string_view(directive).substr(1));
    for (std::size_t i = 2; i < tokens.size() && tokens[0].text == "define"; ++i)
      if (tokens[i].kind == parse::Token::Kind::identifier)
        uses.add(tokens[1].text, tokens[i].text);
  }
}

constexpr const char* hidden = "extern \"C\" __attribute__((visibility(\"hidden\")))";

// Writes the generated end of the file: the sw_module by which the library finds kernels in the
// compiled module.
class ModuleTableWriter {
 public:
  ModuleTableWriter(const RewriteResult& source, const parse::ReferenceGraph& uses,
                    Translation& module)
      : source_(source), uses_(uses), module_(module) {}

  // Writes the end of source `index` of `count`. `names` are the template instances to generate.
  void write(const parse::KernelSource& source, const std::vector<std::string>& names,
             std::size_t index, std::size_t count, std::ostream& out) {
    out << "\n#line 1 \"end of " << source.file_name << "\"\n";
    write_dynamic_shared(index, count, out);
    out << "static constexpr sw_kernel sw_kernels[] = {\n";
    for (const Kernel& kernel : source_.kernels) write_kernel(kernel, out);
    for (const std::string& name : names) write_instance(name, out);
    out << "{nullptr, nullptr, nullptr, 0, nullptr, nullptr}};\n"
        << "extern \"C\" __attribute__((visibility(\"default\"), used)) sw_module "
        << module_info_name(index) << " = {\n"
        << "SW_MODULE_MAGIC, SW_STACK_UNKNOWN, &sw_rt, sw_kernels, " << c_literal(source.file_name)
        << ", " << (module_.prints ? 1 : 0) << ", " << checked() << "};\n";
  }

 private:
  // The value of sw_module::checked.
  int checked() const {
    if (!module_.checked) return 0;
    return source_.may_hide_returns ? 2 : 1;
  }

  // Writes the line under #ifdef of the name's macro, if it has one.
  static void write_guarded(const MarkedName& marked, const std::string& line, std::ostream& out) {
    if (!marked.macro.empty()) out << "#ifdef " << marked.macro << "\n";
    out << line << "\n";
    if (!marked.macro.empty()) out << "#endif\n";
  }

  // A kernel may call functions of any source, so the arrays of all sources are set at its start.
  void write_dynamic_shared(std::size_t index, std::size_t count, std::ostream& out) const {
    const auto name_of = [&](std::size_t unit) {
      return count == 1 ? std::string("sw_bind_dynamic_shared") : text("sw_bind_unit_", unit);
    };
    out << (count == 1 ? "static" : hidden) << " void " << name_of(index) << "() {\n";
    for (const MarkedName& array : source_.dynamic_shared)
      write_guarded(array,
                    text("::", array.name, " = (decltype(::", array.name, "))sw_dynamic_shared;"),
                    out);
    out << "}\n";
    if (count == 1) return;
    for (std::size_t unit = 0; unit < count; ++unit)
      out << hidden << " void " << name_of(unit) << "();\n";
    out << "static void sw_bind_dynamic_shared() {\n";
    for (std::size_t unit = 0; unit < count; ++unit) out << name_of(unit) << "();\n";
    out << "}\n";
  }

  // Kernels of the same name are overloads, unless they are in code under #if.
  bool is_overloaded(const Kernel& kernel) const {
    return std::ranges::count_if(source_.kernels, [&](const Kernel& other) {
             return other.name == kernel.name && other.macro.empty() && !other.kernel.is_template;
           }) > 1;
  }

  void write_kernel(const Kernel& kernel, std::ostream& out) {
    module_.kernel_names.push_back(kernel.kernel.name);
    module_.recurses |= uses_.recurses(kernel.kernel.name);
    if (kernel.kernel.is_template) return;
    std::string name = kernel.name, address = text("&::", kernel.name);
    if (is_overloaded(kernel)) {
      // Selects the overload by its type. The names in it must be visible at the end of the file.
      const std::string types =
          joined(kernel.kernel.parameters, ", ", &parse::SourceParameter::type);
      name = text(name, "(", types, ")");
      address = text("static_cast<void (*)(", types, ")>(", address, ")");
    }
    write_guarded(kernel,
                  entry(address, uses_.reaches_barrier(kernel.kernel.name), kernel.counter, name),
                  out);
    module_.symbols.emplace(name, name);
    // The unqualified name, too, if it is unique.
    const bool is_unique =
        std::ranges::count_if(source_.kernels, [&](const Kernel& other) {
          return other.kernel.name == kernel.kernel.name && other.name != kernel.name;
        }) == 0;
    if (is_unique && name == kernel.name) module_.symbols.emplace(kernel.kernel.name, name);
  }

  // Writes the entry of a name expression such as "scale<float>". It has a barrier if any name in
  // it reaches one.
  void write_instance(const std::string& expression, std::ostream& out) {
    const std::size_t start = expression.find_first_not_of(" &");
    if (start == std::string::npos || !module_.symbols.emplace(expression, expression).second)
      return;
    bool has_barrier = false;
    std::string counter = "int";
    const std::vector<parse::Token> tokens = parse::lex(expression);
    for (const Kernel& kernel : source_.kernels)
      for (const parse::Token& token : tokens)
        if (token.text == kernel.kernel.name) counter = kernel.counter;
    for (const parse::Token& token : tokens)
      has_barrier |=
          token.kind == parse::Token::Kind::identifier && uses_.reaches_barrier(token.text);
    out << entry(text("&", expression.substr(start)), has_barrier, counter, expression) << "\n";
  }

  static std::string entry(const std::string& address, bool has_barrier, const std::string& counter,
                           const std::string& name) {
    return text("sw_launcher<", address, ", ", has_barrier ? "true" : "false", ", ", counter,
                ">::entry(", c_literal(name), "),");
  }

  const RewriteResult& source_;
  const parse::ReferenceGraph& uses_;
  Translation& module_;
};

constexpr std::string_view system_define = "#define SW_SYSTEM 1\n";
constexpr std::string_view all_define = "#define SW_WITH_ALL 1\n";

// Algorithms of Thrust run in the calling thread. CCCL is used as without a toolkit, whose
// cuda_runtime_api.h it would include where it finds one, before the shim: the guard of
// cuda/std/__cccl/cuda_toolkit.h leaves that file out.
constexpr std::string_view cccl_define =
    "#define SW_CCCL 1\n"
    "#define CCCL_DISABLE_FP16_SUPPORT 1\n"
    "#define THRUST_HOST_SYSTEM THRUST_HOST_SYSTEM_CPP\n"
    "#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP\n"
    "#define __CCCL_CUDA_TOOLKIT_H\n"
    "#define _CCCL_HAS_CTK() 0\n"
    "#define _CCCL_CTK_BELOW(...) 0\n"
    "#define _CCCL_CTK_AT_LEAST(...) 0\n";

// The shim over the system's headers. Those of the C++ library and of CCCL precede it, since they
// use some of its macros, __noinline__ for one, as identifiers.
std::string system_head(const std::set<std::string>& headers, const std::set<std::string>& cccl) {
  std::string out(system_define);
  for (const char* name :
       {"math.h", "stdio.h", "stdlib.h", "string.h", "stdint.h", "time.h", "new"})
    out += text("#include <", name, ">\n");
  for (const std::string& name : headers)
    if (parse::is_cpp_header(name)) out += text("#include <", name, ">\n");
  if (!cccl.empty()) out += cccl_define;
  for (const std::string& name : cccl) out += text("#include <", name, ">\n");
  return out.append(all_define);
}

// The heads of TranslationUnit. A source without headers of the system compiles fastest with only
// the shim's parts that it needs. Perhaps only host code needs Thrust, so the last attempt alone
// includes its headers.
std::vector<std::string> heads_for(const SourceFiles& files, bool has_cccl) {
  const std::set<std::string>& others = files.other_headers();
  const std::set<std::string> none, &cccl = has_cccl ? files.cccl_headers() : none;
  std::vector<std::string> heads;
  if (std::ranges::all_of(cccl,
                          [](const std::string& name) { return name.starts_with("thrust/"); })) {
    if (others.empty()) heads.push_back(shim_parts(files.identifiers()));
    if (std::ranges::all_of(others, [](const std::string& name) {
          return name.empty() || parse::can_follow_shim(name);
        }))
      heads.emplace_back(all_define);
    if (!others.empty() || files.includes_standard() || files.identifiers().contains("std"))
      heads.push_back(system_head(others, none));
  }
  if (!cccl.empty()) heads.push_back(system_head(others, cccl));
  return heads;
}

// The folder of CCCL's headers. Throws CompileError if a source needs them and they are missing.
std::string cccl_folder(const parse::KernelSource& source, const std::set<std::string>& headers) {
  if (headers.empty()) return {};
  std::string folder = runtime::cccl_headers(runtime::library_folders()).string();
  const auto needed = std::ranges::find_if(
      headers, [](const std::string& name) { return !name.starts_with("thrust/"); });
  if (!folder.empty() || needed == headers.end()) return folder;
  const std::string message =
      text(source.file_name, ": ", *needed,
           " is a header of CCCL, which was not found. Remedy: python3 -m pip install "
           "nvidia-cuda-cccl, or set CUDA_HOME to a toolkit");
  throw CompileError(message, message, parse::with_line_numbers(source.text));
}

// Names that a source needs to keep for the name expressions of a request and for linked sources.
std::set<std::string_view> used_elsewhere(const runtime::CompileRequest& request,
                                          const parse::KernelSource& source) {
  std::set<std::string_view> names;
  const auto add = [&](std::string_view text) {
    for (const parse::Token& token : parse::lex(text))
      if (token.kind == parse::Token::Kind::identifier) names.insert(token.text);
  };
  for (const std::string& expression : request.names) add(expression);
  if (&source != request.source) add(request.source->text);
  for (const parse::KernelSource& linked : request.linked)
    if (&source != &linked) add(linked.text);
  return names;
}

// Writes the text before the user's source.
void write_head(const HostOptions& options, bool reverse, bool checked, std::ostream& out) {
  if (reverse) out << "#define SW_REVERSE 1\n";
  // Before the shim, which depends on it.
  if (checked) out << "#define SW_KERNEL_CHECK 1\n";
  out << "#include \"spanwise_cpu.h\"\n";
  for (const std::string& directive : options.directives) out << directive << "\n";
  for (const std::string& file : options.pre_includes)
    out << "#include " << c_literal(file) << "\n";
}

void require_text(const parse::KernelSource& source) {
  if (source.is_compiled)
    fail<ArgumentError>("cpu: expected ", source.file_name, " as CUDA C++ text, got ",
                        source.text.size(),
                        " bytes of compiled device code, which only a GPU runs. Remedy: give its "
                        "source");
}

}  // namespace

bool is_system_head(std::string_view head) { return head.starts_with(system_define); }

bool is_cccl_head(std::string_view head) { return head.find(cccl_define) != head.npos; }

std::string module_info_name(std::size_t unit) {
  return unit == 0 ? "sw_module_info" : text("sw_module_info_", unit);
}

Translation translate(const runtime::CompileRequest& request, const HostOptions& options,
                      bool reverse) {
  std::vector<const parse::KernelSource*> sources{request.source};
  for (const parse::KernelSource& linked : request.linked) sources.push_back(&linked);
  Translation module;
  module.checked =
      std::ranges::find(request.options, runtime::check_option) != request.options.end();
  std::vector<SourceFiles> files;
  std::vector<std::string> rewritten;
  parse::ReferenceGraph uses;  // of all sources: a barrier may be in a function of another source
  for (const parse::KernelSource* source : sources) {
    require_text(*source);
    files.emplace_back(options.include_dirs, text("sw_user_", files.size(), "_"));
    rewritten.push_back(
        files.back().add_main(source->text, source->file_name, used_elsewhere(request, *source)));
    add_macro_uses(options, files.back().uses());
    uses.merge(files.back().uses());
    module.prints |= files.back().identifiers().contains("printf");
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    TranslationUnit unit;
    unit.headers = files[i].headers();
    const std::string cccl = cccl_folder(*sources[i], files[i].cccl_headers());
    unit.heads = heads_for(files[i], !cccl.empty());
    if (!cccl.empty()) module.cccl = cccl;
    module.left_out.insert(files[i].left_out().begin(), files[i].left_out().end());
    std::ostringstream out;
    if (sources.size() > 1) out << "#define SW_UNIT " << i << "\n";
    write_head(options, reverse, module.checked, out);
    out << "#line 1 " << c_literal(sources[i]->file_name) << "\n" << rewritten[i];
    ModuleTableWriter(files[i].result(), uses, module)
        .write(*sources[i], i == 0 ? request.names : std::vector<std::string>{}, i, sources.size(),
               out);
    unit.text = std::move(out).str();
    module.units.push_back(std::move(unit));
  }
  return module;
}

}  // namespace spanwise::cpu_backend
