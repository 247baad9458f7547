# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# cmake -Dheader= "-Dfiles=A;B" -P DigestFiles.cmake: writes a header whose macro SW_TRANSLATOR_DIGEST is
# a hash of the files' contents.

set(digests "")
foreach(file IN LISTS files)
  file(SHA256 "${file}" digest)
  string(APPEND digests "${digest}")
endforeach()
string(SHA256 digest "${digests}")
file(WRITE "${header}" "#define SW_TRANSLATOR_DIGEST \"${digest}\"\n")
