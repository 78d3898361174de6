// The tuning numbers of a target (ir/tuning.def has each with unit, reason and evidence).
#pragma once
#include <cstdint>

namespace tessera::ir {

struct Tuning {
#define TUNING(type, name, value, unit, why, evidence) type name = value; // NOLINT(bugprone-macro-parentheses)
#include "ir/tuning.def"
};

} // namespace tessera::ir
