#include "exec/ending.hpp"

#include "comm/comm_impl.hpp"
#include "transport/lost_network.hpp"

namespace weft {

Ending ending_of(const std::exception_ptr& failure) {
  if (!failure) return Ending::well;
  try {
    std::rethrow_exception(failure);
  } catch (const LostNetwork&) {
    return Ending::lost_network;
  } catch (const Aftermath&) {
    return Ending::aftermath;
  } catch (...) {
    return Ending::failed;
  }
}

}  // namespace weft
