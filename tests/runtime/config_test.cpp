// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "spanwise/core/error.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using test::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

config::Setting setting(std::string name, std::string default_value,
                        std::vector<std::string> choices = {}) {
  config::Setting result;
  result.name = std::move(name);
  result.description = "for a test";
  result.default_value = std::move(default_value);
  result.choices = std::move(choices);
  return result;
}

// The setting `name` in config::list().
config::Setting listed(const std::string& name) {
  for (const config::Setting& candidate : config::list())
    if (candidate.name == name) return candidate;
  throw std::logic_error(name);
}

TEST(Config, HasTheDefaultUntilItIsSet) {
  EXPECT_TRUE(config::declare(setting("test_color", "red", {"red", "blue"})));
  EXPECT_EQ(config::get("test_color"), "red");
  EXPECT_EQ(listed("test_color").source, "default");
  config::set("test_color", "blue");
  EXPECT_EQ(config::get("test_color"), "blue");
  EXPECT_EQ(listed("test_color").source, "program");
  EXPECT_EQ(listed("test_color").default_value, "red");
}

TEST(Config, InvalidChoiceIsRefusedAndTheValueKept) {
  config::declare(setting("test_choice", "a", {"a", "b"}));
  EXPECT_THAT(message_of<ArgumentError>([] { config::set("test_choice", "c"); }),
              AllOf(HasSubstr("test_choice"), HasSubstr("\"c\""), HasSubstr("a, b")));
  EXPECT_EQ(config::get("test_choice"), "a");
}

TEST(Config, CallsTheCheckOfTheSetting) {
  config::Setting checked = setting("test_checked", "1");
  checked.check = [](std::string_view value) {
    if (value.size() != 1) fail<ArgumentError>("one letter, please");
  };
  config::declare(checked);
  config::set("test_checked", "7");
  EXPECT_THAT(
      message_of<ArgumentError>([] { config::set("test_checked", "42"); }),
      AllOf(HasSubstr("test_checked"), HasSubstr("\"42\""), HasSubstr("one letter, please")));
  EXPECT_EQ(config::get("test_checked"), "7");
}

TEST(Config, ErrorForAnUnknownNameSuggestsTheNearest) {
  config::declare(setting("test_nearest", "1"));
  EXPECT_THAT(message_of<ArgumentError>([] { config::get("test_naerest"); }),
              HasSubstr("\"test_nearest\""));
  EXPECT_THAT(message_of<ArgumentError>([] { config::set("TEST_NEAREST", "2"); }),
              HasSubstr("\"test_nearest\""));
  EXPECT_THAT(message_of<ArgumentError>([] { config::get("floatx"); }), HasSubstr("\"floatX\""));
}

TEST(Config, ReadsTheEnvironmentAtTheDeclaration) {
  setenv("SPANWISE_TEST_FROM_ENVIRONMENT", "yes", 1);
  config::declare(setting("test_from_environment", "no"));
  EXPECT_EQ(config::get("test_from_environment"), "yes");
  EXPECT_EQ(listed("test_from_environment").source, "environment");
}

TEST(Config, ReportsAnInvalidEnvironmentValueAtTheFirstRead) {
  setenv("SPANWISE_TEST_BAD", "purple", 1);
  EXPECT_NO_THROW(config::declare(setting("test_bad", "red", {"red"})));
  EXPECT_NO_THROW(config::list());
  EXPECT_THAT(message_of<ArgumentError>([] { config::get("test_bad"); }),
              AllOf(HasSubstr("SPANWISE_TEST_BAD"), HasSubstr("purple")));
  config::set("test_bad", "red");
  EXPECT_EQ(config::get("test_bad"), "red");
}

TEST(Config, FirstDeclarationIsKept) {
  EXPECT_TRUE(config::declare(setting("test_twice", "1")));
  EXPECT_FALSE(config::declare(setting("test_twice", "2")));
  EXPECT_EQ(config::get("test_twice"), "1");
}

TEST(Config, ParsesBooleans) {
  config::declare(setting("test_bool", "0"));
  for (const char* word : {"1", "true", "True", "YES", "on"}) {
    config::set("test_bool", word);
    EXPECT_TRUE(config::get_bool("test_bool")) << word;
  }
  for (const char* word : {"0", "false", "No", "off", ""}) {
    config::set("test_bool", word);
    EXPECT_FALSE(config::get_bool("test_bool")) << word;
  }
  config::set("test_bool", "perhaps");
  EXPECT_THAT(message_of<ArgumentError>([] { config::get_bool("test_bool"); }),
              HasSubstr("\"perhaps\""));
}

TEST(Config, ListsByName) {
  const auto all = config::list();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const config::Setting& each : all) EXPECT_FALSE(each.description.empty()) << each.name;
}

TEST(ConfigFlag, FollowsTheSetting) {
  config::declare(setting("test_flag", "0"));
  const config::Flag flag("test_flag");
  EXPECT_FALSE(flag.get());
  config::set("test_flag", "1");
  EXPECT_TRUE(flag.get());
  EXPECT_TRUE(flag.get());
  config::set("test_flag", "off");
  EXPECT_FALSE(flag.get());
  config::set("test_flag", "nonsense");
  EXPECT_THROW(flag.get(), ArgumentError);
  config::set("test_flag", "0");
}

TEST(ConfigChoice, IsTheIndexOfTheValue) {
  config::declare(setting("test_letter", "b", {"a", "b", "c"}));
  const config::Choice choice("test_letter");
  EXPECT_EQ(choice.get(), 1u);
  config::set("test_letter", "c");
  EXPECT_EQ(choice.get(), 2u);
  EXPECT_THROW(config::set("test_letter", "d"), ArgumentError);
  EXPECT_EQ(choice.get(), 2u);
  EXPECT_THROW(config::Choice("test_leter").get(), ArgumentError);
}

TEST(Config, AllowsReadersAndWritersFromManyThreads) {
  config::declare(setting("test_shared", "0", {"0", "1"}));
  const config::Flag flag("test_shared");
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 500; ++round) {
        if (i == 0) config::set("test_shared", round % 2 == 0 ? "1" : "0");
        const std::string value = config::get("test_shared");
        EXPECT_TRUE(value == "0" || value == "1");
        flag.get();
      }
    });
  for (std::thread& thread : threads) thread.join();
  config::set("test_shared", "1");
  EXPECT_TRUE(flag.get());
}

}  // namespace
}  // namespace spanwise
