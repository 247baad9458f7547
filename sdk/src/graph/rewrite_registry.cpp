// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/string_utils.hpp"
#include "graph/rewrite_registry.hpp"
#include "graph/traversal.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/graph/hooks.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "spanwise/runtime/config.hpp"

// The registered rewrites, those that a mode runs, and the pass that runs a NodeRewrite over a
// graph.
namespace spanwise::graph {
namespace {

struct KnownRewrites {
  Mutex mutex;
  std::vector<Rewrite> all;
};

KnownRewrites& known_rewrites() {
  // Created at the first use, since static initialisers of other files run first.
  static NeverDestroyed<KnownRewrites> registered;
  return *registered;
}

// The names of each mode, including Theano's (theano/compile/mode.py).
constexpr std::array<std::pair<const char*, const char*>, 8> mode_names{
    {{"fast_run", "fast_run"},
     {"fast_compile", "fast_compile"},
     {"debug", "debug"},
     {"mode", "fast_run"},
     {"debugmode", "debug"},
     {"debug_mode", "debug"},
     {"nan_guard", "nan_guard"},
     {"nanguardmode", "nan_guard"}}};

std::string canonical_mode(std::string_view given_name) {
  std::string name(given_name);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [known, mode] : mode_names)
    if (name == known) return mode;
  fail<ArgumentError>("mode \"", name,
                      "\" is not known; expected \"fast_run\", \"fast_compile\", \"debug\" or "
                      "\"nan_guard\"");
}

double parse_seconds(std::string_view value) {
  const std::string number(value);
  char* end = nullptr;
  const double seconds = std::strtod(number.c_str(), &end);
  if (end == number.c_str() || *end != '\0' || std::isnan(seconds) || seconds < 0)
    fail<ArgumentError>("expected a number of seconds");
  return seconds;
}

bool declare_graph_settings() {
  config::declare(
      {.name = "mode",
       .description = "how functions are compiled: fast_run, fast_compile, debug or nan_guard",
       .default_value = "fast_run",
       .check = [](std::string_view value) { canonical_mode(value); }});
  config::declare(
      {.name = "profile",
       .description = "measure all functions, and print their profiles when the process ends",
       .default_value = "false"});
  return config::declare(
      {.name = "rewrite_seconds",
       .description = "time in seconds for rewriting one function; later rewrites are left out",
       .default_value = "60",
       .check = [](std::string_view value) { parse_seconds(value); }});
}

[[maybe_unused]] const bool graph_settings_declared = declare_graph_settings();

bool has_name_or_tag(const Rewrite& rewrite, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name == rewrite.name || std::ranges::find(rewrite.tags, name) != rewrite.tags.end();
  });
}

// Mode nan_guard reports the node with a wrong output and, after the node has run, the ranges of
// its inputs. A fused node would stand for several nodes of the program, and a node that runs in
// place would have overwritten an input.
const std::vector<std::string> excluded_by_nan_guard{"fusion", "inplace"};

