// Fuzzing of everything that reads text: bytes → parser → verifier → printer → parser → printer. Nothing may crash,
// hang or exhaust the stack; what is accepted must print as text that is accepted and prints the same (but for what is
// normalised on the way in, which is why the second printing is compared with the third). The first byte chooses the
// entry point: a module, with or without unregistered operations, a layout, or a type.
#include "frontend/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include <cstdio>
#include <cstdlib>

using namespace tessera;

static void fail(const char *what, llvm::StringRef text, llvm::StringRef more = "") {
  std::fprintf(stderr, "%s\n--- text\n%.*s\n--- more\n%.*s\n", what, int(text.size()), text.data(), int(more.size()),
               more.data());
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  llvm::StringRef text(reinterpret_cast<const char *>(data) + 1, size - 1);
  std::string errors;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { errors += ir::render(d); });
  ir::Context context;
  if (data[0] == 'L') {
    if (auto *e = frontend::parseEncoding(text, context, diag))
      if (frontend::parseEncoding(e->str(), context, diag) != e)
        fail("the layout does not read back", e->str(), errors);
    return 0;
  }
  if (data[0] == 'T') {
    if (auto t = frontend::parseType(text, context, diag))
      if (frontend::parseType(t.str(), context, diag) != t) fail("the type does not read back", t.str(), errors);
    return 0;
  }
  frontend::ParseOptions options;
  options.allowUnregistered = data[0] == 'U';
  for (auto &section : frontend::splitSections(text)) {
    unsigned before = diag.errors();
    auto module = frontend::parseModule(section, "fuzz", context, diag, options);
    if (!module) {
      if (diag.errors() == before) fail("rejected without an error", section.text);
      continue;
    }
    std::string once = ir::printToString(*module);
    ir::Context fresh;
    auto again = frontend::parseModule(once, "printed", fresh, diag, options);
    if (!again) fail("what was printed is not read", once, errors);
    std::string twice = ir::printToString(*again);
    auto third = frontend::parseModule(twice, "printed again", fresh, diag, options);
    if (!third) fail("what was printed again is not read", twice, errors);
    std::string thrice = ir::printToString(*third);
    if (thrice != twice) fail("printing is not stable", twice, thrice);
  }
  return 0;
}
