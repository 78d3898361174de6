// The parser's state and its parts: types and attributes (parse_type.cpp, parse_attribute.cpp, parse_number.cpp,
// parse_location.cpp, parse_encoding.cpp, aliases.cpp), names and regions (names.cpp), and operations (parser.cpp,
// formats.cpp, build_operation.cpp, custom_formats.cpp, region_operations.cpp, older_forms.cpp). Functions return
// false, or a null value, after an error was reported; the caller then recovers at the next operation (recovery.cpp).
#pragma once
#include "frontend/lexer.h"
#include "frontend/parser.h"
#include "ir/assembly_format.h"
#include "ir/builder.h"
#include "ir/op_table.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tessera::frontend {

/// An operand as written: `%name#number`, and where.
struct OperandRef {
  llvm::StringRef name;
  unsigned number = 0;
  const char *at = nullptr;
};

/// The name that an operation of an older dump has today.
std::string currentName(llvm::StringRef);
/// The bit of a word in `overflow<…>` or `fastmath<…>`, or -1.
int64_t flagBit(llvm::StringRef word, bool overflow);

class ParserState {
public:
  ParserState(llvm::StringRef text, unsigned firstLine, llvm::StringRef file, ir::Context &, ir::DiagnosticEngine &,
              const ParseOptions &);

  Lexer lex;
  ir::Context &ctx;
  ir::DiagnosticEngine &diag;
  ParseOptions options;
  std::string file;
  std::unique_ptr<ir::Module> module;

  // ---- diagnostics ----
  /// Reports at a position (null: here) and returns false.
  bool error(const llvm::Twine &message, const char *at = nullptr);
  ir::Diagnostic makeError(const llvm::Twine &message, const char *at);
  const char *placeOfNext(); // of what comes next, or of the last character
  /// Warns, once for an operation's name, of an attribute that its row does not have. Not in a text with errors.
  void warnOfAttribute(llvm::StringRef op, llvm::StringRef attribute, const char *at);
  void undefinedLocation(llvm::StringRef name, const char *at);
  bool report(ir::Diagnostic); // an error made with makeError, kept until flush; returns false
  void flush();                // hands the errors over, in the order of the text
  bool expect(llvm::StringRef punctuation, llvm::StringRef context = "");
  bool failed() const { return errors_ > 0; }
  ir::SourcePosition positionOf(const char *) const;

  // ---- types and attributes ----
  ir::Type parseType();
  /// `descriptor`: the tensor of an (older) tensor descriptor's type, given back as that.
  ir::Type parseTensorType(bool descriptor = false);
  ir::Type parseMemDescBody();
  ir::Type rankError(llvm::StringRef what, size_t rank, const layouts::Encoding *, const char *at); // null
  ir::Type parsePointerBody();
  ir::Type parseTensorDescBody();
  /// A type whose dialect prefix may have been left out: `<64x16xf16, …>` for a memory descriptor.
  ir::Type parseMaybeStripped(ir::TypeRule);
  bool parseDimensions(llvm::SmallVectorImpl<int64_t> &, bool elementFollows);
  bool parseTypeList(llvm::SmallVectorImpl<ir::Type> &); // comma-separated
  bool parseFunctionalType(llvm::SmallVectorImpl<ir::Type> &ins, llvm::SmallVectorImpl<ir::Type> &outs);
  bool parseTypeListParens(llvm::SmallVectorImpl<ir::Type> &);

  ir::Attribute parseAttribute(ir::Type typeHint = {});
  /// At `{`. `positions`: where each name stands, if wanted.
  bool parseAttrDict(llvm::SmallVectorImpl<ir::NamedAttribute> &,
                     llvm::SmallVectorImpl<const char *> *positions = nullptr);
  ir::Attribute parseNumber(ir::Type typeHint);
  ir::Attribute parseSymbol();
  ir::Attribute parseArray();
  ir::Attribute parseDenseArray();
  std::optional<ir::Attribute> parseOpaqueAttribute();
  ir::Attribute parseDense();
  bool parseDenseHex(ir::TensorType, std::vector<llvm::APInt> &);
  bool parseDenseList(ir::TensorType, unsigned dimension, std::vector<llvm::APInt> &);
  ir::Attribute parseHashAttribute();
  bool layoutAlone = false;                 // what is parsed is a layout by itself: its lanes are as written
  const layouts::Encoding *parseEncoding(); // alias or in full
  /// `older`: the name was written in a spelling before Triton 3, whose defaults differ.
  /// @pre isEncoding(mnemonic)
  const layouts::Encoding *parseEncodingBody(llvm::StringRef mnemonic, const char *at, bool older);
  static bool isEncoding(llvm::StringRef mnemonic);
  bool parseInteger(int64_t &);
  std::optional<llvm::APInt> parseElement(ir::Type element);
  /// At `<` or `[`: the text up to the matching bracket, brackets in between balanced and strings respected.
  bool balanced(llvm::StringRef &text);

