// What every example needs before it can begin: a command line, and ranks to run on. The ranks are those of
// MPI_COMM_WORLD or the threads of this process; the body of the example cannot tell which, and is given the
// one thing besides Weft that it needs from them, a sum.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "weft/weft.hpp"
#ifdef WEFT_WITH_MPI
#include "weft/mpi.hpp"
#endif

namespace example {

struct Settings {
  const char* name;       ///< of the program
  weft::Index grid;       ///< points along an axis
  const char* grid_hint;  ///< which values of grid are right
  std::string comm = {};
  weft::Options options = {};
};

/// A result beside what it should be.
struct Check {
  std::string what;
  double error, allowed;
};

struct Ranks {
  weft::Comm comm;
  /// The sum of a number over all ranks, on all ranks. Collective.
  std::function<double(double)> sum;

  bool first() const { return comm.rank() == 0; }
  /// Prints the closing line on one rank; returns whether all errors are allowed, which NaN never is.
  bool close(const char* name, const std::vector<Check>& checks) const {
    bool right = true;
    std::string line = name;
    for (const Check& c : checks) {
      std::array<char, 64> numbers{};
      std::snprintf(numbers.data(), numbers.size(), " %.1e (allowed %.0e)", c.error, c.allowed);
      line += (line == name ? ": " : ", ") + c.what + numbers.data();
      right = right && c.error <= c.allowed;
    }
    if (first()) std::printf("%s: %s\n", line.c_str(), right ? "right" : "WRONG");
    return right;
  }
};

[[noreturn]] inline void usage(const Settings& s, const std::string& problem) {
  std::fprintf(
      stderr,
      "%s: %s\nusage: %s [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...\n"
      "  --grid N      points along an axis, %s (default %lld)\n"
      "  --comm C      mpi (default where built with MPI), or threads:P for P threads of this process\n"
      "  --set O=V     an option of the plan, e.g. --set pipeline=windowed\n",
      s.name, problem.c_str(), s.name, s.grid_hint, static_cast<long long>(s.grid));
  std::exit(2);
}

inline Settings parse(int argc, char** argv, const Settings& defaults) {
  Settings s = defaults;
#ifdef WEFT_WITH_MPI
  s.comm = "mpi";
#else
  s.comm = "threads:4";
#endif
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (name != "--grid" && name != "--comm" && name != "--set") usage(defaults, "unknown argument " + name);
    if (i + 1 == argc) usage(defaults, name + " needs a value");
    const std::string value = argv[i + 1];
    const std::size_t equals = value.find('=');
    if (name == "--grid") {
      s.grid = std::atoll(value.c_str());
    } else if (name == "--comm") {
      s.comm = value;
    } else if (equals == std::string::npos) {
      usage(defaults, "--set takes OPTION=VALUE");
    } else {
      try {
        s.options.set(value.substr(0, equals), value.substr(equals + 1));
      } catch (const weft::Error& e) {
        usage(defaults, e.what());
      }
    }
  }
  if (s.grid < 2 || s.grid > 4096) usage(defaults, "--grid " + std::to_string(s.grid) + " is out of range");
  return s;
}

/// The body of an example: true if its answer is right. The same on all ranks.
using Body = std::function<bool(const Ranks&, const Settings&)>;

inline bool run_on_threads(const Settings& s, int ranks, const Body& body) {
  weft::ThreadTeam team(ranks);
  std::vector<double> parts(static_cast<std::size_t>(ranks));
  bool good = false;
  team.run([&](const weft::Comm& comm) {
    const auto sum = [&](double mine) {
      parts[static_cast<std::size_t>(comm.rank())] = mine;
      comm.barrier();
      double total = 0;
      for (double p : parts) total += p;
      comm.barrier();
      return total;
    };
    const bool mine = body({comm, sum}, s);
    if (comm.rank() == 0) good = mine;
  });
  return good;
}

#ifdef WEFT_WITH_MPI
inline bool run_on_mpi(const Settings& s, const Body& body) {
  MPI_Init(nullptr, nullptr);
  bool good = false;
  try {
    const auto sum = [](double mine) {
      double total = 0;
      MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return total;
    };
    good = body({weft::Comm::mpi(MPI_COMM_WORLD), sum}, s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return good;
}
#endif

/// The whole of main: runs the body on the ranks that the command line asks for; 0 if its answer is right.
inline int run(const Settings& s, const Body& body) {
  try {
    if (s.comm.starts_with("threads:")) return run_on_threads(s, std::atoi(s.comm.c_str() + 8), body) ? 0 : 1;
#ifdef WEFT_WITH_MPI
    if (s.comm == "mpi") return run_on_mpi(s, body) ? 0 : 1;
#endif
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  usage(s, "unknown --comm " + s.comm);
}

}  // namespace example
