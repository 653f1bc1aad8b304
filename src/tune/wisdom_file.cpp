#include "tune/wisdom_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/timing.hpp"

namespace weft {

namespace {

namespace fs = std::filesystem;
using Kind = WisdomText::Kind;

constexpr int all_may = 0666;  ///< reduced by the process's umask
constexpr std::uintmax_t most_bytes = 256 << 20;

/// `what` with the system's last error; must be called before any other system call.
std::string reason(const std::string& what) {
  return what + ": " + std::generic_category().message(errno);
}

/// The lock FILE.lock of a file, held as long as the object lives. The constructor waits for it.
class Lock {
 public:
  explicit Lock(const std::string& file) {
    const std::string name = file + ".lock";
    number_ = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, all_may);
    // The file of another user can be locked with read permission alone, except on NFS.
    if (number_ < 0 && errno == EACCES) {
      number_ = open(name.c_str(), O_RDONLY | O_CLOEXEC);
      if (number_ < 0) errno = EACCES;
    }
    if (number_ < 0) throw std::runtime_error(reason("cannot open " + name));
    const double give_up = seconds_now() + 30;
    while (flock(number_, LOCK_EX | LOCK_NB) != 0) {
      // On file systems without locks the file is still replaced in one step, but what another job writes at
      // the same moment may be lost.
      if (errno != EWOULDBLOCK && errno != EINTR) break;
      if (seconds_now() > give_up) {
        close(number_);
        throw std::runtime_error("others have been writing it for 30 s (" + name + " is locked)");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  ~Lock() { close(number_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int number_;
};

/// Writes a new file and makes it durable. `mode`: its permissions.
void write_new(const std::string& name, const std::string& text, std::optional<mode_t> mode) {
  std::FILE* const file = std::fopen(name.c_str(), "wxe");  // x: it must be new, e: not for child processes
  if (file == nullptr) throw std::runtime_error(reason("cannot write " + name));
  if (mode) static_cast<void>(fchmod(fileno(file), *mode));
  std::string why;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0 ||
      fsync(fileno(file)) != 0)
    why = reason("cannot write " + name);
  std::fclose(file);
  if (why.empty()) return;
  unlink(name.c_str());
  throw std::runtime_error(why);
}

/// The target of a symbolic link, or of a chain of links; it need not exist.
std::string behind_links(const std::string& given) {
  std::error_code none;
  fs::path file = given;
  // The system follows fewer links than this; opening the rest reports its error.
  for (int i = 0; i < 64 && fs::is_symlink(file, none); ++i) {
    const fs::path next = fs::read_symlink(file, none);
    if (next.empty()) break;
    file = file.parent_path() / next;
  }
  return file.string();
}

/// Throws if a file must not be replaced.
void check_replaceable(const std::string& file, const WisdomText& old) {
  if (file.empty()) throw std::runtime_error("the name of the file is empty");
  if (old.kind == Kind::unreadable || old.kind == Kind::foreign || old.kind == Kind::newer)
    throw std::runtime_error(old.why + "; it is left as it is");
  // The system lets a read-only file be replaced, but a user who has made it read-only does not want that.
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return;
  if ((status.st_mode & 0222) == 0 || access(file.c_str(), W_OK) != 0)
    throw std::runtime_error("it is read-only");
}

/// An unused name for the damaged file.
std::string name_aside(const std::string& file) {
  std::error_code none;
  std::string name = file + ".corrupt";
  for (int i = 2; fs::exists(fs::symlink_status(name, none)); ++i)
    name = file + ".corrupt" + std::to_string(i);
  return name;
}

/// Replaces `file`; the old one is kept under the name `aside`, unless that is empty.
void replace(const std::string& file, const std::string& text, const std::string& aside) {
  const std::string made = file + "." + std::to_string(std::random_device()()) + ".tmp";
  struct stat old {};
  std::optional<mode_t> mode;
  if (stat(file.c_str(), &old) == 0) mode = old.st_mode & 0777;
  write_new(made, text, mode);
  if ((!aside.empty() && rename(file.c_str(), aside.c_str()) != 0) ||
      rename(made.c_str(), file.c_str()) != 0) {
    const std::string why = reason("cannot replace it");
    unlink(made.c_str());
    throw std::runtime_error(why);
  }
  // Makes the new name survive a power failure, on file systems that can.
  const fs::path folder = fs::path(file).parent_path();
  const int opened = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  fsync(opened);
  close(opened);
}

/// Adds `wisdom` to a file. Returns what the user should know; throws if the file is left as it is.
std::string add(const std::string& given, const Wisdom& wisdom) {
  const std::string file = behind_links(given);
  const auto holds = [&](const WisdomText& text) {
    Wisdom all = text.wisdom;
    all.merge(wisdom);
    return text.kind == Kind::wisdom && all == text.wisdom;
  };
  // Checked before a lock file is made beside a file that is no wisdom or needs no change.
  const WisdomText now = read_wisdom(file);
  if (holds(now)) return "";
  check_replaceable(file, now);
  const Lock lock(file);
  const WisdomText old = read_wisdom(file);
  check_replaceable(file, old);
  if (holds(old)) return "";
  Wisdom all = old.wisdom;
  all.merge(wisdom);
  const std::string aside = old.kind == Kind::damaged ? name_aside(file) : "";
  replace(file, all.to_json(), aside);
  if (aside.empty()) return "";
  return given + ": " + old.why + "; it is kept as " + aside + ", and a new one was begun";
}

}  // namespace

WisdomText read_wisdom(const std::string& file) {
  const auto unreadable = [](const std::string& why) { return WisdomText{Kind::unreadable, {}, why}; };
  std::error_code none;
  const fs::file_status status = fs::status(file, none);
  if (fs::exists(status) && !fs::is_regular_file(status)) return unreadable("it is no ordinary file");
  // A writer replaces the file in one step, so that an open file holds the text of one writer.
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return errno == ENOENT ? WisdomText{} : unreadable(reason("cannot open it"));
  if (const auto bytes = fs::file_size(file, none); !none && bytes > most_bytes)
    return unreadable("it is larger than 256 MiB");
  std::ostringstream text;
  text << stream.rdbuf();
  if (text.bad()) return unreadable(reason("cannot read it"));
  return read_wisdom_text(text.str());
}

WisdomSaved add_to_file(const std::string& file, const Wisdom& wisdom) {
  try {
    return {true, add(file, wisdom)};
  } catch (const std::runtime_error& e) {
    return {false, "wisdom is not saved in " + file + ": " + e.what()};
  }
}

}  // namespace weft
