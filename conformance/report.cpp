// Reports (see report.h).
#include "conformance/report.h"
#include "ir/diagnostic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

namespace tessera::conformance {

namespace {

struct Total {
  size_t passed = 0, failed = 0, skipped = 0, notMeant = 0;
  double ulp = 0, relative = 0, ms = 0;
  void add(const Outcome &o) {
    passed += o.status == Outcome::Passed;
    failed += o.status == Outcome::Failed;
    skipped += o.status == Outcome::Skipped;
    notMeant += o.status == Outcome::NotMeant;
    ms += o.ms;
    // Failures have their error in the message; the worst of the cases that passed shows how near the bounds the device
    // is.
    if (o.status != Outcome::Passed) return;
    ulp = std::max(ulp, o.ulp);
    relative = std::max(relative, o.relative);
  }
};

std::vector<std::string> featuresOf(const Report &r) {
  std::vector<std::string> out;
  for (auto &c : r.cases)
    if (!llvm::is_contained(out, c.feature())) out.push_back(c.feature());
  return out;
}

/// feature "" is all of them.
Total totalOf(const Report &r, llvm::StringRef feature, size_t device) {
  Total t;
  for (size_t c = 0; c < r.cases.size(); ++c)
    if (feature.empty() || r.cases[c].feature() == feature) t.add(r.outcomes[c][device]);
  return t;
}

std::string shortNumber(double v) {
  char text[40];
  std::snprintf(text, sizeof text, v == 0 ? "0" : v < 100 ? "%.2g" : "%.3g", v);
  return text;
}
std::string seconds(double ms) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2fs", ms / 1000);
  return text;
}

const char *statusName(Outcome::Status s) {
  switch (s) {
  case Outcome::Passed: return "pass";
  case Outcome::Failed: return "fail";
  case Outcome::Skipped: return "skip";
  case Outcome::NotMeant: return "n/a";
  }
  llvm_unreachable("status");
}

std::string quoted(llvm::StringRef s) {
  bool plain =
      !s.empty() && llvm::all_of(s, [](char c) { return llvm::isAlnum(c) || llvm::StringRef("_-./:^$").contains(c); });
  return plain && !s.contains('$') ? s.str() : "'" + s.str() + "'";
}

std::string escape(llvm::StringRef s) {
  std::string out;
  llvm::raw_string_ostream o(out);
  llvm::printHTMLEscaped(s, o);
  return out;
}

std::string cell(const Report &r, const Total &t, bool pad) {
  if (!t.passed && !t.failed && !t.skipped) return "-";
  std::string counts = t.failed ? std::to_string(t.failed) + " FAIL" : t.passed ? "ok" : "skip";
  auto text = llvm::formatv(pad ? "{0,8} {1,7} {2,8}" : "{0}, {1} ulp, rel {2}", counts, shortNumber(t.ulp),
                            shortNumber(t.relative))
                  .str();
  if (r.times) text += pad ? llvm::formatv(" {0,8}", seconds(t.ms)).str() : ", " + seconds(t.ms);
  return text;
}

} // namespace

bool Report::failed() const {
  for (auto &c : outcomes)
    for (auto &o : c)
      if (o.status == Outcome::Failed) return true;
  return false;
}

std::string Report::command(size_t c, size_t device) const {
  std::string s = program + " conformance";
  if (!coverage.empty()) s += " " + coverage;
  for (auto &f : files) s += " --kernels " + quoted(f);
  if (!devices[device].isInterpreter()) s += " --device " + quoted(devices[device].spec);
  return s + " --filter " + quoted("^" + cases[c].name + "$");
}

std::string Report::commandOnFiles(size_t c, size_t device) const {
  std::string s = program + " conformance";
  if (!coverage.empty()) s += " " + coverage;
  for (auto &f : files) s += " --kernels " + quoted(f);
  s += " --filter " + quoted("^" + cases[c].name + "$") + " --dump repro && ";
  return s + program + " run repro/" + cases[c].name + "/launch.json --device " + quoted(devices[device].spec) +
         " --check";
}

