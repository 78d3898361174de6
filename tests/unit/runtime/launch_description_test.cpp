// Launch descriptions: malformed ones with their messages, what good ones read as, and the contents of buffers.
#include "runtime/launch/argument_data.h"
#include "runtime/launch/launch_description.h"
#include "runtime/launch/npy.h"
#include "runtime/launch/random.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>

namespace tessera::runtime {
namespace {

struct Malformed {
  const char *name, *text, *message;
};
// clang-format off
const Malformed kMalformed[] = {
    {"Empty", R"()",
     R"(l.json:1:1: this is not JSON: a launch description is an object, {…} (docs/launch.md))"},
    {"NotJson", R"(kernel: vecadd)",
     R"(l.json:1:1: this is not JSON: a launch description is an object, {…} (docs/launch.md))"},
    {"CutOff", R"({
 "grid": [1, 1, 1],
 "args": [)",
     R"(l.json:3:10: syntax error: Unexpected EOF)"},
    {"TrailingComma", R"({"grid":[1],
 "args":[],})",
     R"(l.json:2:12: syntax error: Expected object key)"},
    {"TextAfter", R"({"grid":[1],"args":[]} {})",
     R"(l.json:1:23: syntax error: Text after end of document)"},
    {"BadEscape", R"({"grid":[1],"args":[],"kernel":"\q"})",
     R"(l.json:1:34: syntax error: Invalid escape sequence)"},
    {"OpenString", R"({"kernel":"vec)",
     R"(l.json:1:14: syntax error: Unterminated string)"},
    {"Comment", R"({ // the kernel
})",
     R"(l.json:1:3: syntax error: Expected object key)"},
    {"SingleQuotes", R"({'grid': [1]})",
     R"(l.json:1:2: syntax error: Expected object key)"},
    {"RootList", R"([1, 2])",
     R"(l.json:1:1: must be an object, not a list)"},
    {"RootNumber", R"(7)",
     R"(l.json:1:1: must be an object, not a number)"},
    {"EmptyObject", R"({})",
     R"(l.json:1:1: grid: is missing
l.json:1:1: args: is missing)"},
    {"KeyTwice", R"({"grid":[1],
 "args":[],
 "grid":[2]})",
     R"(l.json:3:2: grid: the key stands twice in its object)"},
    {"ArgKeyTwice", R"({"grid":[1],"args":[{"name":"n","scalar":1,"type":"i32","scalar":2}]})",
     R"(l.json:1:57: args[0].scalar: the key stands twice in its object)"},
    {"NumbersOfOtherLanguages", R"({"grid":[04, +4],
 "args":[],"flops":1.,"bytes":-01,"triton_x":[-0, 1.e3, 10E+1]})",
     R"(l.json:1:10: syntax error: '04' is no number of JSON, such as 4, -1.5 or 1e-3
