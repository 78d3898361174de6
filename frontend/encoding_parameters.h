// The parameters of a layout attribute, `<{key = value, …}>`: read before any is interpreted, then queried by key.
// Private to parse_encoding.cpp, which knows which layout has which.
#pragma once
#include "frontend/parser_state.h"
#include "layouts/padded_shared.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::frontend {

/// The parameters of one encoding: values by key, with positions, read before any is interpreted.
struct EncodingEntries {
  struct Entry {
    llvm::StringRef key;
    const char *at;
    std::optional<int64_t> number;
    std::optional<bool> boolean;
    llvm::SmallVector<int32_t, 4> list;
    llvm::SmallVector<layouts::Basis, 8> lists;
    bool isList = false, isLists = false;
    const layouts::Encoding *encoding = nullptr;
    std::unique_ptr<EncodingEntries> nested; // {register = …, warp = …}
    bool used = false;
  };
  std::vector<Entry> entries;

  Entry *find(llvm::StringRef k) {
    for (auto &e : entries)
      if (e.key == k) {
        e.used = true;
        return &e;
      }
    return nullptr;
  }
};

/// The parameters, queried by key: of what is missing or of another kind the first complaint is reported, and
/// stands for all.
class EncodingParameters {
public:
  using Entry = EncodingEntries::Entry;
  EncodingParameters(ParserState &p, llvm::StringRef mnemonic, const char *at) : p_(p), mnemonic_(mnemonic), at_(at) {}

  /// `<{key = value, …}>`, or without braces; before the braces `[256:+8, …]` if `paddings` is given, after them
  /// `, alignment = 16` if `alignment` is. False after an error.
  bool parse(llvm::SmallVectorImpl<layouts::PaddedSharedParams::Padding> *paddings, int64_t *alignment);

protected:
  void complain(const llvm::Twine &what, const char *at) {
    if (ok_) ok_ = p_.error(what, at);
  }
  void unknown(llvm::StringRef mnemonic, llvm::StringRef key, const char *at, llvm::ArrayRef<llvm::StringRef> known);
  Entry *find(llvm::StringRef key);
  /// What is missing is reported last: a misspelt parameter explains it better.
  Entry *need(llvm::StringRef key);
  llvm::SmallVector<int32_t, 4> list(llvm::StringRef key);
  int64_t number(llvm::StringRef key, std::optional<int64_t> otherwise);
  bool boolean(llvm::StringRef key, std::optional<bool> otherwise);
  const layouts::Encoding *parent();
  /// CGALayout, or the older CTAsPerCGA, CTASplitNum and CTAOrder.
  layouts::CtaLayout cta(unsigned rank);
  /// Bases of one kind of index, all of one rank: of those read before, or the first's.
  layouts::LinearLayout::InDim bases(Entry *, layouts::Dim);
  /// The map of those bases; each dimension is as large as they reach.
  layouts::LinearLayout layoutOf(llvm::SmallVector<layouts::LinearLayout::InDim, 4> ins);
  /// Whether all is there and nothing else; reports what is not.
  bool finish();
  /// The encoding, or an error: a message that starts with a parameter's name is about that parameter.
  template <class T> const layouts::Encoding *take(const absl::StatusOr<T> &made) {
    if (made.ok()) return *made;
    llvm::StringRef message(made.status().message().data(), made.status().message().size());
    auto word = message.take_while([](char c) { return llvm::isAlnum(c); });
    auto *e = word.empty() ? nullptr : entries_.find(word);
    return p_.error(message, e ? e->at : at_), nullptr;
  }

  ParserState &p_;
  llvm::StringRef mnemonic_;
  const char *at_;
  bool ok_ = true;
  llvm::StringRef missing_;
  unsigned rank_ = 0; // of bases; 0: none were read

private:
  bool parseInRange(int64_t &, int64_t low, int64_t high);
  bool parseEntryList(Entry &);
  bool parseEntries(EncodingEntries &out, const char *closer);

  EncodingEntries entries_;
  llvm::SmallVector<llvm::StringRef, 8> queried_;
};

} // namespace tessera::frontend
