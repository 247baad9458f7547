// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/module_cache.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::kernels {
namespace {

/// Copies of a launch's arrays, each between two red zones filled with a known pattern. Arguments
/// with overlapping addresses share one copy, even if their Storages differ (two imports of one
/// foreign array). All work is queued on the current stream; the host waits for it.
class GuardedArrays {
 public:
  GuardedArrays(const KernelState& function, std::span<const KernelArg> arguments);

  std::span<const KernelArg> arguments() const noexcept { return arguments_; }
  std::span<const runtime::RedZone> red_zones() const noexcept { return red_zones_; }
  /// Copies the arrays into the copies and writes the pattern to the zones.
  void copy_in() const;
  /// Describes writes outside of the copies, as the end of a sentence; "" where there were none.
  std::string damage() const;
  /// The current bytes of the copies.
  std::vector<std::string> snapshot() const;
  /// Describes the first difference between two snapshots beyond what another order of rounding
  /// explains, as the end of a sentence; "" where there is none.
  std::string difference(const std::vector<std::string>& before,
                         const std::vector<std::string>& after) const;
  /// Writes `bytes`, a snapshot(), to the arrays that the kernel may write.
  void copy_out(const std::vector<std::string>& bytes) const;

 private:
  // The byte range of one argument's array.
  struct ArgumentRange {
    Storage storage;
    std::uintptr_t begin, end;  // addresses
    bool writes;
  };
  // The address range of overlapping arguments.
  struct GuardedRange {
    std::uintptr_t begin, end;
    std::size_t argument = 0;  // index of the first of them
    std::vector<ArgumentRange> parts{};
    Array block{};          // uint8, on the device: zone, bytes, zone
    std::int64_t zone = 0;  // bytes before the copy
    std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(end - begin); }
  };
  void add(const KernelState& function, std::size_t index, const Array& array);
  KernelArg copy_argument(const KernelArg& argument);
  std::uintptr_t address_in_copy(std::uintptr_t address, const Array& array) const;
  static void allocate(GuardedRange& range, Device device);
  Array view_of_copy(const Array& array) const;
  const GuardedRange& range_of(const Array& array) const;
  static Array original(const ArgumentRange& part);
  static Array copy_of(const GuardedRange& range, const ArgumentRange& part);
  std::string name_of(std::size_t argument) const;

  const KernelState& function_;
  std::vector<GuardedRange> ranges_;
  std::deque<Array> arrays_;                    // arguments point to its elements,
  std::deque<std::vector<std::byte>> structs_;  // and to these
  std::vector<KernelArg> arguments_;
  std::vector<runtime::RedZone> red_zones_;
};

constexpr unsigned char pattern = 0xa5;
// Kernels usually overrun an array by a block or a row; a zone as long as the array catches indices
// up to twice its extent.
constexpr std::int64_t min_zone_bytes = 64 << 10, max_zone_bytes = 16 << 20, alignment = 256;

std::int64_t zone_for(std::int64_t bytes) {
  return (std::clamp(bytes, min_zone_bytes, max_zone_bytes) + alignment - 1) / alignment *
         alignment;
}

// The addresses of an array's bytes, [begin, end).
struct Extent {
  explicit Extent(const Array& array) {
    const bool is_empty = array.size() == 0;
    const auto [first, last] = is_empty
                                   ? std::pair(array.layout().offset, array.layout().offset - 1)
                                   : array.layout().offset_range();
    const auto base = reinterpret_cast<std::uintptr_t>(array.storage().data());
    const std::int64_t item = array.dtype().itemsize();
    begin = base + static_cast<std::uintptr_t>(first * item);
    end = base + static_cast<std::uintptr_t>((last + 1) * item);
  }
  std::uintptr_t begin, end;
};

// Bytes [begin, begin + bytes) of a storage.
Array bytes_of(const Storage& storage, std::int64_t begin, std::int64_t bytes) {
  Layout layout = Layout::row_major({bytes});
  layout.offset = begin;
  return Array(storage, std::move(layout), uint8);
}

