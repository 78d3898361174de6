// Drawings of layouts (see drawing.h).
#include "layouts/drawing.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tessera::layouts {

static constexpr int64_t kMaxCells = 65536, kMaxText = int64_t(1) << 22;

/// The number, in as many columns as the limit's own digits: the tool's rule, which gives numbers below 10 of 10 two.
static std::string padded(int64_t v, int64_t limit) {
  std::string s = std::to_string(v);
  return std::string(std::to_string(limit).size() - s.size(), ' ') + s;
}

static absl::StatusOr<LinearLayout> layoutToDraw(const Encoding &e, llvm::ArrayRef<int64_t> shape, int64_t limit) {
  auto l = e.toLinearLayout(shape);
  if (!l.ok()) return l;
  if (int64_t(1) << std::max(l->totalInBits(), l->totalOutBits()) > limit)
    return absl::InvalidArgumentError(
        llvm::formatv(
            "the tensor's layout has more than {0} places (of elements, or in registers of threads), which is "
            "the most that is drawn",
            limit)
            .str());
  return l;
}

static int64_t flatIndex(const Basis &x, llvm::ArrayRef<int64_t> shape) {
  int64_t at = 0;
  for (unsigned d = 0; d < shape.size(); ++d) at = at * shape[d] + x[d];
  return at;
}

/// Calls f(block, warp, lane, register, element's index), registers fastest.
template <class F> static void forEachPlace(const LinearLayout &l, F f) {
  for (int32_t b = 0; b < l.inDimSize(Dim::Block); ++b)
    for (int32_t w = 0; w < l.inDimSize(Dim::Warp); ++w)
      for (int32_t lane = 0; lane < l.inDimSize(Dim::Lane); ++lane)
        for (int32_t r = 0; r < l.inDimSize(Dim::Register); ++r)
          f(b, w, lane, r, l.apply({{Dim::Register, r}, {Dim::Lane, lane}, {Dim::Warp, w}, {Dim::Block, b}}));
}
/// Calls f(block, offset, element's index).
template <class F> static void forEachOffset(const LinearLayout &l, F f) {
  for (int32_t b = 0; b < l.inDimSize(Dim::Block); ++b)
    for (int32_t o = 0; o < l.inDimSize(Dim::Offset); ++o) f(b, o, l.apply({{Dim::Offset, o}, {Dim::Block, b}}));
}

static std::string coordinates(const Basis &x, llvm::ArrayRef<int64_t> shape, llvm::StringRef separator) {
  std::string s = "(";
  for (unsigned d = 0; d < x.size(); ++d) s += (d ? separator.str() : "") + padded(x[d], shape[d]);
  return s + ")";
}

/// The cells of the tensor's view, row by row.
static std::vector<std::string> cells(const Encoding &e, const LinearLayout &l, llvm::ArrayRef<int64_t> shape) {
  std::vector<std::string> out(int64_t(1) << l.totalOutBits());
  if (!e.isDistributed()) {
    size_t at = 0;
    forEachOffset(l, [&](int32_t, int32_t, const Basis &x) {
      if (at == out.size()) out.emplace_back();
      out[at++] = coordinates(x, shape, ":");
    });
    return out;
  }
  int32_t blocks = l.inDimSize(Dim::Block), lanes = l.inDimSize(Dim::Lane), threads = lanes * l.inDimSize(Dim::Warp),
          registers = l.inDimSize(Dim::Register);
  forEachPlace(l, [&](int32_t b, int32_t w, int32_t lane, int32_t r, const Basis &x) {
    std::string &cell = out[flatIndex(x, shape)], block = std::to_string(b), thread = std::to_string(w * lanes + lane),
                reg = std::to_string(r);
    // All padding stands before the cell.
    size_t full = std::to_string(blocks).size() + std::to_string(threads).size() + std::to_string(registers).size();
    if (!cell.empty()) cell += "|";
    cell += std::string(full - block.size() - thread.size() - reg.size(), ' ');
    if (blocks > 1) cell += "B" + block + ":";
    cell += "T" + thread + ":" + reg;
  });
  return out;
}

