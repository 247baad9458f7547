// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/op.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spanwise/graph/shared.hpp"
#include "spanwise/op_sdk.hpp"
#include "support/graph_ops.hpp"

namespace spanwise {
namespace {

/// An op that may accept host scalars without moving them to its device.
class ScalarOp final : public NamedOp {
 public:
  explicit ScalarOp(std::string name, bool takes_host_scalars = true)
      : NamedOp(std::move(name)), takes_host_scalars_(takes_host_scalars) {}
  bool takes_host_scalars() const override { return takes_host_scalars_; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(inputs[0].type())});
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext&) const override {
    return spanwise::make_thunk([] {});
  }

 private:
  bool takes_host_scalars_;
};

/// An op of another class, with the name of the ScalarOp in the tests.
class OtherClassOp final : public NamedOp {
 public:
  OtherClassOp() : NamedOp("scalar_op") {}
  Ref<Apply> make_node(std::span<const Variable>) const override { return {}; }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext&) const override { return nullptr; }
};

TEST(NamedOp, IsEqualByClassAndName) {
  const ScalarOp a("scalar_op"), same("scalar_op"), other_name("other");
  const OtherClassOp other_class;
  EXPECT_TRUE(a.equals(a));
  EXPECT_TRUE(a.equals(same));
  EXPECT_EQ(a.hash(), same.hash());
  EXPECT_FALSE(a.equals(other_name));
  EXPECT_FALSE(a.equals(other_class));
}

TEST(OpRecipe, RecordsNameAndPropertiesOfTheRegistryOnce) {
  register_op("test.scalar_op", [](const OpProperties&) -> Ref<const Op> {
    return make_ref<const ScalarOp>("scalar_op");
  });
  const OpProperties properties{{"axis", std::vector<std::int64_t>{1, 2}}, {"deep", true}};
  const auto recipe = make_op("test.scalar_op", properties)->recipe();
  ASSERT_NE(recipe, nullptr);
  EXPECT_EQ(recipe->name, "test.scalar_op");
  EXPECT_EQ(recipe->properties, properties);

  const Ref<const Op> unregistered = make_ref<const ScalarOp>("scalar_op");
  EXPECT_EQ(unregistered->recipe(), nullptr);
  unregistered->set_recipe({"first"});
  unregistered->set_recipe({"second"});
  EXPECT_EQ(unregistered->recipe()->name, "first");
}

TEST(OpProperties, AreCheckedByNameAndType) {
  const OpProperties properties{{"axis", std::int64_t{1}}};
  EXPECT_NO_THROW(expect_properties("op", properties, {"axis", "dtype"}));
  EXPECT_THROW(expect_properties("op", properties, {"dtype"}), ArgumentError);
  EXPECT_EQ(optional_property<std::int64_t>("op", properties, "axis"), 1);
  EXPECT_EQ(optional_property<std::int64_t>("op", properties, "dtype"), std::nullopt);
  EXPECT_THROW(optional_property<bool>("op", properties, "axis"), ArgumentError);
}

TEST(CommonDevice, HostScalarsDoNotDetermineTheDevice) {
  const ScalarOp takes("takes"), does_not("does not", false);
  const Device other{DeviceKind::cpu, 1};
  const Variable on_any_device(TensorType(float32, Shape{TensorType::any})),
      number(TensorType(int64, Shape{}, cpu)), on_other(TensorType(float32, Shape{}, other)),
      constant = Variable::constant(full(Shape{}, Scalar(1.0F), float32, cpu));
  const auto device = [](const Op& op, std::vector<Variable> inputs) {
    return common_device(op, inputs);
  };
  EXPECT_EQ(device(takes, {on_any_device, number}), std::nullopt);
  EXPECT_EQ(device(does_not, {on_any_device, number}), cpu);
  EXPECT_EQ(device(takes, {number, constant}), cpu);
  EXPECT_EQ(device(takes, {number, on_other}), other);
  EXPECT_EQ(device(takes, {constant}), std::nullopt);
}

TEST(BroadcastExtents, SupportsUnknownExtents) {
  constexpr std::int64_t unknown = TensorType::any;
  const auto broadcast = [](std::int64_t a, std::int64_t b) {
    return broadcast_shapes(std::array{Shape{a}, Shape{b}})[0];
  };
  EXPECT_EQ(broadcast(3, 3), 3);
  EXPECT_EQ(broadcast(1, unknown), unknown);
  EXPECT_EQ(broadcast(unknown, 1), unknown);
  EXPECT_EQ(broadcast(unknown, 4), 4);
  EXPECT_EQ(broadcast(4, unknown), 4);
  EXPECT_THROW(broadcast(3, 4), LayoutError);
}

}  // namespace
}  // namespace spanwise
