// Structs and enumerators of C. A struct begins with its size as the caller's compiler knows it; the library
// reads and writes what both know.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "c/failure.hpp"

namespace weft::c {

static_assert(sizeof(void*) == 8, "handles and the sizes below are those of 64-bit machines");

/// The size of a struct in the first version that had it. A member that is added later begins behind it, not
/// in padding, which callers leave as it happens to be.
template <class Struct>
constexpr std::size_t first_size = 0;
template <>
inline constexpr std::size_t first_size<weft_error> = 40;
template <>
inline constexpr std::size_t first_size<weft_distribution> = 296;
template <>
inline constexpr std::size_t first_size<weft_problem> = 192;
template <>
inline constexpr std::size_t first_size<weft_layout> = 280;
template <>
inline constexpr std::size_t first_size<weft_operation_time> = 72;
template <>
inline constexpr std::size_t first_size<weft_accuracy> = 32;
template <>
inline constexpr std::size_t first_size<weft_trial_progress> = 72;

/// Larger than any version will ever be: a size beyond it is garbage, and nothing of the struct is read.
inline constexpr std::size_t largest_size = 1 << 14;

template <class Struct>
bool is_known_size(std::size_t size) {
  static_assert(first_size<Struct> > 0 && first_size<Struct> <= sizeof(Struct));
  return size >= first_size<Struct> && size <= largest_size;
}
template <class Struct>
bool has_known_size(const Struct& of_caller) {
  return is_known_size<Struct>(of_caller.size);
}
/// Throws unless the caller has set the size.
template <class Struct>
void check_size(std::size_t size, const char* operation, const char* name) {
  if (!is_known_size<Struct>(size))
    throw bad_argument(operation, std::string(name) + " has the size " + std::to_string(size),
                       "sizeof(" + std::string(name) + "), " + std::to_string(sizeof(Struct)) +
                           " in this version of the library");
}

/// What the caller has filled, zero where its version has no such member. Throws for members that this
/// version does not know, unless they are zero.
template <class Struct>
Struct taken(const Struct& of_caller, const char* operation, const char* name) {
  check_size<Struct>(of_caller.size, operation, name);
  const char* const bytes = reinterpret_cast<const char*>(&of_caller);
  for (std::size_t i = sizeof(Struct); i < of_caller.size; ++i)
    if (bytes[i] != 0)
      throw bad_argument(operation,
                         std::string(name) + " has a member, at byte " + std::to_string(i) +
                             ", that this version of the library does not know and that is not zero",
                         "zero, or a later version than " WEFT_VERSION);
  Struct mine{};
  std::memcpy(&mine, bytes, std::min(sizeof(Struct), of_caller.size));
  return mine;
}

/// Writes as many bytes as the caller has room for, and zeros into members that this version does not know.
template <class Struct>
void store_sized(void* to, std::size_t size, const Struct& from) {
  const std::size_t known = std::min(sizeof(Struct), size);
  std::memcpy(to, &from, known);
  std::memset(static_cast<char*>(to) + known, 0, size - known);
}
/// The same for a struct whose size, which stays, the caller has set and `check_size` has seen.
template <class Struct>
void store(Struct& of_caller, Struct from) {
  from.size = of_caller.size;
  store_sized(&of_caller, from.size, from);
}

/// The number of an enumerator that a caller gives, which may be none of those of its type.
template <class Enumeration>
int number_of(const Enumeration& value) {
  static_assert(std::is_enum_v<Enumeration> && sizeof(Enumeration) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

/// The value that stands at the place of an enumerator in a table of all of them; throws if there is none.
template <class Enumeration, class Value, std::size_t n>
Value in_table(const Value (&table)[n], const Enumeration& value, const std::string& operation,
               const char* name) {
  const int number = number_of(value);
  if (number < 0 || number >= static_cast<int>(n))
    throw bad_argument(operation, std::to_string(number),
                       "a value of " + std::string(name) + ", 0 to " + std::to_string(n - 1));
  return table[number];
}

}  // namespace weft::c
