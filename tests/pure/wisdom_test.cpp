// Wisdom as a value, as text and in a file that several processes use, of which any may be killed.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "support/expect_error.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom.hpp"
#include "tune/wisdom_file.hpp"

namespace weft::test {

namespace {

namespace fs = std::filesystem;
using Kind = WisdomText::Kind;

constexpr const char* head = "(fftw-3.3.10 fftw_wisdom #x1 #x2 #x3 #x4\n";

Wisdom some_wisdom() {
  Wisdom w;
  w.remember("a machine, \"quoted\"", "64x64 c2c",
             {{{"pipeline", "windowed"}, {"tile", "16"}}, 0.1 + 0.2, 12});
  w.remember("a machine, \"quoted\"", "65x64 c2c", {{}, 0, 0});
  w.remember("another", "64x64 c2c", {{{"exchange", "p2p,alltoallv"}}, 1e-7, 3});
  w.remember_constant("another", "bytes_per_s", 1.0 / 3);
  w.remember_library("hardware, fftw, float64", std::string(head) + "  (a 0 #x1)\n)\n");
  return w;
}

WisdomEntry entry(const std::string& pipeline, double seconds) {
  return {{{"pipeline", pipeline}}, seconds, 1};
}

/// A folder that is gone with the object.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "/weft-wisdom-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw Error("test", name, "a folder");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  std::string file(const char* name = "wisdom.json") const { return (path_ / name).string(); }
  const fs::path& path() const { return path_; }
  /// Names in it, but of the lock.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& e : fs::directory_iterator(path_))
      if (e.path().extension() != ".lock") found.push_back(e.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  fs::path path_;
};

void write(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
}

std::string contents(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Starts `work` in a process of its own, which exits with what it returns.
template <class Work>
pid_t start(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

int ended(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void expect_refused(const std::string& file, const std::string& why) {
  const std::string before = contents(file);
  const WisdomSaved done = add_to_file(file, some_wisdom());
  EXPECT_FALSE(done.saved);
  EXPECT_TRUE(says(done.remark, why));
  EXPECT_TRUE(says(done.remark, file));
  EXPECT_EQ(contents(file), before);
}

}  // namespace

TEST(Wisdom, ComesBackFromText) {
  const Wisdom w = some_wisdom();
  const std::string text = w.to_json();
  EXPECT_EQ(text.find("{\n  \"weft_wisdom\": 1,\n"), 0u);
  EXPECT_EQ(Wisdom::from_json(text), w);
  EXPECT_EQ(Wisdom::from_json(text).to_json(), text);
  EXPECT_EQ(Wisdom::from_json(Wisdom().to_json()), Wisdom());
  EXPECT_TRUE(Wisdom().empty());
  EXPECT_EQ(w.find("another", "64x64 c2c")->options.at("exchange"), "p2p,alltoallv");
  EXPECT_EQ(w.find("another", "65x64 c2c"), std::nullopt);
  EXPECT_EQ(w.find("a third", "64x64 c2c"), std::nullopt);
  EXPECT_EQ(w.constant("another", "bytes_per_s"), 1.0 / 3);
  EXPECT_EQ(w.constant("another", "cores"), std::nullopt);
  EXPECT_EQ(w.library("nobody's"), std::nullopt);
}

TEST(Wisdom, NamesThatAreNoUtf8AreNoFailure) {
  Wisdom w;
  w.remember("caf\xe9", "problem", entry("planes", 1));
  EXPECT_NO_THROW(Wisdom::from_json(w.to_json()));
}

TEST(Wisdom, NoTimeIsRefused) {
  Wisdom w;
  expect_error([&] { w.remember("m", "p", entry("planes", -1)); }, "a time");
  expect_error([&] { w.remember("m", "p", entry("planes", std::nan(""))); }, "a time");
  expect_error([&] { w.remember_constant("m", "speed", HUGE_VAL); }, "finite");
  EXPECT_TRUE(w.empty());
}

TEST(Wisdom, TheFasterStaysButRememberingReplaces) {
  Wisdom a, b;
  a.remember("m", "p", entry("planes", 2));
  a.remember("m", "q", entry("planes", 2));
  b.remember("m", "p", entry("windowed", 1));
  b.remember("m", "q", entry("windowed", 3));
  b.remember("m", "r", entry("windowed", 3));
  Wisdom ab = a, ba = b;
  ab.merge(b);
  ba.merge(a);
  EXPECT_EQ(ab, ba);
  EXPECT_EQ(ab.find("m", "p"), entry("windowed", 1));
  EXPECT_EQ(ab.find("m", "q"), entry("planes", 2));
  EXPECT_EQ(ab.find("m", "r"), entry("windowed", 3));
  ab.remember("m", "p", entry("sequential", 5));
  EXPECT_EQ(ab.find("m", "p"), entry("sequential", 5));
}

TEST(Wisdom, WhatFftwLearntIsPutTogether) {
  Wisdom a, b, other;
  a.remember_library("l", std::string(head) + "  (ours 0 #x1 #x7)\n  (ours 0 #x2 #x7)\n)\n");
  b.remember_library("l", std::string(head) + "  (theirs 0 #x2 #x7)\n  (theirs 0 #x3 #x7)\n)\n");
  a.merge(b);
  EXPECT_EQ(a.library("l"),
            std::string(head) + "  (ours 0 #x1 #x7)\n  (ours 0 #x2 #x7)\n  (theirs 0 #x3 #x7)\n)\n");
  other.remember_library("l", "(fftw-4 fftw_wisdom #x1\n  (x #x1)\n)\n");
  a.merge(other);
  EXPECT_EQ(a, other);
}

TEST(Wisdom, OneMachinesPart) {
  Wisdom w;
  w.remember("cpu, mpi 4x1", "p", entry("planes", 1));
  w.remember("cpu, mpi 4x2", "p", entry("planes", 1));
  w.remember_constant("cpu, mpi 4x1", "speed", 2);
  w.remember_library("cpu, fftw, float64", "x");
  w.remember_library("cpu2, fftw, float64", "x");
  const Wisdom part = w.of("cpu, mpi 4x1", "cpu");
  EXPECT_TRUE(part.find("cpu, mpi 4x1", "p") && part.constant("cpu, mpi 4x1", "speed"));
  EXPECT_TRUE(part.library("cpu, fftw, float64").has_value());
  EXPECT_FALSE(part.find("cpu, mpi 4x2", "p") || part.library("cpu2, fftw, float64"));
}

TEST(Wisdom, TellsWhatTextIs) {
  const std::string good = some_wisdom().to_json();
  const auto kind = [](const std::string& text) { return read_wisdom_text(text).kind; };
  EXPECT_EQ(kind(good), Kind::wisdom);
  EXPECT_EQ(kind(""), Kind::nothing);
  EXPECT_EQ(kind(" \n"), Kind::nothing);
  for (const char* foreign : {"{}", "[1, 2]", "3", "null", "{\"name\": \"x\"}", "int main() {}", "\xff\xfe"})
    EXPECT_EQ(kind(foreign), Kind::foreign) << foreign;
  const std::string entry_begin = R"({"weft_wisdom": 1, "problems": {"m": {"p": )";
  for (const std::string& damaged :
       {std::string(R"({"weft_wisdom": "1"})"), std::string(R"({"weft_wisdom": 0})"),
        std::string(R"({"weft_wisdom": 1, "problems": 3})"),
        std::string(R"({"weft_wisdom": 1, "problems": {"m": [1]}})"),
        std::string(R"({"weft_wisdom": 1, "constants": {"m": 1}})"),
        std::string(R"({"weft_wisdom": 1, "local_ffts": {"f": [1]}})"), entry_begin + "{}}}}",
        entry_begin + R"({"options": {}, "seconds": -1, "trials": 1}}}})"})
    EXPECT_EQ(kind(damaged), Kind::damaged) << damaged;
  EXPECT_EQ(kind("{\"weft_wisdom\": 1}"), Kind::wisdom);
  EXPECT_EQ(kind("{\"problems\": {}, \"weft_wisdom\": 1}"), Kind::wisdom);
  EXPECT_EQ(kind("{\"weft_wisdom\": 2, \"problems\": 7}"), Kind::newer);
  expect_error([] { Wisdom::from_json("{\"weft_wisdom\": 2}"); }, "version 2");
  expect_error([&] { Wisdom::from_json(good.substr(0, good.size() / 2)); }, "damaged");
  expect_error([] { Wisdom::from_json("{}"); }, "no \"weft_wisdom\"");
}

TEST(Wisdom, EveryTruncationIsDamageAndNoSpoiltByteACrash) {
  const std::string good = some_wisdom().to_json();
  for (std::size_t n = 1; n + 2 < good.size(); ++n)
    EXPECT_EQ(read_wisdom_text(good.substr(0, n)).kind, Kind::damaged) << n;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const char c : {'\0', '{', '"', '\xff', '9'}) {
      std::string spoilt = good;
      spoilt[at] = c;
      EXPECT_NO_THROW(read_wisdom_text(spoilt));
    }
}

TEST(WisdomFile, HoldsWhatWasAdded) {
  const Folder folder;
  EXPECT_EQ(read_wisdom(folder.file()).kind, Kind::nothing);
  ASSERT_TRUE(add_to_file(folder.file(), some_wisdom()).saved);
  EXPECT_EQ(read_wisdom(folder.file()).wisdom, some_wisdom());
  Wisdom more;
  more.remember("another", "64x64 c2c", entry("slow", 5));
  more.remember("a third", "64x64 c2c", entry("planes", 5));
  const WisdomSaved done = add_to_file(folder.file(), more);
  EXPECT_TRUE(done.saved);
  EXPECT_EQ(done.remark, "");
  Wisdom both = some_wisdom();
  both.merge(more);
  EXPECT_EQ(read_wisdom(folder.file()).wisdom, both);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"wisdom.json"});
}

TEST(WisdomFile, KeepsModeAndLink) {
  const Folder folder;
  write(folder.file(), "");
  ASSERT_EQ(chmod(folder.file().c_str(), 0640), 0);
  fs::create_symlink("wisdom.json", folder.file("link.json"));
  ASSERT_TRUE(add_to_file(folder.file("link.json"), some_wisdom()).saved);
  EXPECT_TRUE(fs::is_symlink(folder.file("link.json")));
  EXPECT_EQ(read_wisdom(folder.file()).wisdom, some_wisdom());
  EXPECT_EQ(fs::status(folder.file()).permissions(), fs::perms(0640));
  // Through two links in folders of their own to a file that is not there yet.
  fs::create_directory(folder.file("a"));
  fs::create_directory(folder.file("b"));
  fs::create_symlink("../b/link.json", folder.file("a/link.json"));
  fs::create_symlink(folder.file("b/new.json"), folder.file("b/link.json"));
  ASSERT_TRUE(add_to_file(folder.file("a/link.json"), some_wisdom()).saved);
  EXPECT_TRUE(fs::is_symlink(folder.file("a/link.json")) && fs::is_symlink(folder.file("b/link.json")));
  EXPECT_EQ(read_wisdom(folder.file("b/new.json")).wisdom, some_wisdom());
  fs::create_symlink("circle.json", folder.file("circle.json"));
  EXPECT_FALSE(add_to_file(folder.file("circle.json"), some_wisdom()).saved);
  EXPECT_TRUE(fs::is_symlink(folder.file("circle.json")));
}

TEST(WisdomFile, ManyProcessesLoseNothing) {
  const Folder folder;
  constexpr int processes = 4, entries = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p)
    children.push_back(start([&] {
      for (int i = 0; i < entries; ++i) {
        Wisdom w;
        w.remember("m" + std::to_string(p), std::to_string(i), entry("planes", 1));
        w.remember("common", "best", entry(std::to_string(p), 1 + p + i));
        if (!add_to_file(folder.file(), w).saved) return 1;
      }
      return 0;
    }));
  for (const pid_t child : children) EXPECT_EQ(ended(child), 0);
  const WisdomText read = read_wisdom(folder.file());
  for (int p = 0; p < processes; ++p)
    for (int i = 0; i < entries; ++i)
      EXPECT_TRUE(read.wisdom.find("m" + std::to_string(p), std::to_string(i))) << p << " " << i;
  EXPECT_EQ(read.wisdom.find("common", "best"), entry("0", 1));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"wisdom.json"});
}

