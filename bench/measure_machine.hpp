// Measures what the model knows of a machine (model/machine_description.hpp), in less than a minute: memory,
// local FFTs, codecs and links, each by itself, with the kernels, libraries and exchanges that plans use.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "device/device.hpp"
#include "model/machine_description.hpp"
#include "weft/comm.hpp"

namespace weft::bench {

/// The machine of these ranks, complete on rank 0. That rank measures what one rank does alone; then as many
/// ranks of its machine as there are cores do it together. Links are those between ranks of one machine and
/// between machines, if there are such ranks, these also of every number of rails. With a device, its own or
/// null on all ranks, that of rank 0 and its links are measured too. Collective. Throws `weft::Error` on all
/// ranks.
MachineDescription measure_machine(const Comm& comm, const std::shared_ptr<Device>& device);

/// The links alone.
std::vector<LinkDescription> measure_links(const Comm& comm);

/// What one rank computes with, but for `copy_together`; by the calling rank alone.
ProcessorDescription measure_processor();

/// The codecs whose speed is measured, with the bytes of the real numbers that each makes shorter.
std::vector<std::pair<Codec, int>> described_codecs();

/// Bytes read and written by a copy in a second, by the bytes that it goes through; by the calling rank.
Curve measure_copies();

}  // namespace weft::bench