l.json:1:14: syntax error: '+4' is no number of JSON, such as 4, -1.5 or 1e-3
l.json:2:20: syntax error: '1.' is no number of JSON, such as 4, -1.5 or 1e-3
l.json:2:31: bytes: must not be negative
l.json:2:31: syntax error: '-01' is no number of JSON, such as 4, -1.5 or 1e-3
l.json:2:51: syntax error: '1.e3' is no number of JSON, such as 4, -1.5 or 1e-3)"},
    {"UnknownRootKey", R"({"gird":[1],"grid":[1],"args":[]})",
     R"(l.json:1:9: gird: unknown key; did you mean "grid"?)"},
    {"UnknownRootKeyFar", R"({"zzzzzzzz":1,"grid":[1],"args":[]})",
     R"(l.json:1:13: zzzzzzzz: unknown key; known: kernel, ttir, grid, num_warps, num_stages, num_ctas, waves_per_eu, matrix_instr_nonkdim, maxnreg, args, expected, flops, bytes)"},
    {"KernelNumber", R"({"kernel":3,"grid":[1],"args":[]})",
     R"(l.json:1:11: kernel: must be a string, not a number)"},
    {"KernelEmpty", R"({"kernel":"","grid":[1],"args":[]})",
     R"(l.json:1:11: kernel: must name a function; without the key it is the only one)"},
    {"TtirEmpty", R"({"ttir":"","grid":[1],"args":[]})",
     R"(l.json:1:9: ttir: must name a file)"},
    {"TtirControl", R"({"ttir":"a\u0000b","grid":[1],"args":[]})",
     R"(l.json:1:9: ttir: has a control character)"},
    {"GridNumber", R"({"grid":4,"args":[]})",
     R"(l.json:1:9: grid: must be a list, not a number)"},
    {"GridEmpty", R"({"grid":[],"args":[]})",
     R"(l.json:1:9: grid: must have one to three sizes)"},
    {"GridFour", R"({"grid":[1,1,1,1],"args":[]})",
     R"(l.json:1:9: grid: must have one to three sizes)"},
    {"GridNegative", R"({"grid":[1,-1],"args":[]})",
     R"(l.json:1:12: grid[1]: must be between 1 and 2147483647, not -1)"},
    {"GridZero", R"({"grid":[4,0],"args":[]})",
     R"(l.json:1:12: grid[1]: must be between 1 and 2147483647, not 0)"},
    {"GridFraction", R"({"grid":[1.5],"args":[]})",
     R"(l.json:1:10: grid[0]: must be an integer, not 1.5)"},
    {"GridTooLarge", R"({"grid":[2147483648],"args":[]})",
     R"(l.json:1:10: grid[0]: must be between 1 and 2147483647, not 2147483648)"},
    {"GridYTooLarge", R"({"grid":[1,2147483648],"args":[]})",
     R"(l.json:1:12: grid[1]: must be between 1 and 2147483647, not 2147483648)"},
    {"GridString", R"({"grid":["4"],"args":[]})",
     R"(l.json:1:10: grid[0]: must be an integer, not a string)"},
    {"GridHuge", R"({"grid":[1e400],"args":[]})",
     R"(l.json:1:10: grid[0]: must be between 1 and 2147483647, not inf)"},
    {"WarpsThree", R"({"grid":[1],"args":[],"num_warps":3})",
     R"(l.json:1:35: num_warps: must be a power of two up to 64, not 3)"},
    {"WarpsZero", R"({"grid":[1],"args":[],"num_warps":0})",
     R"(l.json:1:35: num_warps: must be a power of two up to 64, not 0)"},
    {"WarpsNegative", R"({"grid":[1],"args":[],"num_warps":-1})",
     R"(l.json:1:35: num_warps: must be a power of two up to 64, not -1)"},
    {"WarpsOverflow", R"({"grid":[1],"args":[],"num_warps":4294967300})",
     R"(l.json:1:35: num_warps: must be a power of two up to 64, not 4294967300)"},
    {"StagesHuge", R"({"grid":[1],"args":[],"num_stages":1e30})",
     R"(l.json:1:36: num_stages: must be a whole number from 0 to 100, not 1e+30)"},
    {"WarpsMany", R"({"grid":[1],"args":[],"num_warps":128})",
     R"(l.json:1:35: num_warps: must be a power of two up to 64, not 128)"},
    {"WavesPerEuMany", R"({"grid":[1],"args":[],"waves_per_eu":17})",
     R"(l.json:1:38: waves_per_eu: must be a whole number from 0 to 16, not 17)"},
    {"MatrixTileOdd", R"({"grid":[1],"args":[],"matrix_instr_nonkdim":8})",
     R"(l.json:1:46: matrix_instr_nonkdim: must be 0, 16 or 32, not 8)"},
    {"StagesZero", R"({"grid":[1],"args":[],"num_stages":-1})",
     R"(l.json:1:36: num_stages: must be a whole number from 0 to 100, not -1)"},
    {"CtasThree", R"({"grid":[1],"args":[],"num_ctas":3})",
     R"(l.json:1:34: num_ctas: must be a power of two up to 16, not 3)"},
    {"FlopsNegative", R"({"grid":[1],"args":[],"flops":-1})",
     R"(l.json:1:31: flops: must not be negative)"},
    {"NoArgs", R"({"grid":[1]})",
     R"(l.json:1:1: args: is missing)"},
    {"ArgsObject", R"({"grid":[1],"args":{}})",
     R"(l.json:1:20: args: must be a list, not an object)"},
    {"ArgNumber", R"({"grid":[1],"args":[5]})",
     R"(l.json:1:21: args[0]: must be an object, not a number)"},
    {"ArgNothing", R"({"grid":[1],"args":[{"name":"x"}]})",
     R"(l.json:1:21: args[0]: is neither a scalar ("scalar" and "type") nor a buffer ("dtype" and "shape"))"},
    {"ArgNoName", R"({"grid":[1],"args":[{"scalar":1,"type":"i32"}]})",
     R"(l.json:1:21: args[0].name: is missing)"},
    {"NameEmpty", R"({"grid":[1],"args":[{"name":"","scalar":1,"type":"i32"}]})",
     R"(l.json:1:29: args[0].name: must not be empty)"},
    {"NameIsPath", R"({"grid":[1],"args":[{"name":"../x","dtype":"f32","shape":[4]}]})",
     R"(l.json:1:29: args[0].name: must be usable as a file's name)"},
    {"NameTwice", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4]},
{"name":"x","dtype":"f32","shape":[4]}]})",
     R"(l.json:2:9: args[1].name: "x" is the name of args[0] already)"},
    {"ScalarNoType", R"({"grid":[1],"args":[{"name":"n","scalar":1}]})",
     R"(l.json:1:21: args[0].type: is missing)"},
    {"ScalarUnknownType", R"({"grid":[1],"args":[{"name":"n","scalar":1,"type":"i31"}]})",
     R"(l.json:1:51: args[0].type: unknown scalar type "i31"; did you mean "i1"?)"},
    {"ScalarPointerType", R"({"grid":[1],"args":[{"name":"n","scalar":1,"type":"!tt.ptr<f32>"}]})",
     R"(l.json:1:51: args[0].type: unknown scalar type "!tt.ptr<f32>"; known: i1, i8, i16, i32, i64, f16, bf16, f32, f64)"},
    {"ScalarString", R"({"grid":[1],"args":[{"name":"n","scalar":"1","type":"i32"}]})",
     R"(l.json:1:42: args[0].scalar: must be an integer, not a string)"},
    {"ScalarFraction", R"({"grid":[1],"args":[{"name":"n","scalar":1.5,"type":"i32"}]})",
     R"(l.json:1:42: args[0].scalar: must be an integer, not 1.5)"},
    {"ScalarTooLarge", R"({"grid":[1],"args":[{"name":"n","scalar":4294967296,"type":"i32"}]})",
     R"(l.json:1:42: args[0].scalar: must be between -2147483648 and 4294967295, not 4294967296)"},
    {"ScalarTooSmall", R"({"grid":[1],"args":[{"name":"n","scalar":-129,"type":"i8"}]})",
     R"(l.json:1:42: args[0].scalar: must be between -128 and 255, not -129)"},
    {"ScalarI1", R"({"grid":[1],"args":[{"name":"n","scalar":2,"type":"i1"}]})",
     R"(l.json:1:42: args[0].scalar: must be between 0 and 1, not 2)"},
    {"ScalarI64", R"({"grid":[1],"args":[{"name":"n","scalar":18446744073709551616,"type":"i64"}]})",
     R"(l.json:1:42: args[0].scalar: must be an integer of 64 bits, not 1.8446744073709552e+19)"},
    {"ScalarNull", R"({"grid":[1],"args":[{"name":"n","scalar":null,"type":"i32"}]})",
     R"(l.json:1:42: args[0].scalar: must be an integer, not null)"},
    {"ScalarF16TooLarge", R"({"grid":[1],"args":[{"name":"n","scalar":65520,"type":"f16"}]})",
     R"(l.json:1:42: args[0].scalar: is too large for f16)"},
    {"ScalarWord", R"({"grid":[1],"args":[{"name":"n","scalar":"infinity","type":"f32"}]})",
     R"(l.json:1:42: args[0].scalar: must be a number, "inf", "-inf" or "nan")"},
    {"ScalarHugeFloat", R"({"grid":[1],"args":[{"name":"n","scalar":1e999,"type":"f64"}]})",
     R"(l.json:1:42: args[0].scalar: is too large for a number)"},
    {"ScalarWithShape", R"({"grid":[1],"args":[{"name":"n","scalar":1,"type":"i32","shape":[1]}]})",
     R"(l.json:1:65: args[0].shape: unknown key; known: name, scalar, type)"},
    {"DtypeMissing", R"({"grid":[1],"args":[{"name":"x","shape":[4]}]})",
     R"(l.json:1:21: args[0].dtype: is missing)"},
    {"DtypeUnknown", R"({"grid":[1],"args":[{"name":"x","dtype":"fp32","shape":[4]}]})",
     R"(l.json:1:41: args[0].dtype: unknown element type "fp32"; did you mean "f32"?)"},
    {"DtypeFar", R"({"grid":[1],"args":[{"name":"x","dtype":"complex128","shape":[4]}]})",
     R"(l.json:1:41: args[0].dtype: unknown element type "complex128"; known: i1, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, f8E4M3B11FNUZ, f8E4M3, f8E3M4, f8E8M0FNU)"},
    {"ShapeMissing", R"({"grid":[1],"args":[{"name":"x","dtype":"f32"}]})",
     R"(l.json:1:21: args[0].shape: is missing)"},
    {"ShapeNumber", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":4}]})",
     R"(l.json:1:55: args[0].shape: must be a list, not a number)"},
    {"ShapeNegative", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4,-4]}]})",
     R"(l.json:1:58: args[0].shape[1]: must be between 0 and 1099511627776, not -4)"},
    {"ShapeString", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":["4"]}]})",
     R"(l.json:1:56: args[0].shape[0]: must be an integer, not a string)"},
    {"ShapeOverflow", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[1099511627776,1099511627776]}]})",
     R"(l.json:1:55: args[0].shape: is a buffer of more than 1 TiB)"},
    {"ShapeOverflowZero", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[0,1099511627776,1099511627776]}]})",
     R"(l.json:1:55: args[0].shape: is a buffer of more than 1 TiB)"},
    {"ShapeTooLarge", R"({"grid":[1],"args":[{"name":"x","dtype":"f64","shape":[1048576,1048576]}]})",
     R"(l.json:1:55: args[0].shape: is a buffer of more than 1 TiB)"},
    {"ShapeWrapsToSmall", R"({"grid":[1],"args":[{"name":"x","dtype":"i8","shape":[4294967296,4294967296]}]})",
     R"(l.json:1:21: args[0]: needs "file" or "fill" (only floats are "randn" without them)
l.json:1:54: args[0].shape: is a buffer of more than 1 TiB)"},
    {"FileAndFill", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"file":"a.npy","fill":0}]})",
     R"(l.json:1:21: args[0]: has both "file" and "fill")"},
    {"FileNumber", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"file":1}]})",
     R"(l.json:1:66: args[0].file: must be a string, not a number)"},
    {"FillUnknown", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"fill":"rand"}]})",
     R"(l.json:1:66: args[0].fill: unknown fill "rand"; did you mean "randn"?)"},
    {"FillList", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"fill":[0]}]})",
     R"(l.json:1:66: args[0].fill: must be a number, "randn", "randint" or "poison")"},
    {"FillFractionInt", R"({"grid":[1],"args":[{"name":"x","dtype":"i32","shape":[4],"fill":0.5}]})",
     R"(l.json:1:66: args[0].fill: is no value of i32)"},
    {"FillTooLargeInt", R"({"grid":[1],"args":[{"name":"x","dtype":"u8","shape":[4],"fill":256}]})",
     R"(l.json:1:65: args[0].fill: is no value of u8)"},
    {"FillNanInt", R"({"grid":[1],"args":[{"name":"x","dtype":"i32","shape":[4],"fill":"nan"}]})",
     R"(l.json:1:66: args[0].fill: is no value of i32)"},
    {"RandnInt", R"({"grid":[1],"args":[{"name":"x","dtype":"i32","shape":[4],"fill":"randn"}]})",
     R"(l.json:1:66: args[0].fill: "randn" needs a floating-point element type, not i32; use "randint")"},
    {"NothingInt", R"({"grid":[1],"args":[{"name":"x","dtype":"i32","shape":[4]}]})",
     R"(l.json:1:21: args[0]: needs "file" or "fill" (only floats are "randn" without them))"},
    {"RandintNoBounds", R"({"grid":[1],"args":[{"name":"x","dtype":"i32","shape":[4],"fill":"randint"}]})",
     R"(l.json:1:21: args[0].lo: is missing
l.json:1:21: args[0].hi: is missing)"},
    {"RandintEmpty", R"({"grid":[1],"args":[{"name":"x","dtype":"i32","shape":[4],"fill":"randint","lo":3,"hi":3}]})",
     R"(l.json:1:88: args[0].hi: must be above "lo" (3), not 3)"},
    {"RandintTooLow", R"({"grid":[1],"args":[{"name":"x","dtype":"u8","shape":[4],"fill":"randint","lo":-1,"hi":3}]})",
     R"(l.json:1:80: args[0].lo: is no value of u8)"},
    {"RandintTooHigh", R"({"grid":[1],"args":[{"name":"x","dtype":"i8","shape":[4],"fill":"randint","lo":0,"hi":200}]})",
     R"(l.json:1:87: args[0].hi: is beyond the values of i8)"},
    {"LoWithoutRandint", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"fill":1,"lo":0}]})",
     R"(l.json:1:73: args[0].lo: means something with "randint" only)"},
    {"ScaleWithFill", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"fill":1,"scale":2}]})",
     R"(l.json:1:76: args[0].scale: means something with "randn" only)"},
    {"ScaleString", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"scale":"2"}]})",
     R"(l.json:1:67: args[0].scale: must be a number, not a string)"},
    {"TransposedNumber", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"transposed":1}]})",
     R"(l.json:1:72: args[0].transposed: must be true or false, not a number)"},
    {"OffsetAfterEnd", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"offset":5}]})",
     R"(l.json:1:68: args[0].offset: must be between 0 and 4, not 5)"},
    {"OffsetOfDescriptor", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"offset":8,"block_shape":[8,8]}]})",
     R"(l.json:1:70: args[0].offset: excludes "block_shape": a descriptor describes its tensor)"},
    {"UnknownArgKey", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shapes":[4]}]})",
     R"(l.json:1:21: args[0].shape: is missing
l.json:1:56: args[0].shapes: unknown key; did you mean "shape"?)"},
    {"UnknownArgKeyTypo", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4],"flie":"a.npy"}]})",
     R"(l.json:1:66: args[0].flie: unknown key; did you mean "file"?)"},
    {"DescriptorRank", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[1,1,1,1,1,8],"block_shape":[1,1,1,1,1,8]}]})",
     R"(l.json:1:55: args[0].shape: must have 1 to 5 dimensions, not 6)"},
    {"DescriptorNoDimensions", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[],"block_shape":[]}]})",
     R"(l.json:1:55: args[0].shape: must have 1 to 5 dimensions, not 0)"},
    {"DescriptorEmpty", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[0,8],"block_shape":[1,8]}]})",
     R"(l.json:1:55: args[0].shape: must have sizes from 1 to 2147483647, not 0)"},
    {"DescriptorBlockRank", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[8]}]})",
     R"(l.json:1:75: args[0].block_shape: must have as many sizes as the shape has dimensions, 2, not 1)"},
    {"DescriptorBlockSize", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[8,6]}]})",
     R"(l.json:1:75: args[0].block_shape: must have powers of two, and one size is 6)"},
    {"DescriptorBlockTooLarge", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[1024,2048]}]})",
     R"(l.json:1:75: args[0].block_shape: is too large: a block has at most 1048576 elements)"},
    {"DescriptorBlockString", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[8,"8"]}]})",
     R"(l.json:1:78: args[0].block_shape[1]: must be an integer, not a string)"},
    {"DescriptorBlockNumber", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8],"block_shape":8}]})",
     R"(l.json:1:73: args[0].block_shape: must be a list, not a number)"},
    {"DescriptorRowsMisaligned", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,9],"block_shape":[8,8]}]})",
     R"(l.json:1:55: args[0].shape: strides must be multiples of 16 bytes, except for the last, and one is 9 elements of f16, 18 bytes; "strides" can say others)"},
    {"DescriptorStrideMisaligned", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,9],"block_shape":[8,8],"strides":[12,1]}]})",
     R"(l.json:1:91: args[0].strides: must be multiples of 16 bytes, except for the last, and one is 12 elements of f16, 24 bytes)"},
    {"DescriptorLastStride", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[8,8],"strides":[16,2]}]})",
     R"(l.json:1:91: args[0].strides: must end in 1, not 2: rows are contiguous)"},
    {"DescriptorStrideRank", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[8,8],"strides":[1]}]})",
     R"(l.json:1:91: args[0].strides: must have as many numbers as the shape has dimensions, 2, not 1)"},
    {"DescriptorStrideNegative", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[8,8],"strides":[-8,1]}]})",
     R"(l.json:1:91: args[0].strides: must be from 0 to less than 2^40 bytes, and one is -8 elements of f16)"},
    {"DescriptorRowsOverlap", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,16],"block_shape":[8,8],"strides":[8,1]}]})",
     R"(l.json:1:92: args[0].strides: let rows overlap: one is 8, and the rows below span 16 elements)"},
    {"DescriptorTooLarge", R"({"grid":[1],"args":[{"name":"x","dtype":"f64","shape":[2000000000,8],"block_shape":[8,8],"strides":[1000000,1]}]})",
     R"(l.json:1:100: args[0].strides: give a buffer of more than 1 TiB)"},
    {"DescriptorPadding", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[8,8],"padding":"one"}]})",
     R"(l.json:1:91: args[0].padding: unknown padding "one"; known: zero, nan)"},
    {"DescriptorPaddingNumber", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[8,8],"padding":0}]})",
     R"(l.json:1:91: args[0].padding: must be a string, not a number)"},
    {"DescriptorPaddingOfIntegers", R"({"grid":[1],"args":[{"name":"x","dtype":"i16","shape":[8,8],"fill":0,"block_shape":[8,8],"padding":"nan"}]})",
     R"(l.json:1:100: args[0].padding: cannot be NaN: the elements are i16)"},
    {"DescriptorOfBits", R"({"grid":[1],"args":[{"name":"x","dtype":"i1","shape":[8,16],"fill":0,"block_shape":[8,8]}]})",
     R"(l.json:1:41: args[0].dtype: must have 8 bits or more, and i1 is one)"},
    {"DescriptorTransposed", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"block_shape":[8,8],"transposed":true}]})",
     R"(l.json:1:94: args[0].transposed: excludes "block_shape": the rows of a tensor descriptor are contiguous)"},
    {"StridesOfNoDescriptor", R"({"grid":[1],"args":[{"name":"x","dtype":"f16","shape":[8,8],"strides":[8,1],"padding":"zero"}]})",
     R"(l.json:1:71: args[0].strides: means something with "block_shape" only
l.json:1:87: args[0].padding: means something with "block_shape" only)"},
    {"ExpectedList", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4]}],"expected":[]})",
     R"(l.json:1:72: expected: must be an object, not a list)"},
    {"ExpectedNoIndex", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4]}],"expected":{"x":{"file":"o.npy"}}})",
     R"(l.json:1:77: expected.x: the key must be the index of an argument)"},
    {"ExpectedLeadingZero", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4]}],"expected":{"00":{"file":"o.npy"}}})",
     R"(l.json:1:78: expected["00"]: the key must be the index of an argument)"},
    {"ExpectedBeyond", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4]}],"expected":{"1":{"file":"o.npy"}}})",
     R"(l.json:1:77: expected["1"]: there is no argument 1; "args" has 1)"},
    {"ExpectedScalar", R"({"grid":[1],"args":[{"name":"n","scalar":1,"type":"i32"}],"expected":{"0":{"file":"o.npy"}}})",
     R"(l.json:1:75: expected["0"]: args[0] ("n") is a scalar, not an output)"},
    {"ExpectedString", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4]}],"expected":{"0":"o.npy"}})",
     R"(l.json:1:77: expected["0"]: must be an object, not a string)"},
    {"ExpectedNoFile", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4]}],"expected":{"0":{"rel_l2":0}}})",
     R"(l.json:1:77: expected["0"].file: is missing)"},
    {"ExpectedNegative", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4]}],"expected":{"0":{"file":"o.npy","rel_l2":-1}}})",
     R"(l.json:1:102: expected["0"].rel_l2: must not be negative)"},
    {"ExpectedUnknownKey", R"({"grid":[1],"args":[{"name":"x","dtype":"f32","shape":[4]}],"expected":{"0":{"file":"o.npy","rel_12":0}}})",
     R"(l.json:1:102: expected["0"].rel_12: unknown key; did you mean "rel_l2"?)"},
    {"ThreeErrors", R"({"grid":[0.5],
 "num_warps":5,
 "args":[{"name":"x","dtype":"f31","shape":[4]}]})",
     R"(l.json:1:10: grid[0]: must be an integer, not 0.5
