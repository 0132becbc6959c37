# Third-party libraries as imported targets, found by pkg-config or by name. Used by the build and,
# installed as perpLibraries.cmake, by projects that find perp.
if(NOT TARGET SuiteSparse::klu)
  find_path(KLU_INCLUDE klu.h PATH_SUFFIXES suitesparse REQUIRED)
  find_library(KLU_LIBRARY klu REQUIRED)
  find_library(AMD_LIBRARY amd REQUIRED)
  find_library(SUITESPARSECONFIG_LIBRARY suitesparseconfig REQUIRED)
  add_library(SuiteSparse::klu INTERFACE IMPORTED)
  target_include_directories(SuiteSparse::klu SYSTEM INTERFACE ${KLU_INCLUDE})
  target_link_libraries(SuiteSparse::klu INTERFACE ${KLU_LIBRARY} ${AMD_LIBRARY} ${SUITESPARSECONFIG_LIBRARY})
endif()

if(PERP_BUILD_PERP AND NOT TARGET jansson::jansson)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
  pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)
  add_library(jansson::jansson ALIAS PkgConfig::JANSSON)
  add_library(hdf5::hdf5_c ALIAS PkgConfig::HDF5)
endif()