  bool parseLocation(ir::Location &); // after `loc`: ( … )
  bool parseLocationBody(ir::Location &);
  bool parseLocationAlias(ir::Location &);
  bool parseCallSite(ir::Location &);
  bool parseFusedLocation(ir::Location &);
  bool parseFileRange(llvm::StringRef file, const char *at, ir::Location &);
  bool parseTrailingLocation(ir::Location &); // optional `loc(…)`

  bool parseAliasDefinition();
  /// Aliases defined later in the file (locations mostly) are found in one scan at the start.
  void collectAliases();
  /// The aliases that are layouts, in the order of the text.
  void readLayoutAliases(std::vector<NamedLayout> &);

  // ---- operations ----
  bool parseTop();
  bool parseOperation(ir::Block *);
  bool parseGenericOperation(ir::Block *, llvm::StringRef name, const char *at);
  /// A name before `=`: of one or several results.
  struct ResultName {
    llvm::StringRef name;
    unsigned count;
    const char *at;
  };
  bool parseRegionBody(ir::Region &, llvm::ArrayRef<std::pair<llvm::StringRef, ir::Type>> entryArgs, bool isolated,
                       llvm::ArrayRef<const char *> argPositions = {}, llvm::ArrayRef<ir::Location> argLocs = {});
  bool parseBlockHeader(ir::Region &, ir::Block *&);
  bool atAliasDefinition(); // at `#name =` or `!name =` at the start of a line
  /// Remembers the first region whose `}` stands further left than the line of its `{`: the brace of another one.
  void noteIndentation(const char *open, const char *close);
  void reportUnclosed();
  ir::Block *blockNamed(llvm::StringRef name, const char *at);

