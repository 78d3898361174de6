// Cases run and compared: what must be found, and what must not. The suite's own kernels run in conformance.quick.
#include "conformance/report.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch/launch_description.h"
#include "runtime/launch/npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>
#include <gtest/gtest.h>

namespace tessera::conformance {
namespace {

// r = a * 2, and what it is said to be.
std::string doubling(const std::string &want, const std::string &type = "f32", const std::string &more = "") {
  std::string t = type, mul = type[0] == 'i' ? "arith.addi" : "arith.addf";
  return "kernel k\n  buffer a: " + t + "[64] = i - 5\n  buffer o: " + t + "[64] = poison\n" + want + "\n" + more +
         "text\n"
         "  tt.func public @kernel(%a: !tt.ptr<" +
         t + ">, %o: !tt.ptr<" + t +
         ">) {\n"
         "    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
         "    %as = tt.splat %a : !tt.ptr<" +
         t + "> -> tensor<64x!tt.ptr<" + t +
         ">>\n"
         "    %ap = tt.addptr %as, %i : tensor<64x!tt.ptr<" +
         t +
         ">>, tensor<64xi32>\n"
         "    %x = tt.load %ap : tensor<64x!tt.ptr<" +
         t +
         ">>\n"
         "    %r = " +
         mul + " %x, %x : tensor<64x" + t +
         ">\n"
         "    %os = tt.splat %o : !tt.ptr<" +
         t + "> -> tensor<64x!tt.ptr<" + t +
         ">>\n"
         "    %op = tt.addptr %os, %i : tensor<64x!tt.ptr<" +
         t +
         ">>, tensor<64xi32>\n"
         "    tt.store %op, %r : tensor<64x!tt.ptr<" +
         t +
         ">>\n"
         "    tt.return\n  }\nend\n";
}

struct Made {
  Suite suite;
  Case c;
};
Made make(const std::string &text) {
  Made m;
  auto r = readKernels(text, "t.kernels", "t", m.suite);
  EXPECT_TRUE(r.ok()) << r;
  m.c = cases(m.suite, Coverage::All)->at(0);
  return m;
}
Outcome run(const std::string &text, const std::string &device = "interpreter") {
  Made m = make(text);
  CaseRunner runner(m.suite);
  bool faulted = false;
  return runner.run(m.c, {device, device == "interpreter" ? "" : device.substr(9)}, faulted);
}

TEST(Run, RightFormulasPass) {
  for (auto device : {"interpreter", "emulator:sm_90a", "emulator:gfx942"}) {
    EXPECT_EQ(run(doubling("  want o[i] = 2 * a[i]"), device).status, Outcome::Passed);
    EXPECT_EQ(run(doubling("  want o[i] = 2 * a[i]", "i32"), device).status, Outcome::Passed);
  }
}

TEST(Run, WrongFormulasFail) {
  auto r = run(doubling("  want o[i] = 2 * a[i] + (i == 7 ? 1 : 0)"));
  EXPECT_EQ(r.status, Outcome::Failed);
  EXPECT_EQ(r.message, "o: 1 of 64 elements differ from the formula, most at [7]: 4, expected 5");
  EXPECT_EQ(run(doubling("  want o[i] = 2 * a[i] + (i == 7 ? 1 : 0)", "i32")).status, Outcome::Failed);
  EXPECT_EQ(run(doubling("  want o[i] = i == 5 ? nan() : 2 * a[i]")).status, Outcome::Failed);
}

// An input that the kernel must leave alone is compared too.
TEST(Run, UnnamedBuffersMustStay) {
  EXPECT_EQ(run(doubling("  want a[i] = a[i] + 1")).message,
            "a: 64 of 64 elements differ from the formula, most at [0]: -5, expected -4");
}

TEST(Run, BoundsAreInUnitsOfTheValueNamed) {
  // 2^-20 off at values around 100: 2^6 <= 100 < 2^7 has units of 2^-17.
  std::string want = "  want o[i] = 2 * a[i] + (i == 55 ? exp2(-15) : 0)\n";
  EXPECT_EQ(run(doubling(want + "  within 3")).status, Outcome::Failed);
  auto r = run(doubling(want + "  within 4"));
  EXPECT_EQ(r.status, Outcome::Passed);
  EXPECT_EQ(r.ulp, 4);
  EXPECT_EQ(run(doubling(want + "  within 1 of 1000")).status, Outcome::Passed);
  EXPECT_EQ(run(doubling(want + "  within 1 of 200")).status, Outcome::Failed);
  EXPECT_EQ(run(doubling(want + "  within i < 50 ? 0 : 4")).status, Outcome::Passed);
}

TEST(Run, KernelsThatAreNoneFail) {
  auto r =
      run("kernel k\n  buffer o: f32[4] = 0\ntext\n  tt.func public @kernel(%o: !tt.ptr<f32>) {\n    frob\n  }\nend\n");
  EXPECT_EQ(r.status, Outcome::Failed);
  EXPECT_NE(r.message.find("unknown operation"), std::string::npos) << r.message;
  r = run("kernel k\n  buffer o: i32[4] = 0\ntext\n  tt.func public @kernel(%o: !tt.ptr<f32>) {\n    tt.return\n  "
          "}\nend\n");
  EXPECT_EQ(r.message, "argument 'o' is !tt.ptr<f32> in the text, not !tt.ptr<i32>");
  // Out of bounds: the interpreter says so, and no device runs.
  std::string beyond = "kernel k\n  buffer o: i32[4] = 0\ntext\n  tt.func public @kernel(%o: !tt.ptr<i32>) {\n    %c = "
                       "arith.constant 4 : i32\n    %p = tt.addptr %o, %c : !tt.ptr<i32>, i32\n    tt.store %p, %c : "
                       "!tt.ptr<i32>\n    tt.return\n  }\nend\n";
  EXPECT_NE(run(beyond).message.find("out of bounds"), std::string::npos) << run(beyond).message;
  EXPECT_EQ(run(beyond, "emulator:sm_80").message.rfind("nothing to compare with: ", 0), 0u);
}

TEST(Run, SkippedAndForOthers) {
  auto r = run(doubling("  skip sm_80 : for a reason"), "emulator:sm_80");
  EXPECT_EQ(r.status, Outcome::Skipped);
  EXPECT_EQ(r.message, "for a reason");
  EXPECT_EQ(run(doubling("  skip sm_80 : for a reason"), "emulator:sm_90a").status, Outcome::Passed);
  std::string lanes = doubling("");
  lanes.insert(lanes.find("  buffer"), "  for lanes in 64\n");
  EXPECT_EQ(run(lanes, "emulator:sm_80").status, Outcome::NotMeant);
  EXPECT_EQ(run(lanes, "interpreter").status, Outcome::Passed);
}

// An element that a device computes wrongly is found: the interpreter's own result is what is changed here.
TEST(Run, DumpedCasesRunAndFail) {
  Made m = make(doubling("  want o[i] = 2 * a[i]\n  within 2"));
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-dump", folder));
  std::string base = folder.str().str();
  ASSERT_TRUE(dumpCase(m.suite, m.c, base + "/x").ok());
  auto d = runtime::readLaunch(base + "/x/launch.json");
  ASSERT_TRUE(d.ok()) << d.status();
  ASSERT_EQ(d->expected.size(), 2u);
  auto expected = runtime::readNpy(base + "/x/o.expected.npy");
  ASSERT_TRUE(expected.ok());
  auto actual = expected->data;
  EXPECT_TRUE(runtime::check(*d, d->expected[1], actual)->ok);
  float v;
  std::memcpy(&v, &actual[4 * 60], 4); // 110: units of 2^-17
  for (auto [off, ok] : {std::pair(0x1p-16f, true), {0x1.8p-16f, false}}) {
    float w = v + off;
    std::memcpy(&actual[4 * 60], &w, 4);
    EXPECT_EQ(runtime::check(*d, d->expected[1], actual)->ok, ok) << off;
  }
  llvm::sys::fs::remove_directories(base);
}

TEST(Run, OutcomesTravel) {
  Outcome o;
  o.status = Outcome::Failed, o.ulp = 0.1, o.relative = INFINITY, o.ms = 3, o.message = "two\nlines";
  auto p = Outcome::decode(o.encode());
  EXPECT_EQ(p.status, o.status);
  EXPECT_EQ(p.ulp, o.ulp);
  EXPECT_EQ(p.relative, o.relative);
  EXPECT_EQ(p.message, o.message);
  EXPECT_EQ(Outcome::decode("rubbish").status, Outcome::Failed);
}

TEST(Report, FailuresComeFirstAndEverythingIsEscaped) {
  Made m = make(doubling(""));
  Report r;
  r.devices = {{"interpreter", ""}, {"emulator:sm_80", "sm_80"}};
  r.cases = {m.c, m.c};
  r.cases[1].name = "t/later";
  r.outcomes.assign(2, std::vector<Outcome>(2));
  EXPECT_FALSE(r.failed());
  r.outcomes[1][1].status = Outcome::Failed;
  r.outcomes[1][1].message = "<b>&";
  EXPECT_TRUE(r.failed());
  std::string html = toHtml(r);
  EXPECT_EQ(html.find("<b>&"), std::string::npos);
  EXPECT_NE(html.find("&lt;b&gt;&amp;"), std::string::npos);
  auto table = html.find("id=cases");
  EXPECT_LT(html.find("t/later", table), html.find("<td>t/k", table));
  EXPECT_NE(html.find("tessera conformance --device emulator:sm_80 --filter &apos;^t/later$&apos;"), std::string::npos)
      << html;
  EXPECT_EQ(html.find("http"), std::string::npos); // nothing from elsewhere
  auto json = llvm::json::parse(toJson(r));
  ASSERT_TRUE(bool(json));
  EXPECT_EQ(json->getAsObject()->getArray("results")->size(), 4u);
  EXPECT_EQ(failures(r).find("FAIL t/later on emulator:sm_80\n    <b>&\n    again: "), 0u);
}

TEST(Report, MarkdownFitsIntoAnIssue) {
  Made m = make(doubling(""));
  Report r;
  r.versions = "tessera 1.2.3";
  r.times = false;
  r.devices = {{"interpreter", ""}, {"hip:0", "gfx942", "Accelerator, 192 GiB, HIP 6.3"}};
  r.cases.assign(400, m.c);
  for (size_t i = 0; i < r.cases.size(); ++i) r.cases[i].name = "t/case" + std::to_string(i);
  r.outcomes.assign(r.cases.size(), std::vector<Outcome>(2));
  std::string passed = toMarkdown(r);
  EXPECT_NE(passed.find("tessera 1.2.3"), std::string::npos);
  EXPECT_NE(passed.find("| `hip:0` | gfx942 | Accelerator, 192 GiB, HIP 6.3 |"), std::string::npos) << passed;
  EXPECT_NE(passed.find(matrix(r)), std::string::npos);
  EXPECT_EQ(passed.find("<details>"), std::string::npos);

  for (auto &o : r.outcomes) {
    o[1].status = Outcome::Failed;
    o[1].message = "```\n";
    for (int line = 0; line < 30; ++line) o[1].message += "<b> line " + std::to_string(line) + "\n";
  }
  std::string failed = toMarkdown(r);
  EXPECT_LE(failed.size(), kMarkdownBytes);
  EXPECT_GT(failed.size(), kMarkdownBytes / 2);
  EXPECT_NE(failed.find("<code>t/case0</code> on hip:0"), std::string::npos);
  EXPECT_NE(failed.find("````text\n```\n<b> line 0\n"), std::string::npos) << failed.substr(0, 2000);
  EXPECT_NE(failed.find("\n... 19 lines more\n````\n"), std::string::npos) << failed.substr(0, 2000);
  EXPECT_NE(failed.find("tessera conformance --device hip:0 --filter"), std::string::npos);
  size_t shown = 0;
  for (size_t at = failed.find("<details>"); at != std::string::npos; at = failed.find("<details>", at + 1)) ++shown;
  EXPECT_NE(failed.find(std::to_string(400 - shown) + " more failures: attach"), std::string::npos);
}

} // namespace
} // namespace tessera::conformance
