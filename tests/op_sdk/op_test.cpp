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

/// An op that accepts host scalars unconverted, or does not.
class Taker final : public NamedOp {
 public:
  explicit Taker(std::string name, bool takes = true) : NamedOp(std::move(name)), takes_(takes) {}
  bool takes_host_scalars() const override { return takes_; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(inputs[0].type())});
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext&) const override {
    return spanwise::make_thunk([] {});
  }

 private:
  bool takes_;
};

class OtherTaker final : public NamedOp {
 public:
  OtherTaker() : NamedOp("taker") {}
  Ref<Apply> make_node(std::span<const Variable>) const override { return {}; }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext&) const override { return nullptr; }
};

TEST(NamedOp, IsEqualByClassAndName) {
  const Taker a("taker"), same("taker"), named_otherwise("other");
  const OtherTaker of_another_class;
  EXPECT_TRUE(a.equals(a));
  EXPECT_TRUE(a.equals(same));
  EXPECT_EQ(a.hash(), same.hash());
  EXPECT_FALSE(a.equals(named_otherwise));
  EXPECT_FALSE(a.equals(of_another_class));
}

TEST(OpRecipe, RecordsNameAndOptionsOfTheRegistry) {
  register_op("test.taker",
              [](const OpProperties&) -> Ref<const Op> { return make_ref<const Taker>("taker"); });
  const OpProperties properties{{"axis", std::vector<std::int64_t>{1, 2}}, {"deep", true}};
  const auto recipe = make_op("test.taker", properties)->recipe();
  ASSERT_NE(recipe, nullptr);
  EXPECT_EQ(recipe->name, "test.taker");
  EXPECT_EQ(recipe->properties, properties);

  const Ref<const Op> by_hand = make_ref<const Taker>("taker");
  EXPECT_EQ(by_hand->recipe(), nullptr);
  by_hand->set_recipe({"first"});
  by_hand->set_recipe({"second"});
  EXPECT_EQ(by_hand->recipe()->name, "first");
}

TEST(OpProperties, AreCheckedByName) {
  const OpProperties given{{"axis", std::int64_t{1}}};
  EXPECT_NO_THROW(expect_properties("op", given, {"axis", "dtype"}));
  EXPECT_THROW(expect_properties("op", given, {"dtype"}), ArgumentError);
  EXPECT_EQ(optional_property<std::int64_t>("op", given, "axis"), 1);
  EXPECT_EQ(optional_property<std::int64_t>("op", given, "dtype"), std::nullopt);
  EXPECT_THROW(optional_property<bool>("op", given, "axis"), ArgumentError);
}

TEST(CommonDevice, HostScalarsDoNotDetermineTheDevice) {
  const Taker takes("takes"), does_not("does not", false);
  const Device other{DeviceKind::cpu, 1};
  const Variable open(TensorType(float32, Shape{TensorType::any})),
      number(TensorType(int64, Shape{}, cpu)), there(TensorType(float32, Shape{}, other)),
      constant = Variable::constant(full(Shape{}, Scalar(1.0F), float32, cpu));
  const auto device = [](const Op& op, std::vector<Variable> inputs) {
    return common_device(op, inputs);
  };
  EXPECT_EQ(device(takes, {open, number}), std::nullopt);
  EXPECT_EQ(device(does_not, {open, number}), cpu);
  EXPECT_EQ(device(takes, {number, constant}), cpu);
  EXPECT_EQ(device(takes, {number, there}), other);
  EXPECT_EQ(device(takes, {constant}), std::nullopt);
}

TEST(BroadcastExtents, SupportsUnknownExtents) {
  constexpr std::int64_t open = TensorType::any;
  const auto broadcast = [](std::int64_t a, std::int64_t b) {
    return broadcast_shapes(std::array{Shape{a}, Shape{b}})[0];
  };
  EXPECT_EQ(broadcast(3, 3), 3);
  EXPECT_EQ(broadcast(1, open), open);
  EXPECT_EQ(broadcast(open, 1), open);
  EXPECT_EQ(broadcast(open, 4), 4);
  EXPECT_EQ(broadcast(4, open), 4);
  EXPECT_THROW(broadcast(3, 4), LayoutError);
}

}  // namespace
}  // namespace spanwise
