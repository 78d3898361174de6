# Finds LLVM 22 and LLD 22, and defines two interface targets:
#   tessera_llvm_support   headers + the support library (ADT, raw_ostream, APInt, APFloat): every folder may use it
#   tessera_llvm_codegen   IR, passes, NVPTX, AMDGPU, the host's JIT, LLD: codegen and what is above it
# Shared LLVM links in a second and is the default; TESSERA_STATIC_LLVM makes one program that needs no LLVM installed.
find_package(LLVM REQUIRED CONFIG PATHS /usr/lib/llvm-22 NO_DEFAULT_PATH)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Tessera needs LLVM 22, found ${LLVM_VERSION}")
endif()
# LLVM's package folder also exports Polly, whose archive Debian ships in a package that is not needed here.
add_library(tessera_llvm_support INTERFACE)
target_include_directories(tessera_llvm_support SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(_llvm_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(tessera_llvm_support INTERFACE ${_llvm_defs})
add_library(tessera_llvm_codegen INTERFACE)
target_link_libraries(tessera_llvm_codegen INTERFACE tessera_llvm_support)
if(TESSERA_STATIC_LLVM)
  llvm_map_components_to_libnames(_llvm_libs
    support core irreader linker bitreader bitwriter asmparser passes nvptx amdgpu x86 orcjit mcjit native target debuginfodwarf demangle)
  list(REMOVE_ITEM _llvm_libs Polly PollyISL)
  target_link_libraries(tessera_llvm_support INTERFACE LLVMSupport)
  target_link_libraries(tessera_llvm_codegen INTERFACE lldELF lldCommon ${_llvm_libs} z zstd)
else()
  target_link_libraries(tessera_llvm_support INTERFACE LLVM)
  target_link_libraries(tessera_llvm_codegen INTERFACE lldELF lldCommon LLVM z zstd)
endif()
target_link_directories(tessera_llvm_support INTERFACE ${LLVM_LIBRARY_DIRS})
find_package(absl REQUIRED)
find_package(Threads REQUIRED)