absl::StatusOr<std::string> drawTensorView(const Encoding &e, llvm::ArrayRef<int64_t> shape) {
  auto l = layoutToDraw(e, shape, kMaxText);
  if (!l.ok()) return l.status();
  auto text = cells(e, *l, shape);
  std::string out;
  size_t rank = shape.size(), row = shape.back();
  for (size_t i = 0; i < text.size(); ++i) {
    // Brackets open where a dimension begins and close where it ends.
    size_t opens = 0, closes = 0;
    int64_t run = 1;
    for (size_t d = rank; d-- > 0;) {
      run *= shape[d];
      opens += i % run == 0;
      closes += (i + 1) % run == 0;
    }
    if (i % row == 0) out += std::string(opens, '[') + std::string(rank - opens, ' ');
    out += text[i] + std::string(closes, ']');
    out += (i + 1) % row == 0 ? "\n" : e.isDistributed() ? ", " : ",";
  }
  return out;
}

absl::StatusOr<std::string> drawHardwareView(const Encoding &e, llvm::ArrayRef<int64_t> shape) {
  auto l = layoutToDraw(e, shape, kMaxText);
  if (!l.ok()) return l.status();
  std::string s;
  llvm::raw_string_ostream o(s);
  if (!e.isDistributed()) {
    forEachOffset(*l, [&](int32_t b, int32_t offset, const Basis &x) {
      if (offset == 0) o << "Block: " << b << ":\n";
      o << "Offset: " << offset << " -> " << coordinates(x, shape, ",") << "\n";
    });
    return s;
  }
  for (int32_t b = 0; b < l->inDimSize(Dim::Block); ++b) {
    if (l->inDimSize(Dim::Block) > 1) o << "Block" << b << ":\n";
    for (int32_t w = 0; w < l->inDimSize(Dim::Warp); ++w) {
      o << "Warp" << w << ":\n";
      for (int32_t r = 0; r < l->inDimSize(Dim::Register); ++r)
        for (int32_t lane = 0, n = l->inDimSize(Dim::Lane); lane < n; ++lane)
          o << coordinates(l->apply({{Dim::Register, r}, {Dim::Lane, lane}, {Dim::Warp, w}, {Dim::Block, b}}), shape,
                           ",")
            << (lane + 1 < n ? ", " : "\n");
    }
  }
  return s;
}

// ---- pictures -------------------------------------------------------------------------------------------------------

namespace {
struct Cell {
  std::string label, all; // the first holder; every holder
  int hue = 0, light = 85, holders = 0;
};
} // namespace

