// The rows of exchanges over UCX. A build that did not find UCX has them as well, and they say what they
// need.
#ifdef WEFT_WITH_UCX
#include "transport/ucx/context.hpp"
#include "transport/ucx/node.hpp"
#include "transport/ucx/registration.hpp"
#include "transport/ucx/ring.hpp"
#endif
#include "transport/node/messages.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/devices.hpp"

namespace weft {

std::atomic<const bool*> ucx::detail::pretended_taking{nullptr};

namespace {

/// What the rows have in common.
void use_rails(ExchangeRow& row) {
  row.traits.on_rails = true;
  row.traits.by_name_only = true;
#ifdef WEFT_WITH_UCX
  row.missing = [](CommImpl&) { return ucx::missing(); };
  row.prepare = [](CommImpl& comm, const std::shared_ptr<Device>& device, const RailSettings& settings) {
    ucx::Rails::prepare(comm, device, settings);
  };
  row.networks = [](CommImpl& comm, const RailSettings& settings) {
    return ucx::Rails::named(comm, settings);
  };
  row.rails = [](CommImpl& comm, const RailSettings& settings) {
    return ucx::Rails::of(comm, settings)->count();
  };
#else
  row.missing = [](CommImpl&) -> std::string {
    return "this build of Weft is without UCX; install its headers (Debian: libucx-dev) and build with "
           "-DWEFT_UCX=ON";
  };
#endif
}

}  // namespace

ExchangeRow ucx_row() {
  ExchangeRow row{.name = "ucx",
                  .meaning = "UCX, a ring in chunks over several networks, unpacking on arrival",
                  .traits = {.among = Among::processes,
                             .moves_on = MovesOn::between_machines,
                             .any_length = true,
                             .queues = true}};
  use_rails(row);
#ifdef WEFT_WITH_UCX
  row.carrier = make_ucx_ring;
  row.takes_devices = [](CommImpl& comm) { return comm.least(ucx::takes_devices() ? 1 : 0) == 1; };
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
#endif
  return row;
}

ExchangeRow ucx_node_row() {
  ExchangeRow row =
      node_row("node_ucx", "direct within a machine, between machines one message on each network");
  use_rails(row);
#ifdef WEFT_WITH_UCX
  row.carrier = make_node_messages_on_rails;
  row.describe = [](CommImpl& comm, const RailSettings& settings, const std::shared_ptr<const void>&) {
    const auto rails = ucx::Rails::of(comm, settings);
    return rails->text([&](int lane) { return lane == rails->memory_lane() ? "" : "messages"; });
  };
#else
  row.carrier = nullptr;
#endif
  return row;
}

}  // namespace weft
