// Runs small kernels given as text on the interpreter, for the tests of operation families.
#pragma once
#include "frontend/parser.h"
#include "ir/context.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/interpreter/interpreter.h"
#include <gtest/gtest.h>

namespace tessera::test {

/// A module with a kernel; buffers and scalars are given in the order of its arguments.
class Evaluation {
public:
  explicit Evaluation(std::string text) : text_(std::move(text)) {}

  /// The vector's memory; it is changed in place and must outlive the run.
  template <class T> Evaluation &buffer(std::vector<T> &v) {
    buffers_.push_back(
        {"arg" + std::to_string(args_.size()), reinterpret_cast<uint8_t *>(v.data()), v.size() * sizeof(T)});
    args_.push_back({int(buffers_.size()) - 1, 0});
    return *this;
  }
  /// The last buffer, with what was never written (InterpreterBuffer::undefined).
  Evaluation &undefined(std::vector<uint8_t> &flags) {
    buffers_.back().undefined = flags.data();
    return *this;
  }
  Evaluation &scalar(uint64_t bits) {
    args_.push_back({-1, bits});
    return *this;
  }

  absl::Status run(std::array<int64_t, 3> grid = {1, 1, 1}) {
    ir::Context context;
    messages.clear();
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
    auto m = frontend::parseModule(text_, "kernel.ttir", context, diag);
    if (!m) return absl::InvalidArgumentError(messages);
    auto kernel = runtime::selectKernel(*m, "");
    if (!kernel.ok()) return kernel.status();
    return runtime::interpret(*m, *kernel, grid, buffers_, args_, options, diag);
  }
  /// Runs and expects success.
  void ok(std::array<int64_t, 3> grid = {1, 1, 1}) {
    auto s = run(grid);
    ASSERT_TRUE(s.ok()) << s << "\n" << messages << text_;
  }
  /// Runs and expects a fault whose report contains the text.
  void fails(const std::string &expected, std::array<int64_t, 3> grid = {1, 1, 1}) {
    auto s = run(grid);
    ASSERT_FALSE(s.ok()) << text_;
    EXPECT_NE((messages + s.ToString()).find(expected), std::string::npos)
        << "expected: " << expected << "\ngot: " << s << "\n"
        << messages;
  }

  runtime::InterpreterOptions options;
  std::string messages;

private:
  std::string text_;
  std::vector<runtime::InterpreterBuffer> buffers_;
  std::vector<runtime::InterpreterArg> args_;
};

/// A kernel that loads n elements of each input type into %a, %b, %c, runs the lines, and stores %r, %s, … to one more
/// buffer for each output type. Tensors have a power of two elements; the rest is masked off, and `tensor<n x` in the
/// lines stands for their type.
inline std::string elementwiseKernel(int64_t n, std::vector<std::string> in, std::vector<std::string> out,
                                     std::string lines) {
  int64_t size = 1;
  while (size < n) size *= 2;
  std::string N = std::to_string(size), args, body, from = "tensor<" + std::to_string(n) + "x",
              to = "tensor<" + N + "x";
  for (size_t at = 0; from != to && (at = lines.find(from, at)) != std::string::npos; at += to.size())
    lines.replace(at, from.size(), to);
  auto tensor = [&](const std::string &t) { return to + t + ">"; };
  auto pointers = [&](const std::string &name, const std::string &t) {
    args += (args.empty() ? "" : ", ") + ("%p" + name) + ": !tt.ptr<" + t + ">";
    body +=
        "    %s" + name + " = tt.splat %p" + name + " : !tt.ptr<" + t + "> -> " + tensor("!tt.ptr<" + t + ">") + "\n";
    body += "    %q" + name + " = tt.addptr %s" + name + ", %range : " + tensor("!tt.ptr<" + t + ">") + ", " +
            tensor("i32") + "\n";
  };
  body += "    %range = tt.make_range {end = " + N + " : i32, start = 0 : i32} : " + tensor("i32") + "\n";
  body += "    %count = arith.constant dense<" + std::to_string(n) + "> : " + tensor("i32") +
          "\n    %inside = arith.cmpi slt, %range, %count : " + tensor("i32") + "\n";
  for (size_t i = 0; i < in.size(); ++i) {
    std::string name(1, char('a' + i));
    pointers(name, in[i]);
    body += "    %" + name + " = tt.load %q" + name + ", %inside : " + tensor("!tt.ptr<" + in[i] + ">") + "\n";
  }
  body += "    " + lines + "\n";
  for (size_t i = 0; i < out.size(); ++i) {
    std::string name(1, char('r' + i));
    pointers(name, out[i]);
    body += "    tt.store %q" + name + ", %" + name + ", %inside : " + tensor("!tt.ptr<" + out[i] + ">") + "\n";
  }
  return "module {\n  tt.func public @k(" + args + ") {\n" + body + "    tt.return\n  }\n}\n";
}

} // namespace tessera::test
