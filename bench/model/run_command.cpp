#include "run_command.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "base/nearest_name.hpp"
#include "command.hpp"
#include "output_file.hpp"
#include "unknown_argument.hpp"
#include "weft/error.hpp"
#include "weft/version.hpp"

namespace weft::bench {

namespace {

constexpr const char* examples = R"(Examples:
  weft-model messages --ranks 64
      Table II of the papers for 64 ranks, and what Weft's schedules send
  weft-model phase --sizes 512,1024 --json phase.json
      slabs or pencils on Summit, over its numbers of GPUs
  weft-model roofline --size 1024 --nodes 4,64,1024
      the roof of 1024 x 1024 x 1024 points

weft-model COMMAND --help lists the options of a command.
)";

/// A command with its options, and where its JSON goes.
struct Offered {
  CLI::App* app = nullptr;
  std::unique_ptr<Command> command;
  std::string json;
};

std::vector<Offered> describe(CLI::App& app) {
  std::vector<Offered> all(command_table().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const CommandRow& row = command_table().at(i);
    Offered& one = all[i];
    one.app = app.add_subcommand(row.name, row.meaning)->group("Commands");
    one.command = row.make();
    one.command->describe(*one.app);
    one.app->add_option("--json", one.json, "file for the results")->group("Results");
    one.app->set_help_flag("-h,--help", "prints this")->group("Help");
  }
  app.set_help_flag("-h,--help", "prints this")->group("Help");
  app.set_version_flag("--version", "weft-model " + std::string(version()), "prints the version")
      ->group("Help");
  app.footer(examples);
  app.require_subcommand(1);
  return all;
}

/// What is said of a command line that names no command, or one that there is not.
std::string no_command(const CLI::App& app) {
  std::vector<std::string> names;
  std::string listed;
  for (const CommandRow& row : command_table()) {
    names.emplace_back(row.name);
    listed += (listed.empty() ? "" : ", ") + names.back();
  }
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return "weft-model: no command; expected one of " + listed + "\n";
  if (extras.front().starts_with("-")) return unknown_argument(app, extras, "weft-model");
  const std::string nearest = nearest_name(extras.front(), names);
  return "weft-model: unknown command " + extras.front() +
         (nearest.empty() ? "" : "; the nearest is " + nearest) + "; expected one of " + listed + "\n";
}

const Offered* chosen(const std::vector<Offered>& all) {
  for (const Offered& one : all)
    if (one.app->parsed()) return &one;
  return nullptr;
}

/// What is said of arguments that have no meaning.
std::string unknown(const CLI::App& app, const Offered* used) {
  if (used == nullptr) return no_command(app);
  const std::vector<std::string> extras = used->app->remaining();
  const bool of_command = !extras.empty();
  return unknown_argument(*used->app, of_command ? extras : app.remaining(),
                          "weft-model " + used->app->get_name());
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  CLI::App app(
      "What a distributed Fourier transform will cost, from formulas and schedules, without running it.",
      "weft-model");
  std::vector<Offered> all;
  try {
    all = describe(app);
    app.parse(argc, argv);
    const Offered& used = *chosen(all);
    OutputFile file(used.json, "weft-model: --json");
    const Answer answer = used.command->answer();
    std::fputs(answer.text.c_str(), stdout);
    file.write(answer.json);
    return 0;
  } catch (const CLI::ExtrasError& e) {
    std::fputs(unknown(app, chosen(all)).c_str(), stderr);
    return e.get_exit_code();
  } catch (const CLI::RequiredError& e) {
    const Offered* used = chosen(all);
    if (used != nullptr) return app.exit(e);
    std::fputs(no_command(app).c_str(), stderr);
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

}  // namespace weft::bench
