// The list of all passes as a document: what each does, its options, the stages of the IR that it needs and
// establishes, and the pipelines in which it runs.
#pragma once
#include <string>

namespace tessera::tools {

/// docs/passes.md, from the registry and the pipelines of all targets.
std::string passListAsMarkdown();

} // namespace tessera::tools
