// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/bundle.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

#include "core/string_utils.hpp"
#include "kernels/disk_cache.hpp"
#include "kernels/include_closure.hpp"
#include "kernels/module_cache.hpp"
#include "kernels/sha256.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/kernels/bundle_files.hpp"

namespace spanwise::kernels {
namespace {

constexpr std::string_view bundle_heading = "spanwise bundle ";
// Incremented when the format changes, or the interface between kernels and the library.
constexpr int interface_version = 1;
constexpr std::size_t bundle_digest_size = 64;  // sha256(), in characters

void write_list(std::string& out, const std::vector<std::string>& list) {
  write_field(out, std::to_string(list.size()));
  for (const std::string& each : list) write_field(out, each);
}

// Reads the fields of a bundle whose checksum is right, so that only a foreign or a hostile writer
// reaches the errors.
class BundleReader {
 public:
  BundleReader(std::string_view body, std::string_view name) : fields_(body), name_(name) {}

  std::string text() {
    std::optional<std::string> field = fields_.next();
    if (!field) fail_content();
    return std::move(*field);
  }
  // Nothing is reserved for a count: each element has to follow.
  std::size_t count() {
    const auto number = parse_number<std::size_t>(text());
    if (!number) fail_content();
    return *number;
  }
  std::vector<std::string> list() {
    std::vector<std::string> list;
    for (std::size_t left = count(); left > 0; --left) list.push_back(text());
    return list;
  }
  BundleUnit unit() {
    BundleUnit unit;
    unit.text = text();
    unit.file_name = text();
    unit.options = list();
    unit.names = list();
    unit.declares_variables = count() != 0;
    for (std::size_t left = count(); left > 0; --left) {
      std::string target = text();
      runtime::KernelBinary binary;
      binary.image = text();
      for (std::size_t symbols = count(); symbols > 0; --symbols) {
        std::string kernel = text();
        binary.symbols.emplace(std::move(kernel), text());
      }
      unit.images.emplace_back(std::move(target), std::move(binary));
    }
    return unit;
  }
  void finish() const {
    if (!fields_.at_end()) fail_content();
  }

 private:
  [[noreturn]] void fail_content() const {
    fail<ArgumentError>("bundle ", name_,
                        ": expected the fields that sw.compile writes, got others with a right "
                        "checksum; compile it again");
  }

