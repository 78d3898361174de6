// Text for kernels that take arguments of every scalar type: all of them added up, so that each is used.
#pragma once
#include <string>
#include <utility>
#include <vector>

/// The arguments of all scalar types, in order: "%a: i1, %b: i8, …".
inline const std::vector<std::pair<std::string, std::string>> kScalarArguments = {
    {"a", "i1"},  {"b", "i8"},   {"c", "i16"}, {"d", "i32"}, {"e", "i64"},
    {"f", "f16"}, {"g", "bf16"}, {"h", "f32"}, {"i", "f64"}};

/// Lines that define %sum, an f64: the arguments' sum. Bits are unsigned; integers are rounded one by one.
inline std::string sumOfScalars(const std::vector<std::pair<std::string, std::string>> &arguments) {
  std::string text, sum;
  for (auto &[name, type] : arguments) {
    std::string value = "%" + name;
    auto convert = [&](const char *operation, const std::string &to) {
      std::string from = to == "i64" || type[0] != 'i' ? type : "i64", result = "%" + name + "_" + to;
      text += result + " = arith." + operation + " " + value + " : " + from + " to " + to + "\n";
      value = result;
    };
    if (type[0] == 'i') {
      if (type != "i64") convert(type == "i1" ? "extui" : "extsi", "i64");
      convert("sitofp", "f64");
    } else if (type != "f64") {
      convert("extf", "f64");
    }
    if (!sum.empty()) {
      std::string next = "%sum_" + name;
      text += next + " = arith.addf " + sum + ", " + value + " : f64\n";
      value = next;
    }
    sum = value;
  }
  return text + "%zero = arith.constant 0.0 : f64\n%sum = arith.addf " + sum + ", %zero : f64\n";
}
