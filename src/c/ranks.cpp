// Communicators and teams of threads for C. Ranks of MPI: mpi.cpp.
#include "c/failure.hpp"
#include "c/handles.hpp"

using namespace weft::c;
using weft::Comm;

weft_status weft_comm_self(weft_comm* comm) {
  return guarded([&] {
    check_given(comm, "comm", "comm");
    *comm = new_handle<weft_comm>(std::make_unique<Comm>(Comm::self()));
  });
}

weft_status weft_comm_split(weft_comm comm, int colour, weft_comm* part) {
  return guarded([&] {
    const Comm& ranks = object_of(comm, "split");
    auto mine = std::make_unique<Comm>(ranks.split(colour));  // the other ranks wait for this one
    check_given(part, "split", "part");
    *part = new_handle<weft_comm>(std::move(mine));
  });
}

weft_status weft_comm_rank(weft_comm comm, int* rank) {
  return guarded([&] {
    check_given(rank, "comm", "rank");
    *rank = object_of(comm, "comm: rank").rank();
  });
}

weft_status weft_comm_size(weft_comm comm, int* size) {
  return guarded([&] {
    check_given(size, "comm", "size");
    *size = object_of(comm, "comm: size").size();
  });
}

weft_status weft_comm_medium(weft_comm comm, const char** medium) {
  return guarded([&] {
    check_given(medium, "comm", "medium");
    *medium = object_of(comm, "comm: medium").medium();
  });
}

weft_status weft_comm_barrier(weft_comm comm) {
  return guarded([&] { object_of(comm, "barrier").barrier(); });
}

weft_status weft_comm_free(weft_comm* comm) {
  return guarded([&] { free_handle(comm); });
}

weft_status weft_team_create(int size, weft_team* team) {
  return guarded([&] {
    check_given(team, "thread team", "team");
    *team = new_handle<weft_team>(std::make_unique<Team>(size));
  });
}

weft_status weft_team_size(weft_team team, int* size) {
  return guarded([&] {
    check_given(size, "thread team", "size");
    *size = object_of(team, "thread team").threads.size();
  });
}

namespace {

/// The handle of a communicator for as long as a body runs, which may have freed it.
class LentComm {
 public:
  explicit LentComm(const Comm& comm) : handle_(new_handle<weft_comm>(std::make_unique<Comm>(comm))) {}
  ~LentComm() {
    guarded([&] { free_handle(&handle_); });
  }
  LentComm(const LentComm&) = delete;
  LentComm& operator=(const LentComm&) = delete;
  weft_comm handle() const { return handle_; }

 private:
  weft_comm handle_;
};

struct Running {
  explicit Running(Team& team) : team_(team) { ++team_.runs; }
  ~Running() { --team_.runs; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Team& team_;
};

}  // namespace

weft_status weft_team_run(weft_team team, int (*body)(weft_comm comm, void* data), void* data) {
  return guarded([&] {
    Team& mine = object_of(team, "thread team");
    if (body == nullptr) throw bad_argument("thread team", "body is NULL", "what every rank is to run");
    const Running running(mine);
    mine.threads.run([&](const Comm& comm) {
      forget_failure();
      const LentComm lent(comm);
      const int result = body(lent.handle(), data);
      if (result != 0) throw_failure_of_body(result, comm.rank());
    });
  });
}

weft_status weft_team_free(weft_team* team) {
  return guarded([&] {
    if (team != nullptr && *team != nullptr && object_of(*team, "free").runs > 0)
      throw weft::Error("thread team", "freed while it runs", "after weft_team_run has returned");
    free_handle(team);
  });
}
