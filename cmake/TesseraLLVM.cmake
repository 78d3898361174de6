# Finds LLVM 22 and LLD 22, and defines two interface targets:
#   tessera_llvm_support   headers + the support library (ADT, raw_ostream, APInt, APFloat): every folder may use it
#   tessera_llvm_codegen   IR, passes, NVPTX, AMDGPU, LLD (for tests also the host's JIT): codegen and what is above it
# Shared LLVM links in a second and is the default. TESSERA_STATIC_LLVM puts LLVM, LLD and the C++ runtime into the
# program and into libtessera.so, which then need the C library only.
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
if(TESSERA_TESTS)
  # Some tests run lowered code on the host.
  target_compile_definitions(tessera_llvm_codegen INTERFACE TESSERA_HOST_TARGET)
endif()
if(TESSERA_STATIC_LLVM)
  llvm_map_components_to_libnames(_llvm_libs
    support core irreader linker bitreader bitwriter asmparser passes NVPTX AMDGPU target
    debuginfodwarf demangle lto dtlto option)
  if(TESSERA_TESTS)
    llvm_map_components_to_libnames(_host_libs orcjit native)
    list(APPEND _llvm_libs ${_host_libs})
  endif()
  foreach(_lib ${_llvm_libs} LLVMExtensions)
    get_target_property(_needs ${_lib} INTERFACE_LINK_LIBRARIES)
    if(_needs)
      list(FILTER _needs EXCLUDE REGEX Polly)
      set_target_properties(${_lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${_needs}")
    endif()
  endforeach()
  list(FILTER _llvm_libs EXCLUDE REGEX Polly)
  target_link_libraries(tessera_llvm_support INTERFACE LLVMSupport)
  # lld's references to the other targets and to Polly end in codegen_amd/link.cpp.
  find_library(TESSERA_Z_ARCHIVE libz.a REQUIRED)
  find_library(TESSERA_ZSTD_ARCHIVE libzstd.a REQUIRED)
  # LLVM's support archive names the shared libraries of both.
  get_target_property(_needs LLVMSupport INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM _needs REPLACE "^ZLIB::ZLIB$" "${TESSERA_Z_ARCHIVE}")
  list(TRANSFORM _needs REPLACE "^zstd::libzstd_shared$" "${TESSERA_ZSTD_ARCHIVE}")
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${_needs}")
  target_link_libraries(tessera_llvm_codegen INTERFACE lldELF lldCommon ${_llvm_libs}
    ${TESSERA_Z_ARCHIVE} ${TESSERA_ZSTD_ARCHIVE} ${CMAKE_DL_LIBS})
  target_link_options(tessera_llvm_codegen INTERFACE -Wl,--gc-sections $<$<CONFIG:Release>:-Wl,--strip-debug>)
  # Programs only. Start-up code (.text.startup) in one place: the process touches a hundred pages fewer before main().
  # Segments that begin at multiples of 2 MiB: the kernel can map the page cache's large pages, a few dozen faults
  # instead of 400. At a fixed address: applying the relocations of so large a program would take longer than compiling
  # a kernel.
  set(_program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  foreach(_option -no-pie -Wl,-z,keep-text-section-prefix
      -Wl,-z,max-page-size=0x200000 -Wl,-z,separate-loadable-segments)
    target_link_options(tessera_llvm_codegen INTERFACE $<${_program}:${_option}>)
  endforeach()
else()
  target_link_libraries(tessera_llvm_support INTERFACE LLVM)
  # lld is a static archive in either case and wants its compression libraries.
  target_link_libraries(tessera_llvm_codegen INTERFACE lldELF lldCommon LLVM z zstd ${CMAKE_DL_LIBS})
endif()
target_link_directories(tessera_llvm_support INTERFACE ${LLVM_LIBRARY_DIRS})
find_package(Threads REQUIRED)

# RE2 is for the program only.
set(TESSERA_RE2 re2)
if(TESSERA_STATIC_LLVM)
  find_library(TESSERA_RE2_ARCHIVE libre2.a REQUIRED)
  set(TESSERA_RE2 ${TESSERA_RE2_ARCHIVE})
  # No shared library that is not used, and no search path: only the C library's are left.
  target_link_options(tessera_llvm_support INTERFACE -Wl,--as-needed -static-libstdc++ -static-libgcc)
  set(CMAKE_SKIP_RPATH ON)
endif()

# Abseil. Static: from its sources if tools/static_dependencies.sh has fetched them, else from Debian's archives, which
# can go into the program but not into libtessera.so.
set(_abseil ${CMAKE_SOURCE_DIR}/build-sources/abseil)
set(TESSERA_STATIC_LIBRARY OFF) # whether libtessera.so can have everything inside
if(TESSERA_STATIC_LLVM AND EXISTS ${_abseil})
  set(TESSERA_STATIC_LIBRARY ON)
  set(ABSL_PROPAGATE_CXX_STD ON)
  set(BUILD_TESTING OFF)
  add_subdirectory(${_abseil} ${CMAKE_BINARY_DIR}/abseil EXCLUDE_FROM_ALL SYSTEM)
elseif(TESSERA_STATIC_LLVM)
  message(STATUS "Without libtessera.so: run tools/static_dependencies.sh first to build it")
  find_package(absl REQUIRED)
  get_property(_imported DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(_t IN LISTS _imported)
    if(NOT _t MATCHES "^absl::")
      continue()
    endif()
    foreach(_property IMPORTED_LOCATION_NONE IMPORTED_LOCATION_RELEASE IMPORTED_LOCATION)
      get_target_property(_file ${_t} ${_property})
      if(_file MATCHES "\\.so")
        string(REGEX REPLACE "\\.so.*" ".a" _archive ${_file})
        if(EXISTS ${_archive})
          set_target_properties(${_t} PROPERTIES ${_property} ${_archive})
        endif()
      endif()
    endforeach()
  endforeach()
else()
  find_package(absl REQUIRED)
endif()
