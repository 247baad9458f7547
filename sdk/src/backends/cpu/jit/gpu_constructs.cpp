// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/gpu_constructs.hpp"

#include <algorithm>
#include <array>

#include "core/string_utils.hpp"

namespace spanwise::cpu_backend {
namespace {

using parse::SourceScan;
using parse::Token;

struct PtxRule {
  std::string_view instruction;  // as normal_form() and renumber() write it
  std::string_view code;         // C++; $n is operand n
};

// PTX ISA 9.0.
constexpr std::array<PtxRule, 57> ptx_rules{{
    {"mov.u32 %0, %laneid", "$0 = sw_linear_thread() & 31u"},
    {"mov.u32 %0, %warpid", "$0 = sw_linear_thread() / 32u"},
    {"mov.u32 %0, %lanemask_eq", "$0 = 1u << (sw_linear_thread() & 31u)"},
    {"mov.u32 %0, %lanemask_lt", "$0 = (1u << (sw_linear_thread() & 31u)) - 1u"},
    {"mov.u32 %0, %lanemask_le", "$0 = (2u << (sw_linear_thread() & 31u)) - 1u"},
    {"mov.u32 %0, %lanemask_gt", "$0 = ~((2u << (sw_linear_thread() & 31u)) - 1u)"},
    {"mov.u32 %0, %lanemask_ge", "$0 = ~((1u << (sw_linear_thread() & 31u)) - 1u)"},
    {"mov.u32 %0, %clock", "$0 = (unsigned)clock64()"},
    {"mov.u64 %0, %clock64", "$0 = clock64()"},
    {"mov.u64 %0, %globaltimer", "$0 = clock64()"},
    {"mov.u32 %0, %smid", "$0 = 0u"},
    {"mov.u32 %0, %nsmid", "$0 = 1u"},
    {"bfe.u32 %0, %1, %2, %3", "$0 = sw_bit_field((unsigned)($1), $2, $3)"},
    {"bfe.s32 %0, %1, %2, %3", "$0 = sw_bit_field((int)($1), $2, $3)"},
    {"bfi.b32 %0, %1, %2, %3, %4", "$0 = sw_bit_insert($1, $2, $3, $4)"},
    {"shf.l.wrap.b32 %0, %1, %2, %3", "$0 = __funnelshift_l($1, $2, $3)"},
    {"shf.r.wrap.b32 %0, %1, %2, %3", "$0 = __funnelshift_r($1, $2, $3)"},
    {"shf.l.clamp.b32 %0, %1, %2, %3", "$0 = __funnelshift_lc($1, $2, $3)"},
    {"shf.r.clamp.b32 %0, %1, %2, %3", "$0 = __funnelshift_rc($1, $2, $3)"},
    {"bfind.u32 %0, %1", "$0 = ($1) == 0 ? ~0u : 31u - __clz($1)"},
    {"popc.b32 %0, %1", "$0 = __popc($1)"},
    {"clz.b32 %0, %1", "$0 = __clz($1)"},
    {"brev.b32 %0, %1", "$0 = __brev($1)"},
    {"prmt.b32 %0, %1, %2, %3", "$0 = __byte_perm($1, $2, $3)"},
    {"mul.hi.u32 %0, %1, %2", "$0 = __umulhi($1, $2)"},
    {"mul.hi.s32 %0, %1, %2", "$0 = __mulhi($1, $2)"},
    {"mad.lo.u32 %0, %1, %2, %3", "$0 = (unsigned)($1) * (unsigned)($2) + (unsigned)($3)"},
    {"mad.lo.s32 %0, %1, %2, %3", "$0 = (unsigned)($1) * (unsigned)($2) + (unsigned)($3)"},
    {"mul.lo.u32 %0, %1, %2", "$0 = (unsigned)($1) * (unsigned)($2)"},
    {"add.s32 %0, %1, %2", "$0 = (unsigned)($1) + (unsigned)($2)"},
    {"sub.u32 %0, %1, %2", "$0 = (unsigned)($1) - (unsigned)($2)"},
    {"dp4a.s32.s32 %0, %1, %2, %3", "$0 = __dp4a((int)($1), (int)($2), (int)($3))"},
    {"ld.global.nc.f32 %0, [%1]", "$0 = *(const float*)($1)"},
    {"ld.global.nc.u32 %0, [%1]", "$0 = *(const unsigned*)($1)"},
    {"ld.global.cg.f32 %0, [%1]", "$0 = *(const volatile float*)($1)"},
    {"ld.global.cg.u32 %0, [%1]", "$0 = *(const volatile unsigned*)($1)"},
    {"st.global.cg.f32 [%0], %1", "*(volatile float*)($0) = ($1)"},
    {"st.global.cg.u32 [%0], %1", "*(volatile unsigned*)($0) = ($1)"},
    {"ld.acquire.gpu.global.u8 %0, [%1]",
     "$0 = __atomic_load_n((unsigned char*)($1), __ATOMIC_ACQUIRE)"},
    {"ld.acquire.gpu.global.u32 %0, [%1]",
     "$0 = __atomic_load_n((unsigned*)($1), __ATOMIC_ACQUIRE)"},
    {"st.release.gpu.global.u8 [%0], %1",
     "__atomic_store_n((unsigned char*)($0), (unsigned char)($1), __ATOMIC_RELEASE)"},
    {"st.release.gpu.global.u32 [%0], %1",
     "__atomic_store_n((unsigned*)($0), (unsigned)($1), __ATOMIC_RELEASE)"},
    {"add.u32 %0, %1, %2", "$0 = (unsigned)($1) + (unsigned)($2)"},
    {"fma.rn.f32 %0, %1, %2, %3", "$0 = fmaf($1, $2, $3)"},
    {"ex2.approx.f32 %0, %1", "$0 = exp2f($1)"},
    {"lg2.approx.f32 %0, %1", "$0 = log2f($1)"},
    {"rcp.approx.f32 %0, %1", "$0 = 1.0f / (float)($1)"},
    {"rsqrt.approx.f32 %0, %1", "$0 = rsqrtf($1)"},
    {"sqrt.approx.f32 %0, %1", "$0 = sqrtf($1)"},
    {"sin.approx.f32 %0, %1", "$0 = sinf($1)"},
    {"cos.approx.f32 %0, %1", "$0 = cosf($1)"},
    {"tanh.approx.f32 %0, %1", "$0 = tanhf($1)"},
    {"membar.cta", "__threadfence_block()"},
    {"membar.gl", "__threadfence()"},
    {"membar.sys", "__threadfence_system()"},
    {"nanosleep.u32 %0", "__nanosleep($0)"},
    {"trap", "__trap()"},
}};

// The instruction in the form of PtxRule: one blank after the name and after commas, "%" for "%%",
// no ".ftz", ".gpu" for ".sys" and no ';' at the end.
std::string normal_form(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\') {  // \n and \t
      ++i;
      c = ' ';
    }
    if (c == '%' && text.substr(i).starts_with("%%")) continue;
    if (c == '\t' || c == '\n') c = ' ';
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    if (c == ',' && !out.empty() && out.back() == ' ') out.pop_back();
    out += c;
    if (c == ',') out += ' ';
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == ';')) out.pop_back();
  if (const std::size_t ftz = out.find(".ftz"); ftz != out.npos) out.erase(ftz, 4);
  if (const std::size_t sys = out.find(".sys."); sys != out.npos) out.replace(sys, 5, ".gpu.");
  return out;
}

