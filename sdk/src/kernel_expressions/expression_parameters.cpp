// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel_expressions/expression_parameters.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "core/string_utils.hpp"
#include "parse/parameter_declaration.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"

namespace spanwise::kernel_expressions {
namespace {

using parse::has_token;
using parse::ParameterDeclaration;
using parse::Token;
using Tokens = std::vector<Token>;

// Names that numpy.dtype() accepts and DType::parse() does not.
const std::map<std::string, DType, std::less<>>& numpy_names() {
  static const std::map<std::string, DType, std::less<>> names{
      {"float", float64},  {"int", int64},      {"complex", complex128}, {"half", float16},
      {"single", float32}, {"double", float64}, {"uint", uint64},        {"intp", int64},
      {"uintp", uint64},   {"int_", int64},     {"bool_", bool_},        {"short", int16},
      {"ushort", uint16},  {"longlong", int64}, {"ulonglong", uint64},   {"csingle", complex64},
      {"byte", int8},      {"ubyte", uint8},    {"cdouble", complex128}, {"intc", int32},
      {"uintc", uint32},   {"float_", float64},
  };
  return names;
}

// "float32" and the other names that numpy.dtype() accepts: "single", "intp".
std::optional<DType> numpy_dtype_named(std::string_view name) {
  try {
    const DType dtype = DType::parse(name);
    if (dtype.is_computable()) return dtype;
  } catch (const DTypeError&) {
  }
  const auto entry = numpy_names().find(name);
  return entry != numpy_names().end() ? std::optional(entry->second) : std::nullopt;
}

// Whether `type` is one of CUDA's vector types or complex structs: float4, uchar2, dim3,
// cuFloatComplex.
bool is_vector_type(std::string_view type) {
  if (type == "dim3" || type == "cuFloatComplex" || type == "cuDoubleComplex") return true;
  if (type.size() < 4 || type.back() < '1' || type.back() > '4') return false;
  type.remove_suffix(1);
  if (type.starts_with('u')) type.remove_prefix(1);
  static constexpr std::array<std::string_view, 7> parts{"char",     "short", "int",   "long",
                                                         "longlong", "float", "double"};
  return std::find(parts.begin(), parts.end(), type) != parts.end();
}

bool is_type_parameter(std::string_view name) {
  return name.size() == 1 && std::isupper(static_cast<unsigned char>(name[0])) != 0;
}

[[noreturn]] void refuse_type(const std::string& label, const std::string& type,
                              const char* known_types) {
  fail<ArgumentError>(label, ": expected a type, got '", type, "', which is unknown. ",
                      known_types);
}

// A type of C, a dtype's name, a vector type, or a name in the preamble.
Parameter parse_c_type(const std::string& label, const Tokens& tokens, std::string_view preamble) {
  const auto is_keyword = [](const Token& token) { return parse::is_type_keyword(token.text); };
  const bool is_vector = !tokens.empty() && is_vector_type(tokens.back().text);
  const ParameterDeclaration declared = parse::parse_parameter(tokens);
  Parameter parameter{.name = "", .type = joined(tokens, " ", &Token::text)};
  if (!is_vector && !declared.is_pointer && declared.name.empty()) parameter.dtype = declared.dtype;
  if (!parameter.dtype && tokens.size() == 1) parameter.dtype = numpy_dtype_named(tokens[0].text);
  if (parameter.dtype) {
    // C types are kept as written, so that functions of a preamble get the type that they declare.
    if (!std::ranges::all_of(tokens, is_keyword)) parameter.type = c_type(*parameter.dtype);
    return parameter;
  }
  const bool may_be_included = preamble.find("#include") != std::string_view::npos;
  const bool is_in_preamble = std::ranges::any_of(tokens, [&](const Token& token) {
    return token.text != "struct" && !is_keyword(token) && has_token(preamble, token.text);
  });
  if (tokens.empty() || !(is_vector || may_be_included || is_in_preamble))
    refuse_type(
        label, parameter.type,
        "Known are C's types (float, unsigned int, ...), CUDA's (float4, ...) and dtypes by "
        "name (float32, ...); define any other in preamble=");
  return parameter;
}

// PyCUDA's "const float *x".
Parameter pointer_parameter(const std::string& label, std::span<const Token> tokens,
                            std::string_view preamble) {
  const ParameterDeclaration declared = parse::parse_parameter(tokens);
  if (!parse::is_name(declared.name) || !declared.extents.empty())
    fail<ArgumentError>(label, ": expected an argument such as \"float *x\" or \"int n\", got \"",
                        joined(tokens, " ", &Token::text), "\"; give its type, then its name");
  if (declared.element.find('*') != std::string::npos)
    fail<ArgumentError>(label, ": argument \"", joined(tokens, " ", &Token::text),
                        "\" is a pointer to pointers; pass one array, and index into it");
  Parameter parameter = parse_c_type(label, parse::lex(declared.element), preamble);
  parameter.name = declared.name;
  parameter.kind = declared.is_pointer ? Parameter::Kind::raw : Parameter::Kind::number;
  parameter.is_output = declared.is_pointer && !declared.is_const;
  return parameter;
}

// CuPy's "T x" or "raw float32 x".
Parameter value_parameter(const std::string& label, std::span<const Token> tokens, bool is_output) {
  const ParameterDeclaration declared = parse::parse_parameter(tokens, parse::Dialect::cupy);
  const std::string& type = declared.type;
  if (!parse::is_name(declared.name) || !parse::is_name(type) || !declared.extents.empty())
    fail<ArgumentError>(label,
                        ": expected an argument such as \"float32 x\", \"T y\" or \"raw T z\", "
                        "got \"",
                        joined(tokens, " ", &Token::text),
                        "\"; pointers belong to the syntax in which all arguments are "
                        "in one string");
  Parameter parameter{.name = declared.name, .is_output = is_output, .is_assigned = is_output};
  if (!declared.layout.empty()) parameter.kind = Parameter::Kind::raw;
  if (is_type_parameter(type)) {
    parameter.type_parameter = type;
    return parameter;
  }
  parameter.dtype = numpy_dtype_named(type);
  if (!parameter.dtype)
    refuse_type(label, type,
                "Known are dtypes by name (float32, int64, bool, ...) and single capital letters "
                "for any dtype (T)");
  parameter.type = c_type(*parameter.dtype);
  return parameter;
}

// Whether `text` begins with an operator that changes its left operand.
bool begins_with_assignment(std::string_view text) {
  if (text.starts_with("++") || text.starts_with("--")) return true;
  if (text.starts_with("<<=") || text.starts_with(">>=")) return true;
  if (text.starts_with("=")) return !text.starts_with("==");
  constexpr std::string_view compound = "+-*/%&|^";
  return text.size() > 1 && compound.find(text[0]) != compound.npos && text[1] == '=';
}

// Whether the end of `text` is an operator that may change its right operand.
bool ends_with_modifier(std::string_view text) {
  return text.ends_with("++") || text.ends_with("--") ||
         (text.ends_with("&") && !text.ends_with("&&"));
}

std::string_view text_at(const Tokens& tokens, std::size_t k) {
  return k < tokens.size() ? tokens[k].text : std::string_view();
}

// Whether the token is the name of a member: a.x, p->x, space::x.
bool is_member(const Tokens& tokens, std::size_t k) {
  if (k == 0) return false;
  const std::string_view before = tokens[k - 1].text;
  return before == "." || before == "->" || before == "::";
}

bool is_own_element(const Tokens& tokens, std::size_t k) {
  return text_at(tokens, k + 1) == "[" && text_at(tokens, k + 2) == "i" &&
         text_at(tokens, k + 3) == "]";
}

// Whether the subscripted array at token `k`, whose subscript ends before token `next`, may be
// written to otherwise than by an assignment.
bool may_write(std::string_view text, const Tokens& tokens, std::size_t k, std::size_t next) {
  if (k == 0) return false;
  const Token& before = tokens[k - 1];
  if (ends_with_modifier(text.substr(0, before.offset + before.text.size()))) return true;
  // An argument of a call may be taken by reference, and a member may be assigned to or be a
  // function that changes the element.
  const std::string_view after = text_at(tokens, next);
  const bool is_passed = before.text == "(" || before.text == ",";
  return after == "." || after == "->" || (is_passed && (after == ")" || after == ","));
}

// How an expression uses one array that it names.
struct ArrayUses {
  bool own_element = false;     // x[i], the element of the current index
  bool other_elements = false;  // x[any other index]
  bool as_whole = false;        // x without a subscript
  bool is_assigned = false;
  bool may_write = false;  // assigned to, or passed on in a way that permits writing
};

ArrayUses uses_of(std::string_view text, std::string_view array) {
  const Tokens tokens = parse::lex(text);
  ArrayUses uses;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (tokens[k].text != array || is_member(tokens, k)) continue;
    if (text_at(tokens, k + 1) != "[") {
      uses.as_whole = uses.may_write = true;
      continue;
    }
    (is_own_element(tokens, k) ? uses.own_element : uses.other_elements) = true;
    const std::size_t next = parse::skip_balanced(tokens, k + 1);
    uses.is_assigned |=
        next < tokens.size() && begins_with_assignment(text.substr(tokens[next].offset));
    uses.may_write |= uses.is_assigned || may_write(text, tokens, k, next);
  }
  return uses;
}

}  // namespace

