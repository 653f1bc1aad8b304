// NVSHMEM in this process, and the memory of its symmetric heap. It is initialised once in a process, among
// the ranks of the first plan that asks for it, or by the user's program. Each allocation is one of all its
// processes together, and so is each that is given back, while every rank destroys its plans when it likes:
// what plans leave is given back when a later one is made and no rank uses it any more.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm_impl.hpp"
#include "device/device.hpp"

namespace weft::nvshmem {

/// Allocations begin on a multiple of it, as those that GPUs of other processes put into
/// (transport/peer/direct.cpp).
inline constexpr std::size_t page_bytes = std::size_t{2} << 20;

/// Why it cannot serve these ranks, or nothing. Collective; ranks may give different answers.
std::string why_not(CommImpl& comm);

/// Initialises it on the device, which is entered, unless it is initialised already. Returns the PE of every
/// rank. Collective; throws the same `weft::Error` on all ranks.
std::vector<int> start(CommImpl& comm, const std::shared_ptr<Device>& device);

/// Whether Weft has finalised it in this process: nothing of it may be called any more, and its memory is
/// gone.
bool has_ended();

/// So many bytes on every rank, the most of what they ask for, after `start`. Collective; throws the same
/// `weft::Error` on all ranks.
std::shared_ptr<std::byte> allocate(CommImpl& comm, const Device& device, std::size_t bytes);

}  // namespace weft::nvshmem
