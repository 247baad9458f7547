// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "python/graph/variable_object.hpp"
#include "python/graph/xla_ffi_abi.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/stream.hpp"

/// Compiled graphs as foreign functions of XLA: one handler for each platform, which finds the
/// function by an attribute of the call. Arguments and results are XLA's buffers, without copies;
/// on a GPU the work is queued on the stream of the call. A call takes the GIL only where an op is
/// in Python, and once on each device, to compile.
namespace spanwise::xla {

namespace py = pybind11;

namespace {

// A function that XLA's programs call, compiled for each device when it is first called there.
class RegisteredCall {
 public:
  // `compile(device)` returns the spanwise.CompiledFunction for a device.
  RegisteredCall(const py::object& compile, bool has_python_ops)
      : compile_(python::share_object(compile)), has_python_ops_(has_python_ops) {}

  bool has_python_ops() const noexcept { return has_python_ops_; }

  // Takes the GIL for the first call on a device; no lock is held meanwhile.
  CompiledFunction function(Device device) {
    if (const auto known = find(device)) return *known;
    std::optional<CompiledFunction> compiled;
    {
      const python::GilAcquire gil;
      const py::str name(device.name());
      const auto function =
          py::reinterpret_steal<py::object>(PyObject_CallOneArg(compile_.get(), name.ptr()));
      if (!function) throw py::error_already_set();
      compiled = python::function_in(function);
    }
    const std::lock_guard lock(mutex_);
    functions_.emplace_back(device, *compiled);
    return *compiled;
  }

 private:
  std::optional<CompiledFunction> find(Device device) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(functions_, device, [](auto& pair) { return pair.first; });
    if (found == functions_.end()) return std::nullopt;
    return found->second;
  }

  const python::SharedObject compile_;
  const bool has_python_ops_;
  Mutex mutex_;
  std::vector<std::pair<Device, CompiledFunction>> functions_;
};

// The calls of this process by number. Programs name them by number and process, since a program
// may be stored and loaded by another process, where the number is another function.
class CallTable {
 public:
  std::int64_t process() const noexcept { return process_; }
  std::int64_t add(std::shared_ptr<RegisteredCall> call) {
    const std::lock_guard lock(mutex_);
    calls_.emplace(++last_, std::move(call));
    return last_;
  }
  void remove(std::int64_t number) noexcept {
    std::shared_ptr<RegisteredCall> removed;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(number);
    if (found == calls_.end()) return;
    removed = std::move(found->second);
    calls_.erase(found);
  }
  std::shared_ptr<RegisteredCall> find(std::int64_t process, std::int64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = process == process_ ? calls_.find(number) : calls_.end();
    if (found == calls_.end())
      fail<ArgumentError>(
          "jax_op: the program was compiled by another process, or its op was deleted; expected a "
          "program that this process traced: trace and compile it here");
    return found->second;
  }