// A storage of bytes [begin, begin + bytes) of `block`, which it keeps alive.
Storage part_storage(const Array& block, std::int64_t begin, std::int64_t bytes) {
  auto owner = std::make_unique<Array>(block);
  std::byte* data = static_cast<std::byte*>(block.data()) + begin;
  return Storage::adopt(
      data, static_cast<std::size_t>(bytes), block.device(),
      [](void* context, void*, std::size_t, StreamUses&) noexcept {
        delete static_cast<Array*>(context);
      },
      owner.release());
}

std::string host_bytes(const Array& bytes) {
  const Array host = to_device(bytes, cpu, CopyMode::if_needed);
  return std::string(static_cast<const char*>(host.data()), static_cast<std::size_t>(host.size()));
}

/// Relative difference of two sums that another order of rounding explains.
double tolerance(DType dtype) {
  if (dtype == float64 || dtype == complex128) return 1e-9;
  if (dtype == float32 || dtype == complex64) return 1e-3;
  return 5e-2;
}

// Whether only the order of rounding may explain the difference of two elements.
bool is_rounding(DType dtype, const char* a, const char* b) {
  if (!dtype.is_computable() || !(dtype.is_floating() || dtype.is_complex())) return false;
  const DType real = dtype == complex64 ? float32 : dtype == complex128 ? float64 : dtype;
  for (int part = 0; part < dtype.itemsize(); part += real.itemsize()) {
    const double x = Scalar(real, a + part).as_double(), y = Scalar(real, b + part).as_double();
    if (std::isnan(x) && std::isnan(y)) continue;
    if (!(std::abs(x - y) <= tolerance(dtype) * std::max({std::abs(x), std::abs(y), 1e-30})))
      return false;
  }
  return true;
}

std::string shown(DType dtype, const char* at) {
  return dtype.is_computable() ? text(Scalar(dtype, at)) : std::string("other bytes");
}

GuardedArrays::GuardedArrays(const KernelState& function, std::span<const KernelArg> arguments)
    : function_(function), arguments_(arguments.begin(), arguments.end()) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const Array* array = arguments[i].known_array()) add(function, i, *array);
  for (GuardedRange& range : ranges_) {
    allocate(range, function.device());
    const auto* begin = static_cast<const std::byte*>(range.block.data());
    const std::byte* data = begin + range.zone;
    red_zones_.push_back({begin, begin + range.block.size(), data, data + range.bytes(),
                          static_cast<int>(range.argument),
                          text("the array of ", name_of(range.argument))});
  }
  for (KernelArg& argument : arguments_)
    if (argument.known_array() != nullptr) argument = copy_argument(argument);
}

// The argument for the checked runs that corresponds to `argument`, which belongs to an array.
KernelArg GuardedArrays::copy_argument(const KernelArg& argument) {
  const Array& array = *argument.known_array();
  if (argument.kind() == KernelArg::Kind::address)
    return KernelArg::address(
        address_in_copy(static_cast<std::uintptr_t>(argument.scalar().as_int64()), array), array);
  if (argument.kind() == KernelArg::Kind::bytes) {
    auto& bytes = structs_.emplace_back(argument.raw().begin(), argument.raw().end());
    std::uintptr_t address = 0;
    std::memcpy(&address, bytes.data(), sizeof address);
    address = address_in_copy(address, array);
    std::memcpy(bytes.data(), &address, sizeof address);
    return KernelArg::bytes(bytes, array);
  }
  const Array& copy = arrays_.emplace_back(view_of_copy(array));
  return argument.kind() == KernelArg::Kind::memory ? KernelArg::memory(copy) : KernelArg(copy);
}

std::uintptr_t GuardedArrays::address_in_copy(std::uintptr_t address, const Array& array) const {
  const GuardedRange& range = range_of(array);
  const auto block = reinterpret_cast<std::uintptr_t>(range.block.data());
  return address - range.begin + block + static_cast<std::uintptr_t>(range.zone);
}

