/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits of a pass for collective operations of several processes. A hook or a function waits in
 * c10d::Work::wait. The final callback of DistributedDataParallel waits for futures instead, whose
 * wait is inline: there, every wait for a condition is one. A PyTorch without c10d has neither. */
#pragma once

#include "engine/probe/observer/thread.hpp"

#include <chrono>
#include <dlfcn.h>

namespace tapedeck {

/* Functions of c10d by name, because the observer must load without them. */
struct Collectives {
  using Timeout = std::chrono::milliseconds;
  bool (*wait)(void *work, Timeout timeout);
  uint8_t (*kind)(void *work);
  std::string (*text)(uint8_t kind);

  Collectives()
      : wait(find<decltype(wait)>(
            {"_ZN4c10d4Work4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"})),
        kind(find<decltype(kind)>(
            {"_ZN4c10d4Work14retrieveOpTypeEv", "_ZNK4c10d4Work14retrieveOpTypeEv"})),
        text(find<decltype(text)>({"_ZN4c10d14opTypeToStringB5cxx11ENS_6OpTypeE",
                                   "_ZN4c10d14opTypeToStringENS_6OpTypeE"})) {
  }

  /* Older versions of gloo's operations have no kind. */
  uint32_t name(void *work) const {
    std::string name = kind && text ? text(kind(work)) : "UNKNOWN";
    return name == "UNKNOWN" ? 0 : td_probe_intern(name.c_str());
  }

private:
  template <class Function> static Function find(std::initializer_list<const char *> symbols) {
    for (const char *symbol : symbols)
      if (void *found = dlsym(RTLD_DEFAULT, symbol)) return reinterpret_cast<Function>(found);
    return nullptr;
  }
};

extern Collectives *collectives;

/* A wait of the thread, from here to the end of the block. One inside another is not told. */
class Waiting {
public:
  Waiting(Thread *thread, uint32_t operation) : thread(thread), session(td_probe_session) {
    const Evaluation *evaluation = thread->evaluation;
    Task *of = evaluation ? evaluation->task : thread->finishing;
    is_told = of && !thread->waits;
    if (!is_told) return;
    task = of->id;
    node = evaluation ? evaluation->id : TD_NONE;
    begin = td_clock_now();
    thread->waits = true;
    EMIT(collective_begin, begin, task, node, operation);
  }

  ~Waiting() {
    if (!is_told) return;
    thread->waits = false;
    uint64_t end = td_clock_ordered();
    if (td_probe_is_on() == session) EMIT(collective_end, end, task, node, end - begin);
  }

private:
  Thread *thread;
  uint32_t session, task, node;
  uint64_t begin;
  bool is_told;
};

inline bool
work_wait_hook(void *work, Collectives::Timeout timeout) {
  Thread *thread = thread_self;
  bool is_in_pass = thread && (thread->evaluation || thread->finishing);
  if (!is_in_pass || !td_probe_is_on()) return collectives->wait(work, timeout);
  Waiting waiting(thread, collectives->name(work));
  return collectives->wait(work, timeout);
}

} // namespace tapedeck