TEST(WisdomFile, WritersThatAreKilledLeaveItWhole) {
  const Folder folder;
  ASSERT_TRUE(add_to_file(folder.file(), some_wisdom()).saved);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = start([&] {
      for (int i = 0;; ++i) {
        Wisdom w;
        w.remember("m" + std::to_string(round), std::to_string(i), entry("planes", 1));
        add_to_file(folder.file(), w);
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(3000 + 977 * round));
    kill(child, SIGKILL);
    ended(child);
    const WisdomText read = read_wisdom(folder.file());
    ASSERT_EQ(read.kind, Kind::wisdom) << read.why;
    EXPECT_TRUE(read.wisdom.find("another", "64x64 c2c"));
  }
  // A lock dies with who held it.
  EXPECT_TRUE(add_to_file(folder.file(), some_wisdom()).saved);
}

TEST(WisdomFile, AFullDiskLeavesTheOldOne) {
  const Folder folder;
  ASSERT_TRUE(add_to_file(folder.file(), some_wisdom()).saved);
  const std::string before = contents(folder.file());
  const int status = ended(start([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit most{before.size() / 2, before.size() / 2};
    setrlimit(RLIMIT_FSIZE, &most);
    Wisdom w;
    w.remember("m", "p", entry("planes", 1));
    const WisdomSaved done = add_to_file(folder.file(), w);
    return !done.saved && done.remark.find("cannot write") != std::string::npos ? 0 : 1;
  }));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(folder.file()), before);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"wisdom.json"});
}

