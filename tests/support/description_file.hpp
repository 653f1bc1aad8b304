// A file with the description of a machine, as long as its object lives.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

#include "model/machine_json.hpp"
#include "support/described_machine.hpp"
#include "support/tuned.hpp"

namespace weft::test {

class DescriptionFile {
 public:
  explicit DescriptionFile(const std::string& text) : name_(new_wisdom_file() + ".machine") {
    std::ofstream(name_) << text;
  }
  explicit DescriptionFile(const MachineDescription& machine = described_machine())
      : DescriptionFile(to_json(machine)) {}
  ~DescriptionFile() { std::remove(name_.c_str()); }
  DescriptionFile(const DescriptionFile&) = delete;
  DescriptionFile& operator=(const DescriptionFile&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace weft::test