// Renumbers the operands in the order in which the instruction names them, and returns their former
// numbers: "[%1], %0" becomes "[%0], %1" and {1, 0}.
std::vector<std::size_t> renumber(std::string& instruction) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i + 1 < instruction.size(); ++i) {
    const char digit = instruction[i + 1];
    if (instruction[i] != '%' || digit < '0' || digit > '9') continue;
    const auto number = static_cast<std::size_t>(digit - '0');
    const auto position = std::ranges::find(order, number);
    instruction[i + 1] = static_cast<char>('0' + (position - order.begin()));
    if (position == order.end()) order.push_back(number);
  }
  return order;
}

struct Construct {
  std::string_view stem;         // start of an identifier, or of a header's name
  std::string_view description;  // plural, for "... exist only on a GPU"
};

// Identifiers that start with these stems and are called or used as a type.
constexpr std::array<Construct, 16> gpu_identifiers{{
    {"nvcuda", "tensor-core matrices (wmma)"},
    {"wmma", "tensor-core matrices (wmma)"},
    {"tex1DL", "texture fetches of levels of detail"},
    {"tex1DG", "texture fetches by gradients"},
    {"tex2DL", "texture fetches of levels of detail"},
    {"tex2DG", "texture fetches by gradients"},
    {"tex3DL", "texture fetches of levels of detail"},
    {"tex3DG", "texture fetches by gradients"},
    {"texCubemap", "cubemap textures"},
    {"surfCubemap", "cubemap surfaces"},
    {"multi_grid_group", "synchronisation of several grids"},
    {"this_cluster", "thread block clusters"},
    {"cluster_group", "thread block clusters"},
    {"cp_async", "asynchronous copies to shared memory"},
    {"cudaLaunchDevice", "kernel launches from a kernel"},
    {"__nv_aligned_device_malloc", "aligned device allocation"},
}};

