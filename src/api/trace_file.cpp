#include "api/trace_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "api/trace_text.hpp"
#include "base/text.hpp"
#include "base/timing.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// By the clock that the system gives files.
timespec file_clock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}
const timespec process_begin = file_clock();

bool later(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/// The files that this process has used.
struct UsedFiles {
  std::mutex mutex;
  std::set<std::string> names;
};
UsedFiles& used_files() {
  static UsedFiles files;
  return files;
}
bool used(const std::string& name) {
  const std::lock_guard lock(used_files().mutex);
  return used_files().names.contains(name);
}
void use(const std::string& name) {
  const std::lock_guard lock(used_files().mutex);
  used_files().names.insert(name);
}

/// Behind `trace_begin`: an event that viewers pass over, always of the same length.
std::string text_of_head(double zero, int plans) {
  char text[120];
  std::snprintf(text, sizeof text,
                R"({"name":"weft","ph":"M","pid":0,"tid":0,"args":{"zero_s":"%017.6f","plans":"%08d"}})",
                zero, plans);
  return trace_begin + std::string(text);
}

std::string last_error() {
  return std::generic_category().message(errno);
}

}  // namespace

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

TraceFile::TraceFile(std::string name) : name_(std::move(name)) {
  constexpr int all_may = 0666;  // reduced by the process's umask
  file_ = open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, all_may);
  if (file_ < 0) fail(last_error());
  try {
    struct stat status {};
    if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) fail("it is no ordinary file");
    const double give_up = seconds_now() + 30;
    while (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if ((errno != EWOULDBLOCK && errno != EINTR) || seconds_now() > give_up)
        fail("cannot lock it: " + last_error());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  } catch (const Error&) {
    close(file_);
    throw;
  }
}

TraceFile::~TraceFile() {
  close(file_);
}

double TraceFile::begin_or_continue() {
  struct stat status {};
  const bool young = fstat(file_, &status) == 0 && later(status.st_mtim, process_begin);
  if (!head() || !(young || used(name_))) begin(seconds_since_1970());
  use(name_);
  return head().value_or(Head{}).zero;
}

void TraceFile::begin_or_continue_at(double zero) {
  const std::optional<Head> there = head();
  if (!there || (there->zero != zero && !used(name_))) begin(zero);
  use(name_);
}

int TraceFile::count_plan() {
  Head h = head().value_or(Head{});
  ++h.plans;
  write_head(h);
  return h.plans;
}

void TraceFile::add(const std::vector<std::string>& events) {
  const std::string end = trace_end;
  const std::size_t all = size(), at = all - std::min(all, end.size());
  if (!head() || read(end.size(), at) != end) fail("something else has changed it");
  if (events.empty()) return;
  try {
    write(trace_between + join(events, trace_between) + end, at);
  } catch (const std::exception&) {  // no room left, say: what was there stays complete
    write(end, at);
    if (ftruncate(file_, static_cast<off_t>(all)) != 0) fail(last_error());
    throw;
  }
}

void TraceFile::begin(double zero) {
  if (ftruncate(file_, 0) != 0) fail(last_error());
  write(text_of_head(zero, 0) + trace_end, 0);
}

std::optional<TraceFile::Head> TraceFile::head() const {
  const std::string text = read(text_of_head(0, 0).size(), 0);
  Head h;
  const std::size_t zero = text.find("zero_s"), plans = text.find("plans");
  if (zero == std::string::npos || plans == std::string::npos) return std::nullopt;
  h.zero = std::atof(text.c_str() + zero + std::strlen("zero_s\":\""));
  h.plans = std::atoi(text.c_str() + plans + std::strlen("plans\":\""));
  return text == text_of_head(h.zero, h.plans) ? std::optional(h) : std::nullopt;
}

void TraceFile::write_head(const Head& head) const {
  write(text_of_head(head.zero, head.plans), 0);
}

void TraceFile::write(const std::string& text, std::size_t position) const {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n =
        pwrite(file_, text.data() + done, text.size() - done, static_cast<off_t>(position + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(last_error());
    done += static_cast<std::size_t>(n);
  }
}

std::string TraceFile::read(std::size_t bytes, std::size_t position) const {
  std::string text(bytes, '\0');
  const ssize_t n = pread(file_, text.data(), bytes, static_cast<off_t>(position));
  text.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return text;
}

std::size_t TraceFile::size() const {
  struct stat status {};
  return fstat(file_, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

void TraceFile::fail(const std::string& why) const {
  throw Error("trace", "cannot write " + name_ + ": " + why,
              "a file that this user may write, where files can be locked");
}

}  // namespace weft
