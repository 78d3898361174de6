// `tessera layout -l LAYOUT -t TENSOR [--hw-view] [--svg OUT] [--html OUT]`: prints a layout as triton-tensor-layout does.
#include "frontend/parser.h"
#include "ir/context.h"
#include "layouts/drawing.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include <CLI/CLI.hpp>

namespace tessera::tools {

int layoutCommand(int argc, char **argv) {
  CLI::App app("Prints or draws how a tensor is laid out", "tessera layout");
  std::string layout, tensor, svg, html;
  bool hardware = false;
  app.add_option("-l,--layout", layout, "layout attribute, such as '#ttg.blocked<{...}>'")->required();
  app.add_option("-t,--tensor", tensor, "tensor type, such as 'tensor<16x16xf16>'")->required();
  app.add_flag("--hw-view,--use-hw-view", hardware, "list what each thread (or offset) holds");
  app.add_option("--svg", svg, "write a drawing");
  app.add_option("--html", html, "write a page with the drawing");
  if (auto code = parseArguments(app, argc, argv)) return *code;
  ir::Context context;
  auto diag = printingDiagnostics();
  auto *e = frontend::parseEncoding(layout, context, diag);
  auto type = e ? frontend::parseType(tensor, context, diag) : ir::Type();
  if (!type) return kInputAtFault;
  auto t = type.dyn_cast<ir::TensorType>();
  if (!t) return fail(kInputAtFault, "'" + tensor + "' is not a tensor type");
  if (t.numElements() > (1 << 20)) return fail(kInputAtFault, llvm::Twine("the tensor has ") + llvm::Twine(t.numElements()) + " elements; at most 1048576 are drawn");
  auto view = hardware ? layouts::drawHardwareView(*e, t.shape()) : layouts::drawTensorView(*e, t.shape());
  if (!view.ok()) return fail(kInputAtFault, std::string(view.status().message()));
  for (auto *path : {&svg, &html}) {
    if (path->empty()) continue;
    auto drawing = layouts::drawSvg(*e, t.shape());
    if (!drawing.ok()) return fail(kInputAtFault, std::string(drawing.status().message()));
    std::string text = path == &svg ? *drawing : "<!doctype html><meta charset=\"utf-8\"><title>" + e->str() + "</title><p><code>" + tensor + "</code>\n" + *drawing;
    if (!writeOutput(*path, text)) return kRunFailed;
  }
  llvm::outs() << "Print layout attribute: " << e->str() << "\n" << *view;
  return kOk;
}

} // namespace tessera::tools
