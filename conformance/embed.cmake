# Writes embedded.cpp from the files of kernels: `cmake -DOUT=… -DFOLDER=… -P embed.cmake`. A string literal may not be
# as long as a file, so each line is its own.
file(GLOB FILES ${FOLDER}/*.kernels)
list(SORT FILES)
string(CONCAT _text "// Made by conformance/embed.cmake from conformance/kernels.\n"
  "#include \"conformance/embedded.h\"\nnamespace tessera::conformance {\n")
set(_rows "")
foreach(_file ${FILES})
  get_filename_component(_name "${_file}" NAME)
  get_filename_component(_feature "${_file}" NAME_WE)
  file(READ "${_file}" _contents)
  string(REPLACE "\\" "\\\\" _contents "${_contents}")
  string(REPLACE "\"" "\\\"" _contents "${_contents}")
  string(REPLACE "\n" "\\n\"\n\"" _contents "${_contents}")
  string(APPEND _text "static const char k_${_feature}[] = \"${_contents}\";\n")
  string(APPEND _rows "    {\"conformance/kernels/${_name}\", \"${_feature}\", k_${_feature}},\n")
endforeach()
string(APPEND _text "llvm::ArrayRef<EmbeddedFile> embeddedKernels() {\n  static const EmbeddedFile files[] = {\n${_rows}"
  "  };\n  return files;\n}\n} // namespace tessera::conformance\n")
file(WRITE ${OUT} "${_text}")
