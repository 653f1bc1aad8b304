// A build without any local FFT library compiles, links and says what it lacks. Exits with 1 if it does not.
#include <cstdio>
#include <string>

#include "weft/weft.hpp"

int main() {
  weft::Problem problem;
  problem.shape = {8, 8, 8};
  try {
    const weft::Plan plan(weft::Comm::self(), problem);
  } catch (const weft::Error& e) {
    std::printf("%s\n", e.what());
    return std::string(e.what()).find("without any local FFT library") != std::string::npos ? 0 : 1;
  }
  return 1;
}
