// A command of weft-model: what it asks for, and what it answers as text and as JSON. Each command is one
// file and one row of the table in command_table.cpp. Commands call no MPI and need no arrays.
#pragma once

#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace weft::bench {

/// What a command says, and the same for other programs: one object.
struct Answer {
  std::string text, json;
};

class Command {
 public:
  Command() = default;
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Adds its options, in groups, and its examples to `app`, which is the command's own.
  virtual void describe(CLI::App& app) = 0;
  /// Called once the arguments have been read. Throws `weft::Error` that names the wrong argument.
  virtual Answer answer() const = 0;
};

struct CommandRow {
  const char* name;
  const char* meaning;
  std::unique_ptr<Command> (*make)();
};

/// All commands, in the order of the help.
const std::vector<CommandRow>& command_table();

std::unique_ptr<Command> make_choose();
std::unique_ptr<Command> make_messages();
std::unique_ptr<Command> make_phase();
std::unique_ptr<Command> make_roofline();
std::unique_ptr<Command> make_predict();
std::unique_ptr<Command> make_scaling();
std::unique_ptr<Command> make_compare();

/// An option for a number that must be finite and above zero; its unit is part of `help`.
CLI::Option* add_positive(CLI::App& app, const std::string& flag, double& value, const std::string& help);

/// One object: the command's name and Weft's version, then `fields`.
std::string json_text(const char* command, const nlohmann::ordered_json& fields);

/// As `std::printf` would print it, at most 400 characters.
template <class... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  char text[400];
  std::snprintf(text, sizeof text, format, arguments...);
  return text;
}

}  // namespace weft::bench
