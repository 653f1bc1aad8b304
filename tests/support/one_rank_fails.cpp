#include "support/one_rank_fails.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "weft/buffer.hpp"
#include "weft/error.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

Options online() {
  return Options().set("effort", "online").set("online", 6);
}

/// Fails at the points of this name, the `count`th one while armed.
std::function<TestHook(std::atomic<bool>*)> failing_at(const char* name, int count = 1) {
  return [=](std::atomic<bool>* armed) {
    TestHook hook;
    auto seen = std::make_shared<std::atomic<int>>(0);
    hook.at_point = [=](const char* point, int rank) {
      if (rank == lonely && *armed && std::strcmp(point, name) == 0 && ++*seen == count)
        throw std::runtime_error("broken on purpose");
    };
    return hook;
  };
}

struct Execution {
  explicit Execution(const Comm& comm, const Options& options = online())
      : plan(std::make_unique<Plan>(comm, two_pairs(), options)),
        in(plan->input_count(), {1, 2}),
        out(plan->output_count()) {}
  void forward() { plan->forward(static_cast<const Complex*>(in.data()), out.data()); }

  std::unique_ptr<Plan> plan;
  std::vector<Complex> in, out;
};

/// Executions of which the lonely rank fails in one. It makes no more, but keeps the plan or not.
std::string execute(const Comm& comm, std::atomic<bool>* armed, int before, bool keeps) {
  Execution e(comm);
  try {
    for (int i = 0; i < before + 20; ++i) {
      if (comm.rank() == lonely) *armed = i == before;
      e.forward();
    }
  } catch (const std::exception& error) {
    if (!keeps) e.plan.reset();
    return error.what();
  }
  return "";
}

}  // namespace

Problem two_pairs() {
  Problem p;
  p.shape = {6, 6, 4};
  p.transforms = {Transform::c2c, Transform::c2c, Transform::none};
  std::vector<Box> before, after;
  for (Index r = 0; r < 4; ++r) {
    const Index cut = r / 2, pair = r % 2;
    before.push_back({{0, 3 * cut, 2 * pair}, {6, 3 * cut + 3, 2 * pair + 2}});
    after.push_back({{3 * cut, 0, 2 * pair}, {3 * cut + 3, 6, 2 * pair + 2}});
  }
  p.input = Distribution::boxes(before);
  p.output = Distribution::boxes(after);
  return p;
}

std::vector<LonelyFailure> lonely_failures() {
  std::vector<LonelyFailure> all;
  // Of executions after the tenth, which have settled, one in eight is measured.
  for (const int before : {1, 3, 10, 11, 14, 17})
    for (const bool keeps : {true, false}) {
      const std::string which = std::to_string(before) + (keeps ? ", the plan is kept" : "");
      all.push_back({"an operation of execution " + which, failing_at("op", 2),
                     [=](const Comm& comm, auto* armed) { return execute(comm, armed, before, keeps); }});
    }
  for (const int before : {1, 2, 3, 4, 5, 12})
    all.push_back({"before execution " + std::to_string(before), failing_at("before"),
                   [=](const Comm& comm, auto* armed) { return execute(comm, armed, before, true); }});
  all.push_back({"while planning", failing_at("online"), [](const Comm& comm, auto* armed) -> std::string {
                   *armed = true;
                   try {
                     const Execution e(comm);
                   } catch (const std::exception& error) {
                     return error.what();
                   }
                   return "";
                 }});
  return all;
}

void expect_told(const std::string& error, int rank) {
  const bool own = error.find("broken on purpose") != std::string::npos;
  EXPECT_TRUE(own || (rank != lonely && error.find("failed") != std::string::npos))
      << "rank " << rank << ": " << error;
}

}  // namespace weft::test
