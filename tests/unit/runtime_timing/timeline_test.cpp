// The page and the tables of a replay.
#include "runtime/timing/report.h"
#include "runtime/timing/timeline.h"
#include "runtime_timing/code.h"
#include "llvm/Support/JSON.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fstream>

namespace tessera::timing {
namespace {
using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

struct Timed {
  code_object::Program program;
  KernelTime time;
};

/// A loop of five instructions, executed by eight waves; the first and last instruction are outside of it.
Timed timed(const std::string &text = "") {
  Code code;
  code.valu(90, 91);
  code.load(60);
  code.ldsRead(20, 16);
  code.waitLds(0);
  code.matrix(0, 0);
  code.add(Unit::Branch, "s_cbranch_scc1").target = 1;
  code.end();
  if (!text.empty()) code.instructions[4].text = text;
  Machine m = machine("gfx942");
  std::vector<WaveTrace> waves;
  for (unsigned w = 0; w < 8; ++w) {
    WaveTrace once = execute(code, 0, w, [](unsigned lane) { return uint64_t(16) * lane; });
    std::vector<TraceEvent> body(once.events.begin() + 1, once.events.begin() + 6);
    for (int n = 0; n < 5; ++n) once.events.insert(once.events.begin() + 6, body.begin(), body.end());
    waves.push_back(once);
  }
  Timed t;
  t.program.kernel = "loop";
  t.program.target = "gfx942";
  t.program.sourceFile = "loop.py";
  t.program.instructions = code.instructions;
  t.time.machine = m;
  t.time.replay = run(m, code, waves, 8, 100000);
  return t;
}

TEST(Timeline, FindsTheLoop) {
  Timed t = timed();
  auto loop = hottestLoop(t.program.instructions, t.time.replay);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->first, 1u);
  EXPECT_EQ(loop->last, 5u);
  EXPECT_EQ(loop->executions, 8u * 6);
}

llvm::json::Value dataOf(const std::string &page) {
  llvm::StringRef text = llvm::StringRef(page).split("id=\"data\">").second.split("</script>").first;
  auto v = llvm::json::parse(text);
  if (!v) {
    ADD_FAILURE() << toString(v.takeError());
    return nullptr;
  }
  return *v;
}

TEST(Timeline, ThePageHasTheReplaysData) {
  Timed t = timed();
  std::string page = timelinePage(t.time, t.program);
  llvm::json::Value data = dataOf(page);
  auto &o = *data.getAsObject();
  EXPECT_EQ(o.getArray("waves")->size(), 8u);
  EXPECT_EQ(o.getArray("records")->size(), 7 * t.time.replay.issued);
  EXPECT_EQ(o.getArray("code")->size(), t.program.instructions.size());
  EXPECT_EQ(o.getInteger("cycles"), int64_t(t.time.replay.cycles));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://"))); // no network
  if (const char *out = std::getenv("TESSERA_TIMELINE_PAGE")) std::ofstream(out) << page;
}

TEST(Timeline, TextsCannotEndTheData) {
  Timed t = timed("v_mfma </script><script>alert(1)</script>");
  llvm::json::Value data = dataOf(timelinePage(t.time, t.program));
  auto &code = *data.getAsObject()->getArray("code");
  EXPECT_EQ((*code[4].getAsArray())[1].getAsString(), "v_mfma </script><script>alert(1)</script>");
}

TEST(Report, NamesUnitsStallsAndTheLoop) {
  Timed t = timed();
  std::string text = reportText(t.time, t.program);
  EXPECT_THAT(text, HasSubstr("loop on gfx942"));
  EXPECT_THAT(text, HasSubstr("hottest loop, 48 executions"));
  EXPECT_THAT(text, HasSubstr("s_cbranch_scc1"));
  llvm::json::Object json = reportJson(t.time, t.program);
  double matrix = *json.getObject("busy")->getNumber("matrix");
  EXPECT_NEAR(matrix, 48.0 * 16 / (4.0 * double(t.time.replay.cycles)), 1e-9);
}

} // namespace
} // namespace tessera::timing
