if(PERP_SANITIZE)
  add_compile_options(-fsanitize=${PERP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PERP_SANITIZE})
endif()
