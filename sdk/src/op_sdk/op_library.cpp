// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/op_sdk/op_library.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/storage.hpp"
#include "spanwise/kernels/bundle_files.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/runtime/stream.hpp"

// Kernel ops called from C. A function is compiled for each op, dtypes, ranks and device, which
// loads binaries of the bundle.
namespace {

using namespace spanwise;

// The encoding of declarations: numbers end with a space, texts follow their lengths, lists their
// counts.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  std::size_t number() {
    const auto found = take_number<std::size_t>(rest_);
    expect(found && !rest_.empty());
    rest_.remove_prefix(1);
    return *found;
  }
  std::string string() {
    const std::size_t size = number();
    expect(size <= rest_.size());
    std::string out(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return out;
  }
  std::vector<std::string> strings() {
    std::vector<std::string> out(number());
    for (std::string& each : out) each = string();
    return out;
  }
  // Its dtype and its bytes.
  Scalar scalar() {
    const DType dtype = DType::parse(string());
    const std::string bytes = string();
    expect(static_cast<std::size_t>(dtype.itemsize()) == bytes.size());
    return Scalar(dtype, bytes.data());
  }

 private:
  static void expect(bool is_whole) {
    if (!is_whole) fail<ArgumentError>("op library: damaged declarations");
  }

  std::string_view rest_;
};

KernelOpSpec read_spec(Reader& reader) {
  KernelOpSpec spec;
  spec.name = reader.string();
  spec.source = reader.string();
  spec.kernel = reader.string();
  spec.shared = reader.string();
  for (auto* list : {&spec.inputs, &spec.outputs, &spec.arguments, &spec.block, &spec.grid,
                     &spec.options.options})
    *list = reader.strings();
  for (std::size_t count = reader.number(); count > 0; --count) {
    std::string name = reader.string();
    spec.scalars.emplace(std::move(name), reader.scalar());
  }
  for (std::size_t count = reader.number(); count > 0; --count) {
    std::string output = reader.string();
    spec.overwrites.emplace(std::move(output), reader.string());
  }
  return spec;
}

Device device_of(const sw_library_tensor& tensor) {
  return tensor.device < 0 ? cpu : Device(DeviceKind::cuda, tensor.device);
}

Shape shape_of(const sw_library_tensor& tensor) {
  Shape shape(tensor.rank);
  std::copy_n(tensor.shape, tensor.rank, shape.begin());
  return shape;
}

Array array_of(const sw_library_tensor& tensor) {
  const DType dtype = DType::parse(tensor.dtype);
  Layout layout = Layout::row_major(shape_of(tensor));
  std::copy_n(tensor.strides, tensor.rank, layout.strides.begin());
  const std::size_t bytes =
      layout.size() == 0
          ? 0
          : static_cast<std::size_t>((layout.offset_range().second + 1) * dtype.itemsize());
  return Array(Storage::adopt(tensor.data, bytes, device_of(tensor), nullptr, nullptr), layout,
               dtype);
}

}  // namespace

struct sw_op_library {
  std::vector<Ref<const Op>> ops;
  std::vector<std::pair<std::size_t, std::size_t>> counts;  // inputs and outputs of each
  Mutex mutex;
  std::map<std::string, CompiledFunction> functions;             // by key_of()
  std::map<std::string, std::vector<sw_library_tensor>> shapes;  // of outputs, by key_of()
};

namespace {

void copy_text(std::string_view text, char* target, std::uint64_t capacity) noexcept {
  if (capacity > 0) target[text.copy(target, capacity - 1)] = 0;
}

std::vector<Variable> variables_of(std::span<const sw_library_tensor> inputs, bool have_shapes) {
  std::vector<Variable> variables;
  for (const sw_library_tensor& input : inputs) {
    Shape shape = shape_of(input);
    if (!have_shapes) std::ranges::fill(shape, TensorType::any);
    variables.push_back(Variable(TensorType(DType::parse(input.dtype), shape)));
  }
  return variables;
}

// The op and the dtypes, ranks and perhaps shapes of its inputs, as bytes.
std::string key_of(std::int32_t op, std::span<const sw_library_tensor> inputs, bool has_shapes) {
  std::string key;
  const auto add = [&](const auto& value, std::size_t bytes) {
    key.append(reinterpret_cast<const char*>(&value), bytes);
  };
  add(op, sizeof op);
  for (const sw_library_tensor& input : inputs) {
    add(input.dtype, sizeof input.dtype);
    add(input.rank, sizeof input.rank);
    if (has_shapes)
      add(input.shape, static_cast<std::size_t>(input.rank) * sizeof input.shape[0]);
    else
      add(input.device, sizeof input.device);
  }
  return key;
}

std::vector<sw_library_tensor> output_shapes(const sw_op_library& library, std::size_t op,
                                             std::span<const sw_library_tensor> inputs) {
  const Ref<Apply> node = library.ops[op]->make_node(variables_of(inputs, true));
  std::vector<sw_library_tensor> outputs(library.counts[op].second);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& type = node->output(static_cast<int>(i)).type();
    copy_text(type.dtype().name(), outputs[i].dtype, sizeof outputs[i].dtype);
    outputs[i].rank = type.rank();
    std::ranges::copy(type.shape(), outputs[i].shape);
  }
  return outputs;
}

