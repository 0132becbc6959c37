# Headers, libraries, CMake package (components comp, perp, io), pkg-config files; documentation, scenes, examples
# and the viewer's page; man page.
if(NOT PERP_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

# ── Headers and libraries ────────────────────────────────────────────────────────────────────────
set(comp_headers base types comp ncp)
set(perp_headers model sim tree query perp)
set(io_headers import scene record compare sweep plot replay problem io)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/perp)
foreach(name ${perp_libraries})
  list(TRANSFORM ${name}_headers REPLACE "(.+)" "include/perp/\\1.h" OUTPUT_VARIABLE headers)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/perp)
  # An export a library, so that a program which wants one is not asked for what the others need.
  foreach(kind ${perp_kinds})
    install(TARGETS perp_${name}_${kind} EXPORT perp_${name}_targets)
  endforeach()
  install(EXPORT perp_${name}_targets NAMESPACE perp:: DESTINATION ${package_dir} FILE ${name}Targets.cmake)
endforeach()

configure_package_config_file(cmake/perpConfig.cmake.in perpConfig.cmake INSTALL_DESTINATION ${package_dir})
# While 0.x, a minor version may change what it likes.
write_basic_package_version_file(perpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/perpConfig.cmake ${PROJECT_BINARY_DIR}/perpConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES cmake/libraries.cmake RENAME perpLibraries.cmake DESTINATION ${package_dir})

# ── pkg-config ───────────────────────────────────────────────────────────────────────────────────
# The prefix is written relative to the .pc file, so that an installed tree may be moved.
file(RELATIVE_PATH pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
# A static library needs its own libraries at every link, a shared one only under --static.
set(when "")
if(PERP_BUILD_SHARED)
  set(when "_private")
endif()
set(pc_comp_libs${when} "-lklu -lamd -lsuitesparseconfig -lm")
if(PERP_WITH_OPENMP)
  string(APPEND pc_comp_libs${when} " ${OpenMP_C_FLAGS}")
endif()
if(PERP_WITH_QHULL)
  set(pc_perp_requires${when} "qhull_r")
endif()
set(pc_io_requires${when} "jansson expat ${HDF5_C_MODULE_NAME}")
foreach(name ${perp_libraries})
  set(file perp_${name})
  if(name STREQUAL "perp")
    set(file perp)
  endif()
  configure_file(cmake/${file}.pc.in ${file}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# ── What people read and run: one tree, as in the project, so that links between pages lead somewhere ─
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(data_dir ${CMAKE_INSTALL_DATADIR}/perp)
install(FILES README.md CHANGELOG.md DESTINATION ${data_dir})
install(DIRECTORY docs scenes examples DESTINATION ${data_dir}
  PATTERN book EXCLUDE
  PATTERN CMakeLists.txt EXCLUDE)
install(DIRECTORY python/examples DESTINATION ${data_dir}/python)
if(PERP_WITH_VIEWER)
  install(FILES ${PROJECT_BINARY_DIR}/viewer/page.html DESTINATION ${data_dir} RENAME viewer.html)
endif()
if(PERP_BUILD_CLI)
  install(FILES man/perp.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
