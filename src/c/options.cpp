// Options for C.
#include "weft/options.hpp"

#include "c/failure.hpp"
#include "c/handles.hpp"
#include "c/memory.hpp"

using namespace weft::c;
using weft::Options;

weft_status weft_options_create(weft_options* options) {
  return guarded([&] {
    check_given(options, "options", "options");
    *options = new_handle<weft_options>(std::make_unique<Options>());
  });
}

weft_status weft_options_set(weft_options options, const char* name, const char* value) {
  return guarded([&] {
    Options& mine = object_of(options, "options");
    check_given(name, "options", "name");
    check_given(value, "options", "value");
    mine.set(name, value);
  });
}

weft_status weft_options_set_int(weft_options options, const char* name, int64_t value) {
  return guarded([&] {
    Options& mine = object_of(options, "options");
    check_given(name, "options", "name");
    mine.set(name, std::to_string(value));
  });
}

weft_status weft_options_get(weft_options options, const char* name, char** value) {
  return guarded([&] {
    const Options& mine = object_of(options, "options");
    check_given(name, "options", "name");
    check_given(value, "options", "value");
    *value = copy_of(mine.get(name));
  });
}

weft_status weft_options_is_set(weft_options options, const char* name, int* is_set) {
  return guarded([&] {
    const Options& mine = object_of(options, "options");
    check_given(name, "options", "name");
    check_given(is_set, "options", "is_set");
    *is_set = mine.is_set(name) ? 1 : 0;
  });
}

weft_status weft_options_text(weft_options options, char** text) {
  return guarded([&] {
    const Options& mine = object_of(options, "options");
    check_given(text, "options", "text");
    std::string lines;
    for (const auto& [name, value] : mine.all()) lines.append(name).append("=").append(value).append("\n");
    *text = copy_of(lines);
  });
}

weft_status weft_options_free(weft_options* options) {
  return guarded([&] { free_handle(options); });
}
