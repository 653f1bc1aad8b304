#include "communicators.hpp"

#include <map>
#include <mutex>
#include <optional>

#include "weft/mpi.hpp"

namespace weft::fftw3_mpi {

namespace {

std::mutex mutex;

/// Never destroyed: MPI may call `freed` while the process ends.
std::map<MPI_Comm, Comm>& handles() {
  static auto& kept = *new std::map<MPI_Comm, Comm>;
  return kept;
}

std::optional<Comm> known(MPI_Comm communicator) {
  const std::lock_guard lock(mutex);
  const auto found = handles().find(communicator);
  return found == handles().end() ? std::nullopt : std::optional(found->second);
}

/// MPI calls it when the program frees a communicator. The predefined ones are freed by MPI_Finalize, in
/// which no communicator may be freed any more.
int freed(MPI_Comm communicator, int, void*, void*) {
  if (communicator == MPI_COMM_WORLD || communicator == MPI_COMM_SELF) return MPI_SUCCESS;
  const std::lock_guard lock(mutex);
  handles().erase(communicator);
  return MPI_SUCCESS;
}

int attribute_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, freed, &made, nullptr);
    return made;
  }();
  return key;
}

}  // namespace

Comm handle_of(MPI_Comm communicator) {
  if (const std::optional<Comm> found = known(communicator)) return *found;
  Comm made = Comm::mpi(communicator);  // without the lock: it waits for other ranks
  MPI_Comm_set_attr(communicator, attribute_key(), nullptr);
  const std::lock_guard lock(mutex);
  return handles().emplace(communicator, made).first->second;
}

}  // namespace weft::fftw3_mpi