std::string matrix(const Report &r) {
  std::string out;
  auto features = featuresOf(r);
  features.push_back(""); // all
  constexpr size_t kPerBlock = 4;
  for (size_t first = 0; first < r.devices.size(); first += kPerBlock) {
    size_t last = std::min(first + kPerBlock, r.devices.size());
    if (first) out += "\n";
    out += llvm::formatv("{0,-13} {1,5}", "", "cases").str();
    std::string units = llvm::formatv("{0,-13} {1,5}", "", "").str();
    for (size_t d = first; d < last; ++d) {
      std::string width = r.times ? "34" : "25";
      out += llvm::formatv(("  {0," + width + "}").c_str(), r.devices[d].spec).str();
      units += llvm::formatv("  {0,8} {1,7} {2,8}", "", "ulp", "rel").str() +
               (r.times ? llvm::formatv(" {0,8}", "time").str() : "");
    }
    out += "\n" + units + "\n";
    for (auto &f : features) {
      size_t n = llvm::count_if(r.cases, [&](auto &c) { return f.empty() || c.feature() == f; });
      out += llvm::formatv("{0,-13} {1,5}", f.empty() ? "all" : f, n).str();
      for (size_t d = first; d < last; ++d)
        out += llvm::formatv(r.times ? "  {0,34}" : "  {0,25}", cell(r, totalOf(r, f, d), true)).str();
      out += "\n";
    }
  }
  // Skipped cases by reason, so that nobody has to take "ok" for "ran".
  for (size_t d = 0; d < r.devices.size(); ++d) {
    std::vector<std::pair<std::string, size_t>> reasons;
    for (auto &o : r.outcomes) {
      if (o[d].status != Outcome::Skipped) continue;
      auto it = llvm::find_if(reasons, [&](auto &x) { return x.first == o[d].message; });
      if (it == reasons.end())
        reasons.push_back({o[d].message, 1});
      else
        ++it->second;
    }
    for (auto &[why, n] : reasons)
      out += llvm::formatv("{0}: {1} left out: {2}\n", r.devices[d].spec, ir::counted(n, "case"), why).str();
  }
  return out;
}

std::string failures(const Report &r) {
  std::string out;
  for (size_t c = 0; c < r.cases.size(); ++c)
    for (size_t d = 0; d < r.devices.size(); ++d) {
      auto &o = r.outcomes[c][d];
      if (o.status != Outcome::Failed) continue;
      out += "FAIL " + r.cases[c].name + " on " + r.devices[d].spec + "\n";
      llvm::SmallVector<llvm::StringRef, 8> lines;
      llvm::StringRef(o.message).split(lines, '\n');
      for (auto l : lines) out += ("    " + l + "\n").str();
      out += "    again: " + r.command(c, d) + "\n    files: " + r.commandOnFiles(c, d) + "\n";
    }
  return out;
}

std::string toJson(const Report &r) {
  llvm::json::Array devices, results;
  for (size_t d = 0; d < r.devices.size(); ++d) {
    Total t = totalOf(r, "", d);
    devices.push_back(llvm::json::Object{{"device", r.devices[d].spec},
                                         {"target", r.devices[d].target},
                                         {"passed", t.passed},
                                         {"failed", t.failed},
                                         {"skipped", t.skipped}});
  }
  for (size_t c = 0; c < r.cases.size(); ++c)
    for (size_t d = 0; d < r.devices.size(); ++d) {
      auto &o = r.outcomes[c][d];
      if (o.status == Outcome::NotMeant) continue;
      llvm::json::Object x{{"case", r.cases[c].name},
                           {"feature", r.cases[c].feature()},
                           {"device", r.devices[d].spec},
                           {"status", statusName(o.status)}};
      // JSON has no infinity.
      if (std::isfinite(o.ulp)) x["ulp"] = o.ulp;
      if (std::isfinite(o.relative)) x["relative"] = o.relative;
      if (r.times) x["ms"] = o.ms;
      if (!o.message.empty()) x["message"] = llvm::json::fixUTF8(o.message);
      if (o.status == Outcome::Failed) {
        x["command"] = r.command(c, d);
        x["command_on_files"] = r.commandOnFiles(c, d);
      }
      results.push_back(std::move(x));
    }
  return llvm::formatv("{0:1}\n", llvm::json::Value(llvm::json::Object{{"devices", std::move(devices)},
                                                                       {"results", std::move(results)}}))
      .str();
}