constexpr std::array<Construct, 12> gpu_headers{{
    {"mma.h", "tensor-core matrices (wmma)"},
    {"cuda/barrier", "asynchronous barriers"},
    {"cuda/pipeline", "asynchronous pipelines"},
    {"cuda/ptx", "PTX instructions"},
    {"cuda_awbarrier", "asynchronous barriers"},
    {"cutlass/", "CUTLASS"},
    {"cute/", "CuTe"},
    {"cuda/std/barrier", "barriers of libcu++"},
    {"cuda/std/latch", "latches of libcu++"},
    {"cuda/std/semaphore", "semaphores of libcu++"},
    {"cuda/latch", "latches of libcu++"},
    {"cuda/semaphore", "semaphores of libcu++"},
}};

class UnsupportedFinder {
 public:
  explicit UnsupportedFinder(const SourceScan& scan) : scan_(scan) {}

  std::vector<UnsupportedUse> run() const {
    std::vector<UnsupportedUse> uses;
    for (std::size_t i = 0; i < scan_.tokens.size(); ++i) {
      const Token& token = scan_.tokens[i];
      std::string error;
      if (token.kind == Token::Kind::directive) error = header_error(token);
      if (token.kind == Token::Kind::identifier) error = identifier_error(i);
      if (token.text == "<" && parse::opens_launch(scan_.tokens, i))
        error = message("kernel launches in device code", "<<<");
      if (!error.empty()) uses.push_back({i, std::move(error)});
    }
    return uses;
  }

 private:
  const Token& at(std::size_t i) const {
    static const Token none{Token::Kind::punctuation, "", 0, 0};
    return i < scan_.tokens.size() ? scan_.tokens[i] : none;
  }

  static std::string message(std::string_view description, std::string_view name) {
    return text(description, " (", name,
                ") exist only on a GPU. Guard the code with #ifndef SW_CPU and give a plain path, "
                "or use a CUDA device");
  }

  static std::string header_error(const Token& token) {
    const std::size_t open = token.text.find_first_of("<\"");
    if (token.text.find("include") == std::string_view::npos || open == std::string_view::npos)
      return {};
    const std::string_view name =
        token.text.substr(open + 1, token.text.find_first_of(">\"", open + 1) - open - 1);
    for (const Construct& construct : gpu_headers)
      if (name.starts_with(construct.stem)) return message(construct.description, name);
    return {};
  }

