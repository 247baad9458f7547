// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/ptx_instruction.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/string_utils.hpp"

namespace spanwise::cpu_backend {
namespace {

using Operand = PtxInstruction::Operand;

// Instructions that compute a result of type T from operands a to d (PTX ISA 9.0). `types` has a
// letter for the result and for each operand: T, W of twice the bits, u for unsigned; `kinds` those
// that T may be: i for integers, f for reals, h for reals of 16 bits and pairs of them, b for bits,
// p for predicates. `modifiers` do not change the result here.
struct Computation {
  std::string_view name, types, kinds, modifiers, code;
};
constexpr std::string_view real = "rn ftz approx full noftz to xorsign";
constexpr std::array<Computation, 50> computations{{
    {"add", "TTT", "ifh", real, "sw_ptx_add(a, b)"},
    {"sub", "TTT", "ifh", real, "sw_ptx_sub(a, b)"},
    {"mul", "TTT", "fh", real, "sw_ptx_mul(a, b)"},
    {"mul.lo", "TTT", "i", "", "sw_ptx_mul(a, b)"},
    {"mul.hi", "TTT", "i", "", "sw_ptx_mul_hi(a, b)"},
    {"mul.wide", "WTT", "i", "", "sw_ptx_mul_wide<W>(a, b)"},
    {"mul24.lo", "TTT", "i", "", "(T)sw_ptx_mul24(a, b)"},
    {"mad.lo", "TTTT", "i", "", "sw_ptx_add(sw_ptx_mul(a, b), c)"},
    {"mad.hi", "TTTT", "i", "", "sw_ptx_add(sw_ptx_mul_hi(a, b), c)"},
    {"mad.wide", "WTTW", "i", "", "sw_ptx_add(sw_ptx_mul_wide<W>(a, b), c)"},
    {"mad", "TTTT", "f", real, "sw_ptx_fma(a, b, c)"},
    {"fma", "TTTT", "fh", real, "sw_ptx_fma(a, b, c)"},
    {"div", "TTT", "if", real, "sw_ptx_div(a, b)"},
    {"rem", "TTT", "i", "", "sw_ptx_rem(a, b)"},
    {"sad", "TTTT", "i", "", "sw_ptx_add(a < b ? sw_ptx_sub(b, a) : sw_ptx_sub(a, b), c)"},
    {"abs", "TT", "ifh", real, "sw_ptx_abs(a)"},
    {"neg", "TT", "ifh", real, "sw_ptx_neg(a)"},
    {"min", "TTT", "ifh", real, "sw_ptx_min(a, b)"},
    {"max", "TTT", "ifh", real, "sw_ptx_max(a, b)"},
    {"copysign", "TTT", "f", "", "(T)__builtin_copysign(b, a)"},
    {"rcp", "TT", "f", real, "sw_ptx_rcp(a)"},
    {"sqrt", "TT", "f", real, "sw_ptx_sqrt(a)"},
    {"rsqrt", "TT", "f", real, "sw_ptx_rsqrt(a)"},
    {"sin", "TT", "f", real, "sw_ptx_sin(a)"},
    {"cos", "TT", "f", real, "sw_ptx_cos(a)"},
    {"ex2", "TT", "fh", real, "sw_ptx_ex2(a)"},
    {"lg2", "TT", "f", real, "sw_ptx_lg2(a)"},
    {"tanh", "TT", "fh", real, "sw_ptx_tanh(a)"},
    {"and", "TTT", "bip", "", "(T)(a & b)"},
    {"or", "TTT", "bip", "", "(T)(a | b)"},
    {"xor", "TTT", "bip", "", "(T)(a ^ b)"},
    {"not", "TT", "bi", "", "(T)~a"},
    {"not", "TT", "p", "", "!a"},
    {"cnot", "TT", "b", "", "(T)(a == 0)"},
    {"shl", "TTu", "bi", "", "sw_ptx_shl(a, b)"},
    {"shr", "TTu", "bi", "", "sw_ptx_shr(a, b)"},
    {"shf.l.wrap", "TTTu", "b", "", "__funnelshift_l(a, b, c)"},
    {"shf.r.wrap", "TTTu", "b", "", "__funnelshift_r(a, b, c)"},
    {"shf.l.clamp", "TTTu", "b", "", "__funnelshift_lc(a, b, c)"},
    {"shf.r.clamp", "TTTu", "b", "", "__funnelshift_rc(a, b, c)"},
    {"popc", "uT", "b", "", "sw_ptx_popc(a)"},
    {"clz", "uT", "b", "", "sw_ptx_clz(a)"},
    {"bfind", "uT", "i", "", "sw_ptx_bfind(a)"},
    {"brev", "TT", "b", "", "sw_ptx_brev(a)"},
    {"bfe", "TTuu", "i", "", "sw_ptx_bfe(a, b, c)"},
    {"bfi", "TTTuu", "b", "", "sw_ptx_bfi(a, b, c, d)"},
    {"fns", "TTuu", "b", "", "__fns(a, b, (int)c)"},
    {"lop3", "TTTTu", "b", "", "sw_lop3(a, b, c, d)"},
    {"prmt", "TTTT", "b", "", "sw_prmt(a, b, c)"},
    {"selp", "TTTp", "bif", "", "c ? a : b"},
}};

// The instructions of one class have a function that reads the rest of the name. Each removes the
// modifiers that it implements; others make the instruction unsupported.
class Writer {
 public:
  explicit Writer(const PtxInstruction& instruction)
      : modifiers_(instruction.parts.begin() + 1, instruction.parts.end()),
        name_(instruction.parts.front()),
        operands_(instruction.operands) {}