  // What one operation's text has given so far.
  struct OpParse {
    const ir::OpInfo *info = nullptr;
    const char *at = nullptr;
    llvm::StringRef written;                                           // the operation's name as written
    llvm::SmallVector<llvm::SmallVector<OperandRef, 2>, 4> operands;   // per row operand
    llvm::SmallVector<llvm::SmallVector<ir::Type, 2>, 4> operandTypes; // per row operand, where printed
    llvm::SmallVector<llvm::SmallVector<ir::Type, 2>, 4> resultTypes;  // per row result, where printed
    std::optional<llvm::SmallVector<ir::Type, 4>> allOperandTypes, allResultTypes;
    llvm::SmallVector<ir::NamedAttribute, 8> attrs;
    llvm::SmallVector<ir::Block *, 2> successors;
    unsigned numRegions = 0;
    unsigned numResultNames = 0;
    llvm::SmallVector<std::pair<llvm::StringRef, const char *>, 4> attrNames; // of the dictionary, as written
    bool inBody = false; // the head of an operation with regions is read
    bool ended = false;  // an older spelling stops before the format does
    /// What the names before `=` stand for, where an older operation became none or several: not the results of the
    /// last operation of the block.
    std::optional<llvm::SmallVector<ir::Value, 2>> values;
    bool hasAttr(llvm::StringRef n) const {
      return llvm::any_of(attrs, [&](auto &a) { return a.name == n; });
    }
    void setAttr(ir::Context &c, llvm::StringRef n, ir::Attribute v) {
      for (auto &a : attrs)
        if (a.name == n) {
          a.value = v;
          return;
        }
      attrs.push_back({c.intern(n), v});
    }
    ir::Attribute attr(llvm::StringRef n) const {
      for (auto &a : attrs)
        if (a.name == n) return a.value;
      return {};
    }
  };
  bool parseResultNames(OpParse &, llvm::SmallVectorImpl<ResultName> &);
  bool parseOperationText(OpParse &, ir::Block *);
  bool nameResults(const OpParse &, ir::Operation *, llvm::ArrayRef<ResultName>);
  bool markBad(llvm::ArrayRef<ResultName>);
  /// The parts of an operation in the generic form that OpParse does not have.
  struct GenericParts {
    llvm::StringRef name;
    llvm::SmallVector<OperandRef, 4> operands;
    llvm::SmallVector<ir::Type, 4> operandTypes;
    llvm::SmallVector<ir::Type, 4> resultTypes;
    llvm::SmallVector<ir::Operation *, 2> regions; // operations with one region each, moved once the operation is made
  };
  bool parseGenericText(OpParse &, GenericParts &);
  bool takeGenericAttrs(const OpParse &, const GenericParts &, ir::OperationState &);
  bool checkGenericCounts(const OpParse &, const GenericParts &);
  bool parseFormat(OpParse &, const std::vector<ir::FormatElement> &);
  bool parseElementOf(OpParse &, const ir::FormatElement &);
  ir::Type parseFormatType(OpParse &, ir::TypeRule);
  bool parseFormatAttr(OpParse &o, const ir::AttrSpec &spec);
  bool startsHere(const ir::FormatElement &group);
  bool parseCustom(OpParse &, llvm::StringRef name);
  bool parseCacheWords(OpParse &, bool evict);
  bool parseArithmeticFlags(OpParse &, bool overflow);
  bool parseConstant(OpParse &);
  bool parseSelect(OpParse &);
  bool parseBranch(OpParse &);
  bool parseCondBranch(OpParse &);
  bool parseMemDescSubslice(OpParse &);
  bool parseBarrier(OpParse &);
  bool parseTokenDep(OpParse &);
  bool parseTcGen5Mma(OpParse &, bool scaled);
  bool parseBufferLoadToLocal(OpParse &);
  bool parseDotScaled(OpParse &);
  bool parseElementTypes(OpParse &, llvm::StringRef lhs, llvm::StringRef rhs);
  bool trailingAttrs(OpParse &, ir::Operation *); // the dictionary after an operation's regions
  /// Sets up the row's groups.
  void startOp(OpParse &, const ir::OpInfo &, const char *at);
  bool parseOlderForm(OpParse &, llvm::StringRef name, ir::Block *, bool &handled);
  bool parseOlderReduce(OpParse &, ir::Block *);
  bool parseOlderConvertLayout(OpParse &, ir::Block *);
  bool parseOlderAlloc(OpParse &, ir::Block *);
  bool parseOlderExtractSlice(OpParse &, ir::Block *);
  bool parseOlderInsertSlice(OpParse &, ir::Block *);
  bool parseOlderSubview(OpParse &, ir::Block *);
  bool parseBroadcast(OpParse &, ir::Block *);
  bool parseGridDependency(OpParse &, ir::Block *);
  /// A dictionary's attributes, added to the operation's.
  bool parseOpAttrs(OpParse &);
  /// Renames what older dumps call otherwise and checks that nothing is missing; false after an error.
  bool finishAttrs(OpParse &);
  bool acceptUnknownAttr(const OpParse &, llvm::StringRef name, const char *at);
  bool takeCachePolicy(OpParse &, ir::Attribute policy, const char *at);
  /// Attributes that older dumps leave out because the operation did not have them.
  void olderDefaults(OpParse &);
  /// Makes the operation from what was read: resolves operands, infers types, checks printed ones.
  ir::Operation *build(OpParse &, ir::Block *);
  bool buildOperands(OpParse &, ir::OperationState &);
  bool buildResultTypes(OpParse &, ir::OperationState &);
  bool inferMissingResults(OpParse &, ir::OperationState &);
  /// The type of an operand that is not printed, as far as the row gives it; forward references need it.
  ir::Type impliedOperandType(const OpParse &, unsigned operand);
  /// Makes the operation at the end of the block, at the position of the text.
  ir::Operation *emit(const ir::OperationState &, ir::Block *, const char *at);
  bool unknownOperation(llvm::StringRef name, const char *at);
  bool parseOperand(OperandRef &);
  bool atDefinition(); // at `%a, %b:2 =`: the next operation, after one that ends here
  bool parseOperandList(llvm::SmallVectorImpl<OperandRef> &);
  bool parseSuccessor(OpParse &, llvm::SmallVectorImpl<OperandRef> &args);

  /// The value of that name; a forward reference makes a placeholder, of the type if it is known.
  ir::Value resolve(const OperandRef &, ir::Type expected = {});
  /// As resolve, for operations with regions, whose body is read even if an operand is bad: then a stand-in of the type
  /// is given and `ok` becomes false.
  ir::Value resolveTyped(const OperandRef &, ir::Type, bool &ok);
  bool define(llvm::StringRef name, llvm::ArrayRef<ir::Value>, const char *at);

