// Drawings of layouts (see drawing.h).
#include "layouts/drawing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

namespace {
struct Place {
  int32_t thread, reg, warp;
};
/// For every element, row-major, the places that hold it, by thread.
std::vector<std::vector<Place>> holders(const LinearLayout &l, llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<std::vector<Place>> out(n);
  int32_t lanes = l.inDimSize(Dim::Lane), warps = l.inDimSize(Dim::Warp), blocks = l.inDimSize(Dim::Block);
  for (int32_t b = 0; b < blocks; ++b)
    for (int32_t w = 0; w < warps; ++w)
      for (int32_t lane = 0; lane < lanes; ++lane)
        for (int32_t r = 0; r < l.inDimSize(Dim::Register); ++r) {
          auto x = l.apply({{Dim::Register, r}, {Dim::Lane, lane}, {Dim::Warp, w}, {Dim::Block, b}});
          int64_t at = 0;
          for (unsigned d = 0; d < shape.size(); ++d) at = at * shape[d] + x[d];
          out[at].push_back({(b * warps + w) * lanes + lane, r, w});
        }
  return out;
}
std::vector<std::string> cells(const Encoding &e, const LinearLayout &l, llvm::ArrayRef<int64_t> shape) {
  std::vector<std::string> out;
  if (e.isDistributed()) {
    auto h = holders(l, shape);
    int digits = std::to_string(l.inDimSize(Dim::Block) * l.inDimSize(Dim::Warp) * l.inDimSize(Dim::Lane) - 1).size();
    // As the tool pads them: thread numbers to three columns when an element has several holders and there are as many.
    (void)digits;
    int width = 0;
    for (auto &ps : h)
      for (auto &p : ps) width = std::max<int>(width, std::to_string(p.thread).size());
    for (auto &ps : h) {
      std::string s;
      for (auto &p : ps) {
        std::string t = std::to_string(p.thread);
        s += (s.empty() ? "" : "|") + std::string(width - t.size(), ' ') + "T" + t + ":" + std::to_string(p.reg);
      }
      out.push_back(s);
    }
    return out;
  }
  // Offset k (row-major over the shape) holds element L(k); every place says which element stands there.
  int64_t n = 1;
  for (auto d : shape) n *= d;
  for (int64_t k = 0; k < n; ++k) {
    auto x = l.apply({{Dim::Offset, int32_t(k)}});
    std::string s = "(";
    for (unsigned d = 0; d < x.size(); ++d) s += (d ? ":" : "") + std::to_string(x[d]);
    out.push_back(s + ")");
  }
  return out;
}
} // namespace

absl::StatusOr<std::string> drawTensorView(const Encoding &e, llvm::ArrayRef<int64_t> shape) {
  auto l = e.toLinearLayout(shape);
  if (!l.ok()) return l.status();
  auto text = cells(e, *l, shape);
  // Rows of the last dimension; brackets open and close with the outer ones. Cells of a distributed layout are set in a
  // common width after a space.
  size_t width = 0;
  for (auto &t : text) width = std::max(width, t.size());
  bool distributed = e.isDistributed();
  std::string out;
  int64_t row = shape.back();
  size_t rank = shape.size();
  for (size_t i = 0; i < text.size(); i += row) {
    // Opening brackets: as many dimensions as start here.
    size_t opens = 1, closes = 1;
    int64_t block = row;
    for (size_t d = rank - 1; d-- > 0;) {
      block *= shape[d];
      if (i % block == 0) ++opens;
      if ((i + row) % block == 0) ++closes;
    }
    out += std::string(opens, '[');
    if (opens == 1 && rank > 1 && !distributed) out += " ";
    for (int64_t c = 0; c < row; ++c) {
      if (c) out += ",";
      if (distributed) out += " " + std::string(width - text[i + c].size(), ' ');
      out += text[i + c];
    }
    out += std::string(closes, ']') + "\n";
  }
  return out;
}

absl::StatusOr<std::string> drawHardwareView(const Encoding &e, llvm::ArrayRef<int64_t> shape) {
  auto l = e.toLinearLayout(shape);
  if (!l.ok()) return l.status();
  std::string s;
  llvm::raw_string_ostream o(s);
  auto coordinates = [&](const Basis &x) {
    o << "(";
    llvm::interleaveComma(x, o);
    o << ")";
  };
  if (!e.isDistributed()) {
    int64_t n = 1;
    for (auto d : shape) n *= d;
    for (int64_t k = 0; k < n; ++k) {
      o << "Offset: " << k << " -> ";
      coordinates(l->apply({{Dim::Offset, int32_t(k)}}));
      o << "\n";
    }
    return s;
  }
  for (int32_t b = 0; b < l->inDimSize(Dim::Block); ++b)
    for (int32_t w = 0; w < l->inDimSize(Dim::Warp); ++w) {
      o << "Warp" << w << ":\n";
      for (int32_t r = 0; r < l->inDimSize(Dim::Register); ++r) {
        for (int32_t lane = 0; lane < l->inDimSize(Dim::Lane); ++lane) {
          if (lane) o << ", ";
          coordinates(l->apply({{Dim::Register, r}, {Dim::Lane, lane}, {Dim::Warp, w}, {Dim::Block, b}}));
        }
        o << "\n";
      }
    }
  return s;
}

absl::StatusOr<std::string> drawSvg(const Encoding &e, llvm::ArrayRef<int64_t> shape) {
  auto l = e.toLinearLayout(shape);
  if (!l.ok()) return l.status();
  auto text = cells(e, *l, shape);
  auto owners = e.isDistributed() ? holders(*l, shape) : std::vector<std::vector<Place>>();
  int64_t columns = shape.back(), rows = text.size() / columns;
  if (text.size() > 65536) return absl::InvalidArgumentError("the tensor is too large to draw; at most 65536 elements");
  int width = 0;
  for (auto &t : text) width = std::max<int>(width, t.size() * 6 + 8);
  std::string s = llvm::formatv(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"9\">\n",
      columns * width, rows * 18);
  for (size_t i = 0; i < text.size(); ++i) {
    int hue = owners.empty() ? int(i / columns * 47 % 360) : owners[i].empty() ? 0 : owners[i][0].warp * 97 % 360;
    int light = owners.empty() ? 85 : 92 - (owners[i].empty() ? 0 : owners[i][0].thread % 32);
    s += llvm::formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"18\" fill=\"hsl({3},70%,{4}%)\" "
                       "stroke=\"#888\" stroke-width=\"0.5\"/><text x=\"{5}\" y=\"{6}\">{7}</text>\n",
                       i % columns * width, i / columns * 18, width, hue, light, i % columns * width + 4,
                       i / columns * 18 + 12, text[i]);
  }
  return s + "</svg>\n";
}

} // namespace tessera::layouts