void check_names_or_tags(const std::vector<Rewrite>& all, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool is_known = std::ranges::any_of(
        all, [&](const Rewrite& rewrite) { return has_name_or_tag(rewrite, {name}); });
    if (is_known) continue;
    std::set<std::string> tags;
    for (const Rewrite& rewrite : all) tags.insert(rewrite.tags.begin(), rewrite.tags.end());
    fail<ArgumentError>("mode: no rewrite has the name or tag \"", name,
                        "\"; expected one of the tags ", joined(tags), " or of the names ",
                        joined(all, ", ", &Rewrite::name));
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::string mode_name(const std::string& name) {
  return canonical_mode(name.empty() ? config::get("mode") : name);
}

std::vector<RewriteReport> run_rewrites(const std::string& function_name, const Mode& mode,
                                        RewriteGraph& graph) {
  const std::vector<Rewrite> all = rewrites();
  check_names_or_tags(all, mode.including);
  check_names_or_tags(all, mode.excluding);
  const std::string name = mode_name(mode.name);
  const std::string tag = name == "fast_compile" ? name : "fast_run";
  const double limit = parse_seconds(config::get("rewrite_seconds"));
  const auto start = std::chrono::steady_clock::now();
  graph.is_late = [start, limit] { return seconds_since(start) > limit; };
  std::vector<RewriteReport> reports;
  for (const Rewrite& rewrite : all) {
    if (!has_name_or_tag(rewrite, {tag}) && !has_name_or_tag(rewrite, mode.including)) continue;
    if (has_name_or_tag(rewrite, mode.excluding)) continue;
    if (name == "nan_guard" && has_name_or_tag(rewrite, excluded_by_nan_guard)) continue;
    if (graph.is_late()) {
      warn(text("function ", function_name, ": rewriting its graph took more than ", limit,
                " s (config rewrite_seconds), so that \"", rewrite.name,
                "\" and the rewrites after it were left out"));
      break;
    }
    const auto begin = std::chrono::steady_clock::now();
    const int changes = rewrite.apply(graph);
    reports.push_back({rewrite.name, changes, seconds_since(begin)});
  }
  return reports;
}

namespace {

// How often in a row a rewrite may be applied to its own result, so that compilation always ends.
constexpr int max_repetitions = 100;

[[maybe_unused]] const bool on_error_declared = config::declare(
    {.name = "on_opt_error",
     .description = "if a node rewrite returns invalid replacements: raise, or leave the node as "
                    "it is and warn or ignore",
     .default_value = "raise",
     .choices = {"raise", "warn", "ignore"}});
constexpr unsigned raise_choice = 0, warn_choice = 1;  // indices of the choices
constinit const config::Choice on_error{"on_opt_error"};

// Sets the trace of the new nodes that compute `replacements`, which have none: that of the node
// that they replace.
void set_traces(std::vector<Variable> replacements, const std::string& trace) {
  if (trace.empty()) return;
  while (!replacements.empty()) {
    Apply* node = replacements.back().owner();
    replacements.pop_back();
    if (node == nullptr || !node->trace().empty()) continue;
    node->set_trace(trace);
    replacements.insert(replacements.end(), node->inputs().begin(), node->inputs().end());
  }
}

// Runs a NodeRewrite over a graph.
class NodePass final : public NodeSurroundings {
 public:
  explicit NodePass(const NodeRewrite& rewrite) : rewrite_(rewrite) {}

  int run(RewriteGraph& graph) {
    device_ = graph.device;
    hide_owners(graph);
    const std::vector<Ref<Apply>> nodes = nodes_for(graph.outputs, graph.inputs);
    find_readers(graph, nodes);
    for (const Ref<Apply>& node : nodes) {
      if (graph.is_late && graph.is_late()) break;
      visit(*node);
    }
    graph.outputs = rebuild_.current(graph.outputs);
    restore_owners(graph);
    return changes_;
  }

  std::span<const Apply* const> readers(const Variable& variable) const override {
    const auto entry = readers_.find(variable);
    if (entry == readers_.end()) return {};
    return entry->second;
  }

  Device device() const override { return device_; }

 private:
  // A rewrite follows Variable::owner(), which must not lead it past an input of the graph.
  void hide_owners(RewriteGraph& graph) {
    Rebuild rebuild;
    for (const Variable& input : graph.inputs) {
      if (input.owner() == nullptr) continue;
      hidden_.emplace_back(input, Variable(input.type(), input.name()));
      rebuild.replace(input, hidden_.back().second);
    }
    if (!hidden_.empty()) rebuild_outputs(graph, rebuild);
  }

  void restore_owners(RewriteGraph& graph) const {
    Rebuild rebuild;
    for (const auto& [input, placeholder] : hidden_) rebuild.replace(placeholder, input);
    if (!hidden_.empty()) rebuild_outputs(graph, rebuild);
  }

  static void rebuild_outputs(RewriteGraph& graph, Rebuild& rebuild) {
    for (const Ref<Apply>& node : nodes_for(graph.outputs, graph.inputs))
      rebuild.visit_as_is(*node);
    graph.outputs = rebuild.current(graph.outputs);
  }

  void find_readers(const RewriteGraph& graph, const std::vector<Ref<Apply>>& nodes) {
    if (!rewrite_.apply_within) return;
    const auto add = [&](const Variable& variable, const Apply* reader) {
      std::vector<const Apply*>& all = readers_[variable];
      if (all.empty() || all.back() != reader) all.push_back(reader);
    };
    for (const Ref<Apply>& node : nodes)
      for (const Variable& input : node->inputs()) add(input, node.get());
    for (const Variable& output : graph.outputs) add(output, nullptr);
  }

  void visit(const Apply& node) {
    rebuild_.visit_as_is(node);
    for (const Variable& output : node.outputs()) add_readers(output, rebuild_.current(output));
    const Variable first = node.output_count() > 0 ? rebuild_.current(node.output(0)) : Variable();
    if (!first) return;
    const std::vector<Variable> replacements = final_replacements(*first.owner());
    if (replacements.empty()) return;
    ++changes_;
    for (int i = 0; i < node.output_count(); ++i) {
      add_readers(node.output(i), replacements[static_cast<std::size_t>(i)]);
      rebuild_.replace(node.output(i), replacements[static_cast<std::size_t>(i)]);
    }
  }

  // Adds the readers of `old` to those of its replacement `by`.
  void add_readers(const Variable& old, const Variable& by) {
    if (readers_.empty() || old == by) return;
    const auto added = readers(old);  // stays valid while another entry is made
    std::vector<const Apply*>& all = readers_[by];
    all.insert(all.end(), added.begin(), added.end());
  }

  // Empty where the node stays.
  std::vector<Variable> replacements_for(const Apply& node) const {
    std::vector<Variable> replacements =
        rewrite_.apply_within ? rewrite_.apply_within(node, *this) : rewrite_.apply(node);
    if (replacements.empty()) return replacements;
    try {
      check(node, replacements);
    } catch (const GraphError& error) {
      if (on_error.get() == raise_choice) throw;
      if (on_error.get() == warn_choice)
        warn(text(error.what(), "; the node stays (config on_opt_error)"));
      return {};
    }
    set_traces(replacements, node.trace());
    return replacements;
  }

  // Rewrites the replacements again as long as the rewrite changes them.
  std::vector<Variable> final_replacements(const Apply& node) const {
    std::vector<Variable> replacements = replacements_for(node);
    for (int i = 0; i < max_repetitions; ++i) {
      const Apply* result = replacements.empty() ? nullptr : replacements[0].owner();
      if (result == nullptr || result == &node || result->output_count() != node.output_count())
        return replacements;
      std::vector<Variable> next = replacements_for(*result);
      if (next.empty()) return replacements;
      replacements = std::move(next);
    }
    fail<GraphError>("rewrite ", rewrite_.name,
                     ": replaces its own results without end, beginning with ", node.label());
  }

  void check(const Apply& node, const std::vector<Variable>& replacements) const {
    if (replacements.size() != static_cast<std::size_t>(node.output_count()))
      fail<GraphError>("rewrite ", rewrite_.name, ": expected ", node.output_count(),
                       " replacements for the outputs of ", node.label(), ", got ",
                       replacements.size());
    for (int i = 0; i < node.output_count(); ++i) {
      const Variable& replacement = replacements[static_cast<std::size_t>(i)];
      const TensorType& old = node.output(i).type();
      if (!replacement) fail<GraphError>("rewrite ", rewrite_.name, ": gives a null variable");
      if (!may_be_equal(old, replacement.type()))
        fail<GraphError>("rewrite ", rewrite_.name, ": replaces ", node.output(i).label(), " of ",
                         old, " by ", replacement.label(), " of ", replacement.type(),
                         "; expected a variable of the same type");
    }
  }

  const NodeRewrite& rewrite_;
  Rebuild rebuild_;
  // {input of the graph, the variable without an owner that replaces it during the pass}
  std::vector<std::pair<Variable, Variable>> hidden_;
  std::unordered_map<Variable, std::vector<const Apply*>> readers_;
  Device device_;
  int changes_ = 0;
};

}  // namespace
}  // namespace spanwise::graph

