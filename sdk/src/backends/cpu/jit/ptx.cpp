// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/ptx.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "backends/cpu/jit/ptx_instruction.hpp"
#include "core/string_utils.hpp"

namespace spanwise::cpu_backend {
namespace {

using parse::Token;
using Operand = PtxInstruction::Operand;

// Special registers (PTX ISA 9.0).
constexpr std::array<std::pair<std::string_view, std::string_view>, 32> registers{{
    {"tid.x", "threadIdx.x"},
    {"tid.y", "threadIdx.y"},
    {"tid.z", "threadIdx.z"},
    {"ntid.x", "blockDim.x"},
    {"ntid.y", "blockDim.y"},
    {"ntid.z", "blockDim.z"},
    {"ctaid.x", "blockIdx.x"},
    {"ctaid.y", "blockIdx.y"},
    {"ctaid.z", "blockIdx.z"},
    {"nctaid.x", "gridDim.x"},
    {"nctaid.y", "gridDim.y"},
    {"nctaid.z", "gridDim.z"},
    {"laneid", "(sw_linear_thread() & 31u)"},
    {"warpid", "(sw_linear_thread() / 32u)"},
    {"nwarpid", "((blockDim.x * blockDim.y * blockDim.z + 31u) / 32u)"},
    {"lanemask_eq", "(1u << (sw_linear_thread() & 31u))"},
    {"lanemask_lt", "((1u << (sw_linear_thread() & 31u)) - 1u)"},
    {"lanemask_le", "((2u << (sw_linear_thread() & 31u)) - 1u)"},
    {"lanemask_gt", "(~((2u << (sw_linear_thread() & 31u)) - 1u))"},
    {"lanemask_ge", "(~((1u << (sw_linear_thread() & 31u)) - 1u))"},
    {"clock", "(unsigned)clock64()"},
    {"clock_hi", "(unsigned)(clock64() >> 32)"},
    {"clock64", "clock64()"},
    {"globaltimer", "clock64()"},
    {"globaltimer_lo", "(unsigned)clock64()"},
    {"globaltimer_hi", "(unsigned)(clock64() >> 32)"},
    {"smid", "0u"},
    {"nsmid", "1u"},
    {"gridid", "0ull"},
    {"WARP_SZ", "32u"},
    {"pm0", "0u"},
    {"pm1", "0u"},
}};

// What is between the quotes of a string literal, R"(raw)" included.
std::string_view contents(std::string_view token) {
  std::size_t begin = token.find('"') + 1, end = token.size() - 1;
  if (token.starts_with("R")) {
    const std::size_t open = token.find('('), delimiter = open - begin;
    begin = open + 1;
    end = end - delimiter - 1;
  }
  return token.substr(begin, end - begin);
}

// The text of string literals, without escapes and comments; "%%" is "%".
std::string instruction_text(std::string_view literal) {
  std::string text;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    char c = literal[i];
    if (c == '\\' && i + 1 < literal.size()) {
      c = literal[++i];
      if (c == 'n') c = '\n';
      if (c == 't' || c == 'r') c = ' ';
    }
    if (c == '%' && literal.substr(i).starts_with("%%")) ++i;
    text += c;
  }
  for (const auto& [open, close] : {std::pair{"//", "\n"}, std::pair{"/*", "*/"}})
    for (std::size_t begin = 0; (begin = text.find(open)) != text.npos;) {
      const std::size_t end = text.find(close, begin);
      text.replace(begin, end == text.npos ? end : end + std::string_view(close).size() - begin,
                   " ");
    }
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// Translates the text of one asm statement.
class PtxTranslator {
 public:
  explicit PtxTranslator(std::vector<std::string> operands) : operands_(std::move(operands)) {}

  // C++ statements; the first unsupported instruction is unsupported().
  std::string run(std::string_view text) {
    std::string code;
    while (!(text = trimmed(text)).empty()) {
      if (const char c = text.front(); c == '{' || c == '}' || c == ';') {
        if (c != ';') code.append(1, c).append(" ");
        text.remove_prefix(1);
        continue;
      }
      const std::size_t length = std::min(text.find(';'), text.size());
      const std::string_view statement = trimmed(text.substr(0, length));
      text.remove_prefix(length);
      const std::string translated = translate(statement);
      if (translated.empty()) {
        unsupported_ = statement;
        return {};
      }
      code += translated + " ";
    }
    return code;
  }
  const std::string& unsupported() const noexcept { return unsupported_; }

