// The row of exchange ucx. A build that did not find UCX has it as well, and it says what it needs.
#ifdef WEFT_WITH_UCX
#include "transport/ucx/rails.hpp"
#include "transport/ucx/ring.hpp"
#endif
#include "transport/transport.hpp"

namespace weft {

ExchangeRow ucx_row() {
  ExchangeRow row{.name = "ucx",
                  .meaning = "UCX, a ring in chunks over several networks, unpacking on arrival",
                  .traits = {.among = Among::processes,
                             .moves_on = MovesOn::between_machines,
                             .any_length = true,
                             .by_name_only = true,
                             .on_rails = true}};
#ifdef WEFT_WITH_UCX
  row.carrier = make_ucx_ring;
  row.missing = [](CommImpl&) { return ucx::missing(); };
  row.prepare = [](CommImpl& comm, const std::shared_ptr<Device>& device, const RailSettings& settings) {
    ucx::Rails::prepare(comm, device, settings);
  };
  row.describe = ucx::Rails::describe;
#else
  row.missing = [](CommImpl&) -> std::string {
    return "this build of Weft is without UCX; install its headers (Debian: libucx-dev) and build with "
           "-DWEFT_UCX=ON";
  };
#endif
  return row;
}

}  // namespace weft