  std::string run() {
    std::string code = write();
    return modifiers_.empty() ? code : "";
  }

 private:
  // Removes a modifier; returns whether it was there.
  bool take(std::string_view word) {
    const auto found = std::ranges::find(modifiers_, word);
    if (found == modifiers_.end()) return false;
    modifiers_.erase(found);
    return true;
  }
  void take_all(std::string_view words) {
    std::erase_if(modifiers_, [&](std::string_view word) { return is_word_of(word, words); });
  }
  // Removes the first modifier of the list that is there.
  std::string_view take_one(std::string_view words) {
    for (const std::string_view word : split(words, ' '))
      if (take(word)) return word;
    return {};
  }
  // The types at the end of the name, in their order.
  std::vector<std::string_view> take_types() {
    std::vector<std::string_view> types;
    while (!modifiers_.empty() && !ptx_type(modifiers_.back()).empty()) {
      types.insert(types.begin(), modifiers_.back());
      modifiers_.pop_back();
    }
    return types;
  }
  std::string code(std::size_t i) const { return i < operands_.size() ? operands_[i].code : ""; }
  std::string get(std::size_t i, std::string_view type) const {
    return text("sw_get<", type, ">(", code(i), ")");
  }
  std::string put(std::size_t i, const std::string& value) const {
    return text("sw_put(", code(i), ", ", value, ");");
  }
  // Memory: an address in shared or another memory.
  std::string address(const Operand& operand, bool is_shared) const {
    const std::string word = text("sw_word(", operand.code, ")", operand.offset);
    return is_shared ? "sw_shared_pointer(" + word + ")" : word;
  }

  std::string write() {
    if (name_ == "mov") return write_move();
    if (is_one_of(name_, {"ld", "ldu"})) return write_load();
    if (name_ == "st") return write_store();
    if (is_one_of(name_, {"atom", "red"})) return write_atomic();
    if (name_ == "cvt") return write_conversion();
    if (name_ == "cvta") return write_address_conversion();
    if (name_ == "setp") return write_comparison();
    if (is_one_of(name_, {"addc", "subc", "madc"}) ||
        std::ranges::find(modifiers_, "cc") != modifiers_.end())
      return write_carry();
    if (is_one_of(name_, {"bar", "barrier"})) return write_barrier();
    if (is_one_of(name_, {"vote", "shfl", "match", "redux", "activemask", "elect"}))
      return write_warp();
    if (is_one_of(name_, {"mma", "ldmatrix", "stmatrix", "movmatrix"})) return write_matrix();
    if (name_ == "cp") return write_copy();
    if (const std::string code = write_simple(); !code.empty()) return code;
    return write_computation();
  }

  // Instructions without a result, and dot products.
  std::string write_simple() {
    if (is_one_of(name_, {"membar", "fence"})) {
      if (std::ranges::find(modifiers_, "proxy") != modifiers_.end()) take_one("async alias");
      const bool is_block = take("cta");
      take_all("gl gpu sys sc acq_rel acquire release proxy global shared shared::cta");
      return is_block ? "__threadfence_block();" : "__threadfence();";
    }
    if (name_ == "trap") return "__trap();";
    if (name_ == "brkpt") return "__brkpt();";
    if (name_ == "nanosleep") {
      take("u32");
      return text("__nanosleep(", get(0, "unsigned"), ");");
    }
    // Hints.
    if (is_one_of(name_, {"prefetch", "prefetchu", "applypriority", "pmevent", "griddepcontrol",
                          "setmaxnreg"})) {
      modifiers_.clear();
      return ";";
    }
    if (is_one_of(name_, {"dp4a", "dp2a"})) {
      const std::string_view half = name_ == "dp2a" ? take_one("lo hi") : "";
      const auto types = take_types();
      if (types.size() != 2 || types[0] != types[1] || (name_ == "dp2a" && half.empty())) return {};
      const auto type = ptx_type(types[0]);
      return put(0, text("__", name_, half.empty() ? "" : "_", half, "(", get(1, type), ", ",
                         get(2, type), ", ", get(3, type), ")"));
    }
    if (name_ == "prmt" && !modifiers_.empty() && modifiers_.size() == 2) {
      const std::string_view mode = take_one("f4e b4e rc8 ecl ecr rc16");
      if (mode.empty() || !take("b32")) return {};
      return put(0, text("sw_ptx_prmt_mode(", get(1, "unsigned"), ", ", get(2, "unsigned"), ", ",
                         get(3, "unsigned"), ", \"", mode.substr(0, 3), "\")"));
    }
    return {};
  }

