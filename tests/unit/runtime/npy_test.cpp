// The .npy format: round trips, Fortran order, and malformed files with their messages.
#include "runtime/launch/npy.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace tessera::runtime {
namespace {

/// A version 1 file with this header dictionary, as given.
std::string file(const std::string &dictionary, const std::string &data, char major = 1) {
  std::string size{char(dictionary.size() & 255), char(dictionary.size() >> 8)};
  if (major > 1) size += std::string(2, '\0');
  return std::string("\x93NUMPY") + major + '\0' + size + dictionary + data;
}
std::string describe(const std::string &descr, const std::string &order, const std::string &shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

TEST(Npy, RoundTripsEveryType) {
  for (unsigned i = 0; i < kDTypeCount; ++i) {
    DType t = DType(i);
    std::vector<uint8_t> data(6 * dtypeBytes(t));
    for (size_t k = 0; k < data.size(); ++k) data[k] = uint8_t(k * 37 + i);
    auto text = formatNpy(t, {2, 3}, data);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ((text->size() - data.size()) % 64, 0u) << "numpy aligns data to 64 bytes";
    auto a = parseNpy(*text, "t.npy");
    ASSERT_TRUE(a.ok()) << a.status();
    EXPECT_EQ(a->data, data);
    EXPECT_EQ(a->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(dtypeBytes(a->dtype), dtypeBytes(t));
  }
}

TEST(Npy, ReadsWhatNumpyWrites) {
  // np.save of np.asfortranarray([[1, 2, 3], [4, 5, 6]], dtype=int8): data in column order.
  auto a = parseNpy(file(describe("|i1", "True", "(2, 3)"), {1, 4, 2, 5, 3, 6}), "f.npy");
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->data, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(a->fortranOrder);
  for (const char *shape : {"()", "(1,)", "(1L,)", "(1, 1)", "(1,1,)", "( 1 )"})
    EXPECT_TRUE(parseNpy(file(describe("<f4", "False", shape), "abcd"), "s.npy").ok()) << shape;
  EXPECT_TRUE(parseNpy(file("{\"shape\":(0,9),\"descr\":\"<u2\",\"fortran_order\":True}", ""), "q.npy").ok());
  EXPECT_TRUE(parseNpy(file(describe("<f8", "False", "(1,)"), "abcdefgh", 2), "v2.npy").ok());
  EXPECT_TRUE(parseNpy(file(describe("<V2", "False", "(1,)"), "ab", 3), "v3.npy").ok());
}

TEST(Npy, ReorderIsItsOwnInverse) {
  std::vector<int64_t> shape{3, 1, 4, 2};
  std::vector<uint8_t> data(24 * 2);
  for (size_t i = 0; i < data.size(); ++i) data[i] = uint8_t(i);
  auto columns = reorder(data, shape, 2, true);
  // Element (2, 0, 3, 1) stands at 2 + 3·(0 + 1·(3 + 4·1)) = 23, and (1, 0, 0, 0) at 1.
  EXPECT_EQ(columns[23 * 2], data[23 * 2]);
  EXPECT_EQ(columns[1 * 2], data[8 * 2]);
  EXPECT_NE(columns, data);
  EXPECT_EQ(reorder(columns, shape, 2, false), data);
}

TEST(Npy, WriteChecksSizesAndPaths) {
  uint8_t data[4] = {};
  EXPECT_EQ(writeNpy("x.npy", DType::F32, {2}, data).message(),
            "x.npy: 4 bytes of f32 do not make an array of shape (2,)");
  auto s = writeNpy("/nonexistent-folder/x.npy", DType::F32, {1}, data);
  EXPECT_EQ(s.message(), "/nonexistent-folder/x.npy: No such file or directory");
  EXPECT_EQ(readNpy("/nonexistent-folder/x.npy").status().message(),
            "/nonexistent-folder/x.npy: No such file or directory");
  EXPECT_EQ(std::string(readNpy("/dev/zero").status().message()), "/dev/zero: is not a regular file");
}

struct Malformed {
  const char *name;
  std::string bytes;
  const char *message;
};
const std::string kMagic("\x93NUMPY", 6);
const Malformed kMalformed[] = {
    {"Empty", "", "is empty"},
    {"NoMagic", "PK\3\4aaaaaaaaaaaaaa", "is not a .npy file (no \\x93NUMPY at its start)"},
    {"MagicOnly", kMagic, "is cut off within its first 10 bytes"},
    {"VersionZero", kMagic + std::string("\0\0\0\0", 4), "is of .npy version 0.0; versions 1.0, 2.0 and 3.0 are read"},
    {"VersionNine", kMagic + std::string("\x9\0\0\0", 4), "is of .npy version 9.0; versions 1.0, 2.0 and 3.0 are read"},
    {"MinorOne", kMagic + std::string("\1\1\0\0", 4), "is of .npy version 1.1; versions 1.0, 2.0 and 3.0 are read"},
    {"Version2Short", kMagic + std::string("\2\0\0\0\0", 5), "is cut off within its first 12 bytes"},
    {"HeaderCutOff", kMagic + std::string("\1\0\x76\0{'descr'", 12),
     "is cut off within its header: that has 118 bytes, the file 8 after the header's start"},
    {"HugeHeader", kMagic + std::string("\2\0\xff\xff\xff\xff{}", 8),
     "is cut off within its header: that has 4294967295 bytes, the file 2 after the header's start"},
    {"EmptyHeader", file("", ""), "malformed header: expected '{' but the header ends"},
    {"EmptyDictionary", file("{}", ""), "malformed header: 'descr' is missing"},
    {"NoOrder", file("{'descr': '<f4', 'shape': ()}", "abcd"), "malformed header: 'fortran_order' is missing"},
    {"NoShape", file("{'descr': '<f4', 'fortran_order': False}", "abcd"), "malformed header: 'shape' is missing"},
    {"UnknownKey", file("{'dtype': '<f4'}", ""), "malformed header: unknown key 'dtype'"},
    {"KeyTwice", file("{'shape': (), 'shape': ()}", ""), "malformed header: key 'shape' appears twice"},
    {"NoColon", file("{'shape' ()}", ""), "malformed header: expected ':' at \"()}\""},
    {"NoComma", file("{'shape': () 'descr': '<f4'}", ""), "malformed header: expected ',' at \"'descr': '<f\""},
    {"OpenString", file("{'descr", ""), "malformed header: a string does not end"},
    {"OpenDictionary", file("{'shape': (),", ""), "malformed header: expected a key in quotes but the header ends"},
    {"TextAfter", file("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", ""),
     "malformed header: text after the dictionary"},
    {"OrderMaybe", file(describe("<f4", "Maybe", "()"), ""),
     "malformed header: 'fortran_order' must be True or False at \"Maybe, 'shap\""},
    {"Structured", file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", ""),
     "malformed header: structured arrays are not supported"},
    {"DescrNumber", file("{'descr': 4}", ""), "malformed header: expected the element type in quotes at \"4}\""},
    {"ShapeList", file(describe("<f4", "False", "[2]"), ""), "malformed header: expected '(' at \"[2], }\\n\""},
    {"NegativeSize", file(describe("<f4", "False", "(-1,)"), ""),
     "malformed header: expected a size in 'shape' at \"-1,), }\\n\""},
    {"HexSize", file(describe("<f4", "False", "(0x10,)"), ""), "malformed header: expected ',' at \"x10,), }\\n\""},
    {"SizeTooLong", file(describe("<f4", "False", "(99999999999999999999,)"), ""),
     "malformed header: a size in 'shape' is too large: 99999999999999999999"},
    {"TooManySizes",
     file(describe("<f4", "False",
                   [] {
                     std::string s = "(";
                     for (int i = 0; i < 65; ++i) s += "1,";
                     return s + ")";
                   }()),
          ""),
     "malformed header: 'shape' has more than 64 dimensions"},
    {"SizeOverflows", file(describe("<f4", "False", "(4294967296, 4294967296)"), ""),
     "its shape (4294967296, 4294967296) is too large"},
    {"BytesOverflow", file(describe("<f8", "False", "(2305843009213693952,)"), ""),
     "its shape (2305843009213693952,) is too large"},
    {"Complex", file(describe("<c8", "False", "()"), ""), "has elements of type '<c8', which is not supported"},
    {"Object", file(describe("|O", "False", "()"), ""), "has elements of type '|O', which is not supported"},
    {"NoType", file(describe("", "False", "()"), ""), "has elements of type '', which is not supported"},
    {"BigEndian", file(describe(">f4", "False", "()"), "abcd"),
     "holds big-endian data ('>f4'); only little endian is read"},
    {"DataCutOff", file(describe("<f4", "False", "(2, 3)"), "abcd"),
     "is cut off: shape (2, 3) of <f4 needs 24 bytes of data, there are 4"},
    {"DataTooLong", file(describe("<f4", "False", "(1,)"), "abcdefg"), "has 3 bytes after the data of shape (1,)"},
};

TEST(Npy, MalformedFilesHaveClearErrors) {
  for (auto &m : kMalformed) {
    auto a = parseNpy(m.bytes, "bad.npy");
    ASSERT_FALSE(a.ok()) << m.name;
    EXPECT_TRUE(absl::IsInvalidArgument(a.status())) << m.name;
    EXPECT_EQ(std::string(a.status().message()), std::string("bad.npy: ") + m.message) << m.name;
  }
}

TEST(Npy, NoDamageToAFileCrashesOrSlips) {
  // Every prefix of a file is an error; files with damaged bytes either parse or give an error, never more.
  std::vector<uint8_t> data(24, 7);
  std::string good = *formatNpy(DType::I16, {3, 4}, data);
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(parseNpy(llvm::StringRef(good).take_front(n), "p").ok()) << n;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = good;
    for (int k = 0; k < 3; ++k) damaged[random() % 100] = char(random());
    auto a = parseNpy(damaged, "d");
    if (a.ok()) {
      int64_t n = dtypeBytes(a->dtype);
      for (int64_t d : a->shape) n *= d;
      EXPECT_EQ(int64_t(a->data.size()), n);
    }
  }
}

} // namespace
} // namespace tessera::runtime