namespace spanwise {

bool register_rewrite(Rewrite rewrite) {
  graph::KnownRewrites& registered = graph::known_rewrites();
  const std::lock_guard lock(registered.mutex);
  for (const Rewrite& known : registered.all)
    if (known.name == rewrite.name) return false;
  const auto position = std::ranges::upper_bound(
      registered.all, rewrite,
      [](const Rewrite& a, const Rewrite& b) { return a.position < b.position; });
  registered.all.insert(position, std::move(rewrite));
  return true;
}

bool remove_rewrite(const std::string& name) {
  graph::KnownRewrites& registered = graph::known_rewrites();
  Rewrite removed;  // destroyed without the lock: it may own objects of a language binding
  const std::lock_guard lock(registered.mutex);
  const auto position = std::ranges::find_if(
      registered.all, [&](const Rewrite& rewrite) { return rewrite.name == name; });
  if (position == registered.all.end()) return false;
  removed = std::move(*position);
  registered.all.erase(position);
  return true;
}

std::vector<Rewrite> rewrites() {
  graph::KnownRewrites& registered = graph::known_rewrites();
  const std::lock_guard lock(registered.mutex);
  return registered.all;
}

NodeSurroundings::~NodeSurroundings() = default;

bool register_node_rewrite(NodeRewrite rewrite) {
  return register_rewrite({.name = rewrite.name,
                           .position = rewrite.position,
                           .tags = rewrite.tags,
                           .apply = [rewrite = std::move(rewrite)](RewriteGraph& graph) {
                             return graph::NodePass(rewrite).run(graph);
                           }});
}

}  // namespace spanwise