l.json:2:14: num_warps: must be a power of two up to 64, not 5
l.json:3:30: args[0].dtype: unknown element type "f31"; did you mean "f32"?)"},
};
// clang-format on

TEST(LaunchDescription, MalformedOnesHaveLocatedErrors) {
  for (auto &m : kMalformed) {
    auto d = parseLaunch(m.text, "l.json");
    ASSERT_FALSE(d.ok()) << m.name;
    EXPECT_TRUE(absl::IsInvalidArgument(d.status())) << m.name;
    EXPECT_EQ(std::string(d.status().message()), m.message) << m.name;
  }
}

std::string onlyBuffer(const std::string &rest) { return R"({"grid": [1], "args": [{"name": "x", )" + rest + "}]}"; }

TEST(LaunchDescription, MalformedOnesThatAreLong) {
  EXPECT_EQ(std::string(parseLaunch(std::string(100000, '['), "l").status().message()),
            "l:1:101: nested more than 100 deep");
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  EXPECT_EQ(parseLaunch(onlyBuffer(R"("dtype": "f32", "shape": [)" + ones + "]"), "l").status().message(),
            "l:1:63: args[0].shape: has more than 64 dimensions");
  std::string keys;
  for (int i = 0; i < 30; ++i) keys += "\"k" + std::to_string(i) + "\": 0,\n";
  auto s = std::string(parseLaunch("{" + keys + R"("grid": [1], "args": []})", "l").status().message());
  EXPECT_EQ(std::count(s.begin(), s.end(), '\n'), 20);
  EXPECT_THAT(s, testing::EndsWith("\nl: and 10 more errors"));
  EXPECT_EQ(std::string(parseLaunch("{\"grid\": \"\xff\"}", "l").status().message().substr(0, 20)),
            "l:1:10: syntax error");
}
TEST(LaunchDescription, DamagedTextNeverCrashes) {
  auto buffer = llvm::MemoryBuffer::getFile(TESSERA_SOURCE_DIR "/tests/kernels/layernorm/launch.json");
  ASSERT_TRUE(bool(buffer));
  std::string good = (*buffer)->getBuffer().str();
  ASSERT_TRUE(parseLaunch(good, "l").ok());
  std::mt19937 random(1);
  const std::string letters = "[]{}\",:0123456789.eE-\\untrfalse \n";
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = good;
    for (unsigned k = 0; k <= random() % 4; ++k)
      damaged[random() % damaged.size()] = letters[random() % letters.size()];
    if (random() % 4 == 0) damaged.resize(random() % damaged.size());
    auto d = parseLaunch(damaged, "l");
    if (!d.ok()) EXPECT_THAT(std::string(d.status().message()), testing::StartsWith("l:"));
  }
}

