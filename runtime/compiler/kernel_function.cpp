// The kernel of a module and its arguments (see kernel_function.h).
#include "runtime/compiler/kernel_function.h"
#include "ir/attribute_names.h"
#include "ir/ops.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/tensor_map.h"
#include "transforms/memory/warp_group_stores.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <optional>
#include <string>

namespace tessera::runtime {
using namespace ir;

absl::StatusOr<Operation *> selectKernel(const Module &m, llvm::StringRef name) {
  std::vector<Operation *> kernels;
  std::string list;
  for (auto &op : *m.body()) {
    auto f = op.dyn<tt::FuncOp>();
    if (!f || f.body().empty() || f.symVisibility() == "private") continue;
    if (f.symName() == name) return &op;
    kernels.push_back(&op);
    list += (list.empty() ? "" : ", ") + f.symName().str();
  }
  if (!name.empty())
    return absl::InvalidArgumentError(
        llvm::formatv("no kernel '{0}' in the module; it has: {1}", name, list.empty() ? "none" : list).str());
  if (kernels.size() == 1) return kernels[0];
  // Public ones are kernels; where a module says nothing of visibility, a single function is the kernel.
  std::vector<Operation *> publics;
  for (auto *k : kernels)
    if (k->cast<tt::FuncOp>().symVisibility() == "public") publics.push_back(k);
  if (publics.size() == 1) return publics[0];
  if (kernels.empty()) return absl::InvalidArgumentError("the module has no kernel (a tt.func with a body)");
  return absl::InvalidArgumentError("the module has several kernels: " + list +
                                    "; name one (--kernel, or \"kernel\" of a launch description)");
}

llvm::SmallVector<Operation *, 2> functionsOf(const Module &m, llvm::StringRef kernel) {
  llvm::SmallVector<Operation *, 2> functions;
  for (auto &op : *m.body()) {
    auto f = op.dyn<tt::FuncOp>();
    if (f && (f.symName() == kernel || f.symVisibility() == "private")) functions.push_back(&op);
  }
  return functions;
}

void keepReachable(Module &m, Operation *kernel) {
  llvm::SetVector<Operation *> reached;
  reached.insert(kernel);
  for (size_t i = 0; i < reached.size(); ++i)
    reached[i]->walk([&](Operation *op) {
      auto call = op->dyn<tt::CallOp>();
      if (Operation *callee = call ? m.lookupSymbol(call.callee()) : nullptr) reached.insert(callee);
    });
  for (auto &op : *m.body())
    if (auto f = op.dyn<tt::FuncOp>(); f && !f.body().empty() && !reached.contains(&op)) op.erase();
}

namespace {

/// "tensordesc<f16[64, 64]>"; empty where no buffer has such elements.
std::string descriptorTypeName(TensorDescType t) {
  Type element = t.element();
  std::string name = element.str();
  if (auto i = element.dyn_cast<IntegerType>())
    name = (i.signedness() == Signedness::Unsigned ? "u" : "i") + std::to_string(i.width());
  auto dtype = parseDType(name);
  return dtype ? DescriptorType{*dtype, t.shape().vec()}.str() : "";
}

std::string typeName(Type t) {
  if (auto p = t.dyn_cast<PointerType>()) return "*" + p.pointee().str();
  if (auto d = t.dyn_cast<TensorDescType>())
    if (std::string name = descriptorTypeName(d); !name.empty()) return name;
  return t.str();
}

/// How the launcher makes the tensor map of a descriptor that is an argument. Nothing before layouts are assigned.
/// `rows`: that a copy moves at once, of two dimensions; 0: as many as the layout's boxes have.
std::optional<TensorMapFormat> tensorMapFormat(TensorDescType t, int64_t rows) {
  auto *shared = layouts::dynCast<layouts::NvmmaSharedEncoding>(t.encoding());
  if (!shared) return std::nullopt;
  auto box = shared->copyBox(t.shape());
  if (!box.ok()) return std::nullopt; // lowering reports the copies that use it
  TensorMapFormat f;
  int spanBytes = shared->params().swizzlingByteWidth;
  f.swizzle = spanBytes ? int(llvm::Log2_32(spanBytes / 16)) : 0; // 32, 64, 128: 1, 2, 3
  f.elementBytes = int(t.element().bitWidth() / 8);
  f.elementType = transforms::tensorMapElementType(t.element());
  f.blockSize.assign(box->begin(), box->end());
  if (rows) f.blockSize[0] = rows;
  f.fp4Padded = shared->params().fp4Padded;
  return f;
}

} // namespace

std::vector<KernelMetadata::Arg> describeArguments(Operation *kernel) {
  std::vector<KernelMetadata::Arg> args;
  auto attributes = kernel->attr<ArrayAttr>("arg_attrs");
  for (auto *a : kernel->cast<tt::FuncOp>().body().front()->args()) {
    // The argument's name in the source, if its location has it.
    auto loc = a->loc;
    std::string name = loc.kind() == LocationKind::Name ? loc.name().str() : "arg" + std::to_string(a->index);
    KernelMetadata::Arg &arg = args.emplace_back();
    arg.name = name;
    arg.type = typeName(a->type);
    if (auto d = a->type.dyn_cast<TensorDescType>())
      arg.tensorMap = tensorMapFormat(d, transforms::rowsOfCopies(Value(a)).value_or(0));
    bool hasAttributes = attributes && a->index < attributes.size();
    auto dictionary = hasAttributes ? attributes[a->index].dyn_cast<DictionaryAttr>() : DictionaryAttr();
    Attribute expanded = dictionary ? dictionary.get(kDescriptorArgumentAttr) : Attribute();
    if (auto type = expanded ? expanded.dyn_cast<TypeAttr>() : TypeAttr())
      if (auto d = type.value().dyn_cast<TensorDescType>()) arg.descriptor = descriptorTypeName(d);
  }
  return args;
}

} // namespace tessera::runtime
