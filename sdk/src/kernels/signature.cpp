// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/signature.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/string_utils.hpp"
#include "kernels/module_state.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernels {
namespace {

constexpr std::int64_t address_size = 8;

// Size in bytes of a View<T, rank>.
constexpr std::int64_t view_size(int rank) { return 8 + 16 * std::int64_t{rank}; }

using parse::ParameterDeclaration;
using parse::Token;
using Tokens = std::span<const Token>;

// T and N of View<T, N>.
struct ViewType {
  std::optional<DType> dtype;
  bool is_const = false;
  int rank = 0;
};

std::optional<ViewType> parse_view(std::string_view type) {
  const std::vector<Token> tokens = parse::lex(type);
  const auto open = std::ranges::find(tokens, "<", &Token::text);
  if (open == tokens.end() || tokens.back().text != ">") return std::nullopt;
  const auto first = tokens.begin() + (tokens[0].text == "const" ? 1 : 0);
  const std::string name = joined(std::span(first, open), "", &Token::text);
  if (!is_one_of(name, {"View", "spanwise::View", "::spanwise::View"})) return std::nullopt;
  const std::vector<Tokens> arguments = parse::split_at_commas({open + 1, tokens.end()});
  if (arguments.size() != 2 || arguments[1].empty()) return std::nullopt;
  const int rank = parse_number(arguments[1][0].text).value_or(0);
  if (rank < 1 || rank > max_rank) return std::nullopt;
  return ViewType{parse::parse_parameter(arguments[0]).dtype,
                  std::ranges::find(arguments[0], "const", &Token::text) != arguments[0].end(),
                  rank};
}

bool is_plain_char(std::string_view type) {
  return type.find("char") != std::string_view::npos &&
         type.find("signed") == std::string_view::npos;
}

KernelParameter kernel_parameter(const ParameterDeclaration& source,
                                 const runtime::LoadedKernel::ParameterInfo& info) {
  KernelParameter parameter{.name = source.name,
                            .type = source.type,
                            .offset = info.offset,
                            .size = info.size,
                            .is_pointer = source.is_pointer,
                            .is_const = source.is_const,
                            .dtype = source.dtype};
  if (source.is_pointer) {
    parameter.layout = ParameterLayout::raw;
  } else if (const auto view = parse_view(source.type)) {
    parameter.view_rank = view->rank;
    parameter.layout = ParameterLayout::strided;
    parameter.is_const = view->is_const;
    parameter.dtype = view->dtype;
  }
  return parameter;
}

// Whether the parameter's size is not that of its type.
bool contradicts_size(const KernelParameter& parameter) {
  if (parameter.is_pointer) return parameter.size != address_size;
  if (parameter.view_rank > 0) return parameter.size != view_size(parameter.view_rank);
  return parameter.dtype && parameter.dtype->itemsize() != parameter.size;
}

ParameterRule rule_for(const KernelParameter& parameter) {
  ParameterRule rule;
  rule.size = static_cast<std::uint32_t>(parameter.size);
  rule.writes = !parameter.is_const;
  rule.copies = parameter.layout == ParameterLayout::contiguous;
  if (parameter.dtype) {
    rule.has_dtype = true;
    rule.dtype = *parameter.dtype;
  }
  if (parameter.is_pointer) {
    rule.kind = ParameterRule::Kind::pointer;
    rule.any_byte = parameter.dtype && is_plain_char(parameter.type);
  } else if (parameter.view_rank > 0) {
    rule.kind = ParameterRule::Kind::view;
    rule.view_rank = static_cast<std::uint8_t>(parameter.view_rank);
  } else if (parameter.dtype && parameter.dtype->is_computable()) {
    rule.kind = ParameterRule::Kind::scalar;
  }
  return rule;
}

// Fills in what the source leaves open from the compiler's types; keeps the user's name and
// spelling.
void complete(KernelParameter& parameter, const KernelParameter& compiled) {
  const bool is_array = parameter.is_pointer || parameter.view_rank > 0;
  if (contradicts_size(compiled) || (parameter.dtype && !parameter.type.empty())) return;
  if (is_array && !(compiled.is_pointer || compiled.view_rank > 0)) return;
  if (!compiled.is_pointer && compiled.view_rank == 0 && !compiled.dtype) return;
  if (parameter.type.empty()) parameter.type = compiled.type;
  parameter.dtype = compiled.dtype;
  parameter.is_pointer = compiled.is_pointer;
  parameter.is_const |= compiled.is_const;
  parameter.view_rank = compiled.view_rank;
  parameter.layout = compiled.layout;
}

}  // namespace