TEST(LaunchDescription, ReadsEveryPart) {
  auto d = parseLaunch(R"({
    "kernel": "k", "ttir": "k.ttir", "grid": [4, 2], "num_warps": 8, "num_stages": 2, "num_ctas": 2, "waves_per_eu": 3, "matrix_instr_nonkdim": 16, "maxnreg": 128,
    "args": [
      {"name": "a", "dtype": "f16", "shape": [2, 3], "scale": 0.5},
      {"name": "b", "dtype": "i8", "shape": [], "fill": "randint", "lo": -3, "hi": 4},
      {"name": "c", "dtype": "bf16", "shape": [0, 7], "fill": "poison"},
      {"name": "d", "dtype": "f32", "shape": [2, 2], "file": "d.npy", "transposed": true, "offset": 3},
      {"name": "n", "scalar": 18446744073709551615, "type": "i64"},
      {"name": "e", "scalar": "-inf", "type": "f32"},
      {"name": "f", "scalar": true, "type": "i1"}],
    "expected": {"3": {"file": "x.npy", "rel_l2": 0.001}, "2": {"file": "y.npy"}},
    "flops": 2e9, "bytes": 100, "library": null, "triton_3_6_on_h200_ms": 0.1, "note": "a measurement"})",
                       "folder/l.json");
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(d->grid, (std::array<int64_t, 3>{4, 2, 1}));
  EXPECT_EQ(d->numWarps, 8);
  EXPECT_EQ(d->numStages, 2);
  EXPECT_EQ(d->numCtas, 2);
  EXPECT_EQ(d->wavesPerEu, 3);
  EXPECT_EQ(d->matrixInstrNonkdim, 16);
  EXPECT_EQ(d->maxnreg, 128);
  ASSERT_EQ(d->args.size(), 7u);
  EXPECT_EQ(d->args[0].source, LaunchArg::Randn);
  EXPECT_EQ(d->args[0].bytes(), 12);
  EXPECT_EQ(d->args[1].elements(), 1);
  EXPECT_EQ(d->args[2].bytes(), 0);
  EXPECT_TRUE(d->args[3].transposed);
  EXPECT_EQ(d->args[3].offsetBytes(), 12);
  EXPECT_EQ(scalarBits(d->args[4]).bits, ~uint64_t(0));
  EXPECT_EQ(scalarBits(d->args[5]).bits, 0xFF800000u);
  EXPECT_EQ(scalarBits(d->args[5]).bytes, 4u);
  EXPECT_EQ(scalarBits(d->args[6]).bits, 1u);
  ASSERT_EQ(d->expected.size(), 2u);
  EXPECT_EQ(d->expected[0].arg, 2u); // by argument, whatever the order in the text
  EXPECT_EQ(d->expected[1].relL2, 0.001);
  EXPECT_EQ(d->flops, 2e9);
  EXPECT_EQ(d->resolve("x.npy"), "folder/x.npy");
  EXPECT_EQ(d->resolve("/abs/x.npy"), "/abs/x.npy");
}