void GuardedArrays::add(const KernelState& function, std::size_t index, const Array& array) {
  const Extent extent(array);
  const bool writes = function.signature().rules[index].writes && !array.readonly();
  GuardedRange range{.begin = extent.begin, .end = extent.end, .argument = index};
  range.parts.push_back({array.storage(), extent.begin, extent.end, writes});
  std::erase_if(ranges_, [&](GuardedRange& other) {
    if (other.begin >= range.end || range.begin >= other.end) return false;
    range.begin = std::min(range.begin, other.begin);
    range.end = std::max(range.end, other.end);
    range.argument = std::min(range.argument, other.argument);
    std::move(other.parts.begin(), other.parts.end(), std::back_inserter(range.parts));
    return true;
  });
  ranges_.push_back(std::move(range));
}

void GuardedArrays::allocate(GuardedRange& range, Device device) {
  const std::int64_t bytes = range.bytes(), zone = zone_for(bytes);
  // Keeps the original's address modulo `alignment`, since kernels may rely on its alignment.
  range.zone = zone + static_cast<std::int64_t>(range.begin % alignment);
  range.block = empty({range.zone + bytes + zone}, uint8, device);
}

const GuardedArrays::GuardedRange& GuardedArrays::range_of(const Array& array) const {
  const Extent extent(array);
  return *std::ranges::find_if(ranges_, [&](const GuardedRange& range) {
    return range.begin <= extent.begin && extent.end <= range.end;
  });
}

// The view of the copy that corresponds to `array`.
Array GuardedArrays::view_of_copy(const Array& array) const {
  const GuardedRange& range = range_of(array);
  const Extent extent(array);
  Layout layout = array.layout();
  layout.offset -= array.size() == 0 ? layout.offset : layout.offset_range().first;
  const std::int64_t begin = range.zone + static_cast<std::int64_t>(extent.begin - range.begin);
  Array out(part_storage(range.block, begin, static_cast<std::int64_t>(extent.end - extent.begin)),
            std::move(layout), array.dtype());
  return array.readonly() ? out.as_readonly() : out;
}

// The bytes of the argument's array, not those of the copy.
Array GuardedArrays::original(const ArgumentRange& part) {
  const auto base = reinterpret_cast<std::uintptr_t>(part.storage.data());
  return bytes_of(part.storage, static_cast<std::int64_t>(part.begin - base),
                  static_cast<std::int64_t>(part.end - part.begin));
}

Array GuardedArrays::copy_of(const GuardedRange& range, const ArgumentRange& part) {
  return bytes_of(range.block.storage(),
                  range.zone + static_cast<std::int64_t>(part.begin - range.begin),
                  static_cast<std::int64_t>(part.end - part.begin));
}

void GuardedArrays::copy_in() const {
  for (const GuardedRange& range : ranges_) {
    fill(range.block, Scalar(std::uint8_t{pattern}));
    for (const ArgumentRange& part : range.parts)
      if (part.end > part.begin) copy(original(part), copy_of(range, part));
  }
}

std::string GuardedArrays::name_of(std::size_t argument) const {
  const KernelParameter& parameter = function_.signature().parameters[argument];
  if (parameter.name.empty()) return text("argument ", argument + 1);
  return text("argument ", argument + 1, " ('", parameter.type,
              parameter.type.ends_with('*') ? "" : " ", parameter.name, "')");
}

std::string GuardedArrays::damage() const {
  for (const GuardedRange& range : ranges_) {
    const std::int64_t bytes = range.bytes(), behind = range.zone + bytes;
    const std::string front = host_bytes(bytes_of(range.block.storage(), 0, range.zone));
    const std::string back =
        host_bytes(bytes_of(range.block.storage(), behind, range.block.size() - behind));
    const char undamaged = static_cast<char>(pattern);
    if (const std::size_t at = back.find_first_not_of(undamaged); at != back.npos) {
      const std::size_t last = back.find_last_not_of(undamaged);
      return text("wrote behind the end of the array of ", name_of(range.argument), ", which has ",
                  bytes, " bytes: bytes ", bytes + static_cast<std::int64_t>(at), " to ",
                  bytes + static_cast<std::int64_t>(last));
    }
    if (const std::size_t at = front.find_first_not_of(undamaged); at != front.npos)
      return text("wrote in front of the array of ", name_of(range.argument), ": from ",
                  range.zone - static_cast<std::int64_t>(at), " bytes before its first byte");
  }
  return "";
}