void Signature::add(KernelParameter parameter) {
  rules.push_back(rule_for(parameter));
  copies |= rules.back().copies;
  parameters.push_back(std::move(parameter));
}

Signature make_signature(const parse::SourceKernel* source,
                         std::span<const runtime::LoadedKernel::ParameterInfo> parameter_info,
                         std::string_view types) {
  const bool is_known = source != nullptr && source->parameters.size() == parameter_info.size();
  const std::vector<ParameterDeclaration> compiled = parse::parse_parameters(parse::lex(types));
  Signature out;
  for (std::size_t i = 0; i < parameter_info.size(); ++i) {
    const KernelParameter bare{
        .name = "", .type = "", .offset = parameter_info[i].offset, .size = parameter_info[i].size};
    KernelParameter parameter =
        is_known ? kernel_parameter(source->parameters[i], parameter_info[i]) : bare;
    if (contradicts_size(parameter)) parameter = bare;
    if (compiled.size() == parameter_info.size())
      complete(parameter, kernel_parameter(compiled[i], parameter_info[i]));
    out.add(std::move(parameter));
  }
  return out;
}

std::string_view template_parameter_name(Tokens parameter) {
  std::string_view name;
  for (const Token& token : parameter) {
    if (token.text == "=") break;
    if (token.kind == Token::Kind::identifier) name = token.text;
  }
  return parameter.size() > 1 ? name : std::string_view{};
}

// Reads the last "template <...>" before the kernel's name.
std::vector<Tokens> template_parameters(const std::vector<Token>& tokens,
                                        const parse::SourceKernel& kernel) {
  std::size_t head = tokens.size();
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == kernel.name && tokens[i].line == kernel.line) break;
    if (tokens[i].text != "template" || tokens[i + 1].text != "<") continue;
    head = i + 1;
    i = parse::skip_balanced(tokens, head) - 1;
  }
  return head == tokens.size() ? std::vector<Tokens>{}
                               : parse::split_at_commas(Tokens(tokens).subspan(head + 1));
}

parse::SourceKernel template_instance(const parse::KernelSource& source,
                                      const parse::SourceKernel& declared, std::string_view name) {
  const std::vector<Token> text = parse::lex(source.text), instance = parse::lex(name);
  const auto open = std::ranges::find(instance, "<", &Token::text);
  const std::vector<Tokens> parameters = template_parameters(text, declared);
  const std::vector<Tokens> arguments = parse::split_at_commas({open + 1, instance.end()});
  std::map<std::string_view, std::string> substitutions;
  for (std::size_t i = 0; i < std::min(parameters.size(), arguments.size()); ++i)
    if (const auto parameter = template_parameter_name(parameters[i]); !parameter.empty())
      substitutions[parameter] = joined(arguments[i], " ", &Token::text);

  std::string list;
  for (const ParameterDeclaration& parameter : declared.parameters) {
    if (!list.empty()) list += ", ";
    for (const Token& token : parse::lex(parameter.type)) {
      const auto argument = substitutions.find(token.text);
      list += argument != substitutions.end() ? argument->second : token.text;
      list += ' ';
    }
    list += parameter.name;
  }
  parse::SourceKernel out = declared;
  auto substituted =
      parse::parse_parameters(parse::lex(list), parse::scan_source(source.text).aliases);
  if (substituted.size() == declared.parameters.size()) out.parameters = std::move(substituted);
  return out;
}

namespace {

// Of a declaration of Kernel::bind().
std::string_view keyword_of(ParameterLayout layout) {
  if (layout == ParameterLayout::raw) return "raw";
  return layout == ParameterLayout::contiguous ? "contiguous" : "strided";
}

/// Merges a declaration of Kernel::bind() with its parameter; the members throw
/// KernelArgumentError.
class BindDeclaration {
 public:
  BindDeclaration(const KernelState& function, std::size_t index, std::string_view text)
      : function_(function),
        index_(index),
        text_(text),
        parameter_(function.signature().parameters[index]),
        declared_(parse::parse_parameter(parse::lex(text), parse::Dialect::bind)) {}

  KernelParameter merged() {
    read_layout();
    read_dtype();
    check_kind();
    KernelParameter out = parameter_;
    if (declared_.dtype) {
      if (out.dtype && *out.dtype != *declared_.dtype) refuse(text("the kernel has ", *out.dtype));
      out.dtype = declared_.dtype;
    }
    out.is_const |= declared_.is_const;
    out.layout = layout_;
    out.view_rank = rank_;
    out.is_pointer = layout_ == ParameterLayout::raw || layout_ == ParameterLayout::contiguous;
    if (out.type.empty()) out.type = type_text();
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& got) const {
    const std::string shown = parameter_.type.empty() ? text(parameter_.size, " bytes")
                                                      : text(parameter_.type, ' ', parameter_.name);
    fail<KernelArgumentError>(
        "kernel '", function_.name(), "', bind: declaration ", index_ + 1, " of ",
        function_.signature().parameters.size(), ", '", text_,
        "', does not fit: expected one for the parameter '", shown, "', got: ", got,
        ". Remedy: write \"raw float32*\", \"contiguous const float32*\", \"strided float32[2]\", "
        "a number's type such as \"int32\", or raw, contiguous or strided alone");
  }