namespace {

/// Text as a block of code, shortened to so many lines.
std::string codeBlock(llvm::StringRef text, size_t mostLines) {
  llvm::SmallVector<llvm::StringRef, 16> lines;
  text.rtrim().split(lines, '\n');
  std::string fence = "```";
  while (text.contains(fence)) fence += "`";
  std::string out = fence + "text\n";
  for (auto line : llvm::ArrayRef(lines).take_front(mostLines)) out += line.str() + "\n";
  if (lines.size() > mostLines) out += "... " + ir::counted(lines.size() - mostLines, "line") + " more\n";
  return out + fence + "\n";
}

std::string markdownFailure(const Report &r, size_t c, size_t d) {
  constexpr size_t kMostLines = 12;
  std::string out = "<details><summary><code>" + escape(r.cases[c].name) + "</code> on " + escape(r.devices[d].spec) +
                    "</summary>\n\n";
  out += codeBlock(llvm::json::fixUTF8(r.outcomes[c][d].message), kMostLines);
  return out + "\n" + codeBlock(r.command(c, d), kMostLines) + "</details>\n\n";
}

} // namespace

std::string toMarkdown(const Report &r) {
  std::string out = "### Tessera conformance\n" + r.versions + "\n\n| device | target | |\n|---|---|---|\n";
  for (auto &d : r.devices) out += "| `" + d.spec + "` | " + d.target + " | " + d.description + " |\n";
  out += "\n" + codeBlock(matrix(r), SIZE_MAX) + "\n";
  size_t left = 0;
  for (size_t c = 0; c < r.cases.size(); ++c)
    for (size_t d = 0; d < r.devices.size(); ++d) {
      if (r.outcomes[c][d].status != Outcome::Failed) continue;
      constexpr size_t kLastLine = 200;
      std::string failure = left ? "" : markdownFailure(r, c, d);
      if (left || out.size() + failure.size() + kLastLine > kMarkdownBytes)
        ++left;
      else
        out += failure;
    }
  if (left) out += ir::counted(left, "more failure") + ": attach the output of `--json` or `--html`.\n";
  return out;
}

namespace {

/// Text: the page up to the figures, and from the end of the table of cases on.
constexpr llvm::StringRef kPageHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tessera conformance</title>
<style>
:root { color-scheme: light dark; --line: #8884; --bad: #c62828; --good: #2e7d32; --soft: #8881; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 0.8rem; max-width: 75rem; }
h1 { font-size: 1.35rem; margin: 0.3rem 0; } h2 { font-size: 1.1rem; margin: 1.4rem 0 0.4rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; } th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { position: sticky; top: 0; background: Canvas; cursor: default; } #cases th { cursor: pointer; }
#cases th::after { content: " ↕"; opacity: 0.4; }
td:first-child, th:first-child { position: sticky; left: 0; background: Canvas; }
.fail { color: var(--bad); font-weight: 600; } .pass { color: var(--good); } .skip, .na { opacity: 0.55; }
details { border: 1px solid var(--line); border-left: 4px solid var(--bad); border-radius: 4px; margin: 0.5rem 0; padding: 0.3rem 0.6rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: 0.5rem; border-radius: 4px; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.4rem 0; }
input { font: inherit; width: 100%; max-width: 30rem; box-sizing: border-box; padding: 0.35rem 0.5rem; }
</style></head><body>
<h1>Tessera conformance</h1>
)";
constexpr llvm::StringRef kPageEnd = R"(</tbody></table></div>
<script>
const table = document.getElementById('cases'), body = table.tBodies[0], rows = [...body.rows];
let sorted = -1, up = true;
[...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener('click', () => {
  up = sorted === column ? !up : true; sorted = column;
  const key = row => row.cells[column].textContent;
  rows.sort((a, b) => { const x = key(a), y = key(b), n = parseFloat(x) - parseFloat(y);
    return (column > 2 && !Number.isNaN(n) ? n : x.localeCompare(y)) * (up ? 1 : -1); });
  body.append(...rows);
}));
document.getElementById('search').addEventListener('input', event => {
  const words = event.target.value.toLowerCase().split(/\s+/);
  for (const row of rows) { const text = row.textContent.toLowerCase(); row.hidden = !words.every(w => text.includes(w)); }
});
</script></body></html>
)";