TEST(LaunchDescription, DescriptorsHaveGaps) {
  auto d = parseLaunch(onlyBuffer(R"("dtype": "f32", "shape": [3, 2], "block_shape": [2, 4], "strides": [4, 1],
                                     "padding": "nan", "fill": "randint", "lo": 0, "hi": 100)"),
                       "l");
  ASSERT_TRUE(d.ok()) << d.status();
  const LaunchArg &a = d->args[0];
  ASSERT_TRUE(a.descriptor);
  EXPECT_THAT(a.descriptor->blockShape, testing::ElementsAre(2, 4));
  EXPECT_TRUE(a.descriptor->nanPadding);
  EXPECT_EQ(a.bytes(), 4 * (2 * 4 + 2));
  auto memory = materialize(*d, 0);
  ASSERT_TRUE(memory.ok()) << memory.status();
  ASSERT_EQ(int64_t(memory->size()), a.bytes());
  // The elements are those of a buffer without gaps.
  auto plain =
      parseLaunch(onlyBuffer(R"("dtype": "f32", "shape": [3, 2], "fill": "randint", "lo": 0, "hi": 100)"), "l");
  auto elements = materialize(*plain, 0);
  for (int row = 0; row < 3; ++row) EXPECT_FALSE(std::memcmp(&(*memory)[16 * row], &(*elements)[8 * row], 8)) << row;
  EXPECT_EQ((*memory)[8], 0xFF);
  EXPECT_EQ(withoutGaps(a, *memory), *elements);
}

