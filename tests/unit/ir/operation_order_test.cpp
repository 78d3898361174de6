// Operation::isBeforeInBlock agrees with the list of the block, whatever is inserted, moved and erased between queries.
#include "frontend/parser.h"
#include "ir/builder.h"
#include "ir/context.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace tessera::ir {
namespace {

class OperationOrder : public testing::Test {
protected:
  void SetUp() override {
    DiagnosticEngine diag;
    constexpr llvm::StringLiteral kText = "tt.func public @k() {\n  gpu.barrier\n  gpu.barrier\n  tt.return\n}\n";
    module_ = frontend::parseModule(kText, "test.mlir", context_, diag);
    ASSERT_TRUE(module_);
    block_ = module_->body()->front()->region(0).front();
  }
  Operation *insertBefore(Operation *where) { return Builder(where).clone(block_->front()); }
  std::vector<Operation *> inBlock() {
    std::vector<Operation *> all;
    for (auto &op : *block_) all.push_back(&op);
    return all;
  }
  void expectOrder() {
    std::vector<Operation *> all = inBlock();
    for (size_t i = 1; i < all.size(); ++i) {
      ASSERT_TRUE(all[i - 1]->isBeforeInBlock(all[i])) << i;
      ASSERT_FALSE(all[i]->isBeforeInBlock(all[i - 1])) << i;
      ASSERT_FALSE(all[i]->isBeforeInBlock(all[i])) << i;
    }
    ASSERT_TRUE(all.front()->isBeforeInBlock(all.back()));
  }

  Context context_;
  std::unique_ptr<Module> module_;
  Block *block_ = nullptr;
};

TEST_F(OperationOrder, HoldsForInsertionsBeforeOneOperation) {
  expectOrder();
  for (int i = 0; i < 1000; ++i) {
    Operation *op = insertBefore(block_->back());
    ASSERT_TRUE(op->prev()->isBeforeInBlock(op));
    ASSERT_TRUE(op->isBeforeInBlock(block_->back()));
  }
  expectOrder();
}

TEST_F(OperationOrder, HoldsForInsertionsAfterOneOperation) {
  expectOrder();
  for (int i = 0; i < 1000; ++i) {
    Operation *op = insertBefore(block_->front()->next());
    ASSERT_TRUE(block_->front()->isBeforeInBlock(op));
    ASSERT_TRUE(op->isBeforeInBlock(op->next()));
  }
  expectOrder();
}

TEST_F(OperationOrder, HoldsForInsertionsAtTheEnds) {
  expectOrder();
  for (int i = 0; i < 1000; ++i) {
    Operation *op = insertBefore(block_->front());
    ASSERT_TRUE(op->isBeforeInBlock(op->next()));
    block_->front()->moveAfter(block_->back());
    ASSERT_TRUE(block_->back()->prev()->isBeforeInBlock(block_->back()));
    insertBefore(block_->front());
  }
  expectOrder();
}

TEST_F(OperationOrder, HoldsForAnyEdits) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::vector<Operation *> all = inBlock();
    auto any = [&] { return all[random() % all.size()]; };
    Operation *at = any();
    Operation *moved = any();
    switch (random() % 4) {
    case 0:
    case 1: insertBefore(at); break;
    case 2:
      if (at != moved) random() % 2 ? moved->moveBefore(at) : moved->moveAfter(at);
      break;
    case 3:
      if (all.size() > 20) at->erase();
    }
    if (random() % 8 == 0) expectOrder();
  }
}

} // namespace
} // namespace tessera::ir
