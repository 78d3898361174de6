# Installation and packages:
#   cmake --install BUILD --prefix DIR                          everything
#   cmake --install BUILD --prefix DIR --component capi         the library, its header, and how to link it
#   cmake --install BUILD --prefix DIR --component program      the program, completion of command lines
#   (cd BUILD && cpack -G DEB)                                  a Debian package, of a static build
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(_documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/tessera)

# ---- The program ----
install(TARGETS tessera RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
set(_completion ${CMAKE_BINARY_DIR}/completion)
file(MAKE_DIRECTORY ${_completion})
set(_scripts)
foreach(_shell bash zsh fish)
  add_custom_command(OUTPUT ${_completion}/tessera.${_shell} VERBATIM
    DEPENDS tessera ${CMAKE_SOURCE_DIR}/tools/completion.py
    COMMAND python3 ${CMAKE_SOURCE_DIR}/tools/completion.py $<TARGET_FILE:tessera> ${_shell}
      -o ${_completion}/tessera.${_shell})
  list(APPEND _scripts ${_completion}/tessera.${_shell})
endforeach()
add_custom_target(tessera_completion ALL DEPENDS ${_scripts})
install(FILES ${_completion}/tessera.bash COMPONENT program
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions RENAME tessera)
install(FILES ${_completion}/tessera.zsh COMPONENT program
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/vendor-completions RENAME _tessera)
install(FILES ${_completion}/tessera.fish COMPONENT program
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)

# ---- The library ----
if(TARGET tessera_capi)
  file(RELATIVE_PATH _to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" _to_prefix ${_to_prefix})
  file(CONFIGURE OUTPUT tessera.pc CONTENT "prefix=\${pcfiledir}/${_to_prefix}
Name: tessera
Description: A GPU kernel compiler: TTIR and TTGIR to NVIDIA and AMD code
Version: ${PROJECT_VERSION}
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
Libs: -L\${prefix}/${CMAKE_INSTALL_LIBDIR} -ltessera
" @ONLY)
  install(TARGETS tessera_capi EXPORT TesseraTargets COMPONENT capi
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES capi/tessera.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT capi)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT capi)
  # find_package(Tessera), target Tessera::tessera
  set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
  file(CONFIGURE OUTPUT TesseraConfig.cmake CONTENT "include(\${CMAKE_CURRENT_LIST_DIR}/TesseraTargets.cmake)\n" @ONLY)
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/TesseraConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${_package} COMPONENT capi)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfigVersion.cmake
    DESTINATION ${_package} COMPONENT capi)
endif()

# ---- Documents and licences ----
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE DESTINATION ${_documents} COMPONENT documents)
install(DIRECTORY docs DESTINATION ${_documents} COMPONENT documents FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
install(DIRECTORY examples DESTINATION ${_documents} COMPONENT documents)
install(FILES tests/kernels/vecadd/vecadd.ttir tests/kernels/softmax_row/softmax_row.ttir
  DESTINATION ${_documents}/examples/kernels COMPONENT documents)
# Debian's copyright files of what a static build contains. libstdc++ is under the GCC runtime library exception.
foreach(_library libllvm22 libabsl-dev libre2-dev libcli11-dev zlib1g-dev libzstd-dev libstdc++6)
  if(TESSERA_STATIC_LLVM AND EXISTS /usr/share/doc/${_library}/copyright)
    install(FILES /usr/share/doc/${_library}/copyright
      DESTINATION ${_documents}/licences RENAME ${_library} COMPONENT documents)
  endif()
endforeach()

# ---- The Debian package ----
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR Tessera)
set(CPACK_PACKAGE_CONTACT "Tessera developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU kernel compiler for NVIDIA and AMD")
set(CPACK_PACKAGE_DESCRIPTION "Compiles Triton's TTIR and TTGIR to NVIDIA code (PTX, cubin) and AMD code
(hsaco), and runs kernels on GPUs, on an interpreter and on emulators. Contains the program tessera and the library
libtessera for C, which depend on the C library only.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# What the program was linked with, so that no tool of Debian's is needed here (tests/install checks it).
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE _libc OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "glibc " "" _libc "${_libc}")
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${_libc})")
file(WRITE ${CMAKE_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/InstalledSize.cmake)
include(CPack)