void writeFailures(llvm::raw_ostream &o, const Report &r, size_t failed) {
  constexpr size_t kMaxOpen = 10; // more failures are folded
  if (failed) o << "<h2>Failures</h2>\n";
  for (size_t c = 0; c < r.cases.size(); ++c)
    for (size_t d = 0; d < r.devices.size(); ++d) {
      auto &x = r.outcomes[c][d];
      if (x.status != Outcome::Failed) continue;
      o << "<details" << (failed <= kMaxOpen ? " open" : "") << "><summary><span class=fail>" << escape(r.cases[c].name)
        << "</span> on " << escape(r.devices[d].spec) << "</summary><pre>" << escape(llvm::json::fixUTF8(x.message))
        << "</pre>Again:<pre>" << escape(r.command(c, d)) << "</pre>As files:<pre>" << escape(r.commandOnFiles(c, d))
        << "</pre></details>\n";
    }
}

void writeFeatures(llvm::raw_ostream &o, const Report &r) {
  o << "<h2>Devices and features</h2>\n<div class=wide><table><thead><tr><th>feature<th>cases";
  for (auto &d : r.devices) o << "<th>" << escape(d.spec);
  o << "</tr></thead><tbody>\n";
  auto features = featuresOf(r);
  features.push_back(""); // all of them
  for (auto &f : features) {
    o << "<tr><td>" << (f.empty() ? "all" : escape(f)) << "<td>"
      << llvm::count_if(r.cases, [&](auto &c) { return f.empty() || c.feature() == f; });
    for (size_t d = 0; d < r.devices.size(); ++d) {
      Total t = totalOf(r, f, d);
      o << "<td class="
        << (t.failed   ? "fail"
            : t.passed ? "pass"
                       : "skip")
        << ">" << escape(cell(r, t, false)) << (t.skipped ? ", " + std::to_string(t.skipped) + " left out" : "");
    }
    o << "\n";
  }
  o << "</tbody></table></div>\n";
}

void writeCases(llvm::raw_ostream &o, const Report &r) {
  o << "<p>Errors are the worst of the cases that passed: in units in the last place of the output, and relative, both "
       "at "
       "the value that the case's bound refers to.</p>\n"
       "<h2>Cases</h2>\n<p><input id=search type=search placeholder=\"search: part of a name, a device, fail, skip\" "
       "aria-label=search></p>\n<div class=wide><table id=cases><thead><tr><th>case<th>device<th>result<th>ulp<th>rel"
    << (r.times ? "<th>ms" : "") << "</tr></thead><tbody>\n";
  for (bool wanted : {true, false}) // failures first
    for (size_t c = 0; c < r.cases.size(); ++c)
      for (size_t d = 0; d < r.devices.size(); ++d) {
        auto &x = r.outcomes[c][d];
        if ((x.status == Outcome::Failed) != wanted || x.status == Outcome::NotMeant) continue;
        o << "<tr><td>" << escape(r.cases[c].name) << "<td>" << escape(r.devices[d].spec)
          << "<td class=" << statusName(x.status)
          << (x.message.empty() ? "" : " title=\"" + escape(llvm::json::fixUTF8(x.message)) + "\"") << ">"
          << statusName(x.status) << "<td>" << shortNumber(x.ulp) << "<td>" << shortNumber(x.relative);
        if (r.times) o << llvm::formatv("<td>{0:f1}", x.ms);
        o << "\n";
      }
}

} // namespace

std::string toHtml(const Report &r) {
  std::string out;
  llvm::raw_string_ostream o(out);
  size_t failed = 0;
  size_t ran = 0;
  for (auto &outcomes : r.outcomes)
    for (auto &x : outcomes) {
      failed += x.status == Outcome::Failed;
      ran += x.status == Outcome::Failed || x.status == Outcome::Passed;
    }
  o << kPageHead << "<p>" << ir::counted(r.cases.size(), "case") << " on " << ir::counted(r.devices.size(), "device")
    << ", " << ir::counted(ran, "run") << ": "
    << (failed ? "<span class=fail>" + ir::counted(failed, "failure") + "</span>"
               : "<span class=pass>all passed</span>")
    << ".</p>\n";
  writeFailures(o, r, failed);
  writeFeatures(o, r);
  writeCases(o, r);
  o << kPageEnd;
  return out;
}

} // namespace tessera::conformance
