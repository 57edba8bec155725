# Writes OUTPUT: the text of HEADERS (a ;-list) as the table that nvrtc.h declares.
set(text "#include \"backends/cuda/nvrtc.h\"\n\nnamespace tw::cuda {\nnamespace {\nconstexpr KernelHeader kHeaders[] = {\n")
foreach(header ${HEADERS})
  get_filename_component(name "${header}" NAME)
  file(READ "${header}" body)
  # A literal may hold 64 KiB at most; kernels are smaller, and the compiler says so if not.
  string(APPEND text "{\"${name}\", R\"tw_text(${body})tw_text\"},\n")
endforeach()
string(APPEND text "};\n}  // namespace\nstd::span<const KernelHeader> kernel_headers() { return kHeaders; }\n}  // namespace tw::cuda\n")
file(WRITE "${OUTPUT}" "${text}")
