# perp_library(NAME FOLDERS folder... [NEEDS name] [LIBRARIES target...])
#
# One of perp's libraries, from folders of src/: compiled once, then made static (target perp_NAME_static) and
# shared (perp_NAME_shared) from the same objects. perp::NAME is the static one where both are built, unless
# BUILD_SHARED_LIBS is on. NEEDS is the library below, LIBRARIES are those of others that only this one calls.
#
# A shared library exports the public names under the version of the interface. Names that begin with pp_ are
# for perp's other libraries alone; they leave under a version that no other release has, so that libraries
# of two releases are never mixed: the dynamic linker refuses.
# Nothing stands on io, which has none.

function(perp_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NEEDS" "FOLDERS;LIBRARIES")
  set(sources)
  foreach(folder ${arg_FOLDERS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
    list(APPEND sources ${found})
  endforeach()
  if(name STREQUAL "perp")
    set(file perp)
  else()
    set(file perp_${name})
  endif()

  add_library(perp_${name}_objects OBJECT ${sources})
  target_compile_features(perp_${name}_objects PRIVATE c_std_17)
  target_include_directories(perp_${name}_objects PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(perp_${name}_objects PRIVATE perp_build ${arg_LIBRARIES})
  # Calls within a library are bound in it: no other definition of a name can take its place.
  target_compile_options(perp_${name}_objects PRIVATE -fno-semantic-interposition)
  set_target_properties(perp_${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)

  foreach(kind ${perp_kinds})
    string(TOUPPER ${kind} type)
    set(library perp_${name}_${kind})
    add_library(${library} ${type} $<TARGET_OBJECTS:perp_${name}_objects>)
    add_library(perp::${name}_${kind} ALIAS ${library})
    target_link_libraries(${library} PRIVATE ${arg_LIBRARIES} m)
    if(arg_NEEDS)
      target_link_libraries(${library} PUBLIC perp_${arg_NEEDS}_${kind})
    endif()
    target_compile_features(${library} INTERFACE c_std_17)
    target_include_directories(${library} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME ${file} EXPORT_NAME ${name}_${kind} LINKER_LANGUAGE C
      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  endforeach()
  if(PERP_BUILD_SHARED)
    set(private_exports "PERP_PRIVATE_${PROJECT_VERSION} { global: pp_*; };")
    if(name STREQUAL "io")
      set(private_exports "")
    endif()
    set(exports ${PROJECT_BINARY_DIR}/${file}.map)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/exports.map.in ${exports} @ONLY)
    target_link_options(perp_${name}_shared PRIVATE LINKER:--version-script=${exports}
      LINKER:-Bsymbolic-functions LINKER:--no-undefined LINKER:--as-needed)
    set_target_properties(perp_${name}_shared PROPERTIES LINK_DEPENDS ${exports}
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      INSTALL_RPATH $ORIGIN)  # the others lie beside it, also after the tree was moved
  endif()
  add_library(perp::${name} ALIAS perp_${name}_${perp_kind})
  set(perp_libraries ${perp_libraries} ${name} PARENT_SCOPE)
endfunction()

# A library that NAME calls where it is there: compiled with DEFINITION, linked with TARGET.
function(perp_library_feature name definition target)
  target_compile_definitions(perp_${name}_objects PRIVATE ${definition})
  target_link_libraries(perp_${name}_objects PRIVATE ${target})
  foreach(kind ${perp_kinds})
    target_link_libraries(perp_${name}_${kind} PRIVATE ${target})
  endforeach()
endfunction()

# Links a program with the library whose header it includes, <perp/comp.h> or <perp/ncp.h>, <perp/perp.h> or <perp/io.h>,
# and no more.
function(perp_link_by_header program source)
  file(READ ${source} text)
  string(REPLACE "<perp/ncp.h>" "<perp/comp.h>" text "${text}")
  if(NOT text MATCHES "#include <perp/(comp|perp|io)\\.h>")
    message(FATAL_ERROR "${source} includes none of <perp/comp.h>, <perp/perp.h>, <perp/io.h>")
  endif()
  target_link_libraries(${program} PRIVATE perp::${CMAKE_MATCH_1})
endfunction()
