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

[[noreturn]] void throw_as(const std::string& exception) {
  if (exception == "plug-in error") throw swp::Error(SW_LAYOUT_ERROR, "thrown by a test");
  if (exception == "runtime_error") throw std::runtime_error("thrown by a test");
  if (exception == "invalid_argument") throw std::invalid_argument("thrown by a test");
  if (exception == "bad_alloc") throw std::bad_alloc();
  throw 42;
}

/// Throws `exception` in the function `where`.
class Throw final : public swp::Op {
 public:
  explicit Throw(const swp::Properties& p)
      : where_(p.text("where")), exception_(p.text("exception")) {
    throw_if_in("create");
  }
  void infer(const swp::Infer& infer) const override {
    throw_if_in("infer");
    infer.output(0, infer.input(0));
  }
  std::unique_ptr<swp::State> bind(const swp::Bind&) const override {
    throw_if_in("bind");
    return nullptr;
  }
  void run(const swp::Run& run) const override {
    throw_if_in("run");
    run.new_output(0, run.input(0).shape());
  }

 private:
  void throw_if_in(const char* function) const {
    if (where_ == function) throw_as(exception_);
  }
  std::string where_, exception_;
};
SW_REGISTER_OP(Throw,
               {.name = "throw",
                .properties = {{"where", swp::Property::text}, {"exception", swp::Property::text}},
                .flags = SW_ON_CPU | SW_NOT_PURE});

/// A lazy op with an error: it requests an input that it does not have, launches a kernel on an
/// input that is not computed, or requests nothing and computes nothing.
class BadlyLazy final : public swp::Op {
 public:
  explicit BadlyLazy(const swp::Properties& p) : fault_(p.text("fault")) {}
  void infer(const swp::Infer& infer) const override { infer.output(0, infer.input(0)); }
  void run(const swp::Run& run) const override {
    if (fault_ == "unknown input") swp::check_host(swp::host->need_input(run.call(), 7));
    if (fault_ == "kernel on a missing input") kernel_.launch(run, {}, run.input(0));
  }

 private:
  std::string fault_;
  swp::Kernel kernel_{"__global__ void read(const double* x) {}", "read"};
};
SW_REGISTER_OP(BadlyLazy, {.name = "badly_lazy",
                           .properties = {{"fault", swp::Property::text}},
                           .flags = SW_ON_CPU | SW_LAZY});

/// Requests an input although all are computed.
class Greedy final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override { infer.output(0, infer.input(0)); }
  void run(const swp::Run& run) const override {
    if (!run.need_input(0)) throw swp::Error(SW_ERROR, "input 0 is not computed");
    swp::check_host(swp::host->need_input(run.call(), 0));
  }
};
SW_REGISTER_OP(Greedy, {.name = "greedy", .flags = SW_ON_CPU});

/// Breaks the contract of infer or run as `fault` names it.
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