 private:
  const std::int64_t process_ = [] {
    std::random_device random;
    return static_cast<std::int64_t>((std::uint64_t{random()} << 32) | random());
  }();
  Mutex mutex_;
  std::int64_t last_ = 0;
  std::unordered_map<std::int64_t, std::shared_ptr<RegisteredCall>> calls_;
};

// Never destroyed: XLA's threads may call while the process exits.
CallTable& calls() {
  static CallTable* const table = new CallTable();
  return *table;
}

// The dtype of XLA's number (xla_data.proto, PrimitiveType).
DType dtype_of(int number) {
  switch (number) {
    case 1:
      return bool_;
    case 2:
      return int8;
    case 3:
      return int16;
    case 4:
      return int32;
    case 5:
      return int64;
    case 6:
      return uint8;
    case 7:
      return uint16;
    case 8:
      return uint32;
    case 9:
      return uint64;
    case 10:
      return float16;
    case 11:
      return float32;
    case 12:
      return float64;
    case 15:
      return complex64;
    case 16:
      return bfloat16;
    case 18:
      return complex128;
    case 19:
      return DType::parse("float8_e5m2");
    case 20:
      return DType::parse("float8_e4m3fn");
    case 23:
      return DType::parse("float8_e4m3b11fnuz");
    case 24:
      return DType::parse("float8_e5m2fnuz");
    case 25:
      return DType::parse("float8_e4m3fnuz");
    case 28:
      return DType::parse("float8_e4m3");
    case 29:
      return DType::parse("float8_e3m4");
    case 33:
      return DType::parse("float8_e8m0fnu");
    default:
      fail<DTypeError>("jax_op: expected elements of whole bytes, got XLA's dtype ", number,
                       "; cast the array before the call");
  }
}

std::int64_t integer_attribute(const Attributes& attributes, std::string_view name) {
  constexpr int int64_number = 5;
  for (std::int64_t i = 0; i < attributes.count; ++i) {
    if (std::string_view(attributes.names[i]->data, attributes.names[i]->size) != name) continue;
    const auto& scalar = *static_cast<const Scalar*>(attributes.values[i]);
    if (attributes.types[i] == scalar_type && scalar.dtype == int64_number)
      return *static_cast<const std::int64_t*>(scalar.value);
  }
  fail<ArgumentError>("jax_op: expected the integer attribute ", name,
                      " in the call; call the function that sw.jax_op returns");
}

// An array over XLA's memory, which lives until the call of the handler, and on a GPU the work that
// it queues, has ended.
Array array_over(const Buffer& buffer, Device device, const std::optional<Stream>& stream,
                 bool readonly) {
  const DType dtype = dtype_of(buffer.dtype);
  const Shape shape(std::span(buffer.extents, static_cast<std::size_t>(buffer.rank)));
  Layout layout = Layout::row_major(shape);
  const auto bytes = static_cast<std::size_t>(layout.size() * dtype.itemsize());
  Storage storage = Storage::adopt(buffer.data, bytes, device, nullptr, nullptr, readonly);
  if (stream) storage.uses().set_producer(Stream(*stream).take_identity());
  return Array(std::move(storage), std::move(layout), dtype);
}

std::vector<Array> arrays_over(const Buffers& buffers, Device device,
                               const std::optional<Stream>& stream, bool readonly) {
  std::vector<Array> arrays;
  arrays.reserve(static_cast<std::size_t>(buffers.count));
  for (std::int64_t i = 0; i < buffers.count; ++i) {
    if (buffers.types[i] != buffer_type)
      fail<ArgumentError>("jax_op: expected arrays, got a value of XLA's type ", buffers.types[i]);
    arrays.push_back(array_over(*buffers.values[i], device, stream, readonly));
  }
  return arrays;
}

// Copies a result to XLA's buffer, unless it is there.
void store(const Array& result, const Buffer& buffer, Device device,
           const std::optional<Stream>& stream, const std::string& function) {
  const Array target = array_over(buffer, device, stream, false);
  if (result.shape() != target.shape() || result.dtype() != target.dtype())
    fail<ArgumentError>("jax_op: ", function, ": expected a result of ", target.dtype(), " ",
                        target.shape(), ", as the op declares for its inputs, got ", result.dtype(),
                        " ", result.shape());
  const bool is_there =
      result.size() == 0 || (result.device() == device && result.storage().data() == buffer.data &&
                             result.layout() == target.layout());
  if (!is_there) copy(result, target);
  // Work on other streams, if the function used any, comes before XLA's next use of the buffer.
  if (stream) {
    order_use(*stream, target, true);
    if (is_there && result.size() > 0) order_use(*stream, result, true);
  }
}

void execute(const CallFrame& frame, Device device, const std::optional<Stream>& stream) {
  const auto call = calls().find(integer_attribute(frame.attributes, "process"),
                                 integer_attribute(frame.attributes, "call"));
  const CompiledFunction function = call->function(device);
  std::optional<StreamGuard> guard;
  if (stream) guard.emplace(*stream);
  std::vector<Array> inputs = arrays_over(frame.arguments, device, stream, true), results;
  if (call->has_python_ops()) {
    // Such an op may keep its arrays, and what it stores as a result, longer than the call.
    for (Array& input : inputs) input = copy(input);
    results = function(inputs);
  } else {
    results = function.call_with_buffers(inputs, arrays_over(frame.results, device, stream, false));
  }
  if (static_cast<std::int64_t>(results.size()) != frame.results.count)
    fail<ArgumentError>("jax_op: ", function.name(), ": expected ", frame.results.count,
                        " results, got ", results.size());
  for (std::int64_t i = 0; i < frame.results.count; ++i)
    store(results[static_cast<std::size_t>(i)], *frame.results.values[i], device, stream,
          function.name());
  if (stream)
    for (const Array& input : inputs)
      if (input.storage()) order_use(*stream, input, true);
}

// Executes on the device and the stream of the call. Returns XLA's error where XLA gives neither.
Error* execute_on_gpu(const CallFrame& frame) {
  if (frame.api->struct_size < sizeof(Api))
    fail<ArgumentError>("jax_op: expected XLA FFI 0.", api_minor, " on a GPU; install a newer jax");
  OrdinalArguments place{sizeof place, nullptr, frame.context, 0};
  if (Error* error = frame.api->get_ordinal(&place)) return error;
  StreamArguments queue{sizeof queue, nullptr, frame.context, nullptr};
  if (Error* error = frame.api->get_stream(&queue)) return error;
  const Device device(DeviceKind::cuda, place.ordinal);
  constexpr std::uintptr_t legacy_stream = 1;  // 0 for XLA
  const auto handle = reinterpret_cast<std::uintptr_t>(queue.stream);
  execute(frame, device, Stream::persistent(device, handle == 0 ? legacy_stream : handle));
  return nullptr;
}

Error* error_of(const CallFrame& frame, const char* message, ErrorCode code) noexcept {
  ErrorArguments arguments{sizeof arguments, nullptr, message, code};
  return frame.api->create_error(&arguments);
}

// Answers XLA's question for the version of the interface. True: this is no call.
bool answers_metadata(const CallFrame& frame) noexcept {
  if (frame.extensions == nullptr || frame.extensions->type != metadata_extension) return false;
  Metadata& metadata = *reinterpret_cast<MetadataExtension*>(frame.extensions)->metadata;
  // XLA supports older minor versions for a year, but none that is newer than itself.
  const ApiVersion* version = frame.api != nullptr ? &frame.api->version : nullptr;
  const bool is_older =
      version != nullptr && version->major == api_major && version->minor < api_minor;
  metadata.version.major = api_major;
  metadata.version.minor = is_older ? version->minor : api_minor;
  metadata.traits = 0;
  return true;
}

template <bool is_cuda>
Error* handle(CallFrame* frame) noexcept {
  if (answers_metadata(*frame)) return nullptr;
  try {
    if (frame->struct_size < sizeof(CallFrame))
      fail<ArgumentError>("jax_op: expected XLA FFI ", api_major, ".", api_minor,
                          " or newer; install a newer jax");
    if (frame->stage != Stage::execute) return nullptr;
    if constexpr (is_cuda) return execute_on_gpu(*frame);
    execute(*frame, cpu, std::nullopt);
    return nullptr;
  } catch (const std::bad_alloc& error) {
    return error_of(*frame, error.what(), ErrorCode::resource_exhausted);
  } catch (const spanwise::Error& error) {
    return error_of(*frame, error.what(), ErrorCode::invalid_argument);
  } catch (const std::exception& error) {
    return error_of(*frame, error.what(), ErrorCode::internal);
  } catch (...) {
    return error_of(*frame, "jax_op: an error of unknown type", ErrorCode::internal);
  }
}

// Keeps a call registered; programs that contain it hold a reference.
class Registration {
 public:
  Registration(const py::object& compile, bool has_python_ops)
      : number_(calls().add(std::make_shared<RegisteredCall>(compile, has_python_ops))) {}
  ~Registration() { calls().remove(number_); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  std::int64_t number() const noexcept { return number_; }

 private:
  std::int64_t number_;
};

py::capsule capsule_of(Handler* handler) {
  return py::capsule(reinterpret_cast<const void*>(handler));
}

}  // namespace

SW_BIND(xla_calls) {
  py::class_<Registration>(module, "_XlaCall")
      .def(py::init<py::object, bool>(), py::arg("compile"), py::arg("has_python_ops"))
      .def_property_readonly("number", python::member(&Registration::number))
      .def_property_readonly_static("process", [](const py::object&) { return calls().process(); });
  module.def("_xla_handlers",
             [] { return py::make_tuple(capsule_of(&handle<false>), capsule_of(&handle<true>)); });
}

}  // namespace spanwise::xla
