#include "transport/mpi/failure_notices.hpp"

#include <string>

#include "weft/error.hpp"

namespace weft {

void FailureNotices::check() const {
  int found = 0;
  MPI_Status status;
  {
    const auto lock = world_.lock();
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag_, world_.comm(), &found, &status), "MPI_Iprobe");
  }
  if (found != 0)
    throw Error("exchange by messages",
                "rank " + std::to_string(status.MPI_SOURCE) + " has failed in the middle",
                "the reason in the message of that rank", world_.rank());
}

/// Empty messages need no receiver to be on their way.
void FailureNotices::tell() noexcept {
  if (told_) return;
  told_ = true;
  const auto lock = world_.lock();
  for (const int peer : peers_) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(nullptr, 0, MPI_BYTE, peer, tag_, world_.comm(), &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

}  // namespace weft
