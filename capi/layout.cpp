// The C API (see tessera.h): drawings of layouts, as `tessera layout` makes them.
#include "capi/handles.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "layouts/drawing.h"

using namespace tessera;
using namespace tessera::capi;

namespace {

/// One of the formats of tessera_layout.
struct Format {
  llvm::StringRef name;
  absl::StatusOr<std::string> (*draw)(const layouts::Encoding &, llvm::ArrayRef<int64_t> shape, int bits);
};

const Format kFormats[] = {
    {"text", [](const layouts::Encoding &e, llvm::ArrayRef<int64_t> shape, int) { return drawTensorView(e, shape); }},
    {"hardware",
     [](const layouts::Encoding &e, llvm::ArrayRef<int64_t> shape, int) { return drawHardwareView(e, shape); }},
    {"svg", &layouts::drawSvg},
    {"html", &layouts::drawHtml},
};

constexpr int kPointerBits = 64;

tessera_status draw(Call &call, llvm::StringRef layout, llvm::StringRef tensor, const Format &format,
                    tessera_result **result) {
  ir::Context context;
  auto *encoding = frontend::parseEncoding(layout, context, call.engine);
  auto type = encoding ? frontend::parseType(tensor, context, call.engine) : ir::Type();
  if (!encoding || !type) return call.end(TESSERA_INPUT);
  auto t = type.dyn_cast<ir::TensorType>();
  if (!t) return call.fail(TESSERA_INPUT, "'" + tensor + "' is not a tensor type", "<type>");
  if (t.numElements() > layouts::kMaxElementsShown)
    return call.fail(TESSERA_INPUT,
                     "the tensor has " + llvm::Twine(t.numElements()) + " elements; at most " +
                         llvm::Twine(layouts::kMaxElementsShown) + " are shown",
                     "<type>");
  auto drawing = format.draw(*encoding, t.shape(), t.bitWidth() ? t.bitWidth() : kPointerBits);
  if (!drawing.ok()) return call.fail(drawing.status(), TESSERA_INPUT);
  *result = new tessera_result{*std::move(drawing), "", {}};
  return TESSERA_OK;
}

} // namespace

tessera_status tessera_layout(tessera_context *context, const char *layout, const char *tensor, const char *format,
                              tessera_result **result, tessera_error **error) {
  Call call(context ? context->state.get() : nullptr, error);
  if (result) *result = nullptr;
  if (!context) return call.fail(TESSERA_USAGE, "the context is null");
  if (!result) return call.fail(TESSERA_USAGE, "the out-parameter for the result is null");
  auto *found = llvm::find_if(kFormats, [&](const Format &f) { return f.name == orEmpty(format); });
  if (found == std::end(kFormats))
    return call.fail(TESSERA_USAGE, "the format must be text, hardware, svg or html, not '" + orEmpty(format) + "'");
  return guarded(call, [&] { return draw(call, orEmpty(layout), orEmpty(tensor), *found, result); });
}