std::vector<std::string> GuardedArrays::snapshot() const {
  std::vector<std::string> all;
  for (const GuardedRange& range : ranges_)
    all.push_back(host_bytes(bytes_of(range.block.storage(), range.zone, range.bytes())));
  return all;
}

std::string GuardedArrays::difference(const std::vector<std::string>& before,
                                      const std::vector<std::string>& after) const {
  for (std::size_t r = 0; r < ranges_.size(); ++r) {
    if (before[r] == after[r]) continue;
    const GuardedRange& range = ranges_[r];
    // Compares with the first argument's dtype; overlapping arguments usually have the same.
    const DType dtype = arguments_[range.argument].known_array()->dtype();
    const auto item = static_cast<std::size_t>(dtype.itemsize());
    for (std::size_t at = 0; at + item <= before[r].size(); at += item) {
      const char *x = before[r].data() + at, *y = after[r].data() + at;
      if (std::memcmp(x, y, item) == 0 || is_rounding(dtype, x, y)) continue;
      return text("element ", at / item, " in memory of the array of ", name_of(range.argument),
                  " is ", shown(dtype, x), " or ", shown(dtype, y));
    }
  }
  return "";
}

void GuardedArrays::copy_out(const std::vector<std::string>& bytes) const {
  for (std::size_t r = 0; r < ranges_.size(); ++r) {
    const GuardedRange& range = ranges_[r];
    for (const ArgumentRange& part : range.parts) {
      const std::size_t size = part.end - part.begin;
      if (!part.writes || size == 0) continue;
      const Array host = empty({static_cast<std::int64_t>(size)}, uint8, cpu);
      std::memcpy(host.data(), bytes[r].data() + (part.begin - range.begin), size);
      copy(host, original(part));
    }
  }
}

using ExecutionOrder = runtime::LaunchCheck::ExecutionOrder;

// The kernel compiled with checks, and its module; null without source. On a GPU, where only views
// are checked, also null for a source with variables, whose values the other module would lack.
Ref<runtime::LoadedKernel> checked_kernel(const KernelState& function, Ref<ModuleState>& module) {
  const runtime::CompileRequest& request = function.module()->request();
  if (request.source->text.empty()) return nullptr;
  if (!function.device().is_cpu() && function.module()->declares_variables()) return nullptr;
  ModuleOptions options{.options = request.options,
                        .names = request.names,
                        .include_dirs = request.include_dirs,
                        .device = function.device(),
                        .file_name = request.source->file_name,
                        .is_covered = request.is_covered};
  for (const char* option : {runtime::check_option, "-DSW_CHECK_BOUNDS", "-lineinfo"})
    options.options.emplace_back(option);
  for (const parse::KernelSource& linked : request.linked) options.link.push_back(linked.text);
  module = function.module()->checked();
  if (!module)
    module = function.module()->set_checked(
        find_or_build(request.source->text, options)->with_own_variables());
  const KernelState checked(module, function.name());
  return Ref<runtime::LoadedKernel>(&checked.kernel());
}

// Whether no argument seems to hold an address, besides those of the arrays themselves.
bool is_free_of_addresses(std::span<const KernelArg> arguments) {
  return std::ranges::none_of(arguments, [](const KernelArg& argument) {
    std::span<const std::byte> bytes = argument.raw();
    if (const Array* array = argument.known_array()) {
      if (array->dtype() == int64 || array->dtype() == uint64) return true;
      if (argument.kind() != KernelArg::Kind::bytes) return false;
      bytes = bytes.subspan(sizeof(std::uintptr_t));  // after the array's own address
    }
    if (argument.kind() == KernelArg::Kind::bytes)
      return runtime::may_hold_address(bytes.data(), bytes.size());
    const Scalar& value = argument.scalar();
    return !value.dtype().is_floating() &&
           runtime::may_hold_address(value.data(),
                                     static_cast<std::size_t>(value.dtype().itemsize()));
  });
}