TEST(WisdomFile, ADamagedOneIsKeptAside) {
  const Folder folder;
  const std::string text = some_wisdom().to_json(), half = text.substr(0, text.size() / 2);
  for (const char* aside : {"wisdom.json.corrupt", "wisdom.json.corrupt2"}) {
    write(folder.file(), half);
    EXPECT_EQ(read_wisdom(folder.file()).kind, Kind::damaged);
    const WisdomSaved done = add_to_file(folder.file(), some_wisdom());
    EXPECT_TRUE(done.saved);
    EXPECT_TRUE(says(done.remark, std::string(aside) + ","));
    EXPECT_EQ(contents(folder.file(aside)), half);
    EXPECT_EQ(read_wisdom(folder.file()).wisdom, some_wisdom());
  }
}

TEST(WisdomFile, WhatIsNotOursIsLeftAlone) {
  const Folder folder;
  write(folder.file(), "{\"name\": \"a package\"}");
  expect_refused(folder.file(), "not wisdom");
  write(folder.file(), "notes of mine");
  expect_refused(folder.file(), "nor JSON");
  write(folder.file(), "{\"weft_wisdom\": 99}");
  expect_refused(folder.file(), "version 99");
  expect_refused("/dev/null", "no ordinary file");
  EXPECT_FALSE(fs::is_regular_file("/dev/null") || fs::exists("/dev/null.lock"));
  fs::create_directory(folder.file("folder"));
  expect_refused(folder.file("folder"), "no ordinary file");
}