CompiledFunction function_for(sw_op_library& library, std::size_t op,
                              std::span<const sw_library_tensor> inputs, Device device) {
  std::string key = key_of(static_cast<std::int32_t>(op), inputs, false);
  const std::lock_guard lock(library.mutex);
  if (const auto found = library.functions.find(key); found != library.functions.end())
    return found->second;
  std::vector<Variable> variables = variables_of(inputs, false);
  std::vector<Variable> outputs = library.ops[op]->make_node(variables)->outputs();
  CompiledFunction compiled = function(std::move(variables), std::move(outputs),
                                       {.name = library.ops[op]->name(), .device = device});
  return library.functions.emplace(std::move(key), std::move(compiled)).first->second;
}

// Exceptions must not leave functions that C calls.
template <class F>
int guarded(char* error, std::uint64_t capacity, F&& body) noexcept {
  try {
    body();
    return 0;
  } catch (const std::exception& caught) {
    copy_text(caught.what(), error, capacity);
  } catch (...) {
    copy_text("unknown error", error, capacity);
  }
  return 1;
}

int open_library(const void* bundle, std::uint64_t bundle_bytes, const char* declarations,
                 std::uint64_t declaration_bytes, sw_op_library** result, char* error,
                 std::uint64_t capacity) {
  return guarded(error, capacity, [&] {
    bundles::attach({static_cast<const char*>(bundle), bundle_bytes}, "of this library");
    auto library = std::make_unique<sw_op_library>();
    Reader reader({declarations, declaration_bytes});
    for (std::size_t count = reader.number(); count > 0; --count) {
      KernelOpSpec spec = read_spec(reader);
      library->counts.emplace_back(spec.inputs.size(), spec.outputs.size());
      library->ops.push_back(kernel_op(std::move(spec)));
    }
    *result = library.release();
  });
}

int find_shapes(sw_op_library* library, std::int32_t op, const sw_library_tensor* inputs,
                sw_library_tensor* outputs, char* error, std::uint64_t capacity) {
  return guarded(error, capacity, [&] {
    const auto number = static_cast<std::size_t>(op);
    const std::span all(inputs, library->counts[number].first);
    std::string key = key_of(op, all, true);
    const std::lock_guard lock(library->mutex);
    constexpr std::size_t capacity_of_shapes = 1024;
    auto found = library->shapes.find(key);
    if (found == library->shapes.end()) {
      if (library->shapes.size() == capacity_of_shapes) library->shapes.clear();
      std::vector<sw_library_tensor> made = output_shapes(*library, number, all);
      found = library->shapes.emplace(std::move(key), std::move(made)).first;
    }
    std::ranges::copy(found->second, outputs);
  });
}

int run(sw_op_library* library, std::int32_t op, const sw_library_tensor* inputs,
        const sw_library_tensor* outputs, void* stream, char* error, std::uint64_t capacity) {
  return guarded(error, capacity, [&] {
    const auto number = static_cast<std::size_t>(op);
    const auto [input_count, output_count] = library->counts[number];
    const std::span all(inputs, input_count);
    const Device device = device_of(outputs[0]);
    const CompiledFunction compiled = function_for(*library, number, all, device);
    const auto call = [&] {
      std::vector<Array> arrays, buffers;
      for (const sw_library_tensor& input : all) arrays.push_back(array_of(input));
      for (std::size_t i = 0; i < output_count; ++i) buffers.push_back(array_of(outputs[i]));
      const std::vector<Array> targets = buffers;
      const std::vector<Array> results = compiled.call_with_buffers(arrays, std::move(buffers));
      for (std::size_t i = 0; i < output_count; ++i)
        if (results[i].data() != targets[i].data()) copy(results[i], targets[i]);
    };
    if (device.is_cpu()) return call();
    // Handle 0 is the legacy default stream.
    const auto handle = reinterpret_cast<std::uintptr_t>(stream);
    const StreamGuard guard(Stream::persistent(device, handle == 0 ? 1 : handle));
    call();
  });
}

}  // namespace

namespace spanwise {

// SW_OP_LIBRARY_SYMBOL.
SW_API const sw_op_library_functions* op_library_functions();
const sw_op_library_functions* op_library_functions() {
  static constexpr sw_op_library_functions functions{open_library, find_shapes, run};
  return &functions;
}

}  // namespace spanwise
