// Specialising a kernel for its arguments: attributes that are added, constants, and what is left alone.
#include "frontend/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "runtime/compiler/specialize.h"
#include <gmock/gmock.h>

using namespace tessera;
using runtime::ArgumentClass;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr auto kAny = ArgumentClass::Any, kSixteen = ArgumentClass::DivisibleBy16, kOne = ArgumentClass::One;

std::string specialized(const std::string &arguments, std::vector<ArgumentClass> classes, const std::string &body) {
  ir::Context c;
  ir::DiagnosticEngine diag([](const ir::Diagnostic &d) { ADD_FAILURE() << d.message; });
  auto m =
      frontend::parseModule("module { tt.func public @f(" + arguments + ") { " + body + " tt.return } }", "t", c, diag);
  if (!m) return "";
  runtime::specialize(m->body()->front(), classes);
  EXPECT_TRUE(ir::verify(m->op(), diag));
  return ir::printToString(*m, {.locations = false});
}

TEST(Specialize, MarksAndConstants) {
  std::string s = specialized("%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32, %s: i64", {kSixteen, kAny, kSixteen, kOne},
                              "%t = arith.trunci %s : i64 to i32 tt.store %p, %t : !tt.ptr<i32>");
  EXPECT_THAT(s, HasSubstr("%arg0: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i32>, "
                           "%arg2: i32 {tt.divisibility = 16 : i32}, %arg3: i64)"));
  EXPECT_THAT(s, HasSubstr("%0 = arith.trunci %c1_i64 : i64 to i32"));
}

TEST(Specialize, KeepsWhatTheTextPromises) {
  std::string s = specialized("%p: !tt.ptr<i32> {tt.divisibility = 64 : i32}, %q: !tt.ptr<i32> {tt.divisibility = 8 : "
                              "i32, tt.pointee_range = 32 : i32}",
                              {kSixteen, kSixteen}, "");
  EXPECT_THAT(s, HasSubstr("tt.divisibility = 64"));
  EXPECT_THAT(s, HasSubstr("tt.divisibility = 16"));
  EXPECT_THAT(s, HasSubstr("tt.pointee_range = 32"));
}

TEST(Specialize, OtherTypesHaveNoClass) {
  std::string s = specialized("%b: i1, %x: f32, %p: !tt.ptr<i32>", {kOne, kSixteen, kOne},
                              "%y = arith.extui %b : i1 to i32 tt.store %p, %y : !tt.ptr<i32>");
  EXPECT_THAT(s, Not(HasSubstr("tt.divisibility")));
  EXPECT_THAT(s, Not(HasSubstr("arith.constant")));
}

} // namespace
