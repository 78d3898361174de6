// `tessera layout (-l LAYOUT | -i FILE [--alias-names A,B]) -t TENSOR [--hw-view] [-o OUT] [--svg OUT] [--html OUT]`:
// prints layouts as triton-tensor-layout does, whose options it takes, with one dash or two, and draws them.
#include "frontend/parser.h"
#include "ir/context.h"
#include "layouts/drawing.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

namespace tessera::tools {

/// An error about a tensor's shape, at the position of the dimension that is at fault: the first that is no power of
/// two, or the first of all.
static int failAtShape(const std::string &text, llvm::ArrayRef<int64_t> shape, const llvm::Twine &message) {
  size_t first = text.find('<'), at = first = text.find_first_not_of(' ', first + 1);
  for (auto &d : shape) {
    if (at == std::string::npos || !llvm::isPowerOf2_64(d)) break;
    at = text.find('x', at);
    at = at == std::string::npos ? at : text.find_first_not_of(' ', at + 1);
    if (&d == &shape.back()) at = first;
  }
  size_t col = (at == std::string::npos ? 0 : at) + 1;
  return failLocated(("<type>:1:" + llvm::Twine(col) + ": " + message).str(), "<type>", text);
}

namespace {

/// The command line of `tessera layout`.
struct LayoutFlags {
  std::string layout, file, tensor, output, svg, html;
  std::vector<std::string> names;
  bool hardware = false;

  void add(CLI::App &);
};

void LayoutFlags::add(CLI::App &app) {
  auto *l = app.add_option("-l,--layout", layout, "layout attribute, such as '#ttg.blocked<{...}>'");
  auto *i = app.add_option("-i,--input", file, "file whose named layouts are printed (`#blocked = ...`)")->excludes(l);
  app.add_option("--alias-names", names, "which of the file's layouts: NAME,NAME,...")->delimiter(',')->needs(i);
  app.add_option("-t,--tensor", tensor, "tensor type, such as 'tensor<16x16xf16>'")->required();
  app.add_flag("--hw-view,--use-hw-view", hardware, "list what each thread (or offset) holds");
  app.add_option("-o", output, "write to a file");
  app.add_option("--svg", svg, "write a drawing (of the first layout)");
  app.add_option("--html", html, "write a page with the drawing");
}

/// triton-tensor-layout spells its options with one dash.
std::vector<std::string> withTwoDashes(int argc, char **argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  for (auto &a : arguments) {
    llvm::StringRef name = llvm::StringRef(a).split('=').first;
    if (name == "-alias-names" || name == "-use-hw-view" || name == "-hw-view") a.insert(0, "-");
  }
  return arguments;
}

using NamedLayouts = std::vector<frontend::NamedLayout>;

/// Those of the file that the command line names.
int chooseLayouts(const LayoutFlags &flags, NamedLayouts &layouts) {
  NamedLayouts chosen;
  std::vector<llvm::StringRef> known;
  for (auto &n : layouts) known.push_back(n.name);
  for (auto &name : flags.names) {
    auto it = llvm::find_if(layouts, [&](auto &n) { return n.name == name; });
    if (it == layouts.end())
      return fail(kInputAtFault, flags.file + ": has no layout named '#" + name + "'" + suggest(name, known));
    chosen.push_back(*it);
  }
  layouts = chosen;
  return kOk;
}

int readLayouts(const LayoutFlags &flags, ir::Context &context, ir::DiagnosticEngine &diag, NamedLayouts &layouts) {
  if (flags.file.empty()) {
    auto *e = frontend::parseEncoding(flags.layout, context, diag);
    if (!e) return kInputAtFault;
    layouts.push_back({"", e});
    return kOk;
  }
  auto buffer = readInput(flags.file);
  std::string name = flags.file == "-" ? "<stdin>" : flags.file;
  if (!buffer || !frontend::parseNamedLayouts(buffer->getBuffer(), name, context, diag, layouts)) return kInputAtFault;
  if (layouts.empty()) return fail(kInputAtFault, flags.file + ": names no layouts (`#blocked = #ttg.blocked<...>`)");
  return flags.names.empty() ? int(kOk) : chooseLayouts(flags, layouts);
}

int printLayouts(const LayoutFlags &flags, const NamedLayouts &layouts, ir::TensorType t) {
  std::string text;
  for (auto &[name, e] : layouts) {
    auto view = flags.hardware ? layouts::drawHardwareView(*e, t.shape()) : layouts::drawTensorView(*e, t.shape());
    if (!view.ok()) {
      std::string message = (name.empty() ? "" : "#" + name + ": ") + std::string(view.status().message());
      if (!absl::IsUnimplemented(view.status())) return failAtShape(flags.tensor, t.shape(), message);
      return flags.file.empty() ? failLocated("<layout>:1:1: " + message, "<layout>", flags.layout)
                                : fail(kInputAtFault, message);
    }
    text += "Print layout attribute: " + (name.empty() ? "" : "#" + name + " = ") + e->str() + "\n" + *view;
    if (!flags.names.empty()) text += "\n";
  }
  int bits = t.bitWidth() ? t.bitWidth() : 64; // pointers
  for (auto *path : {&flags.svg, &flags.html}) {
    if (path->empty()) continue;
    auto drawing = path == &flags.svg ? layouts::drawSvg(*layouts[0].layout, t.shape(), bits)
                                      : layouts::drawHtml(*layouts[0].layout, t.shape(), bits);
    if (!drawing.ok()) return failAtShape(flags.tensor, t.shape(), std::string(drawing.status().message()));
    if (!writeOutput(*path, *drawing)) return kRunFailed;
  }
  return writeOutput(flags.output, text) ? kOk : kRunFailed;
}

} // namespace

int layoutCommand(int argc, char **argv) {
  CLI::App app("Prints or draws how a tensor is laid out", "tessera layout");
  LayoutFlags flags;
  flags.add(app);
  if (auto code = parseArguments(app, withTwoDashes(argc, argv))) return *code;
  if (flags.layout.empty() && flags.file.empty())
    return fail(kUsage, "--layout or --input is required; see `tessera layout --help`");
  if (flags.output.empty()) flags.output = "-";
  if (int code = checkOutputFiles({{"-o", flags.output}, {"--svg", flags.svg}, {"--html", flags.html}}, {flags.file}))
    return code;

  ir::Context context;
  auto diag = printingDiagnostics();
  NamedLayouts layouts;
  if (int code = readLayouts(flags, context, diag, layouts)) return code;
  auto type = frontend::parseType(flags.tensor, context, diag);
  if (!type) return kInputAtFault;
  auto t = type.dyn_cast<ir::TensorType>();
  if (!t) return failLocated("<type>:1:1: '" + flags.tensor + "' is not a tensor type", "<type>", flags.tensor);
  if (t.numElements() > layouts::kMaxElementsShown)
    return failAtShape(flags.tensor, t.shape(),
                       "the tensor has " + llvm::Twine(t.numElements()) + " elements; at most " +
                           llvm::Twine(layouts::kMaxElementsShown) + " are drawn");
  return printLayouts(flags, layouts, t);
}

} // namespace tessera::tools