 private:
  // "" if it is not supported.
  std::string translate(std::string_view statement) {
    if (statement.starts_with(".reg")) return declare(statement.substr(4));
    std::string guard;
    if (statement.starts_with("@")) {
      const std::size_t space = statement.find_first_of(" \t");
      if (space == statement.npos) return {};
      const auto predicate = operand(statement.substr(1, space - 1));
      if (!predicate) return {};
      guard = "if (sw_get<bool>(" + predicate->code + ")) ";
      statement = trimmed(statement.substr(space));
    }
    PtxInstruction instruction;
    const std::size_t end = std::min(statement.find_first_of(" \t"), statement.size());
    instruction.parts = split(statement.substr(0, end), '.');
    for (const std::string_view part : operand_texts(statement.substr(end))) {
      auto read = operand(trimmed(part));
      if (!read) return {};
      instruction.operands.push_back(*std::move(read));
    }
    const std::string code = ptx_statement(instruction);
    return code.empty() ? "" : guard + "{ " + code + " }";
  }

  // .reg .b32 a, b<3>: variables of the block.
  std::string declare(std::string_view text) {
    text = trimmed(text);
    const std::size_t end = text.find_first_of(" \t");
    if (!text.starts_with(".") || end == text.npos) return {};
    const std::string_view word = text.substr(1, end - 1);
    const std::string type(word == "pred" ? "bool" : ptx_type(word));
    if (type.empty()) return {};
    std::string code;
    for (std::string_view name : split(text.substr(end), ',')) {
      name = trimmed(name);
      const std::size_t open = name.find('<');
      if (open == name.npos) {
        code += type + " " + variable(name) + "{}; ";
        continue;
      }
      const auto count = parse_number<unsigned>(name.substr(open + 1, name.size() - open - 2));
      if (!count || *count > 256) return {};
      for (unsigned i = 0; i < *count; ++i)
        code +=
            type + " " + variable(std::string(name.substr(0, open)) + std::to_string(i)) + "{}; ";
    }
    return code;
  }

  // The C++ name of a register; declares it.
  std::string variable(std::string_view name) {
    std::string code = "sw_r_";
    for (const char c : name)
      if (c != '%') code += c == '$' ? 'S' : c;
    variables_[std::string(name)] = code;
    return code;
  }

  // The parts between commas outside of braces and brackets.
  static std::vector<std::string_view> operand_texts(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && (text[i] == '{' || text[i] == '[')) ++depth;
      if (i < text.size() && (text[i] == '}' || text[i] == ']')) --depth;
      if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
      if (!trimmed(text.substr(begin, i - begin)).empty())
        parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
    return parts;
  }

  std::optional<Operand> operand(std::string_view text) {
    Operand result;
    if (text.starts_with("{") && text.ends_with("}")) {
      for (const std::string_view part : operand_texts(text.substr(1, text.size() - 2))) {
        auto element = operand(trimmed(part));
        if (!element) return {};
        result.elements.push_back(element->code);
      }
      return result;
    }
    if (text.starts_with("[") && text.ends_with("]")) {
      text = trimmed(text.substr(1, text.size() - 2));
      const std::size_t sign = text.find_first_of("+-", 1);
      if (sign != text.npos) {
        const auto offset = operand(trimmed(text.substr(sign + 1)));
        if (!offset) return {};
        result.offset = std::string(1, text[sign]) + "(long long)(" + offset->code + ")";
        text = trimmed(text.substr(0, sign));
      }
      result.is_address = true;
    }
    if (const std::size_t bar = text.find('|'); bar != text.npos) {
      const auto second = operand(trimmed(text.substr(bar + 1)));
      if (!second) return {};
      result.second = second->code;
      text = trimmed(text.substr(0, bar));
    }
    result.code = value(text);
    if (result.code.empty()) return {};
    return result;
  }

  // The expression of a register, an operand of the asm statement or a number; "" for others.
  std::string value(std::string_view text) const {
    if (text == "_") return "sw_sink{}";
    if (text.starts_with("!")) {
      const std::string negated = value(trimmed(text.substr(1)));
      return negated.empty() ? "" : "!sw_get<bool>(" + negated + ")";
    }
    if (const auto known = variables_.find(std::string(text)); known != variables_.end())
      return known->second;
    if (text.size() > 1 && text.starts_with("%")) return from_percent(text.substr(1));
    if (text.starts_with("0f") || text.starts_with("0F"))
      return "sw_bits<float>(0x" + std::string(text.substr(2)) + "u)";
    if (text.starts_with("0d") || text.starts_with("0D"))
      return "sw_bits<double>(0x" + std::string(text.substr(2)) + "ull)";
    const auto named = std::ranges::find(registers, text, [](const auto& r) { return r.first; });
    if (text == "WARP_SZ" && named != registers.end()) return std::string(named->second);
    const bool is_number =
        !text.empty() && (std::isdigit(static_cast<unsigned char>(text.front())) != 0 ||
                          (text.front() == '-' && text.size() > 1));
    if (!is_number) return {};
    std::string number(text);
    if (number.ends_with('U')) number.pop_back();
    const bool is_real = number.find('.') != number.npos;
    return is_real ? number : "(" + number + "ll)";
  }