/// One checked launch, on the current stream. The members throw KernelFaultError.
class CheckedRun {
 public:
  CheckedRun(const KernelState& function, const LaunchConfig& config,
             std::span<const KernelArg> arguments)
      : function_(function),
        config_(config),
        original_(arguments),
        checked_(checked_kernel(function, checked_module_)),
        kernel_(checked_ ? *checked_ : function.kernel()),
        arrays_(function, arguments) {}

  void run(runtime::KernelCheck check) {
    races_ = check.order;
    const std::vector<std::string> first = run_in(ExecutionOrder::forward, 0);
    if (!kernel_.checks()) return arrays_.copy_out(first);
    if (check.order) {
      compare(first, ExecutionOrder::reverse, 0);
      for (const std::uint64_t seed : {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u})
        compare(first, ExecutionOrder::random, seed);
    }
    // The checked runs have changed nothing: neither arrays, nor variables, nor other memory.
    queue_launch(function_, function_.kernel(), config_, original_, nullptr);
  }

 private:
  std::vector<std::string> run_in(ExecutionOrder order, std::uint64_t seed) {
    arrays_.copy_in();
    if (checked_module_) checked_module_->loaded().copy_variables(function_.module()->loaded());
    const runtime::LaunchCheck check{
        order, seed, arrays_.red_zones(), races_, is_free_of_addresses(original_), &findings_};
    queue_launch(function_, kernel_, config_, arrays_.arguments(), &check);
    Stream::current(function_.device()).synchronize();
    if (const std::string damage = arrays_.damage(); !damage.empty())
      fail<KernelFaultError>(
          "kernel '", function_.name(), "' on ", function_.device(), " ", damage,
          ". Remedy: compare the index with the extent before the access; ",
          function_.device().is_cpu()
              ? "check that the array is as large as the kernel assumes"
              : "compute-sanitizer --tool memcheck python ... names the line, and so "
                "does this check on the CPU, which sees reads too");
    return arrays_.snapshot();
  }

  // A result that differs from `first`, that of the forward order, is a fault, unless only the
  // order of atomic operations explains it.
  void compare(const std::vector<std::string>& first, ExecutionOrder order, std::uint64_t seed) {
    const std::string difference = arrays_.difference(first, run_in(order, seed));
    if (difference.empty() || (findings_.suspect_access.empty() && findings_.has_atomics)) return;
    fail<KernelFaultError>(
        "kernel '", function_.name(), "' on ", function_.device(),
        findings_.suspect_access.empty() ? " has a race" : " has an undefined result",
        ": with threads in order and ",
        order == ExecutionOrder::reverse ? "in reverse " : "in another order ", difference,
        findings_.suspect_access.empty()
            ? std::string(". Remedy: put __syncthreads() between what one thread writes and "
                          "another reads, or use atomics where several write one element")
            : ". The cause may be: " + findings_.suspect_access);
  }

  const KernelState& function_;
  const LaunchConfig& config_;
  std::span<const KernelArg> original_;
  Ref<ModuleState> checked_module_;
  Ref<runtime::LoadedKernel> checked_;
  runtime::LoadedKernel& kernel_;
  GuardedArrays arrays_;
  bool races_ = false;
  runtime::LaunchFindings findings_;
};

}  // namespace

void checked_launch(const KernelState& function, const LaunchConfig& config,
                    std::span<const KernelArg> arguments, runtime::KernelCheck check) {
  const BoundArguments bound(function, arguments);  // throws before the arrays are copied
  const StreamGuard guard(config.stream ? *config.stream : Stream::current(function.device()));
  CheckedRun(function, config, arguments).run(check);
}

}  // namespace spanwise::kernels
