# cmake -D INPUT=… -D OUTPUT=… -D IDENTIFIER=… -P EmbedFile.cmake: a text file as a C++ string_view.

file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include <string_view>

namespace rung::embedded {
extern const std::string_view ${IDENTIFIER};
const std::string_view ${IDENTIFIER} = R\"rung(${text})rung\";
}  // namespace rung::embedded
")
