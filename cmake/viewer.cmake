# The viewer: viewer/ bundled by esbuild into one page, whose bytes go into the perp command. Packages come from
# npm at build time, into the build folder; nothing is loaded when a page is opened.
set(PERP_WITH_VIEWER OFF)
if(NOT PERP_BUILD_VIEWER)
  return()
endif()
find_program(NODE_PROGRAM NAMES node nodejs)
find_program(NPM_PROGRAM NAMES npm)
set(node_version "0")
if(NODE_PROGRAM)
  execute_process(COMMAND ${NODE_PROGRAM} --version OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  string(REPLACE "v" "" node_version "${node_version}")
endif()
if(NOT NPM_PROGRAM OR node_version VERSION_LESS 18)
  message(STATUS "Without the viewer: Node.js >= 18 and npm were not found (make demo installs them)")
  return()
endif()

set(viewer_dir ${PROJECT_BINARY_DIR}/viewer)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS viewer/package-lock.json)
set(PERP_VIEWER_PAGE ${viewer_dir}/page.c)
set(PERP_VIEWER_MODULES ${viewer_dir}/node_modules)
set(PERP_WITH_VIEWER ON)
file(GLOB viewer_sources CONFIGURE_DEPENDS viewer/src/*)
foreach(name package.json package-lock.json .npmrc)
  configure_file(viewer/${name} ${viewer_dir}/${name} COPYONLY)
endforeach()
set(omit --omit=dev)
if(PERP_BUILD_TESTS)
  set(omit)
endif()
add_custom_command(OUTPUT ${viewer_dir}/installed
  COMMAND ${PROJECT_SOURCE_DIR}/viewer/fetch ${NPM_PROGRAM} ${viewer_dir} ${PERP_WERROR} ${omit}
  DEPENDS ${PROJECT_SOURCE_DIR}/viewer/package-lock.json ${PROJECT_SOURCE_DIR}/viewer/package.json
    ${PROJECT_SOURCE_DIR}/viewer/fetch
  COMMENT "Fetching the viewer's packages (npm ci)" VERBATIM)
add_custom_command(OUTPUT ${PERP_VIEWER_PAGE} ${viewer_dir}/page.html
  COMMAND ${PROJECT_SOURCE_DIR}/viewer/bundle ${NODE_PROGRAM} ${viewer_dir}
  DEPENDS ${viewer_dir}/installed ${PROJECT_SOURCE_DIR}/viewer/build.mjs ${PROJECT_SOURCE_DIR}/viewer/bundle ${viewer_sources}
  COMMENT "Bundling the viewer" VERBATIM)
# An object of its own: compiled once, and without the warnings meant for people's code.
add_library(perp_viewer_page OBJECT ${PERP_VIEWER_PAGE})
