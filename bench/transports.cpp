#include "transports.hpp"

#include <array>

#include "base/nearest_name.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft::bench {

std::span<const TransportRow> transport_table() {
  static constexpr std::array table{
      TransportRow{"auto", "by rule: peer where any two GPUs reach each other, else mpi or staged",
                   [](CommImpl&) { return "auto"; }, "auto"},
      TransportRow{"peer", "exchange direct: GPUs store into each other's memory",
                   [](CommImpl&) { return "direct"; }, "auto"},
      TransportRow{"nccl", "exchange nccl: grouped sends and receives", [](CommImpl&) { return "nccl"; },
                   "auto"},
      TransportRow{"nvshmem", "exchange nvshmem: puts into NVSHMEM's symmetric heap",
                   [](CommImpl&) { return "nvshmem"; }, "auto"},
      TransportRow{"mpi", "exchange p2p: MPI is given memory of GPUs (staging off)",
                   [](CommImpl&) { return "p2p"; }, "off"},
      TransportRow{"staged", "exchange p2p, among threads copy, through pinned memory (staging on)",
                   [](CommImpl& comm) { return comm.threads() != nullptr ? "copy" : "p2p"; }, "on"}};
  return table;
}

void choose_transport(const std::string& name, CommImpl& comm, Options& options) {
  std::vector<std::string> names;
  for (const TransportRow& row : transport_table()) {
    names.emplace_back(row.name);
    if (name != row.name) continue;
    options.set("exchange", row.exchange(comm)).set("staging", row.staging);
    return;
  }
  throw Error("--transport", "\"" + name + "\"", one_of(names, name));
}

}  // namespace weft::bench
