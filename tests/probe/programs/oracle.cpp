// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What PyTorch itself says of its backward passes: RecordFunction's events of scope
// BACKWARD_FUNCTION, in the order of each thread. Nothing of Tapedeck is in here.
//
// A CopySlices calls the function that it wraps, which is a node by type but not in the graph: no
// queue ever holds it. What runs inside a CopySlices is left out.
#include <ATen/record_function.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Event {
  long thread;
  int64_t sequence_nr;
  std::string name;
};

std::mutex mutex;
std::vector<Event> events; // guarded by mutex
thread_local std::vector<std::string> running;

std::unique_ptr<at::ObserverContext>
note(const at::RecordFunction &function) {
  bool wrapped = !running.empty() && running.back() == "torch::autograd::CopySlices";
  running.push_back(function.name());
  if (wrapped) return nullptr;
  std::lock_guard<std::mutex> guard(mutex);
  events.push_back({syscall(SYS_gettid), function.seqNr(), function.name()});
  return nullptr;
}

void
forget(const at::RecordFunction &, at::ObserverContext *) {
  running.pop_back();
}

} // namespace

// Begins to note; and writes what was noted, a line each: thread, sequence number, name.
extern "C" void
oracle_begin() {
  at::addGlobalCallback(
      at::RecordFunctionCallback(note, forget).scopes({at::RecordScope::BACKWARD_FUNCTION}));
}

extern "C" int
oracle_write(const char *path) {
  std::lock_guard<std::mutex> guard(mutex);
  FILE *file = std::fopen(path, "w");
  if (!file) return -1;
  for (const Event &event : events)
    std::fprintf(file, "%ld %lld %s\n", event.thread, static_cast<long long>(event.sequence_nr),
                 event.name.c_str());
  return std::fclose(file);
}