  static bool is_kind(std::string_view type, std::string_view kinds) {
    if (type == "pred") return kinds.find('p') != kinds.npos;
    if (is_one_of(type, {"f32", "f64"})) return kinds.find('f') != kinds.npos;
    if (is_one_of(type, {"f16", "bf16", "f16x2", "bf16x2"})) return kinds.find('h') != kinds.npos;
    if (type.starts_with("b")) return kinds.find_first_of("bi") != kinds.npos;
    return kinds.find('i') != kinds.npos ||
           (kinds.find('b') != kinds.npos && is_one_of(type, {"u32", "u64", "s32", "s64"}));
  }

  // Whether the instruction is `rule` for `type`; removes the words of its name.
  bool matches(const Computation& rule, std::string_view type) {
    const std::vector<std::string_view> words = split(rule.name, '.');
    if (words.front() != name_ || !is_kind(type, rule.kinds)) return false;
    std::vector<std::string_view> rest = modifiers_;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto found = std::ranges::find(rest, words[i]);
      if (found == rest.end()) return false;
      rest.erase(found);
    }
    modifiers_ = std::move(rest);
    return true;
  }

  std::string write_computation() {
    const auto types = take_types();
    if (types.size() != 1) return {};
    for (const Computation& rule : computations) {
      if (!matches(rule, types[0])) continue;
      if (operands_.size() != rule.types.size()) return {};
      return write_rule(rule, types[0]);
    }
    return {};
  }

  // The code of a rule with names that no operand has: a is sw_a.
  static std::string with_prefixes(std::string_view code) {
    std::string out;
    for (std::size_t i = 0; i < code.size(); ++i) {
      const bool is_alone = (i == 0 || !is_word_character(code[i - 1])) &&
                            (i + 1 == code.size() || !is_word_character(code[i + 1]));
      if (is_alone && std::string_view("abcdTW").find(code[i]) != std::string_view::npos)
        out += "sw_";
      out += code[i];
    }
    return out;
  }

  std::string write_rule(const Computation& rule, std::string_view type) {
    const std::string_view own = ptx_type(type);
    const std::string_view wide = type.starts_with("s")
                                      ? (type == "s16" ? "int" : "long long")
                                      : (type == "u16" ? "unsigned" : "unsigned long long");
    std::string out = text("typedef ", own, " sw_T; typedef ", wide, " sw_W; ");
    for (std::size_t i = 1; i < rule.types.size(); ++i) {
      const char kind = rule.types[i];
      const std::string_view of = kind == 'T'   ? "sw_T"
                                  : kind == 'W' ? "sw_W"
                                  : kind == 'p' ? "bool"
                                                : "unsigned";
      out += text("const ", of, " sw_", static_cast<char>('a' + i - 1), " = ", get(i, of), "; ");
    }
    std::string value = text("(", with_prefixes(rule.code), ")");
    if (const std::string directed = directed_name(own); !directed.empty())
      value = text(directed, "(sw_a", rule.types.size() > 2 ? ", sw_b" : "",
                   rule.types.size() > 3 ? ", sw_c" : "", ")");
    if (is_one_of(name_, {"min", "max"}) && take("NaN"))
      value = text("(sw_ptx_is_nan(sw_a, sw_b) ? sw_ptx_add(sw_a, sw_b) : ", value, ")");
    const bool is_integer = is_kind(type, "i");
    if (take("sat")) {
      if (!is_integer)
        value = text("sw_ptx_sat(", value, ")");
      else if (is_one_of(name_, {"add", "sub"}) && type == "s32")
        value = text("sw_ptx_sat((long long)sw_a ", name_ == "add" ? "+" : "-", " sw_b)");
      else
        return {};
    }
    if (take("relu")) value = text("sw_ptx_relu(", value, ")");
    take_all(rule.modifiers);
    return out + put(0, value);
  }

