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

int layoutCommand(int argc, char **argv) {
  CLI::App app("Prints or draws how a tensor is laid out", "tessera layout");
  std::string layout, file, tensor, output, svg, html;
  std::vector<std::string> names;
  bool hardware = false;
  auto *l = app.add_option("-l,--layout", layout, "layout attribute, such as '#ttg.blocked<{...}>'");
  auto *i = app.add_option("-i,--input", file, "file whose named layouts are printed (`#blocked = ...`)")->excludes(l);
  app.add_option("--alias-names", names, "which of the file's layouts: NAME,NAME,...")->delimiter(',')->needs(i);
  app.add_option("-t,--tensor", tensor, "tensor type, such as 'tensor<16x16xf16>'")->required();
  app.add_flag("--hw-view,--use-hw-view", hardware, "list what each thread (or offset) holds");
  app.add_option("-o", output, "write to a file");
  app.add_option("--svg", svg, "write a drawing (of the first layout)");
  app.add_option("--html", html, "write a page with the drawing");
  std::vector<std::string> spelt(argv, argv + argc);
  for (auto &a : spelt)
    for (llvm::StringRef known : {"-alias-names", "-use-hw-view", "-hw-view"})
      if (llvm::StringRef(a).split('=').first == known) {
        a.insert(0, "-");
        break;
      }
  std::vector<char *> arguments;
  for (auto &a : spelt) arguments.push_back(a.data());
  if (auto code = parseArguments(app, arguments.size(), arguments.data())) return *code;
  if (!l->count() && !i->count()) return fail(kUsage, "--layout or --input is required; see `tessera layout --help`");

  ir::Context context;
  auto diag = printingDiagnostics();
  std::vector<frontend::NamedLayout> layouts;
  if (i->count()) {
    auto buffer = readInput(file);
    if (!buffer ||
        !frontend::parseNamedLayouts(buffer->getBuffer(), file == "-" ? "<stdin>" : file, context, diag, layouts))
      return kInputAtFault;
    if (layouts.empty()) return fail(kInputAtFault, file + ": names no layouts (`#blocked = #ttg.blocked<...>`)");
    if (!names.empty()) {
      std::vector<frontend::NamedLayout> chosen;
      std::vector<llvm::StringRef> known;
      for (auto &n : layouts) known.push_back(n.name);
      for (auto &name : names) {
        auto it = llvm::find_if(layouts, [&](auto &n) { return n.name == name; });
        if (it == layouts.end())
          return fail(kInputAtFault, file + ": has no layout named '#" + name + "'" + suggest(name, known));
        chosen.push_back(*it);
      }
      layouts = chosen;
    }
  } else if (auto *e = frontend::parseEncoding(layout, context, diag))
    layouts.push_back({"", e});
  else
    return kInputAtFault;
  auto type = frontend::parseType(tensor, context, diag);
  if (!type) return kInputAtFault;
  auto t = type.dyn_cast<ir::TensorType>();
  if (!t) return failLocated("<type>:1:1: '" + tensor + "' is not a tensor type", "<type>", tensor);
  if (t.numElements() > layouts::kMaxElementsShown)
    return failAtShape(tensor, t.shape(),
                       "the tensor has " + llvm::Twine(t.numElements()) + " elements; at most " +
                           llvm::Twine(layouts::kMaxElementsShown) + " are drawn");

  std::string text;
  for (auto &[name, e] : layouts) {
    auto view = hardware ? layouts::drawHardwareView(*e, t.shape()) : layouts::drawTensorView(*e, t.shape());
    if (!view.ok()) {
      std::string message = (name.empty() ? "" : "#" + name + ": ") + std::string(view.status().message());
      if (!absl::IsUnimplemented(view.status())) return failAtShape(tensor, t.shape(), message);
      return l->count() ? failLocated("<layout>:1:1: " + message, "<layout>", layout) : fail(kInputAtFault, message);
    }
    text += "Print layout attribute: " + (name.empty() ? "" : "#" + name + " = ") + e->str() + "\n" + *view;
    if (!names.empty()) text += "\n";
  }
  int bits = t.bitWidth() ? t.bitWidth() : 64; // pointers
  for (auto *path : {&svg, &html}) {
    if (path->empty()) continue;
    auto drawing = path == &svg ? layouts::drawSvg(*layouts[0].layout, t.shape(), bits)
                                : layouts::drawHtml(*layouts[0].layout, t.shape(), bits);
    if (!drawing.ok()) return failAtShape(tensor, t.shape(), std::string(drawing.status().message()));
    if (!writeOutput(*path, *drawing)) return kRunFailed;
  }
  return writeOutput(output, text) ? kOk : kRunFailed;
}

} // namespace tessera::tools