std::string c_type(DType dtype) {
  // Types with arithmetic, unlike those of element_text().
  if (dtype == float16) return "__half";
  if (dtype == bfloat16) return "__nv_bfloat16";
  if (dtype == complex64) return "complex<float>";
  if (dtype == complex128) return "complex<double>";
  if (dtype.is_bool()) return "bool";
  if (!dtype.is_computable())
    fail<DTypeError>("kernel: no C++ type is known for dtype ", dtype,
                     "; convert with astype(), or view its bytes as a struct");
  return element_text(dtype);
}

std::vector<Parameter> pointer_parameters(const std::string& label, std::string_view text,
                                          std::string_view preamble) {
  const Tokens tokens = parse::lex(text);
  std::vector<Parameter> parameters;
  for (const auto part : parse::split_at_commas(tokens))
    parameters.push_back(pointer_parameter(label, part, preamble));
  return parameters;
}

std::vector<Parameter> value_parameters(const std::string& label, std::string_view inputs,
                                        std::string_view outputs) {
  std::vector<Parameter> parameters;
  const auto add = [&](std::string_view list, bool is_output) {
    const Tokens tokens = parse::lex(list);
    for (const auto part : parse::split_at_commas(tokens))
      parameters.push_back(value_parameter(label, part, is_output));
  };
  add(inputs, false);
  add(outputs, true);
  return parameters;
}