  // Custom forms that build their operation (they have regions).
  bool parseModule(OpParse &, ir::Block *);
  bool parseFunc(OpParse &, ir::Block *);
  /// A function's arguments and results.
  struct FunctionHead {
    llvm::SmallVector<std::pair<llvm::StringRef, ir::Type>, 8> args;
    llvm::SmallVector<const char *, 8> positions; // of the arguments
    llvm::SmallVector<ir::Location, 8> locs;
    llvm::SmallVector<ir::Type, 2> results;
    llvm::SmallVector<ir::Attribute, 8> argAttrs, resAttrs; // a dictionary for each, …
    bool anyArgAttr = false, anyResAttr = false;            // … of which one is not empty
  };
  bool parseFunctionArguments(FunctionHead &);
  bool parseFunctionResults(FunctionHead &);
  /// `{…}`, or an empty dictionary where there is none; `any` becomes true if it is not empty.
  bool parseDictionary(llvm::SmallVectorImpl<ir::Attribute> &, bool &any);
  /// `%a = %init, …)` of a loop, whose arguments have no types yet; `context`: for messages.
  bool parseInitialized(llvm::StringRef context, llvm::SmallVectorImpl<std::pair<llvm::StringRef, ir::Type>> &args,
                        llvm::SmallVectorImpl<const char *> &positions, llvm::SmallVectorImpl<OperandRef> &inits);
  bool parseFor(OpParse &, ir::Block *);
  bool parseIf(OpParse &, ir::Block *);
  bool parseWhile(OpParse &, ir::Block *);
  bool parseExecuteRegion(OpParse &, ir::Block *);
  bool parseWarpSpecialize(OpParse &, ir::Block *);

  void skipFunctionBody();        // to its last brace, if it is found
  void recover(const char *from); // to the next line that starts an operation or closes a region
  /// Where the operation (or the nearest one around it), or an operand of it, stands in the text.
  ir::SourcePosition positionOf(const ir::Operation *) const;
  ir::DiagnosticEngine::TextPlace placeOf(const ir::Operation *, int operand);
  /// The first operation stands where the second one does.
  void standsFor(const ir::Operation *op, const ir::Operation *there) {
    if (auto it = positions_.find(there); it != positions_.end()) positions_[op] = it->second;
  }
  /// Null if the operation's form has no positions of operands.
  const char *placeOfOperand(const ir::Operation &, unsigned operand, const char *at);

private:
  friend struct DepthGuard;
  struct Definition {
    llvm::SmallVector<ir::Value, 2> values;
    const char *at = nullptr;
    bool bad = false; // defined by an operation with an error: uses are not reported again
  };
  struct Scope {
    llvm::StringMap<Definition> values;
    bool isolated = false;
  };
  struct Forward {
    OperandRef ref;
    ir::Operation *placeholder;
    unsigned scope;
  };
  Definition *lookup(llvm::StringRef name);
  void pushScope(bool isolated);
  bool popScope();

  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<Forward> forwards_;
  struct RegionBlocks {
    llvm::StringMap<std::pair<ir::Block *, const char *>> blocks; // position null once defined
  };
  std::vector<RegionBlocks> regions_;
  // Aliases are read where they are first used, from wherever they are defined. Their height and size, with the aliases
  // they use, are bounded, so that later walks of what was read (printing, mostly) are too.
  struct Alias {
    const char *at = nullptr;
    bool busy = false, known = false, bad = false;
    unsigned height = 0, size = 0;
    ir::Attribute attr;
    ir::Type type;
    ir::Location loc; // if isLocation: `#loc1 = loc(…)`, which has no attribute
    bool isLocation = false;
  };
  /// Runs `read` at the alias's text unless its value is known; reports what stands in the way at `at`.
  bool readAlias(Alias &, llvm::StringRef kind, llvm::StringRef name, const char *at, llvm::function_ref<bool()> read);
  /// What `#NAME =` is followed by: a location or an attribute.
  bool readAttributeAlias(Alias &);
  llvm::StringMap<Alias> attrAliases_, typeAliases_;
  llvm::DenseMap<const ir::Block *, llvm::StringSet<>> functions_; // the names of those in a module
  llvm::DenseMap<const ir::Operation *, const char *> positions_;
  std::vector<ir::Diagnostic> pending_, warnings_;
  llvm::StringSet<> attributesWarnedOf_;
  ir::Diagnostic firstUndefinedLocation_; // reported unless the text is cut off
  unsigned undefinedLocations_ = 0;
  unsigned errors_ = 0;
  bool quiet_ = false, saidUnclosed_ = false;
  const char *suspect_ = nullptr; // `{` of a region that may not be closed
  unsigned depth_ = 0, deepest_ = 0, size_ = 0;
  llvm::StringSet<> badNames_;
  ir::Type
      layoutElement_; // of the tensor whose layout is being read: older dot_op layouts leave out what follows from it
};

inline constexpr unsigned kMaxNesting = 200, kMaxAliasSize = 4096;

/// One level of nesting of the text or of what an alias stands for.
struct DepthGuard {
  ParserState &p;
  bool ok;
  explicit DepthGuard(ParserState &s) : p(s), ok(++s.depth_ < kMaxNesting) {
    ++s.size_;
    s.deepest_ = std::max(s.deepest_, s.depth_);
    if (!ok) s.error("nested too deeply");
  }
  ~DepthGuard() { --p.depth_; }
};

} // namespace tessera::frontend
