# Warnings as errors, sanitizers, linker, and tessera_library(NAME SOURCES... DEPENDS...), which makes the static
# library of one folder. Headers are included as "folder/file.h"; a folder reaches the headers of its DEPENDS only.
# PRECOMPILE: headers that most files of the folder read, parsed once for all of them, which halves the time of a build.
# They hide that a file lacks an include: clang-tidy reads the files that changed without them (.ci/clang_tidy.py).
add_library(tessera_options INTERFACE)
# -Wno-deprecated-declarations: libstdc++ 12's own stable_sort uses what C++17 deprecates.
target_compile_options(tessera_options INTERFACE -Wall -Wextra -Wpedantic -Werror
  -Wno-unused-parameter -Wno-deprecated-declarations -fno-rtti
  $<$<CXX_COMPILER_ID:Clang>:-Wimplicit-fallthrough -Wno-nullability-extension>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_link_options(tessera_options INTERFACE -fuse-ld=lld)
endif()
if(TESSERA_SANITIZE)
  target_compile_options(tessera_options INTERFACE -fsanitize=address,undefined -fno-sanitize=vptr
    -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(tessera_options INTERFACE -fsanitize=address,undefined)
  add_library(tessera_sanitizer_defaults OBJECT ${CMAKE_SOURCE_DIR}/cmake/sanitizer_defaults.cpp)
  target_link_libraries(tessera_options INTERFACE $<TARGET_OBJECTS:tessera_sanitizer_defaults>)
endif()
if(TESSERA_FUZZ)
  target_compile_options(tessera_options INTERFACE -fsanitize=fuzzer-no-link,address)
  target_link_options(tessera_options INTERFACE -fsanitize=address)
endif()

# Each folder's headers are reachable as "folder/…" through a link in the build tree, so that linking a folder's
# library is the only way to include from it.
function(tessera_library name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPENDS;PRIVATE;PRECOMPILE" ${ARGN})
  if(NOT A_SOURCES)
    add_library(tessera_${name} INTERFACE)
    target_link_libraries(tessera_${name} INTERFACE tessera_options tessera_llvm_support ${A_DEPENDS})
    return()
  endif()
  add_library(tessera_${name} STATIC ${A_SOURCES})
  set(_inc ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${_inc})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${name} ${_inc}/${name} SYMBOLIC)
  target_include_directories(tessera_${name} PUBLIC ${_inc})
  target_link_libraries(tessera_${name} PUBLIC tessera_options tessera_llvm_support ${A_DEPENDS} PRIVATE ${A_PRIVATE})
  target_precompile_headers(tessera_${name} PRIVATE ${A_PRECOMPILE})
endfunction()