Parameter parse_type(const std::string& label, std::string_view text, std::string_view preamble) {
  const Tokens tokens = parse::lex(text);
  if (tokens.size() == 1 && is_type_parameter(tokens[0].text) &&
      !has_token(preamble, tokens[0].text))
    return {.name = "", .type_parameter = std::string(tokens[0].text)};
  return parse_c_type(label, tokens, preamble);
}

void check_names(const std::string& label, const std::vector<Parameter>& parameters) {
  if (parameters.size() > max_operands)
    fail<ArgumentError>(label, ": ", parameters.size(), " arguments are more than the ",
                        max_operands, " that a kernel takes here; write it as a SourceModule");
  std::set<std::string> seen;
  for (const Parameter& parameter : parameters) {
    const std::string& name = parameter.name;
    if (name == "i" || name == "n" || name == "_ind" || name.starts_with("sw_"))
      fail<ArgumentError>(label, ": an argument cannot be named '", name,
                          "', which is reserved in the operation; rename it");
    if (!seen.insert(name).second)
      fail<ArgumentError>(label, ": two arguments are named '", name, "'; rename one");
  }
}

void find_elements(const std::string& body, bool has_own_index,
                   std::vector<Parameter>& parameters) {
  bool any_element = false;
  for (Parameter& parameter : parameters) {
    if (parameter.kind != Parameter::Kind::raw) continue;
    const ArrayUses uses = uses_of(body, parameter.name);
    parameter.needs_whole_array = uses.other_elements || uses.as_whole || has_own_index;
    parameter.is_assigned = parameter.is_output && uses.is_assigned;
    parameter.is_output &= uses.may_write || !(uses.own_element || uses.other_elements);
    if (!uses.own_element) continue;
    parameter.kind = Parameter::Kind::element;
    any_element = true;
  }
  if (any_element) return;
  for (Parameter& parameter : parameters)
    if (parameter.kind == Parameter::Kind::raw) parameter.kind = Parameter::Kind::element;
}

