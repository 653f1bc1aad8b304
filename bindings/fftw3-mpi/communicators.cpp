#include "communicators.hpp"

#include <map>
#include <mutex>

#include "weft/mpi.hpp"

namespace weft::fftw3_mpi {

namespace {

std::mutex mutex;

std::map<MPI_Comm, Comm>& handles() {
  static std::map<MPI_Comm, Comm> kept;
  return kept;
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
  const std::lock_guard lock(mutex);
  if (const auto found = handles().find(communicator); found != handles().end()) return found->second;
  Comm made = Comm::mpi(communicator);
  MPI_Comm_set_attr(communicator, attribute_key(), nullptr);
  handles().emplace(communicator, made);
  return made;
}

void forget_communicators() {
  const std::lock_guard lock(mutex);
  handles().clear();
}

}  // namespace weft::fftw3_mpi
