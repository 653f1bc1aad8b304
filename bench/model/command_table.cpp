#include "command.hpp"

namespace weft::bench {

const std::vector<CommandRow>& command_table() {
  static const std::vector<CommandRow> table{
      {"predict", "how long a transform takes on a described machine, and what that hangs on", make_predict},
      {"choose", "the plan that effort estimate takes on a described machine, and why", make_choose},
      {"scaling", "predicted times over numbers of ranks, strong or weak", make_scaling},
      {"compare", "one problem with several exchanges, pipelines, decompositions or machines", make_compare},
      {"messages", "messages of each reshape: formulas of the papers beside Weft's own schedule",
       make_messages},
      {"phase", "slabs or pencils: which are predicted to be faster, over ranks and sizes", make_phase},
      {"roofline", "what the network and the processors of some nodes allow at best", make_roofline},
  };
  return table;
}

}  // namespace weft::bench
