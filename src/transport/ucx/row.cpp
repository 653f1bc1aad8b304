// The row of exchange ucx. A build that did not find UCX has it as well, and it says what it needs.
#ifdef WEFT_WITH_UCX
#include "transport/ucx/context.hpp"
#include "transport/ucx/registration.hpp"
#include "transport/ucx/ring.hpp"
#endif
#include "transport/transport.hpp"
#include "transport/ucx/devices.hpp"

namespace weft {

std::atomic<const bool*> ucx::detail::pretended_taking{nullptr};

ExchangeRow ucx_row() {
  ExchangeRow row{.name = "ucx",
                  .meaning = "UCX, a ring in chunks over several networks, unpacking on arrival",
                  .traits = {.among = Among::processes,
                             .moves_on = MovesOn::between_machines,
                             .any_length = true,
                             .queues = true,
                             .by_name_only = true,
                             .on_rails = true}};
#ifdef WEFT_WITH_UCX
  row.carrier = make_ucx_ring;
  row.missing = [](CommImpl&) { return ucx::missing(); };
  row.takes_devices = [](CommImpl& comm) { return comm.least(ucx::takes_devices() ? 1 : 0) == 1; };
  row.prepare = [](CommImpl& comm, const std::shared_ptr<Device>& device, const RailSettings& settings) {
    ucx::Rails::prepare(comm, device, settings);
  };
  row.networks = [](CommImpl& comm, const RailSettings& settings) {
    return ucx::Rails::named(comm, settings);
  };
  row.rails = [](CommImpl& comm, const RailSettings& settings) {
    return ucx::Rails::of(comm, settings)->count();
  };
  row.expose = [](CommImpl& comm, const std::shared_ptr<std::byte>& memory, Index bytes, bool of_devices,
                  const RailSettings& settings) -> std::shared_ptr<const void> {
    return ucx::RegisteredWorkspace::make(comm, {memory, bytes, of_devices}, settings);
  };
  row.describe = [](CommImpl& comm, const RailSettings& settings,
                    const std::shared_ptr<const void>& exposed) {
    const auto workspace = std::static_pointer_cast<const ucx::RegisteredWorkspace>(exposed);
    return ucx::Rails::of(comm, settings)->text([&](int lane) {
      return workspace && workspace->puts(lane) ? "puts" : "messages";
    });
  };
#else
  row.missing = [](CommImpl&) -> std::string {
    return "this build of Weft is without UCX; install its headers (Debian: libucx-dev) and build with "
           "-DWEFT_UCX=ON";
  };
#endif
  return row;
}

}  // namespace weft