  void read_layout() {
    if (!declared_.name.empty()) refuse(text("a name, '", declared_.name, "'"));
    if (!declared_.extents.empty()) {
      if (declared_.type.empty()) refuse("no type before [N]");
      const std::string_view digits =
          std::string_view(declared_.extents).substr(1, declared_.extents.size() - 2);
      rank_ = declared_.extents.ends_with(']') ? parse_number(digits).value_or(0) : 0;
      if (rank_ < 1 || rank_ > max_rank) refuse(text("the number of axes '", digits, "'"));
    }
    for (const ParameterLayout layout :
         {ParameterLayout::raw, ParameterLayout::contiguous, ParameterLayout::strided})
      if (declared_.layout == keyword_of(layout)) layout_ = layout;
    if (declared_.layout.empty() && (rank_ > 0 || declared_.is_pointer))
      layout_ = rank_ > 0 ? ParameterLayout::strided : ParameterLayout::raw;
    if (layout_ == ParameterLayout::strided && rank_ == 0) rank_ = parameter_.view_rank;
  }

  void read_dtype() {
    if (declared_.type.empty() && declared_.layout.empty()) refuse("an empty text");
    if (declared_.dtype || declared_.type.empty()) return;
    if (declared_.element.empty()) refuse("no type");
    try {
      declared_.dtype = DType::parse(declared_.element);
    } catch (const DTypeError&) {
      // void or a user's struct: only the size is checked.
      if (!declared_.extents.empty())
        refuse(text("an element type '", declared_.element, "' that is unknown"));
    }
  }

  void check_kind() const {
    // Of a type that neither source nor binary resolves, only the size is checked.
    const bool is_resolved =
        parameter_.is_pointer || parameter_.view_rank > 0 || parameter_.dtype.has_value();
    if (layout_ == ParameterLayout::strided) {
      if (declared_.is_pointer) refuse("a pointer, which carries no strides");
      if (is_resolved && parameter_.view_rank == 0)
        refuse("strided, which requires a parameter of type spanwise::View<T, N>");
      if (rank_ == 0) refuse("strided without the number of axes");
      if (is_resolved ? rank_ != parameter_.view_rank : view_size(rank_) != parameter_.size)
        refuse(text(rank_, " axes"));
      return;
    }
    if (layout_ != ParameterLayout::none) {
      if (!declared_.type.empty() && !declared_.is_pointer)
        refuse(text(keyword_of(layout_), " of a number; write a '*'"));
      if (is_resolved ? !parameter_.is_pointer : parameter_.size != address_size)
        refuse(text(keyword_of(layout_), ", which requires a pointer"));
      return;
    }
    if (parameter_.is_pointer || parameter_.view_rank > 0) refuse("a number's type");
    if (declared_.dtype && declared_.dtype->itemsize() != parameter_.size)
      refuse(text(declared_.dtype->itemsize(), " bytes"));
  }

  // Of a parameter without one in the source.
  std::string type_text() const {
    const std::string element = (declared_.is_const ? "const " : "") + declared_.element;
    if (layout_ == ParameterLayout::strided)
      return text("spanwise::View<", element, ", ", rank_, ">");
    if (layout_ == ParameterLayout::none) return element;
    return (declared_.element.empty() ? "void" : element) + " *";
  }

  const KernelState& function_;
  std::size_t index_;
  std::string_view text_;
  const KernelParameter& parameter_;
  ParameterDeclaration declared_;
  ParameterLayout layout_ = ParameterLayout::none;
  int rank_ = 0;
};

}  // namespace

Signature declared_signature(const KernelState& function,
                             std::span<const std::string> declarations) {
  const std::size_t count = function.signature().parameters.size();
  if (declarations.size() != count)
    fail<KernelArgumentError>("kernel '", function.name(), "', bind: expected ", count,
                              " declarations, one for each parameter, got ", declarations.size());
  Signature out;
  for (std::size_t i = 0; i < count; ++i)
    out.add(BindDeclaration(function, i, declarations[i]).merged());
  return out;
}

}  // namespace spanwise::kernels
