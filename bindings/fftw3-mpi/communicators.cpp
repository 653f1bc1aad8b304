#include "communicators.hpp"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "weft/mpi.hpp"

namespace weft::fftw3_mpi {

namespace {

struct Handle {
  MPI_Comm communicator;
  Comm comm;
};

std::mutex mutex;

/// In the order in which they were made, which is that of all ranks. Never destroyed: MPI may call `freed`
/// while the process ends.
std::vector<Handle>& handles() {
  static auto& kept = *new std::vector<Handle>;
  return kept;
}

std::optional<Comm> known(MPI_Comm communicator) {
  const std::lock_guard lock(mutex);
  for (const Handle& h : handles())
    if (h.communicator == communicator) return h.comm;
  return std::nullopt;
}

/// MPI calls it when the program frees a communicator. The predefined ones are freed by MPI_Finalize, in
/// which no communicator may be freed any more.
int freed(MPI_Comm communicator, int, void*, void*) {
  if (communicator == MPI_COMM_WORLD || communicator == MPI_COMM_SELF) return MPI_SUCCESS;
  const std::lock_guard lock(mutex);
  std::erase_if(handles(), [&](const Handle& h) { return h.communicator == communicator; });
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
  handles().push_back({communicator, made});
  return made;
}

void forget_communicators() {
  std::vector<Handle> all;
  {
    const std::lock_guard lock(mutex);
    all.swap(handles());
  }
  for (Handle& h : all) {  // without the lock: MPI calls `freed`, and freeing waits for other ranks
    MPI_Comm_delete_attr(h.communicator, attribute_key());
    const Comm last = std::move(h.comm);
  }
}

}  // namespace weft::fftw3_mpi
