// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "op_sdk/plugin_op.hpp"
#include "op_sdk/plugin_table.hpp"
#include "spanwise/op_sdk.hpp"
#include "support/fake_devices.hpp"
#include "support/message_of.hpp"

// The tables and calls of the plug-in interface from C++, with GPUs that only record calls.
// tests/python/graph/plugins/test_load_ops.py loads libraries.
namespace spanwise {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The stream and the device of the last Same::run(), and the numbers of existing ops and states.
struct Recorded {
  static inline int ops = 0, states = 0;
  static inline void* stream = nullptr;
  static inline sw_device device{};
};

/// Its output is its input.
class Same final : public plugin::Op {
 public:
  struct CountedState final : plugin::State {
    CountedState() { ++Recorded::states; }
    ~CountedState() override { --Recorded::states; }
  };
  Same() { ++Recorded::ops; }
  ~Same() override { --Recorded::ops; }
  void infer(const plugin::Infer& infer) const override { infer.output(0, infer.input(0)); }
  std::unique_ptr<plugin::State> bind(const plugin::Bind&) const override {
    return std::make_unique<CountedState>();
  }
  void run(const plugin::Run& run) const override {
    Recorded::stream = run.stream();
    Recorded::device = run.device();
    run.output_from_input(0, 0);
  }
};
SW_REGISTER_OP(Same, {.name = "same", .views = {{0, 0}}});

const std::string library_name = "libtest.so";

// The table of a plug-in with the op "test.same".
const sw_plugin& test_plugin() {
  static const sw_plugin* const table = [] {
    sw_call call(library_name);
    const sw_plugin* described = nullptr;
    op_sdk::call_plugin(call, &plugin::describe, "test", &op_sdk::plugin_host(), &call, &described);
    return described;
  }();
  return *table;
}

Ref<const Op> same_op() {
  static const op_sdk::PluginTable table = op_sdk::read_plugin_table(test_plugin(), library_name);
  return make_ref<const op_sdk::PluginOp>(
      make_ref<const op_sdk::PluginInstance>(table.ops.front(), OpProperties{}));
}

TEST(PluginTables, OfALaterMinorVersionAreAcceptedWithTheirNewFieldsUnread) {
  struct LaterOp {
    sw_op op;
    void* gradient;
  } later_op{*test_plugin().ops[0], nullptr};
  later_op.op.struct_size = sizeof later_op;
  const sw_op* const ops[] = {&later_op.op};
  struct LaterPlugin {
    sw_plugin plugin;
    void* new_field;
  } later{test_plugin(), nullptr};
  later.plugin.struct_size = sizeof later;
  later.plugin.abi_minor = SW_PLUGIN_ABI_MINOR + 1;
  later.plugin.ops = ops;
  const op_sdk::PluginTable table = op_sdk::read_plugin_table(later.plugin, library_name);
  ASSERT_EQ(table.ops.size(), 1u);
  EXPECT_EQ(table.ops[0].name, "test.same");
  EXPECT_EQ(table.ops[0].functions.run, test_plugin().ops[0]->run);
}

TEST(PluginTables, OfALazyOpThatSharesMemoryAreRefused) {
  sw_op lazy = *test_plugin().ops[0];
  lazy.flags |= SW_LAZY;
  const sw_op* const ops[] = {&lazy};
  sw_plugin plugin = test_plugin();
  plugin.ops = ops;
  EXPECT_THAT(
      test::message_of<GraphError>([&] { op_sdk::read_plugin_table(plugin, library_name); }),
      HasSubstr("test.same: is SW_LAZY, and shares memory"));
}

TEST(PluginTables, OfAnotherMajorVersionAreRefusedUnread) {
  sw_plugin other{};  // no other field may be read
  other.abi_major = SW_PLUGIN_ABI_MAJOR + 1;
  EXPECT_THROW(op_sdk::read_plugin_table(other, library_name), GraphError);
}

TEST(PluginHost, PluginRefusesAnOlderHost) {
  sw_host older = op_sdk::plugin_host();
  older.struct_size -= sizeof older.launch;
  sw_call call(library_name);
  const sw_plugin* table = nullptr;
  const sw_host* const before = plugin::host;
  EXPECT_EQ(plugin::describe("test", &older, &call, &table), SW_ERROR);
  plugin::host = before;
  try {
    op_sdk::throw_plugin_failure(call, SW_ERROR);
  } catch (const GraphError& error) {
    EXPECT_THAT(error.what(), StartsWith("libtest.so: was built for a newer Spanwise"));
  }
}

TEST(PluginHost, RefusesCallsOutsideTheirContext) {
  const sw_host& host = op_sdk::plugin_host();
  sw_call call(library_name);
  sw_compiled_kernel* kernel = nullptr;
  const sw_kernel_source source{sizeof(sw_kernel_source), "", "f", nullptr, 0};
  EXPECT_EQ(host.new_output(&call, 0, 0, nullptr), nullptr);
  EXPECT_EQ(host.output_from_input(&call, 0, 0, 0, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(host.scratch(&call, plugin::dtype_of<float>(), 0, nullptr), nullptr);
  EXPECT_EQ(host.set_output_type(&call, 0, nullptr), SW_HOST_FAILED);
  EXPECT_EQ(host.need_input(&call, 0), SW_HOST_FAILED);
  EXPECT_EQ(host.compile(&call, &source, &kernel), SW_HOST_FAILED);
  EXPECT_EQ(host.launch(&call, nullptr, nullptr, nullptr, 0), SW_HOST_FAILED);
  EXPECT_THROW(op_sdk::throw_plugin_failure(call, SW_HOST_FAILED), GraphError);
  EXPECT_EQ(host.new_output(nullptr, 0, 0, nullptr), nullptr);
  EXPECT_EQ(host.fail(nullptr, SW_DTYPE_ERROR, "no receiver"), SW_DTYPE_ERROR);
  host.release_kernel(nullptr);
}

TEST(PluginHost, RefusesInvalidOptionLists) {
  const sw_host& host = op_sdk::plugin_host();
  sw_compiled_kernel* kernel = nullptr;
  const char* const options[] = {"-DN=1", nullptr};
  const auto message = [&](const char* const* values, std::int32_t count) -> std::string {
    sw_call call(library_name);
    call.device = cpu;
    const sw_kernel_source source{sizeof source, "__global__ void f() {}", "f", values, count};
    EXPECT_EQ(host.compile(&call, &source, &kernel), SW_HOST_FAILED);
    try {
      op_sdk::throw_plugin_failure(call, SW_HOST_FAILED);
    } catch (const ArgumentError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message(nullptr, 1), HasSubstr("1 options at no address"));
  EXPECT_THAT(message(options, 2), HasSubstr("option 1 null"));
  EXPECT_THAT(message(options, -1), HasSubstr("-1 options; expected option_count >= 0"));
}

TEST(PluginOps, AreDestroyedWithTheirLastReference) {
  const int before = Recorded::ops;
  {
    const Variable x(TensorType(float32, {TensorType::any}));
    FunctionOptions options;
    options.device = cpu;
    const CompiledFunction f = function({x}, {(*same_op())(std::span(&x, 1))[0]}, options);
    EXPECT_EQ(Recorded::ops, before + 1);
    EXPECT_EQ(Recorded::states, 1);
    f({zeros({3}, float32, cpu)});
    EXPECT_EQ(Recorded::stream, nullptr);
    EXPECT_EQ(Recorded::device.kind, static_cast<int>(DeviceKind::cpu));
  }
  EXPECT_EQ(Recorded::ops, before);
  EXPECT_EQ(Recorded::states, 0);
}

TEST(PluginOps, OnAGpuReceiveAStreamOrderedAfterTheirInputs) {
  test::FakeDevices devices(test::FakeDevices::Cpu::registered);
  const Variable x(TensorType(float32, {TensorType::any}));
  FunctionOptions options;
  options.device = test::gpu;
  options.borrowed_outputs = {true};
  const CompiledFunction f = function({x}, {(*same_op())(std::span(&x, 1))[0]}, options);
  const Array input = to_device(zeros({3}, float32, cpu), test::gpu);  // on the default stream
  const Stream stream = Stream::create(test::gpu);
  const StreamGuard guard(stream);
  devices.gpus().take_log();
  f({input});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Recorded::stream), stream.handle());
  EXPECT_NE(Recorded::stream, nullptr);
  EXPECT_EQ(Recorded::device.kind, static_cast<int>(DeviceKind::cuda));
  EXPECT_THAT(devices.gpus().take_log(), Contains(StartsWith("wait s1 ")));
}

TEST(LoadOps, ErrorGivesExpectedAndGot) {
  EXPECT_THAT(test::message_of<ArgumentError>([&] { load_ops("/no/such/library.so"); }),
              HasSubstr("expected a shared library, got \"/no/such/library.so\""));
}

}  // namespace
}  // namespace spanwise