TEST(WisdomFile, WhatMayNotBeWrittenIsNot) {
  const Folder folder;
  expect_refused(folder.file("none/wisdom.json"), "No such file");
  ASSERT_TRUE(add_to_file(folder.file(), Wisdom()).saved);
  ASSERT_EQ(chmod(folder.file().c_str(), 0444), 0);
  expect_refused(folder.file(), "read-only");
  ASSERT_EQ(chmod(folder.file().c_str(), 0644), 0);
  // Everybody may write the file, and its lock or none, but not the folder. Nothing is forbidden to root.
  ASSERT_EQ(chmod(folder.file().c_str(), 0666), 0);
  ASSERT_EQ(chmod((folder.file() + ".lock").c_str(), 0666), 0);
  for (const bool locked : {true, false}) {
    if (!locked) fs::remove(folder.file() + ".lock");
    ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
    EXPECT_EQ(ended(start([&] {
                if (geteuid() == 0 && setuid(65534) != 0) return 77;
                const WisdomSaved done = add_to_file(folder.file(), some_wisdom());
                if (done.saved || done.remark.find("Permission denied") == std::string::npos) return 1;
                return read_wisdom(folder.file()).kind == Kind::wisdom ? 0 : 2;
              })),
              0);
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  }
}

TEST(Machine, SaysWhereRanksAre) {
  EXPECT_EQ(ranks_text({0}), "1x1");
  EXPECT_EQ(ranks_text({0, 1, 2, 3}), "4x1");
  EXPECT_EQ(ranks_text({0, 0, 1, 1, 0, 1, 2}), "2x3+1x1");
  EXPECT_TRUE(says(hardware_text(), " cores, "));
  EXPECT_EQ(hardware_text(), hardware_text());
}

}  // namespace weft::test