  // The function of a rounding direction, which is removed: __fadd_rz.
  std::string directed_name(std::string_view type) {
    const bool is_float = type == "float";
    if (!is_float && type != "double") return {};
    const std::string_view rounding = take_one("rz rm rp");
    if (rounding.empty()) return {};
    const std::string_view suffix = rounding == "rm" ? "rd" : rounding == "rp" ? "ru" : "rz";
    if (name_ == "fma" || name_ == "mad") return text(is_float ? "__fmaf_" : "__fma_", suffix);
    return text("__", is_float ? "f" : "d", name_, "_", suffix);
  }

  std::string write_carry() {
    const bool uses = name_.ends_with('c') && name_ != "cc";
    const std::string_view base = name_.substr(0, 3);
    const bool sets = take("cc");
    const std::string_view half = base == "mad" ? take_one("lo hi") : "";
    const auto types = take_types();
    if (types.size() != 1 || (base == "mad" && half.empty())) return {};
    const auto type = ptx_type(types[0]);
    std::string first = get(1, type);
    if (base == "mad")
      first = text(half == "lo" ? "sw_ptx_mul(" : "sw_ptx_mul_hi(", first, ", ", get(2, type), ")");
    const std::string second = get(base == "mad" ? 3 : 2, type);
    return put(
        0, text(base == "sub" ? "sw_ptx_sub_carry<" : "sw_ptx_add_carry<", type, ">(", first, ", ",
                second, ", ", uses ? "true" : "false", ", ", sets ? "true" : "false", ")"));
  }

  // mov, also between a register and its parts.
  std::string write_move() {
    const auto types = take_types();
    const bool is_predicate = types.empty() && take("pred");
    if (operands_.size() != 2 || (types.size() != 1 && !is_predicate)) return {};
    if (is_predicate) return put(0, get(1, "bool"));
    const std::string_view type = ptx_type(types[0]);
    const auto& from = operands_[1].elements;
    const auto& to = operands_[0].elements;
    if (from.empty() && to.empty()) return put(0, get(1, type));
    const std::size_t count = std::max(from.size(), to.size());
    const auto bits = parse_number<unsigned>(types[0].substr(1));
    if (!bits || *bits > 64 || *bits % count != 0) return {};
    const std::string part(ptx_type(text("b", *bits / count)));
    if (part.empty()) return {};
    std::string out;
    if (to.empty()) {
      out = "unsigned long long sw_bits_ = 0; ";
      for (std::size_t i = 0; i < count; ++i)
        out += text("sw_bits_ |= (unsigned long long)sw_get<", part, ">(", from[i], ") << ",
                    i * (*bits / count), "; ");
      return out + put(0, text("(", type, ")sw_bits_"));
    }
    out = text("const unsigned long long sw_bits_ = sw_word(", from.empty() ? code(1) : "0", "); ");
    for (std::size_t i = 0; i < count; ++i)
      out += text("sw_put(", to[i], ", (", part, ")(sw_bits_ >> ", i * (*bits / count), ")); ");
    return out;
  }

  struct Access {
    std::string type;
    int count = 1;
    bool is_shared = false, is_volatile = false;
    std::string_view order;
  };
  // Reads space, order, cache hints, vector and type of ld and st.
  std::optional<Access> read_access() {
    Access access;
    const auto types = take_types();
    if (types.size() != 1) return {};
    access.type = ptx_type(types[0]);
    const std::string_view vector = take_one("v2 v4 v8");
    if (!vector.empty()) access.count = vector[1] - '0';
    access.is_shared = take("shared") || take("shared::cta");
    access.order = take_one("acquire release");
    access.is_volatile = take("volatile") || take("relaxed") || take("mmio");
    take_all(
        "global local const weak gpu sys cta nc ca cg cs lu cv wb wt L1::no_allocate "
        "L1::evict_first L1::evict_last L1::evict_normal L1::evict_unchanged L2::64B L2::128B "
        "L2::256B L2::evict_first L2::evict_last L2::evict_normal L2::cache_hint");
    return access;
  }

