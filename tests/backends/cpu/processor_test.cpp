// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/processor.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace spanwise::cpu_backend {
namespace {

namespace fs = std::filesystem;

/// Writes files as those of the Linux kernel into a temporary folder and reads the limits there.
class ControlGroups : public testing::Test {
 protected:
  ControlGroups() {
    std::string name = (fs::temp_directory_path() / "control-groups-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~ControlGroups() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  ControlGroupLimits limits(const std::string& membership) {
    write("membership", membership);
    return control_group_limits((root_ / "membership").string(), root_.string());
  }

 private:
  fs::path root_;
};

TEST_F(ControlGroups, OfVersion2LimitMemoryAndProcessors) {
  write("pod/box/memory.max", "1000000\n");
  write("pod/box/memory.current", "400000\n");
  write("pod/box/memory.stat", "anon 300000\ninactive_file 100000\nactive_file 5\n");
  write("pod/box/cpu.max", "250000 100000\n");
  const ControlGroupLimits result = limits("0::/pod/box\n");
  ASSERT_TRUE(result.memory && result.processors);
  EXPECT_EQ(result.memory->limit, 1000000);
  EXPECT_EQ(result.memory->available, 700000);  // limit - (current - inactive_file)
  EXPECT_EQ(*result.processors, 3);             // 2.5, rounded up
}

TEST_F(ControlGroups, ThatContainTheGroupLimitItToo) {
  write("pod/memory.max", "500000\n");
  write("pod/memory.current", "450000\n");
  write("pod/cpu.max", "100000 100000\n");
  write("pod/box/memory.max", "1000000\n");
  write("pod/box/memory.current", "1000\n");
  write("pod/box/cpu.max", "max 100000\n");
  const ControlGroupLimits result = limits("0::/pod/box\n");
  ASSERT_TRUE(result.memory && result.processors);
  EXPECT_EQ(result.memory->limit, 500000);
  EXPECT_EQ(result.memory->available, 50000);
  EXPECT_EQ(*result.processors, 1);
}

TEST_F(ControlGroups, OfVersion1LimitMemoryAndProcessors) {
  write("memory/box/memory.limit_in_bytes", "2000000\n");
  write("memory/box/memory.usage_in_bytes", "1500000\n");
  write("memory/box/memory.stat", "cache 1\ntotal_inactive_file 200000\n");
  write("cpu/box/cpu.cfs_quota_us", "150000\n");
  write("cpu/box/cpu.cfs_period_us", "100000\n");
  const ControlGroupLimits result = limits("5:cpu,cpuacct:/box\n4:memory:/box\n0::/\n");
  ASSERT_TRUE(result.memory && result.processors);
  EXPECT_EQ(result.memory->limit, 2000000);
  EXPECT_EQ(result.memory->available, 700000);
  EXPECT_EQ(*result.processors, 2);
}

TEST_F(ControlGroups, WithoutALimitGiveNone) {
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory/memory.usage_in_bytes", "1500000\n");
  write("cpu/cpu.cfs_quota_us", "-1\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  write("box/memory.max", "max\n");
  write("box/cpu.max", "max 100000\n");
  const ControlGroupLimits result = limits("5:cpu:/\n4:memory:/\n0::/box\n");
  EXPECT_FALSE(result.memory);
  EXPECT_FALSE(result.processors);
  EXPECT_FALSE(limits("").memory);
  EXPECT_FALSE(control_group_limits("/nowhere", "/nowhere").processors);
}

TEST_F(ControlGroups, InAContainerTheMountIsTheRoot) {
  write("memory/memory.limit_in_bytes", "3000000\n");
  write("memory.max", "4000000\n");
  EXPECT_EQ(limits("4:memory:/docker/0123\n").memory->limit, 3000000);
  EXPECT_EQ(limits("0::/../../elsewhere\n").memory->limit, 4000000);
}

TEST(ProcessorCount, FollowsTheAffinity) {
  int count = 0;
  std::thread([&] {  // a new thread: the affinity ends with it
    cpu_set_t current;
    CPU_ZERO(&current);
    CPU_SET(::sched_getcpu(), &current);
    ASSERT_EQ(::sched_setaffinity(0, sizeof current, &current), 0);
    count = processor_count();
  })
      .join();
  EXPECT_EQ(count, 1);
  EXPECT_GE(processor_count(), 1);
}

TEST(SystemMemory, IsWithinTheGroupsLimit) {
  const SystemMemory memory = system_memory();
  EXPECT_GT(memory.available, 0);
  EXPECT_LE(memory.available, memory.total);
  if (const auto group = control_group_limits().memory) {
    EXPECT_LE(memory.total, group->limit);
  }
}

}  // namespace
}  // namespace spanwise::cpu_backend