TEST(LaunchDescription, ScalarBitsOfEveryType) {
  auto bits = [](const char *type, const char *value) {
    auto d = parseLaunch(std::string(R"({"grid": [1], "args": [{"name": "s", "type": ")") + type + R"(", "scalar": )" +
                             value + "}]}",
                         "l");
    EXPECT_TRUE(d.ok()) << d.status();
    auto s = scalarBits(d->args[0]);
    return std::pair(s.bits, s.bytes);
  };
  using P = std::pair<uint64_t, unsigned>;
  EXPECT_EQ(bits("i1", "1"), P(1, 1));
  EXPECT_EQ(bits("i8", "-1"), P(0xFF, 1));
  EXPECT_EQ(bits("i16", "65535"), P(0xFFFF, 2));
  EXPECT_EQ(bits("i32", "-2"), P(0xFFFFFFFE, 4));
  EXPECT_EQ(bits("i64", "-2"), P(0xFFFFFFFFFFFFFFFE, 8));
  EXPECT_EQ(bits("f16", "1.5"), P(0x3E00, 2));
  EXPECT_EQ(bits("bf16", "1.5"), P(0x3FC0, 2));
  EXPECT_EQ(bits("f32", "0.1"), P(0x3DCCCCCD, 4));
  EXPECT_EQ(bits("f64", "0.1"), P(0x3FB999999999999A, 8));
}

std::vector<uint8_t> contents(const std::string &rest, unsigned position = 0) {
  std::string first;
  for (unsigned i = 0; i < position; ++i)
    first += R"({"name": "p)" + std::to_string(i) + R"(", "scalar": 0, "type": "i32"},)";
  auto d = parseLaunch(R"({"grid": [1], "args": [)" + first + R"({"name": "x", )" + rest + "}]}", "l");
  EXPECT_TRUE(d.ok()) << d.status();
  auto bytes = d.ok() ? materialize(*d, position) : d.status();
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : std::vector<uint8_t>();
}
std::vector<double> values(DType t, const std::vector<uint8_t> &bytes) {
  std::vector<double> out;
  for (size_t i = 0; i < bytes.size(); i += dtypeBytes(t)) out.push_back(toDouble(t, &bytes[i]));
  return out;
}

TEST(Materialize, FillsAndPoison) {
  EXPECT_EQ(values(DType::F32, contents(R"("dtype": "f32", "shape": [3], "fill": 1.5)")),
            (std::vector<double>{1.5, 1.5, 1.5}));
  EXPECT_EQ(values(DType::I16, contents(R"("dtype": "i16", "shape": [2], "fill": -7)")), (std::vector<double>{-7, -7}));
  EXPECT_TRUE(std::isnan(values(DType::F16, contents(R"("dtype": "f16", "shape": [1], "fill": "nan")"))[0]));
  EXPECT_EQ(contents(R"("dtype": "f8E5M2", "shape": [2, 2], "fill": "poison")"), std::vector<uint8_t>(4, 0xFF));
  EXPECT_TRUE(contents(R"("dtype": "f32", "shape": [0], "fill": "randn")").empty());
}

TEST(Materialize, RandomDataAreTheSameEverywhere) {
  // Golden values: a change here changes the inputs of every recorded result.
  auto first = values(DType::F64, contents(R"("dtype": "f64", "shape": [3])"));
  CounterRandom random(0);
  EXPECT_EQ(first, (std::vector<double>{random.normal(0), random.normal(1), random.normal(2)}));
  EXPECT_EQ(random.bits(0), 12035550249420947055ull);
  EXPECT_EQ(CounterRandom(7).bits(1000000), 303387312056842537ull);
  EXPECT_EQ(random.normal(0), 0.39193935011669617);
  // Large buffers are made by several threads; the split must not show.
  auto large = contents(R"("dtype": "f32", "shape": [700000])", 2);
  for (int64_t i : {0, 349999, 350000, 699999}) {
    float v;
    std::memcpy(&v, &large[i * 4], 4);
    EXPECT_EQ(v, float(CounterRandom(2).normal(i)));
  }
  EXPECT_NE(contents(R"("dtype": "f32", "shape": [4])", 0), contents(R"("dtype": "f32", "shape": [4])", 1));
}

TEST(Materialize, NormalDistribution) {
  constexpr int n = 1000000;
  CounterRandom random(3);
  double sum = 0, squares = 0, cubes = 0, correlation = 0, last = 0;
  int within[4] = {};
  for (int i = 0; i < n; ++i) {
    double x = random.normal(i);
    sum += x, squares += x * x, cubes += x * x * x, correlation += x * last, last = x;
    for (int k = 1; k <= 3; ++k) within[k] += std::abs(x) < k;
  }
  // Five standard errors of each estimate.
  EXPECT_NEAR(sum / n, 0, 5e-3);
  EXPECT_NEAR(squares / n, 1, 7.1e-3);
  EXPECT_NEAR(cubes / n, 0, 2e-2);
  EXPECT_NEAR(correlation / n, 0, 5e-3);
  EXPECT_NEAR(double(within[1]) / n, 0.682689, 2.4e-3);
  EXPECT_NEAR(double(within[2]) / n, 0.954500, 1.1e-3);
  EXPECT_NEAR(double(within[3]) / n, 0.997300, 3e-4);
}

TEST(Materialize, InverseNormalMatchesTheErrorFunction) {
  for (double x : {-6.3, -4.0, -2.5, -1.4, -0.3, 0.0, 0.2, 1.5, 3.0, 5.0}) {
    double p = 0.5 * std::erfc(-x / std::sqrt(2.0));
    EXPECT_NEAR(inverseNormal(p), x, 1e-9 + (x > 4 ? 1e-8 : 0)) << x; // 1 - p has few digits there
  }
}

TEST(Materialize, IntegersCoverTheirRangeEvenly) {
  auto v = values(DType::I32, contents(R"("dtype": "i32", "shape": [70000], "fill": "randint", "lo": -3, "hi": 4)"));
  int count[7] = {};
  for (double x : v) {
    ASSERT_GE(x, -3);
    ASSERT_LT(x, 4);
    ++count[int(x) + 3];
  }
  for (int c : count) EXPECT_NEAR(c, 10000, 500);
  auto wide = values(
      DType::I64,
      contents(
          R"("dtype": "i64", "shape": [1000], "fill": "randint", "lo": -9007199254740992, "hi": 9007199254740992)"));
  EXPECT_LT(*std::min_element(wide.begin(), wide.end()), -8e15);
  EXPECT_GT(*std::max_element(wide.begin(), wide.end()), 8e15);
}

TEST(Materialize, TransposedLiesColumnByColumn) {
  auto plain = contents(R"("dtype": "f32", "shape": [3, 5])"),
       columns = contents(R"("dtype": "f32", "shape": [3, 5], "transposed": true)");
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 5; ++c) EXPECT_EQ(std::memcmp(&plain[(r * 5 + c) * 4], &columns[(c * 3 + r) * 4], 4), 0);
}