std::vector<std::string> element_names(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters)
    if (parameter.kind == Parameter::Kind::element) names.push_back(parameter.name);
  return names;
}

bool declares_index(std::string_view text) {
  const Tokens tokens = parse::lex(text);
  for (std::size_t k = 1; k < tokens.size(); ++k) {
    if (tokens[k].text != "i") continue;
    const Token& before = tokens[k - 1];
    const bool is_type = before.kind == Token::Kind::identifier && before.text != "return" &&
                         before.text != "else" && before.text != "case";
    if (is_type || (before.text == "&" && k > 1 && tokens[k - 2].text == "auto")) return true;
  }
  return false;
}

std::string replace_element_accesses(std::string_view text,
                                     const std::vector<std::string>& arrays) {
  const Tokens tokens = parse::lex(text);
  std::string out;
  std::size_t copied = 0;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const Token& token = tokens[k];
    if (std::find(arrays.begin(), arrays.end(), token.text) == arrays.end()) continue;
    if (is_member(tokens, k) || !is_own_element(tokens, k)) continue;
    const std::size_t end = tokens[k + 3].offset + 1;
    out.append(text.substr(copied, token.offset - copied));
    out.append("(*sw_at_").append(token.text).append(")");
    const std::string_view replaced = text.substr(token.offset, end - token.offset);
    out.append(static_cast<std::size_t>(std::count(replaced.begin(), replaced.end(), '\n')), '\n');
    copied = end;
    k += 3;
  }
  return out.append(text.substr(copied));
}

namespace {

[[noreturn]] void refuse_use(const std::string& label, const std::string& name) {
  fail<ArgumentError>(label, ": an element body reads its own elements only, and uses ", name,
                      "; use sw.ElementwiseKernel, or a kernel with __global__");
}

void check_body(const std::string& label, const std::string& operation,
                const std::vector<Parameter>& parameters) {
  for (const char* name :
       {"_ind", "threadIdx", "blockIdx", "blockDim", "gridDim", "__shared__", "__syncthreads"})
    if (has_token(operation, name)) refuse_use(label, name);
  if (has_token(operation, "i") && !declares_index(operation)) refuse_use(label, "the index i");
  for (const Parameter& parameter : parameters) {
    if (parameter.kind == Parameter::Kind::raw)
      refuse_use(label, text("the whole array ", parameter.name));
    if (parameter.is_user_type())
      fail<ArgumentError>(label, ": ", parameter.name, " is of type ", parameter.type,
                          "; expected a dtype or a letter that stands for one");
  }
}

// The operation with x for each x[i].
std::string without_index(std::string operation, const std::vector<std::string>& names) {
  operation = replace_element_accesses(operation, names);
  for (const std::string& name : names) {
    const std::string access = text("(*sw_at_", name, ")");
    for (std::size_t start = 0; (start = operation.find(access, start)) != operation.npos;
         start += name.size())
      operation.replace(start, access.size(), name);
  }
  return operation;
}

// PyCUDA's: "float *z, float *x, float a" with z[i] in the operation.
std::vector<Parameter> pointer_elements(const std::string& label, const std::string& declared,
                                        const std::string& preamble, std::string& operation) {
  std::vector<Parameter> parameters = pointer_parameters(label, declared, preamble);
  find_elements(operation, false, parameters);
  for (const Parameter& parameter : parameters)
    if (parameter.kind == Parameter::Kind::element && parameter.needs_whole_array)
      refuse_use(label, text("other elements of ", parameter.name));
  operation = without_index(operation, element_names(parameters));
  return parameters;
}

}  // namespace

ElementDeclaration element_declaration(const std::string& label, const std::string& inputs,
                                       const std::string& outputs, std::string operation,
                                       const std::string& preamble) {
  std::vector<Parameter> parameters = outputs.empty()
                                          ? pointer_elements(label, inputs, preamble, operation)
                                          : value_parameters(label, inputs, outputs);
  check_names(label, parameters);
  check_body(label, operation, parameters);
  ElementDeclaration declared;
  declared.operation = std::move(operation);
  for (Parameter& parameter : parameters)
    (parameter.is_output ? declared.outputs : declared.inputs).push_back(std::move(parameter));
  return declared;
}

}  // namespace spanwise::kernel_expressions