  std::string write_load() {
    const auto access = read_access();
    if (!access || operands_.size() < 2 || !operands_[1].is_address) return {};
    const std::string from = address(operands_[1], access->is_shared);
    if (!access->order.empty()) {
      if (access->count != 1) return {};
      return text("typedef ", access->type, " sw_T; sw_T sw_value; __atomic_load((sw_T*)(", from,
                  "), &sw_value, __ATOMIC_ACQUIRE); ", put(0, "sw_value"));
    }
    std::string out = text("const ", access->is_volatile ? "volatile " : "", access->type,
                           "* const sw_from = (const ", access->type, "*)(", from, "); ");
    if (access->count == 1)
      return out + text("const ", access->type, " sw_value = *sw_from; ") + put(0, "sw_value");
    const auto& to = operands_[0].elements;
    if (to.size() != static_cast<std::size_t>(access->count)) return {};
    for (int i = 0; i < access->count; ++i)
      out += text("const ", access->type, " sw_value", i, " = sw_from[", i, "]; ");
    for (int i = 0; i < access->count; ++i) out += text("sw_put(", to[i], ", sw_value", i, "); ");
    return out;
  }

  std::string write_store() {
    const auto access = read_access();
    if (!access || operands_.size() < 2 || !operands_[0].is_address) return {};
    const std::string to = address(operands_[0], access->is_shared);
    if (!access->order.empty()) {
      if (access->count != 1) return {};
      return text("typedef ", access->type, " sw_T; sw_T sw_value = ", get(1, "sw_T"),
                  "; __atomic_store((sw_T*)(", to, "), &sw_value, __ATOMIC_RELEASE);");
    }
    std::string out = text(access->is_volatile ? "volatile " : "", access->type,
                           "* const sw_to = (", access->type, "*)(", to, "); ");
    if (access->count == 1) return out + text("*sw_to = ", get(1, access->type), ";");
    const auto& from = operands_[1].elements;
    if (from.size() != static_cast<std::size_t>(access->count)) return {};
    for (int i = 0; i < access->count; ++i)
      out += text("sw_to[", i, "] = sw_get<", access->type, ">(", from[i], "); ");
    return out;
  }

  std::string write_atomic() {
    const auto types = take_types();
    if (types.size() != 1) return {};
    const bool is_shared = take("shared") || take("shared::cta");
    const std::string_view op = take_one("add min max and or xor exch cas inc dec");
    take_all("global gpu sys cta relaxed acquire release acq_rel noftz L2::cache_hint");
    const std::size_t at = name_ == "red" ? 0 : 1;
    if (op.empty() || operands_.size() < at + 2 || !operands_[at].is_address) return {};
    std::string out =
        text("typedef ", ptx_type(types[0]), " sw_T; sw_T* const sw_to = (sw_T*)(",
             address(operands_[at], is_shared), "); const sw_T sw_b = ", get(at + 1, "sw_T"), "; ");
    std::string value = text("sw_ptx_", op, "(sw_old, sw_b)");
    if (op == "exch") value = "sw_b";
    if (is_one_of(op, {"and", "or", "xor"}))
      value = text("(sw_T)(sw_old ", op == "and" ? "&" : op == "or" ? "|" : "^", " sw_b)");
    if (op == "inc") value = "sw_old >= sw_b ? (sw_T)0 : (sw_T)(sw_old + 1)";
    if (op == "dec") value = "sw_old == 0 || sw_old > sw_b ? sw_b : (sw_T)(sw_old - 1)";
    if (op == "cas") {
      out += text("sw_T sw_old = sw_b, sw_new = ", get(at + 2, "sw_T"),
                  "; __atomic_compare_exchange(sw_to, &sw_old, &sw_new, false, __ATOMIC_SEQ_CST, "
                  "__ATOMIC_SEQ_CST); ");
    } else {
      out += text("const sw_T sw_before = sw_atomic_update(sw_to, [=](sw_T sw_old) { return ",
                  value, "; }); ");
    }
    const char* const old = op == "cas" ? "sw_old" : "sw_before";
    return name_ == "red" ? out + "(void)" + old + ";" : out + put(0, old);
  }

  static bool is_real(std::string_view type) { return type.find('f') != type.npos; }