TEST(Materialize, MoreThanTheMachineHasIsAnError) {
  auto d = parseLaunch(onlyBuffer(R"("dtype": "i8", "shape": [1099511627776], "fill": 0)"), "l.json");
  ASSERT_TRUE(d.ok());
  auto bytes = materialize(*d, 0);
  ASSERT_FALSE(bytes.ok());
  EXPECT_TRUE(absl::IsResourceExhausted(bytes.status()));
  EXPECT_THAT(std::string(bytes.status().message()),
              testing::StartsWith("l.json:1:24: args[0] (\"x\") has 1048576 MiB, but this machine has "));
}

TEST(Materialize, MoreThanTheProcessMayHaveIsAnError) {
  auto d = parseLaunch(onlyBuffer(R"("dtype": "i8", "shape": [1073741824], "fill": 0)"), "l.json");
  ASSERT_TRUE(d.ok());
  auto limited = [&] {
    rlimit limit{size_t(512) << 20, size_t(512) << 20};
    setrlimit(RLIMIT_AS, &limit);
    auto bytes = materialize(*d, 0);
    std::fputs(std::string(bytes.status().message()).c_str(), stderr);
    std::_Exit(bytes.ok() ? 0 : 3);
  };
  EXPECT_EXIT(limited(), testing::ExitedWithCode(3),
              "args.0. ..x.. has 1024 MiB, but this process is limited to 512 MiB of memory");
}

/// A folder of its own that goes away with the test.
class LaunchFiles : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-launch", folder_)); }
  void TearDown() override { llvm::sys::fs::remove_directories(folder_); }
  std::string at(llvm::StringRef name) { return (folder_ + "/" + name).str(); }
  void put(llvm::StringRef name, llvm::StringRef text) {
    std::error_code ec;
    llvm::raw_fd_ostream(at(name), ec) << text;
    ASSERT_FALSE(ec);
  }
  llvm::SmallString<128> folder_;
};