  std::string from_percent(std::string_view text) const {
    std::size_t index = operands_.size();
    if (std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
      index = parse_number<std::size_t>(text).value_or(index);
    } else {
      const auto special =
          std::ranges::find(registers, text, [](const auto& r) { return r.first; });
      return special == registers.end() ? "" : std::string(special->second);
    }
    return index < operands_.size() ? operands_[index] : "";
  }

  std::vector<std::string> operands_;
  std::map<std::string, std::string> variables_;
  std::string unsupported_;
};

// Makes copies of the input operands that an instruction of the text writes, "prmt.b32 %1, %1,
// ...": they are registers of the statement. Returns their declarations.
std::string copy_written(std::string_view text, const std::vector<std::size_t>& inputs,
                         std::vector<std::string>& operands) {
  std::string copies;
  for (const std::string_view instruction : split(text, ';')) {
    const std::size_t percent = instruction.find('%');
    const std::size_t opcode = instruction.find_first_not_of(" \t\n{");
    if (percent == instruction.npos || opcode == instruction.npos || percent < opcode) continue;
    const std::string_view before = instruction.substr(opcode, percent - opcode);
    // Only a mnemonic and blanks precede the first operand.
    if (before.find_first_of("[{,@") != before.npos || before.starts_with("st.") ||
        before.starts_with("red."))
      continue;
    std::string_view rest = instruction.substr(percent + 1);
    const auto number = take_number<std::size_t>(rest);
    if (!number || std::ranges::find(inputs, *number) == inputs.end()) continue;
    const std::string name = spanwise::text("sw_copy_", *number);
    if (operands[*number] == name) continue;
    copies += spanwise::text("auto ", name, " = ", operands[*number], "; ");
    operands[*number] = name;
  }
  return copies;
}

}  // namespace

std::optional<PtxStatement> read_ptx(const std::vector<Token>& tokens, std::size_t begin) {
  const auto at = [&](std::size_t i) {
    return i < tokens.size() ? tokens[i].text : std::string_view{};
  };
  std::size_t i = begin + 1;
  while (is_one_of(at(i), {"volatile", "__volatile__", "inline", "__inline__"})) ++i;
  if (at(i) != "(") return {};
  const std::size_t end = parse::skip_balanced(tokens, i);
  if (end >= tokens.size()) return {};
  std::string literal;
  for (++i; i < end && tokens[i].kind == Token::Kind::string; ++i) literal += contents(at(i));
  // "constraint" (operand), of the outputs and inputs alike; strings alone are clobbers.
  std::vector<std::string> operands;
  std::vector<std::size_t> inputs;
  for (; i < end; ++i) {
    if (tokens[i].kind != Token::Kind::string || at(i + 1) != "(") continue;
    const std::size_t close = parse::skip_balanced(tokens, i + 1);
    // The source text, because joined tokens would separate << and >>.
    const char* first = tokens[i + 1].text.data();
    const Token& last = tokens[close - 1];
    operands.emplace_back(first, last.text.data() + last.text.size());
    if (tokens[i].text.find_first_of("=+") == std::string_view::npos)
      inputs.push_back(operands.size() - 1);
    i = close - 1;
  }
  const std::string text = instruction_text(literal);
  const std::string copies = copy_written(text, inputs, operands);
  PtxTranslator translator(std::move(operands));
  const std::string code = translator.run(text);
  PtxStatement statement{end, std::string(trimmed(text)), ""};
  if (code.empty() && translator.unsupported().empty())
    statement.replacement =
        "__asm__ volatile(\"\" ::: \"memory\")";  // orders what the compiler does
  else if (!translator.unsupported().empty())
    statement.instructions = translator.unsupported();
  else
    statement.replacement = "do { " + copies + code + "} while (0)";
  return statement;
}

const std::vector<std::string>& ptx_names() {
  static const auto& names = *new std::vector<std::string>{"sw_ptx"};
  return names;
}

}  // namespace spanwise::cpu_backend
