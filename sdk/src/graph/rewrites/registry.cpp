// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/rewrites/registry.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>

#include "core/string_utils.hpp"
#include "graph/hooks_in_use.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace graph {
namespace {

struct KnownRewrites {
  Mutex mutex;
  std::vector<Rewrite> all;
};

KnownRewrites& known_rewrites() {
  // Created at the first use, since static initialisers of other files run first.
  static auto& registered = *new KnownRewrites;
  return registered;
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

}  // namespace graph

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

}  // namespace spanwise
