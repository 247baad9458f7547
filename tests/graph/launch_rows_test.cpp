// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Which thunks of a function give their kernels to a device together.
#include "graph/launch_rows.hpp"

#include <gtest/gtest.h>

#include "graph/program.hpp"
#include "support/fake_devices.hpp"

namespace spanwise::graph {
namespace {

struct Node {
  Device device;
  bool only_queues = true;
};

class LaunchRowsTest : public test::RuntimeTest {
 protected:
  // What the device is asked while the nodes run one after the other; the step that fails, if any,
  // is the last.
  std::vector<std::string> log_of(const std::vector<Node>& nodes, bool last_fails = false) {
    std::vector<Step> steps;
    for (const Node& node : nodes) {
      const auto nothing = [] {};
      steps.push_back({{},
                       node.only_queues ? make_queueing_thunk(nothing) : make_thunk(nothing),
                       {},
                       {},
                       node.device});
    }
    LaunchRows rows(steps);
    gpus().take_log();
    for (std::size_t i = 0; i < steps.size(); ++i) rows.before(i);
    if (last_fails)
      rows.give_up();
    else
      rows.finish();
    return gpus().take_log();
  }
};

using Log = std::vector<std::string>;

TEST_F(LaunchRowsTest, NeighboursThatOnlyQueueAreARow) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}, {test::gpu}}), (Log{"open d0", "close d0"}));
}

TEST_F(LaunchRowsTest, OneAloneIsNone) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu, false}, {test::gpu}}), Log{});
}

TEST_F(LaunchRowsTest, AnyOtherNodeEndsTheRow) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}, {test::gpu, false}, {test::gpu}, {test::gpu}}),
            (Log{"open d0", "close d0", "open d0", "close d0"}));
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}, {cpu}, {test::gpu}}),
            (Log{"open d0", "close d0", "open d0", "close d0"}));
}

TEST_F(LaunchRowsTest, ARowIsOfOneDevice) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}, {test::second_gpu}, {test::second_gpu}}),
            (Log{"open d0", "close d0"}));
}

TEST_F(LaunchRowsTest, TheHostHasNone) { EXPECT_EQ(log_of({{cpu}, {cpu}}), Log{}); }

TEST_F(LaunchRowsTest, AFailureClosesTheRow) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}}, true), (Log{"open d0", "close d0"}));
}

}  // namespace
}  // namespace spanwise::graph
