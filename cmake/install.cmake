# Headers, libraries, CMake package (perp::comp, perp::perp), pkg-config files, man page.
if(NOT PERP_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(public_headers include/perp/base.h include/perp/comp.h)
set(pc_files perp_comp)
if(PERP_BUILD_PERP)
  file(GLOB public_headers CONFIGURE_DEPENDS include/perp/*.h)
  list(APPEND pc_files perp)
endif()
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/perp)
install(TARGETS ${perp_libraries} EXPORT perpTargets)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/perp)
install(EXPORT perpTargets NAMESPACE perp:: DESTINATION ${package_dir})
configure_package_config_file(cmake/perpConfig.cmake.in perpConfig.cmake INSTALL_DESTINATION ${package_dir})
# While 0.x, a minor version may change what it likes.
write_basic_package_version_file(perpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/perpConfig.cmake ${PROJECT_BINARY_DIR}/perpConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES cmake/libraries.cmake RENAME perpLibraries.cmake DESTINATION ${package_dir})

# The prefix is written relative to the .pc file, so that an installed tree may be moved.
file(RELATIVE_PATH pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
# A static library needs its own libraries at every link, a shared one only under --static.
set(when "")
if(BUILD_SHARED_LIBS)
  set(when "_private")
endif()
set(pc_comp_libs${when} "-lklu -lamd -lsuitesparseconfig -lm")
if(PERP_WITH_OPENMP)
  string(APPEND pc_comp_libs${when} " ${OpenMP_C_FLAGS}")
endif()
set(pc_perp_requires${when} "jansson hdf5")
if(PERP_WITH_QHULL)
  string(APPEND pc_perp_requires${when} " qhull_r")
endif()
if(PERP_WITH_SUNDIALS)  # has no .pc files
  set(pc_perp_libs${when} "-lsundials_cvode -lsundials_nvecserial -lsundials_sunmatrixdense \
-lsundials_sunlinsoldense -lsundials_sunnonlinsolfixedpoint")
endif()
foreach(name ${pc_files})
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(PERP_BUILD_CLI)
  install(FILES man/perp.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