  // cvt d.type, a.type; two operands are packed into a pair.
  std::string write_conversion() {
    const auto types = take_types();
    if (types.size() != 2) return {};
    const bool is_sat = take("sat"), is_relu = take("relu");
    const std::string_view rounding = take_one("rni rzi rmi rpi rn rna rz rm rp");
    take("ftz");
    const char mode = rounding.empty() ? 'n' : rounding[1];
    const std::string_view to = ptx_type(types[0]), from = ptx_type(types[1]);
    const auto one = [&](std::string_view target, std::size_t i) -> std::string {
      const std::string value = get(i, from);
      const bool to_real = is_real(types[0]), from_real = is_real(types[1]);
      if (from_real && to_real) {
        if (rounding.ends_with("i")) return text("sw_cvt_whole<'", mode, "'>(", value, ")");
        return text("sw_cvt_narrowed<'", mode, "', ", target, ">(", value, ")");
      }
      if (from_real)
        return text("sw_saturated<", target, ">(sw_cvt_whole<'", rounding.empty() ? 'z' : mode,
                    "'>(", from == "double" ? "" : "(float)", value, "))");
      if (!to_real)
        return is_sat ? text("sw_cvt_sat<", target, ">(", value, ")")
                      : text("(", target, ")", value);
      if (mode == 'n' && is_one_of(target, {"float", "double"}))
        return text("(", target, ")", value);
      if (types[1].ends_with("64")) return "";
      return text("sw_cvt_narrowed<'", mode, "', ", target, ">((double)", value, ")");
    };
    const bool is_pair = types[0].ends_with("x2");
    if (is_pair != (operands_.size() == 3)) return {};
    const std::string_view target =
        is_pair ? (types[0].starts_with("b") ? "sw_ptx_bf16" : "sw_ptx_f16") : to;
    std::string value = one(target, 1);
    if (value.empty()) return {};
    const auto limited = [&](std::string v) {
      if (is_sat && is_real(types[0])) v = text("sw_ptx_sat(", v, ")");
      return is_relu ? text("sw_ptx_relu(", v, ")") : v;
    };
    // The first operand becomes the upper half.
    if (is_pair) return put(0, text(to, "{", limited(one(target, 2)), ", ", limited(value), "}"));
    return put(0, limited(value));
  }

  std::string write_address_conversion() {
    const bool to_space = take("to");
    const std::string_view space = take_one("shared shared::cta global local const param");
    take_one("u64 u32");
    if (space.empty() || operands_.size() != 2) return {};
    if (!space.starts_with("shared")) return put(0, text("sw_word(", code(1), ")"));
    return put(
        0, text(to_space ? "sw_shared_address" : "sw_shared_pointer", "(sw_word(", code(1), "))"));
  }

  // setp.cmp{.and}.type p{|q}, a, b{, c}
  std::string write_comparison() {
    const auto types = take_types();
    const std::string_view combined = take_one("and or xor");
    take("ftz");
    if (types.size() != 1 || modifiers_.size() != 1 || operands_.size() < 3) return {};
    std::string_view op = modifiers_.front();
    modifiers_.clear();
    const std::string_view type = ptx_type(types[0]);
    const bool of_nan = op.size() == 3 && op.ends_with('u');
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> operators{
        {{"eq", "=="},
         {"ne", "!="},
         {"lt", "<"},
         {"le", "<="},
         {"gt", ">"},
         {"ge", ">="},
         {"lo", "<"},
         {"ls", "<="},
         {"hi", ">"},
         {"hs", ">="}}};
    std::string out =
        text("const ", type, " sw_a = ", get(1, type), ", sw_b = ", get(2, type), "; ");
    std::string holds;
    if (is_one_of(op, {"num", "nan"})) {
      holds = text(op == "num" ? "!" : "", "sw_ptx_is_nan(sw_a, sw_b)");
    } else {
      const auto found = std::ranges::find(operators, of_nan ? op.substr(0, 2) : op,
                                           [](const auto& entry) { return entry.first; });
      if (found == operators.end()) return {};
      holds = text("sw_a ", found->second, " sw_b");
      if (is_real(types[0]))
        holds = of_nan ? text("(sw_ptx_is_nan(sw_a, sw_b) || ", holds, ")")
                       : text("(!sw_ptx_is_nan(sw_a, sw_b) && ", holds, ")");
    }
    out += text("const bool sw_holds = ", holds, "; ");
    const auto with = [&](const char* value) {
      if (combined.empty()) return std::string(value);
      const char* const symbol = combined == "and" ? "&" : combined == "or" ? "|" : "^";
      return text("(bool)((", value, ") ", symbol, " ", get(3, "bool"), ")");
    };
    out +=
        text("const bool sw_first = ", with("sw_holds"), ", sw_second = ", with("!sw_holds"), "; ");
    out += put(0, "sw_first");
    if (!operands_[0].second.empty()) out += text(" sw_put(", operands_[0].second, ", sw_second);");
    return out + " (void)sw_second;";
  }

  std::string write_barrier() {
    if (take("warp")) {
      if (!take("sync")) return {};
      return text("__syncwarp(", get(0, "unsigned"), ");");
    }
    take_all("cta aligned");
    const std::string_view op = take_one("sync arrive");
    if (op.empty() || operands_.empty()) return {};
    if (operands_.size() == 1 && op == "sync") return "__syncthreads();";
    if (operands_.size() != 2) return {};
    return text("sw_named_barrier(", get(0, "unsigned"), ", ", get(1, "unsigned"), ", ",
                op == "sync" ? "1" : "0", ", __LINE__);");
  }