  FieldReader fields_;
  std::string_view name_;
};

DeviceKind kind_of(std::string_view target) {
  const bool is_gpu = target.starts_with("sm_") || target.starts_with("compute_");
  return is_gpu ? DeviceKind::cuda : DeviceKind::cpu;
}

}  // namespace

const runtime::KernelBinary* BundleUnit::image_for(Device device) const {
  runtime::Backend& backend = runtime::backend_for(device);
  const runtime::KernelBinary* best = nullptr;
  int best_suits = 0;
  for (const auto& [target, binary] : images) {
    if (kind_of(target) != backend.kind()) continue;
    const int suits = backend.suitability(device.ordinal(), target);
    if (suits <= best_suits) continue;
    best = &binary;
    best_suits = suits;
  }
  return best;
}

bool Bundle::is_bundle(std::string_view contents) noexcept {
  return contents.starts_with(bundle_heading);
}

std::string Bundle::write() const {
  std::string out = spanwise::text(bundle_heading, interface_version, '\n');
  write_field(out, metadata);
  write_field(out, std::to_string(units.size()));
  for (const BundleUnit& unit : units) {
    write_field(out, unit.text);
    write_field(out, unit.file_name);
    write_list(out, unit.options);
    write_list(out, unit.names);
    write_field(out, unit.declares_variables ? "1" : "0");
    write_field(out, std::to_string(unit.images.size()));
    for (const auto& [target, binary] : unit.images) {
      write_field(out, target);
      write_field(out, binary.image);
      write_field(out, std::to_string(binary.symbols.size()));
      for (const auto& [name, symbol] : binary.symbols) {
        write_field(out, name);
        write_field(out, symbol);
      }
    }
  }
  return out + sha256(out);
}

Bundle Bundle::read(std::string_view contents, std::string_view name) {
  if (!is_bundle(contents))
    fail<ArgumentError>("bundle ", name,
                        ": expected a file that sw.compile or python -m spanwise compile has "
                        "written, got one that begins otherwise");
  std::string_view rest = contents.substr(bundle_heading.size());
  const auto version = take_number<int>(rest);
  if (version && rest.starts_with('\n') && *version > interface_version)
    fail<ArgumentError>("bundle ", name, ": it is of interface ", *version,
                        ", and this version of Spanwise reads interfaces up to ", interface_version,
                        ". Remedy: install a newer Spanwise, or compile the "
                        "bundle with this one");
  const bool is_whole = version == interface_version && rest.starts_with('\n') &&
                        rest.size() > bundle_digest_size &&
                        sha256(contents.substr(0, contents.size() - bundle_digest_size)) ==
                            contents.substr(contents.size() - bundle_digest_size);
  if (!is_whole)
    fail<ArgumentError>("bundle ", name,
                        ": its checksum does not fit its contents, so it is truncated or was "
                        "changed. Remedy: copy or compile it again");
  BundleReader reader(rest.substr(1, rest.size() - 1 - bundle_digest_size), name);
  Bundle bundle;
  bundle.metadata = reader.text();
  for (std::size_t left = reader.count(); left > 0; --left) bundle.units.push_back(reader.unit());
  reader.finish();
  return bundle;
}

BundleUnit compile_unit(std::string_view source, const ModuleOptions& options,
                        const std::vector<std::string>& targets) {
  const parse::KernelSource scanned = parse::scan_kernels(std::string(source), options.file_name);
  runtime::CompileRequest request{.source = &scanned,
                                  .options = options.options,
                                  .names = options.names,
                                  .include_dirs = options.include_dirs};
  const IncludeClosure includes =
      find_includes(scanned.text, request.options, request.include_dirs);
  BundleUnit unit{
      .text = scanned.text,
      .file_name = options.file_name,
      .options = options.options,
      .names = options.names,
      .declares_variables = includes.declares_variables || parse::declares_variables(scanned.text),
      .images = {}};
  for (const std::string& target : targets) {
    runtime::Backend* backend = runtime::find_backend(kind_of(target));
    if (backend == nullptr)
      fail<ArgumentError>("compile: no back end of this build of Spanwise compiles for ", target);
    unit.images.emplace_back(target,
                             compile_with_headers(request, includes, [&](const auto& complete) {
                               return backend->compile_for(target, complete);
                             }));
  }
  return unit;
}

Ref<ModuleState> load_bundle(const Bundle& bundle, Device device) {
  if (bundle.units.size() != 1)
    fail<ArgumentError>("Module.load: expected a bundle of one source, got one of ",
                        bundle.units.size(), "; load the ops in it by sw.load_ops");
  const BundleUnit& unit = bundle.units.front();
  const runtime::KernelBinary* binary = unit.image_for(device);
  if (binary == nullptr)
    fail<DeviceError>("Module.load: the bundle of ", unit.file_name, " has binaries for ",
                      joined(unit.images, ", ", [](const auto& image) { return image.first; }),
                      ", of which none runs on ", device,
                      ". Remedy: compile it for this device, sw.compile(source, archs=[...])");
  Ref<runtime::LoadedModule> loaded = runtime::backend_for(device).load(device.ordinal(), *binary);
  auto reloadable =
      unit.declares_variables ? std::make_shared<const runtime::KernelBinary>(*binary) : nullptr;
  return make_ref<ModuleState>(
      device, parse::scan_kernels(unit.text, unit.file_name),
      runtime::CompileRequest{.options = unit.options, .names = unit.names}, binary->symbols,
      std::move(loaded), true, unit.declares_variables, std::move(reloadable));
}

namespace {

struct AttachedBundles {
  Mutex mutex;
  std::deque<Bundle> bundles;                                        // their units stay in place
  std::multimap<std::string, const BundleUnit*, std::less<>> units;  // by text
  std::atomic<bool> is_empty{true};
};

AttachedBundles& attached() {
  static NeverDestroyed<AttachedBundles> bundles;
  return *bundles;
}

}  // namespace

void attach_bundle(Bundle bundle) {
  AttachedBundles& all = attached();
  const std::lock_guard lock(all.mutex);
  all.bundles.push_back(std::move(bundle));
  for (const BundleUnit& unit : all.bundles.back().units) all.units.emplace(unit.text, &unit);
  all.is_empty = false;
}

const BundleUnit* find_attached(std::string_view text, const std::vector<std::string>& options,
                                const std::vector<std::string>& names, Device device) {
  AttachedBundles& all = attached();
  if (all.is_empty) return nullptr;
  const std::lock_guard lock(all.mutex);
  const auto [first, last] = all.units.equal_range(text);
  const auto suits = [&](const auto& entry) {
    const BundleUnit& unit = *entry.second;
    const auto has = [&](const std::string& name) {
      return std::ranges::find(unit.names, name) != unit.names.end();
    };
    return unit.options == options && std::ranges::all_of(names, has) &&
           unit.image_for(device) != nullptr;
  };
  // The bundle that was attached last takes precedence.
  for (auto entry = last; entry != first;)
    if (suits(*--entry)) return entry->second;
  return nullptr;
}

}  // namespace spanwise::kernels

namespace spanwise::bundles {

std::string compile(const std::vector<Source>& sources, const std::vector<std::string>& targets,
                    std::string metadata) {
  kernels::Bundle bundle{.metadata = std::move(metadata), .units = {}};
  for (const auto& [text, options] : sources)
    bundle.units.push_back(kernels::compile_unit(text, options, targets));
  return bundle.write();
}

Contents read(std::string_view contents, std::string_view name) {
  kernels::Bundle bundle = kernels::Bundle::read(contents, name);
  Contents result{.metadata = std::move(bundle.metadata), .units = {}};
  for (kernels::BundleUnit& unit : bundle.units) {
    ModuleOptions options{.options = std::move(unit.options),
                          .names = std::move(unit.names),
                          .file_name = std::move(unit.file_name)};
    std::vector<std::string> targets;
    for (const auto& image : unit.images) targets.push_back(image.first);
    result.units.push_back({{std::move(unit.text), std::move(options)}, std::move(targets)});
  }
  return result;
}

void attach(std::string_view contents, std::string_view name) {
  kernels::attach_bundle(kernels::Bundle::read(contents, name));
}

}  // namespace spanwise::bundles