static std::string escaped(llvm::StringRef s) {
  std::string out;
  for (char c : s) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

/// Hues far apart for small numbers, by the golden angle.
static int hueOf(int n) { return int((n * int64_t(137508) / 1000 + 210) % 360); }

static std::vector<Cell> pictureCells(const Encoding &e, const LinearLayout &l, llvm::ArrayRef<int64_t> shape,
                                      int elementBits) {
  std::vector<Cell> out(int64_t(1) << l.totalOutBits());
  auto hold = [&](const Basis &x, std::string label, std::string all, int hue, int light) {
    Cell &c = out[flatIndex(x, shape)];
    if (!c.holders++) {
      c.label = std::move(label);
      c.hue = hue;
      c.light = light;
    }
    c.all += "\n" + all;
  };
  if (e.isDistributed()) {
    int32_t lanes = l.inDimSize(Dim::Lane), warps = l.inDimSize(Dim::Warp);
    bool several = l.inDimSize(Dim::Block) > 1;
    forEachPlace(l, [&](int32_t b, int32_t w, int32_t lane, int32_t r, const Basis &x) {
      hold(x, llvm::formatv("{0}:{1}", lane, r),
           llvm::formatv("{0}warp {1}, lane {2}, register {3}", several ? llvm::formatv("block {0}, ", b).str() : "", w,
                         lane, r),
           hueOf(b * warps + w), 70 + lane * 22 / std::max(1, lanes - 1));
    });
    return out;
  }
  forEachOffset(l, [&](int32_t b, int32_t offset, const Basis &x) {
    int bank = int64_t(offset) * elementBits / 32 % 32;
    hold(x, std::to_string(offset),
         llvm::formatv("offset {0}, bank {1} of 32{2}", offset, bank,
                       l.inDimSize(Dim::Block) > 1 ? llvm::formatv(", block {0}", b).str() : ""),
         bank * 360 / 32, 80);
  });
  return out;
}

absl::StatusOr<std::string> drawSvg(const Encoding &e, llvm::ArrayRef<int64_t> shape, int elementBits) {
  auto l = layoutToDraw(e, shape, kMaxText);
  if (!l.ok()) return l.status();
  if (l->totalOutBits() > 16)
    return absl::InvalidArgumentError(
        llvm::formatv("the tensor is too large to draw; at most {0} elements are drawn", kMaxCells).str());
  auto all = pictureCells(e, *l, shape, elementBits);
  size_t longest = 1;
  for (auto &c : all) longest = std::max(longest, c.label.size() + (c.holders > 1));
  int64_t columns = shape.back(), rows = all.size() / columns, w = longest * 6 + 8, h = 18;
  std::string s;
  llvm::raw_string_ostream o(s);
  o << llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                     "font-family=\"monospace\" font-size=\"9\" text-anchor=\"middle\">\n",
                     columns * w, rows * h);
  for (size_t i = 0; i < all.size(); ++i) {
    auto &c = all[i];
    int64_t x = i % columns * w, y = i / columns * h;
    std::string index;
    for (size_t d = shape.size(), rest = i; d-- > 0; rest /= shape[d])
      index = std::to_string(rest % shape[d]) + (index.empty() ? "" : ", ") + index;
    o << llvm::formatv("<g><title>({0}){1}</title><rect x=\"{2}\" y=\"{3}\" width=\"{4}\" height=\"{5}\" "
                       "fill=\"hsl({6},65%,{7}%)\" stroke=\"#777\" stroke-width=\"0.5\"/>"
                       "<text x=\"{8}\" y=\"{9}\">{10}{11}</text></g>\n",
                       index, c.all, x, y, w, h, c.hue, c.light, x + w / 2, y + 12, c.label, c.holders > 1 ? "+" : "");
  }
  o << "</svg>\n";
  return s;
}

absl::StatusOr<std::string> drawHtml(const Encoding &e, llvm::ArrayRef<int64_t> shape, int elementBits) {
  auto svg = drawSvg(e, shape, elementBits);
  if (!svg.ok()) return svg;
  auto l = e.toLinearLayout(shape);
  std::string s;
  llvm::raw_string_ostream o(s);
  std::string text = escaped(e.str()), size;
  for (auto d : shape) size += (size.empty() ? "" : " × ") + std::to_string(d);
  o << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << text
    << "</title>\n<style>body{font-family:"
    << "sans-serif;margin:1.5em}pre,code{background:#f4f4f4;padding:.2em}.legend "
       "span{display:inline-block;padding:.1em "
       ".6em;margin:0 .3em .3em 0}.drawing{overflow:auto}</style></head>\n<body><h1>"
    << size << "</h1>\n<p><code>" << text << "</code></p>\n<p class=\"legend\">";
  if (e.isDistributed()) {
    int32_t warps = l->inDimSize(Dim::Warp), blocks = l->inDimSize(Dim::Block);
    for (int32_t n = 0; n < std::min(64, warps * blocks); ++n)
      o << llvm::formatv("<span style=\"background:hsl({0},65%,75%)\">{1}warp {2}</span>", hueOf(n),
                         blocks > 1 ? llvm::formatv("block {0} ", n / warps).str() : "", n % warps);
    o << "cells: <code>lane:register</code>, + for more holders; lighter for higher lanes";
  } else {
    o << "cells: offset in elements, coloured by bank";
  }
  o << "</p>\n<div class=\"drawing\">" << *svg << "</div>\n<h2>Linear layout</h2>\n<pre>" << escaped(l->str())
    << "</pre>\n</body></html>\n";
  return s;
}

} // namespace tessera::layouts