  // Collectives of a warp.
  std::string write_warp() {
    const bool has_mask = take("sync");
    if (name_ == "activemask") return take("b32") ? put(0, "__activemask()") : "";
    const std::string_view kind = take_one("all any uni ballot up down bfly idx");
    if (name_ == "vote") {
      take_all("pred b32");
      const std::string mask = has_mask ? get(2, "unsigned") : "__activemask()";
      return put(0, text(kind == "ballot" ? "" : "(bool)", "__", kind, "_sync(", mask, ", ",
                         get(1, "bool"), ")"));
    }
    if (name_ == "shfl" && take("b32")) return write_shuffle(kind, has_mask);
    const std::string_view op = take_one("add min max and or xor");
    const auto types = take_types();
    if (types.size() != 1) return {};
    const std::string_view type = ptx_type(types[0]);
    if (name_ == "redux" && !op.empty())
      return put(0, text("__reduce_", op, "_sync(", get(2, "unsigned"), ", ", get(1, type), ")"));
    if (name_ == "match" && kind == "any")
      return put(0, text("__match_any_sync(", get(2, "unsigned"), ", ", get(1, type), ")"));
    if (name_ == "match" && kind == "all") {
      const std::string& second = operands_[0].second;
      return text("int sw_all; const unsigned sw_lanes_ = __match_all_sync(", get(2, "unsigned"),
                  ", ", get(1, type), ", &sw_all); ", put(0, "sw_lanes_"),
                  second.empty() ? "" : text(" sw_put(", second, ", sw_all != 0);"));
    }
    return {};
  }

  // shfl d|p, a, b, c, mask: c has the mask of segments and the last lane of one.
  std::string write_shuffle(std::string_view kind, bool has_mask) {
    if (kind.empty() || operands_.size() < 4) return {};
    const std::string_view op = kind == "up"     ? "sw_warp_shuffle_up"
                                : kind == "down" ? "sw_warp_shuffle_down"
                                : kind == "bfly" ? "sw_warp_shuffle_xor"
                                                 : "sw_warp_shuffle";
    const std::string mask = has_mask ? get(4, "unsigned") : "__activemask()";
    const std::string width = text("(int)(32u - (", get(3, "unsigned"), " >> 8 & 31u))");
    std::string out = text("const int sw_width = ", width, "; const int sw_distance = (int)",
                           get(2, "unsigned"), "; const unsigned sw_value = sw_shuffle(__LINE__, ",
                           op, ", ", mask, ", ", get(1, "unsigned"), ", sw_distance, sw_width); ");
    out += put(0, "sw_value");
    if (operands_[0].second.empty()) return out;
    return out + text(" sw_put(", operands_[0].second, ", sw_shuffle_is_inside(", op,
                      ", sw_distance, sw_width));");
  }

  std::string write_copy() {
    if (!take("async") || take("bulk") || take("reduce") || take("mbarrier")) return {};
    if (take("commit_group") || take("wait_all") || take("wait_group")) return ";";
    if (!take("shared") && !take("shared::cta")) return {};
    take_all("ca cg global L2::64B L2::128B L2::256B L2::cache_hint");
    if (operands_.size() < 3 || !operands_[0].is_address) return {};
    const std::string size = get(2, "unsigned");
    return text("sw_cp_async(sw_word(", operands_[0].code, ")", operands_[0].offset, ", ",
                address(operands_[1], false), ", ", size, ", ",
                operands_.size() > 3 ? get(3, "unsigned") : size, ");");
  }

  std::string write_matrix() {
    take_all("sync aligned");
    if (name_ == "mma") return write_product();
    if (name_ == "movmatrix") {
      if (!take("m8n8") || !take("trans") || !take("b16")) return {};
      return put(0, text("sw_movmatrix(", get(1, "unsigned"), ", __LINE__)"));
    }
    const bool loads = name_ == "ldmatrix";
    const std::string_view number = take_one("x1 x2 x4");
    const bool is_transposed = take("trans");
    take_all("shared shared::cta");
    const Operand* memory = operands_.size() == 2 ? &operands_[loads ? 1 : 0] : nullptr;
    if (!take("m8n8") || !take("b16") || number.empty() || memory == nullptr) return {};
    const Operand& list = operands_[loads ? 0 : 1];
    const std::size_t count = static_cast<std::size_t>(number[1] - '0');
    std::vector<std::string> words = list.elements;
    if (words.empty()) words.push_back(list.code);
    if (words.size() != count) return {};
    const std::string where = text("(void*)", address(*memory, true));
    const std::string arguments = text("<", count, ", ", is_transposed ? "true" : "false", ">(");
    std::string out = text("unsigned sw_words[", count, "]; ");
    if (loads) out += text("sw_ldmatrix", arguments, "sw_words, ", where, ", __LINE__); ");
    for (std::size_t i = 0; i < count; ++i)
      out += loads ? text("sw_put(", words[i], ", sw_words[", i, "]); ")
                   : text("sw_words[", i, "] = sw_get<unsigned>(", words[i], "); ");
    if (!loads) out += text("sw_stmatrix", arguments, where, ", sw_words, __LINE__);");
    return out;
  }

