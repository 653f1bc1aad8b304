// How ranks that wait for messages learn that another one has given its execution up: it sends them an empty
// message with a tag of its own, which they look for now and then.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "comm/mpi_world.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

/// The other ranks that this one sends to or receives from.
inline std::vector<int> peers_of(const ReshapeMessages& reshape, int rank) {
  std::set<int> peers;
  for (const TileMessages& t : reshape.tiles)
    for (const auto* messages : {&t.sends, &t.receives})
      for (const Message& m : *messages)
        if (m.peer != rank) peers.insert(m.peer);
  return {peers.begin(), peers.end()};
}

class FailureNotices {
 public:
  /// `peers`: the ranks that may wait for this one. None of them is this rank.
  FailureNotices(MpiWorld& world, std::vector<int> peers) : world_(world), peers_(std::move(peers)) {}
  /// To be called before anything else, with a tag that no other messages have.
  void use(int tag) { tag_ = tag; }

  /// Waits until `ready()`, or only looks. Whether it is ready; throws `weft::Error` if a rank has given up.
  template <class Ready>
  bool await(Patience patience, const Ready& ready) {
    for (Backoff backoff; !ready(); backoff.pause()) {
      check_at_times();
      if (patience == Patience::look) return false;
    }
    return true;
  }

  /// This rank has given up. Empty messages need no receiver to be on their way.
  void tell() noexcept {
    if (told_ || tag_ < 0) return;
    told_ = true;
    const auto lock = world_.lock();
    for (const int peer : peers_) {
      MPI_Request request = MPI_REQUEST_NULL;
      if (MPI_Isend(nullptr, 0, MPI_BYTE, peer, tag_, world_.comm(), &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
    }
  }

 private:
  /// A check calls MPI, which looks at all of its connections.
  void check_at_times() {
    constexpr int between_looks_at_the_clock = 64;
    constexpr auto between_checks = std::chrono::milliseconds(4);
    if (++looks_ % between_looks_at_the_clock != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - checked_ < between_checks) return;
    checked_ = now;
    check();
  }

  void check() {
    world_.look_for_leavers();
    world_.check_all_there("exchange by messages");
    int found = 0;
    MPI_Status status;
    const auto lock = world_.lock();
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag_, world_.comm(), &found, &status), "MPI_Iprobe");
    if (found != 0)
      throw Aftermath("exchange by messages",
                      "rank " + std::to_string(status.MPI_SOURCE) + " has failed in the middle",
                      "the reason in the message of that rank", world_.rank());
  }

  MpiWorld& world_;
  std::vector<int> peers_;
  int tag_ = -1;  ///< there is none yet
  unsigned looks_ = 0;
  std::chrono::steady_clock::time_point checked_{};  ///< last
  bool told_ = false;
};

}  // namespace weft
