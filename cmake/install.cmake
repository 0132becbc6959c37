# Filled by the packaging work: headers, libraries, CMake package, pkg-config files, man page.