  static std::string_view element(std::string_view type) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> elements{
        {{"f16", "sw_half_element"},
         {"bf16", "sw_bfloat_element"},
         {"tf32", "sw_tf32_element"},
         {"f32", "sw_float_element"},
         {"f64", "sw_double_element"},
         {"s32", "sw_int_element"},
         {"s8", "sw_small_int_element<8, true>"},
         {"u8", "sw_small_int_element<8, false>"},
         {"s4", "sw_small_int_element<4, true>"},
         {"u4", "sw_small_int_element<4, false>"}}};
    const auto found = std::ranges::find(elements, type, [](const auto& e) { return e.first; });
    return found == elements.end() ? "" : found->second;
  }

  // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c
  std::string write_product() {
    const bool saturates = take("satfinite");
    const std::string_view shape =
        take_one("m16n8k4 m16n8k8 m16n8k16 m16n8k32 m16n8k64 m8n8k4 m8n8k16 m8n8k32");
    if (shape.empty() || !take("row") || !take("col") || modifiers_.size() != 4) return {};
    const std::vector<std::string_view> types = std::exchange(modifiers_, {});
    std::array<std::string_view, 4> elements;  // D, A, B, C
    std::ranges::transform(types, elements.begin(), element);
    if (std::ranges::find(elements, "") != elements.end() || operands_.size() != 4) return {};
    // m8n8k4 of f16 has another layout.
    if (shape == "m8n8k4" && types[1] != "f64") return {};
    const int rows = shape.starts_with("m16") ? 16 : 8;
    const std::string_view depth = shape.substr(shape.find('k') + 1);
    std::string out = text("sw_mma<", elements[1], ", ", elements[2], ", ", elements[3], ", ",
                           elements[0], ", ", rows, ", ", depth, ", ", saturates ? "true" : "false",
                           "> sw_call; sw_call.run = sw_call.compute; ");
    const auto words = [&](std::size_t i) {
      return operands_[i].elements.empty() ? std::vector<std::string>{operands_[i].code}
                                           : operands_[i].elements;
    };
    for (const auto& [name, i] : {std::pair{"a", 1}, std::pair{"b", 2}, std::pair{"c", 3}}) {
      const auto list = words(static_cast<std::size_t>(i));
      out +=
          text("static_assert(sw_call.count_", name, " == ", list.size(), ", \"", shape, "\"); ");
      for (std::size_t k = 0; k < list.size(); ++k)
        out += text("sw_call.", name, "[", k,
                    "] = ", types[1] == "f64" ? "sw_word(" : "(unsigned)sw_word(", list[k], "); ");
    }
    out +=
        "sw_call_warp(sw_call, __LINE__, \"mma.sync is executed by fewer than the 32 lanes of a "
        "warp\"); ";
    const auto results = words(0);
    for (std::size_t k = 0; k < results.size(); ++k)
      out += text("sw_put(", results[k], ", ", types[1] == "f64" ? "" : "(unsigned)", "sw_call.d[",
                  k, "]); ");
    return out;
  }

  std::vector<std::string_view> modifiers_;
  std::string_view name_;
  const std::vector<Operand>& operands_;
};

}  // namespace

std::string_view ptx_type(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 18> types{
      {{"b8", "unsigned char"},
       {"u8", "unsigned char"},
       {"s8", "signed char"},
       {"b16", "unsigned short"},
       {"u16", "unsigned short"},
       {"s16", "short"},
       {"b32", "unsigned"},
       {"u32", "unsigned"},
       {"s32", "int"},
       {"b64", "unsigned long long"},
       {"u64", "unsigned long long"},
       {"s64", "long long"},
       {"f32", "float"},
       {"f64", "double"},
       {"f16", "sw_ptx_f16"},
       {"bf16", "sw_ptx_bf16"},
       {"f16x2", "sw_ptx_f16x2"},
       {"bf16x2", "sw_ptx_bf16x2"}}};
  const auto found = std::ranges::find(types, word, [](const auto& type) { return type.first; });
  return found == types.end() ? "" : found->second;
}

std::string ptx_statement(const PtxInstruction& instruction) { return Writer(instruction).run(); }

}  // namespace spanwise::cpu_backend
