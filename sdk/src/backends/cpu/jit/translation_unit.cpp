// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/translation_unit.hpp"

#include <algorithm>
#include <sstream>

#include "backends/cpu/jit/rewrite.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "backends/cpu/jit/source_files.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {
namespace {

using Kernel = RewriteResult::Kernel;

// A macro's body counts as code that its name stands for.
void add_macro_uses(const HostOptions& options, runtime::UseGraph& uses) {
  for (const std::string& directive : options.directives) {
    const std::vector<runtime::Token> words = runtime::lex(std::string_view(directive).substr(1));
    for (std::size_t i = 2; i < words.size() && words[0].text == "define"; ++i)
      if (words[i].kind == runtime::Token::Kind::identifier) uses.add(words[1].text, words[i].text);
  }
}

// The generated end of the file: what the library finds in the compiled module.
class Tail {
 public:
  Tail(const RewriteResult& found, const runtime::UseGraph& uses, TranslationUnit& unit)
      : found_(found), uses_(uses), unit_(unit) {}

  void write(const runtime::CompileRequest& request, std::ostream& out) {
    out << "\n#line 1 \"end of " << request.source->file_name << "\"\n";
    write_dynamic_shared(out);
    out << "static constexpr sw_kernel sw_kernels[] = {\n";
    for (const Kernel& kernel : found_.kernels) write_kernel(kernel, out);
    for (const std::string& name : request.names) write_instance(name, out);
    out << "{nullptr, nullptr, nullptr, 0, 0, nullptr}};\n"
        << "extern \"C\" __attribute__((visibility(\"default\"), used)) sw_module sw_module_info = "
           "{\n"
        << "SW_MODULE_MAGIC, SW_STACK_UNKNOWN, &sw_rt, sw_kernels, "
        << c_literal(request.source->file_name) << ", " << (unit_.prints ? 1 : 0) << ", "
        << (unit_.checked ? 1 : 0) << "};\n";
  }

 private:
  void guarded(const Marked& marked, std::ostream& out, const std::string& line) const {
    if (!marked.macro.empty()) out << "#ifdef " << marked.macro << "\n";
    out << line << "\n";
    if (!marked.macro.empty()) out << "#endif\n";
  }

  void write_dynamic_shared(std::ostream& out) const {
    out << "static void sw_bind_dynamic_shared() {\n";
    for (const Marked& array : found_.dynamic_shared)
      guarded(array, out,
              text("::", array.name, " = (decltype(::", array.name, "))sw_dynamic_shared;"));
    out << "}\n";
  }

  // Kernels of one name are overloads unless a condition chooses among them.
  bool is_overloaded(const Kernel& kernel) const {
    return std::count_if(found_.kernels.begin(), found_.kernels.end(), [&](const Kernel& other) {
             return other.name == kernel.name && other.macro.empty() && !other.kernel.is_template;
           }) > 1;
  }

  void write_kernel(const Kernel& kernel, std::ostream& out) {
    unit_.kernel_names.push_back(kernel.kernel.name);
    unit_.recurses |= uses_.recurses(kernel.kernel.name);
    if (kernel.kernel.is_template) return;
    std::string name = kernel.name, address = text("&::", kernel.name);
    if (is_overloaded(kernel)) {
      // By its full type, which only names that are known everywhere can spell.
      std::string types;
      for (const runtime::SourceParameter& parameter : kernel.kernel.parameters)
        types.append(types.empty() ? "" : ", ").append(parameter.type);
      name = text(name, "(", types, ")");
      address = text("static_cast<void (*)(", types, ")>(", address, ")");
    }
    guarded(kernel, out,
            entry(address, uses_.reaches_barrier(kernel.kernel.name), kernel.counter, name));
    unit_.symbols.emplace(name, name);
    // The plain name too, where it means one kernel.
    const bool is_alone =
        std::count_if(found_.kernels.begin(), found_.kernels.end(), [&](const Kernel& other) {
          return other.kernel.name == kernel.kernel.name && other.name != kernel.name;
        }) == 0;
    if (is_alone && name == kernel.name) unit_.symbols.emplace(kernel.kernel.name, name);
  }

  // A name expression such as "scale<float>": everything named in it counts.
  void write_instance(const std::string& expression, std::ostream& out) {
    const std::size_t start = expression.find_first_not_of(" &");
    if (start == std::string::npos) return;
    bool has_barrier = false;
    std::string counter = "int";
    const std::vector<runtime::Token> words = runtime::lex(expression);
    for (const Kernel& kernel : found_.kernels)
      for (const runtime::Token& token : words)
        if (token.text == kernel.kernel.name) counter = kernel.counter;
    for (const runtime::Token& token : words)
      has_barrier |=
          token.kind == runtime::Token::Kind::identifier && uses_.reaches_barrier(token.text);
    if (!unit_.symbols.emplace(expression, expression).second) return;
    out << entry(text("&", expression.substr(start)), has_barrier, counter, expression) << "\n";
  }

  static std::string entry(const std::string& address, bool has_barrier, const std::string& counter,
                           const std::string& name) {
    return text("sw_launcher<", address, ", ", has_barrier ? "true" : "false", ", ", counter,
                ">::entry(", c_literal(name), "),");
  }

  const RewriteResult& found_;
  const runtime::UseGraph& uses_;
  TranslationUnit& unit_;
};

}  // namespace

std::string all_parts() { return "#define SW_WITH_ALL 1\n"; }

TranslationUnit make_translation_unit(const runtime::CompileRequest& request,
                                      const HostOptions& options, bool reverse) {
  const runtime::KernelSource& source = *request.source;
  SourceFiles files(options.include_dirs);
  const std::string rewritten = files.add_main(source.text, source.file_name);
  add_macro_uses(options, files.uses());

  TranslationUnit unit;
  unit.headers = files.headers();
  const std::set<std::string_view> identifiers = files.identifiers();
  unit.prints = identifiers.contains("printf");
  unit.parts = files.includes_others() ? all_parts() : shim_parts(identifiers);
  std::ostringstream out;
  if (reverse) out << "#define SW_REVERSE 1\n";
  // Before the shim, which takes its form from it.
  unit.checked = std::find(request.options.begin(), request.options.end(), runtime::check_option) !=
                 request.options.end();
  if (unit.checked) out << "#define SW_KERNEL_CHECK 1\n";
  out << "#include \"spanwise_cpu.h\"\n";
  for (const std::string& directive : options.directives) out << directive << "\n";
  for (const std::string& file : options.pre_includes)
    out << "#include " << c_literal(file) << "\n";
  out << "#line 1 " << c_literal(source.file_name) << "\n" << rewritten;
  Tail(files.result(), files.uses(), unit).write(request, out);
  unit.text = std::move(out).str();
  return unit;
}

}  // namespace spanwise::host
