// The late maximum of MPI ranks: non-blocking reductions on a communicator of its own.
#pragma once

#include <mpi.h>

#include <memory>

#include "comm/late_maximum.hpp"

namespace weft {

class MpiWorld;

/// The reductions of one maximum. MPI can neither cancel one nor free its communicator before it is complete,
/// while ranks fail and destroy plans when they like: the process keeps them until all ranks have left, at
/// the latest in MPI_Finalize, where all ranks meet.
class MpiReductions;

/// Local; throws `weft::Error`.
std::shared_ptr<MpiReductions> keep_reductions();
/// Collective; `world` must outlive it, and be the same on all ranks.
std::unique_ptr<LateMaximum> make_late_maximum(MpiWorld& world, std::shared_ptr<MpiReductions> reductions);

/// Gives up what all ranks have left. Communicators of `MpiWorld::own_comm` that it has used are used no
/// more.
void sweep_reductions();
/// Frees a communicator, of a world that is gone, as soon as it is used no more.
void free_when_unused(std::shared_ptr<MPI_Comm> comm) noexcept;

}  // namespace weft
