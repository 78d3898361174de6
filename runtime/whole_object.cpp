// Whether a kernel's object is as long as it says (see whole_object.h).
#include "runtime/whole_object.h"
#include "llvm/Object/ELF.h"

namespace tessera::runtime {
using namespace llvm;
using Elf = object::ELFFile<object::ELF64LE>;

std::string whyNotWholeObject(StringRef object) {
  if (!object.starts_with("\177ELF")) return "it is no ELF file";
  auto file = Elf::create(object);
  if (!file) return toString(file.takeError());
  auto sections = file->sections();
  if (!sections) return toString(sections.takeError());
  for (auto &section : *sections) {
    if (section.sh_type == ELF::SHT_NOBITS) continue;
    auto contents = file->getSectionContents(section);
    if (!contents) return toString(contents.takeError());
  }
  auto segments = file->program_headers();
  if (!segments) return toString(segments.takeError());
  for (auto &segment : *segments) {
    auto contents = file->getSegmentContents(segment);
    if (!contents) return toString(contents.takeError());
  }
  return "";
}

} // namespace tessera::runtime