TEST_F(LaunchFiles, FilesMustHoldTheArgumentsTypeAndShape) {
  put("l.json", R"({"grid": [1], "args": [
    {"name": "a", "dtype": "bf16", "shape": [2, 1], "file": "u16.npy"},
    {"name": "b", "dtype": "bf16", "shape": [2], "file": "f16.npy"},
    {"name": "c", "dtype": "f32", "shape": [2], "file": "u16.npy"},
    {"name": "d", "dtype": "f16", "shape": [3], "file": "f16.npy"},
    {"name": "e", "dtype": "f16", "shape": [2], "file": "none.npy"},
    {"name": "f", "dtype": "f16", "shape": [2], "file": "text.npy"}]})");
  uint8_t data[] = {1, 2, 3, 4};
  ASSERT_TRUE(writeNpy(at("u16.npy"), DType::U16, {2}, data).ok());
  ASSERT_TRUE(writeNpy(at("f16.npy"), DType::F16, {2}, data).ok());
  put("text.npy", "hello");
  auto d = readLaunch(at("l.json"));
  ASSERT_TRUE(d.ok()) << d.status();
  auto a = materialize(*d, 0);
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(*a, (std::vector<uint8_t>{1, 2, 3, 4}));
  auto message = [&](unsigned i) {
    auto s = materialize(*d, i).status();
    EXPECT_TRUE(absl::IsInvalidArgument(s));
    llvm::StringRef m(s.message().data(), s.message().size());
    EXPECT_TRUE(m.consume_front(at("l.json") + ":")) << m.str();
    auto [place, rest] = m.split(": ");
    EXPECT_EQ(place.split(':').first, std::to_string(i + 2)) << m.str(); // the line
    EXPECT_TRUE(rest.consume_front("args[" + std::to_string(i) + "].file: " + at(""))) << m.str();
    return rest.str();
  };
  EXPECT_EQ(message(1), "f16.npy: holds f16, but args[1] (\"b\") is bf16");
  EXPECT_EQ(message(2), "u16.npy: holds u16, but args[2] (\"c\") is f32");
  EXPECT_EQ(message(3), "f16.npy: has shape [2], but args[3] (\"d\") has [3]");
  EXPECT_EQ(message(4), "none.npy: No such file or directory");
  EXPECT_EQ(message(5), "text.npy: is not a .npy file (no \\x93NUMPY at its start)");
}

TEST_F(LaunchFiles, FortranOrderIsTheOrderOfTheMemory) {
  put("l.json", R"({"grid": [1], "args": [{"name": "a", "dtype": "i8", "shape": [2, 3], "file": "a.npy"}],
                    "expected": {"0": {"file": "rows.npy", "rel_l2": 0}}})");
  std::string header = "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n";
  put("a.npy", "\x93NUMPY\x01" + std::string(1, 0) + char(header.size()) + std::string(1, 0) + header + "\1\4\2\5\3\6");
  uint8_t rows[] = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(writeNpy(at("rows.npy"), DType::I8, {2, 3}, rows).ok());
  auto d = readLaunch(at("l.json"));
  ASSERT_TRUE(d.ok()) << d.status();
  auto a = materialize(*d, 0);
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(*a, (std::vector<uint8_t>{1, 4, 2, 5, 3, 6}));
  auto c = check(*d, d->expected[0], *a);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_TRUE(c->ok) << c->line;
}

TEST_F(LaunchFiles, IrIsFoundByTheFoldersName) {
  std::string folder = at("case");
  ASSERT_FALSE(llvm::sys::fs::create_directory(folder));
  put("case/bench.json", R"({"grid": [1], "args": []})");
  EXPECT_EQ(readLaunch(folder + "/bench.json")->ttir, "");
  put("case/case.ttir", "");
  EXPECT_EQ(readLaunch(folder + "/bench.json")->ttir, "case.ttir");
  EXPECT_EQ(readLaunch(at("none.json")).status().message(), at("none.json") + ": No such file or directory");
}

TEST_F(LaunchFiles, CheckReadsTheExpectedFile) {
  put("l.json",
      R"({"grid": [1], "args": [{"name": "o", "dtype": "f32", "shape": [2, 2], "fill": 0, "transposed": true}],
    "expected": {"0": {"file": "o.npy", "rel_l2": 0}}})");
  float expected[] = {1, 2, 3, 4}, columns[] = {1, 3, 2, 4};
  auto bytes = [](float *p) { return llvm::ArrayRef(reinterpret_cast<uint8_t *>(p), 16); };
  ASSERT_TRUE(writeNpy(at("o.npy"), DType::F32, {2, 2}, bytes(expected)).ok());
  auto d = readLaunch(at("l.json"));
  ASSERT_TRUE(d.ok());
  auto c = check(*d, d->expected[0], bytes(columns));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_TRUE(c->ok) << c->line;
  c = check(*d, d->expected[0], bytes(expected));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->line,
            "FAIL o: rel_l2 0.258 (must be bit-exact), 2 of 4 elements differ; worst at [0, 1]: 3, expected 2");
}

TEST(LaunchDescription, EveryKernelOfTheTestsReads) {
  int count = 0;
  std::error_code ec;
  for (llvm::sys::fs::directory_iterator it(TESSERA_SOURCE_DIR "/tests/kernels", ec), end; it != end && !ec;
       it.increment(ec)) {
    std::string path = it->path() + "/launch.json";
    if (!llvm::sys::fs::exists(path)) continue;
    auto d = readLaunch(path);
    ASSERT_TRUE(d.ok()) << d.status();
    for (unsigned i = 0; i < d->args.size(); ++i)
      if (!d->args[i].isScalar) EXPECT_TRUE(materialize(*d, i).ok());
    EXPECT_FALSE(d->expected.empty());
    for (auto &e : d->expected) EXPECT_TRUE(check(*d, e, std::vector<uint8_t>(d->args[e.arg].bytes())).ok());
    ++count;
  }
  EXPECT_GE(count, 10);
}

} // namespace
} // namespace tessera::runtime
