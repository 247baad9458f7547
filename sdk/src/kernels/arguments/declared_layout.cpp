// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments/signature.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/string_utils.hpp"
#include "kernels/module_state.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernels {
namespace {

constexpr std::int64_t address_size = 8;

// Of a declaration with a layout.
std::string_view keyword_of(ParameterLayout layout) {
  if (layout == ParameterLayout::raw) return "raw";
  return layout == ParameterLayout::contiguous ? "contiguous" : "strided";
}

/// A parsed declaration.
struct LayoutDeclaration {
  ParameterLayout layout = ParameterLayout::none;
  bool has_layout = false, has_type = false;
  bool is_pointer = false, is_const = false;
  int rank = 0;
  std::string type;  ///< of the number or element, as written
  std::optional<DType> dtype{};
};

/// Parses one declaration and merges it with the parameter; its members throw KernelArgumentError.
class DeclarationParser {
 public:
  DeclarationParser(const KernelState& function, std::size_t index, std::string_view text)
      : function_(function),
        index_(index),
        text_(text),
        known_(function.signature().parameters[index]) {}

  KernelParameter merged() {
    read();
    check_kind();
    KernelParameter out = known_;
    if (declared_.dtype) {
      if (out.dtype && *out.dtype != *declared_.dtype) refuse(text("the kernel has ", *out.dtype));
      out.dtype = declared_.dtype;
    }
    out.is_const |= declared_.is_const;
    out.layout = declared_.layout;
    out.view_rank = declared_.rank;
    out.is_pointer =
        declared_.layout == ParameterLayout::raw || declared_.layout == ParameterLayout::contiguous;
    if (out.type.empty()) out.type = type_text();
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& got) const {
    const std::string shown =
        known_.type.empty() ? text(known_.size, " bytes") : text(known_.type, ' ', known_.name);
    fail<KernelArgumentError>(
        "kernel '", function_.name(), "', bind: declaration ", index_ + 1, " of ",
        function_.signature().parameters.size(), ", '", text_,
        "', does not fit: expected one for the parameter '", shown, "', got: ", got,
        ". Remedy: write \"raw float32*\", \"contiguous const float32*\", \"strided float32[2]\", "
        "a number's type such as \"int32\", or raw, contiguous or strided alone");
  }

  void read() {
    std::vector<parse::Token> tokens = parse::lex(text_);
    if (tokens.empty()) refuse("an empty text");
    std::size_t first = 0;
    for (const ParameterLayout layout :
         {ParameterLayout::raw, ParameterLayout::contiguous, ParameterLayout::strided}) {
      if (tokens[0].text != keyword_of(layout)) continue;
      declared_.layout = layout;
      declared_.has_layout = true;
      first = 1;
    }
    std::size_t end = tokens.size();
    if (end > first && tokens[end - 1].text == "]") end = read_rank(tokens, first);
    if (end > first && tokens[end - 1].text == "*") {
      declared_.is_pointer = true;
      --end;
    }
    if (end > first) read_type(tokens, first, end);
    if (!declared_.has_layout) declared_.layout = default_layout();
    if (declared_.layout == ParameterLayout::strided && declared_.rank == 0)
      declared_.rank = known_.view_rank;
  }

  ParameterLayout default_layout() const {
    if (declared_.rank > 0) return ParameterLayout::strided;
    return declared_.is_pointer ? ParameterLayout::raw : ParameterLayout::none;
  }

  // Parses a trailing "[2]"; returns the index of its "[".
  std::size_t read_rank(const std::vector<parse::Token>& tokens, std::size_t first) {
    const std::size_t end = tokens.size();
    if (end < first + 4 || tokens[end - 3].text != "[") refuse("no type before [N]");
    const std::string_view digits = tokens[end - 2].text;
    declared_.rank = parse_number(digits).value_or(0);
    if (declared_.rank < 1 || declared_.rank > max_rank)
      refuse(text("the number of axes '", digits, "'"));
    return end - 3;
  }

  void read_type(const std::vector<parse::Token>& tokens, std::size_t first, std::size_t end) {
    declared_.has_type = true;
    for (std::size_t i = first; i < end; ++i) {
      if (tokens[i].text == "const") {
        declared_.is_const = true;
        continue;
      }
      if (!declared_.type.empty()) declared_.type += ' ';
      declared_.type += tokens[i].text;
    }
    if (declared_.type.empty()) refuse("no type");
    const auto pointee = pointer_to(declared_.type);
    if (pointee && pointee->dtype) {
      declared_.dtype = pointee->dtype;
      return;
    }
    try {
      declared_.dtype = DType::parse(declared_.type);
    } catch (const DTypeError&) {
      // void or a user's struct: only the size is checked.
      if (declared_.rank > 0)
        refuse(text("an element type '", declared_.type, "' that is unknown"));
    }
  }

  void check_kind() const {
    // Of a type that neither source nor binary resolves, only the size is checked.
    const bool is_known = known_.is_pointer || known_.view_rank > 0 || known_.dtype.has_value();
    if (declared_.layout == ParameterLayout::strided) {
      if (declared_.is_pointer) refuse("a pointer, which carries no strides");
      if (is_known && known_.view_rank == 0)
        refuse("strided, which requires a parameter of type spanwise::View<T, N>");
      if (declared_.rank == 0) refuse("strided without the number of axes");
      if (is_known ? declared_.rank != known_.view_rank : view_size(declared_.rank) != known_.size)
        refuse(text(declared_.rank, " axes"));
      return;
    }
    if (declared_.layout != ParameterLayout::none) {
      if (declared_.has_type && !declared_.is_pointer)
        refuse(text(keyword_of(declared_.layout), " of a number; write a '*'"));
      if (is_known ? !known_.is_pointer : known_.size != address_size)
        refuse(text(keyword_of(declared_.layout), ", which requires a pointer"));
      return;
    }
    if (known_.is_pointer || known_.view_rank > 0) refuse("a number's type");
    if (declared_.dtype && declared_.dtype->itemsize() != known_.size)
      refuse(text(declared_.dtype->itemsize(), " bytes"));
  }

  std::string type_text() const {
    std::string element = (declared_.is_const ? "const " : "") + declared_.type;
    if (declared_.layout == ParameterLayout::strided)
      return text("spanwise::View<", element, ", ", declared_.rank, ">");
    if (declared_.layout == ParameterLayout::none) return element;
    return (declared_.type.empty() ? "void" : element) + " *";
  }

  const KernelState& function_;
  std::size_t index_;
  std::string_view text_;
  const KernelParameter& known_;
  LayoutDeclaration declared_;
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
    out.add(DeclarationParser(function, i, declarations[i]).merged());
  return out;
}

}  // namespace spanwise::kernels