  std::string identifier_error(std::size_t i) const {
    const Token& token = at(i);
    const std::string_view name = token.text, next = at(i + 1).text;
    if (is_asm(name)) {
      const bool is_statement = next == "(" || next == "volatile" || next == "__volatile__";
      const auto statement = is_statement ? read_ptx(scan_.tokens, i) : std::nullopt;
      if (!is_statement || (statement && !statement->replacement.empty())) return {};
      return message("PTX instructions",
                     text(name, " \"", statement ? statement->instructions : "", '"'));
    }
    // A name that the source declares itself is not CUDA's.
    if (scan_.uses.contains(name)) return {};
    for (const Construct& construct : gpu_identifiers)
      if (name.starts_with(construct.stem) && is_used(construct, i))
        return message(construct.description, name);
    return {};
  }

  // Common names such as cluster_group count only if they are called or used as a type.
  bool is_used(const Construct& construct, std::size_t i) const {
    const std::string_view name = at(i).text, next = at(i + 1).text, previous = at(i - 1).text;
    const bool is_called = next == "(" || next == "<";
    if (previous == "." || previous == "->") return false;
    // The shim has tex1DLayered and tex2DLayered, but not tex1DLod, tex2DLayeredGrad and so on.
    const bool is_supported = name == "tex1DLayered" || name == "tex2DLayered";
    if (construct.stem.starts_with("tex") || construct.stem.starts_with("surf"))
      return is_called && !is_supported;
    return name == construct.stem && (is_called || next == "::" || previous == "::" ||
                                      at(i + 1).kind == Token::Kind::identifier);
  }

  const SourceScan& scan_;
};

}  // namespace

std::optional<PtxStatement> read_ptx(const std::vector<Token>& tokens, std::size_t begin) {
  const auto at = [&](std::size_t i) {
    return i < tokens.size() ? tokens[i].text : std::string_view{};
  };
  std::size_t i = begin + 1;
  if (at(i) == "volatile" || at(i) == "__volatile__") ++i;
  if (at(i) != "(") return {};
  const std::size_t end = parse::skip_balanced(tokens, i);
  if (end >= tokens.size()) return {};
  std::string text;
  for (++i; i < end && tokens[i].kind == Token::Kind::string; ++i)
    text.append(at(i).substr(1, at(i).size() - 2));
  // "constraint"(operand), of the outputs and inputs alike; strings alone are clobbers.
  std::vector<std::string> operands;
  for (; i < end; ++i) {
    if (tokens[i].kind != Token::Kind::string || at(i + 1) != "(") continue;
    const std::size_t close = parse::skip_balanced(tokens, i + 1);
    // The source text, because joined tokens would separate << and >>.
    const char* first = tokens[i + 1].text.data();
    const Token& last = tokens[close - 1];
    operands.emplace_back(first, last.text.data() + last.text.size());
    i = close - 1;
  }
  std::string instruction = normal_form(text);
  PtxStatement statement{end, instruction, ""};
  const std::vector<std::size_t> order = renumber(instruction);
  const auto* const rule = std::ranges::find(ptx_rules, instruction, &PtxRule::instruction);
  std::string code(rule == ptx_rules.end() ? "" : rule->code);
  // lop3.b32 d, a, b, c, table: any function of three bits.
  constexpr std::string_view lop3 = "lop3.b32 %0, %1, %2, %3, ";
  if (instruction.starts_with(lop3) && instruction.find('%', lop3.size()) == instruction.npos)
    code = "$0 = sw_lop3($1, $2, $3, " + instruction.substr(lop3.size()) + ")";
  if (code.empty()) return statement;
  statement.replacement = "(";
  for (std::size_t k = 0; k < code.size(); ++k) {
    if (code[k] != '$') {
      statement.replacement += code[k];
      continue;
    }
    const auto number = static_cast<std::size_t>(code[++k] - '0');
    if (number >= order.size() || order[number] >= operands.size()) return {};
    statement.replacement += operands[order[number]];
  }
  statement.replacement += ")";
  return statement;
}

const std::vector<std::string>& ptx_names() {
  static const auto& names = *new std::vector<std::string>{"__popc", "rsqrtf"};
  return names;
}

std::vector<UnsupportedUse> find_unsupported(const SourceScan& scan) {
  return UnsupportedFinder(scan).run();
}

}  // namespace spanwise::cpu_backend
