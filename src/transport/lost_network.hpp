// What an exchange throws whose network is gone. A plan may go on over others then (api/plan_impl.hpp).
#pragma once

#include "weft/error.hpp"

namespace weft {

class LostNetwork : public Error {
 public:
  using Error::Error;
};

}  // namespace weft
