// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spanwise/plugin.hpp>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

/// Ops that throw or break the contract of the interface, for many_ops.cpp.
namespace {

namespace swp = spanwise::plugin;

[[noreturn]] void throw_as(const std::string& what) {
  if (what == "error") throw swp::Error(SW_LAYOUT_ERROR, "said so");
  if (what == "runtime") throw std::runtime_error("said so");
  if (what == "invalid") throw std::invalid_argument("said so");
  if (what == "memory") throw std::bad_alloc();
  throw 42;
}

/// Throws `what` in the function `where`.
class Throw final : public swp::Op {
 public:
  explicit Throw(const swp::Properties& p) : where_(p.text("where")), what_(p.text("what")) {
    at("create");
  }
  void infer(const swp::Infer& infer) const override {
    at("infer");
    infer.output(0, infer.input(0));
  }
  std::unique_ptr<swp::State> bind(const swp::Bind&) const override {
    at("bind");
    return nullptr;
  }
  void run(const swp::Run& run) const override {
    at("run");
    run.new_output(0, run.input(0).shape());
  }

 private:
  void at(const char* here) const {
    if (where_ == here) throw_as(what_);
  }
  std::string where_, what_;
};
SW_REGISTER_OP(Throw,
               {.name = "throw",
                .properties = {{"where", swp::Property::text}, {"what", swp::Property::text}},
                .flags = SW_ON_CPU | SW_NOT_PURE});

/// A lazy op with the error `how`.
class BadlyLazy final : public swp::Op {
 public:
  explicit BadlyLazy(const swp::Properties& p) : how_(p.text("how")) {}
  void infer(const swp::Infer& infer) const override { infer.output(0, infer.input(0)); }
  void run(const swp::Run& run) const override {
    if (how_ == "no such") swp::check_host(swp::host->need_input(run.call(), 7));
    if (how_ == "kernel") copy_.launch(run, {}, run.input(0));
  }

 private:
  std::string how_;
  swp::Kernel copy_{"__global__ void read(const double* x) {}", "read"};
};
SW_REGISTER_OP(BadlyLazy, {.name = "badly_lazy",
                           .properties = {{"how", swp::Property::text}},
                           .flags = SW_ON_CPU | SW_LAZY});

/// Requests an input although all are computed.
class Greedy final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override { infer.output(0, infer.input(0)); }
  void run(const swp::Run& run) const override {
    if (!run.need_input(0)) throw swp::Error(SW_ERROR, "is given all");
    swp::check_host(swp::host->need_input(run.call(), 0));
  }
};
SW_REGISTER_OP(Greedy, {.name = "greedy", .flags = SW_ON_CPU});

/// Depending on `fault`: no output, another shape than inferred, or no inferred type.
class Wrong final : public swp::Op {
 public:
  explicit Wrong(const swp::Properties& p) : fault_(p.text("fault")) {}
  void infer(const swp::Infer& infer) const override {
    if (fault_ == "infers output 1") infer.output(1, infer.input(0));
    if (fault_ != "infers nothing") infer.output(0, swp::dtype_of<double>(), {3});
  }
  void run(const swp::Run& run) const override {
    if (fault_ == "another shape") run.new_output(0, {4});
    if (fault_ == "negative extent") run.new_output(0, {-3});
    if (fault_ == "output 1") run.new_output(1, {3});
    if (fault_ == "infers in run")
      swp::check_host(swp::host->set_output_type(run.call(), 0, nullptr));
  }

 private:
  std::string fault_;
};
SW_REGISTER_OP(Wrong, {.name = "wrong",
                       .properties = {{"fault", swp::Property::text}},
                       .flags = SW_ON_CPU | SW_NOT_PURE});

}  // namespace
