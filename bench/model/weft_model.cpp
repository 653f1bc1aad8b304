// weft-model: what a distributed transform will cost, before it runs: messages, times and bounds. It needs no
// ranks, no GPUs and no data. `weft-model --help` lists the commands; docs/model.md explains their output.
#include "run_command.hpp"

int main(int argc, char** argv) {
  return weft::bench::run_command(argc, argv);
}
