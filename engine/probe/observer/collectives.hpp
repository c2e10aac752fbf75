/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits for operations of several processes, in passes and outside of them. They wait in
 * c10d::Work::wait, and sends and receives of gloo in waits of their own. The final callback of
 * DistributedDataParallel waits for futures instead, whose wait is inline: there, every wait for a
 * condition is one. A PyTorch without c10d has none of them. */
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

/* A wait of the thread, from here to the end of the block. One inside another is not told, nor one
 * of the engine itself, or of a pass that is not recorded. Outside of passes it is of no pass. */
class Waiting {
public:
  Waiting(Thread *thread, uint32_t operation) : thread(thread), session(td_probe_session) {
    const Evaluation *evaluation = thread->evaluation;
    Task *of = evaluation ? evaluation->task : thread->finishing;
    is_told = (of || is_outside(thread)) && !thread->waits;
    if (!is_told) return;
    task = of ? of->id : TD_NONE;
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
  static bool is_outside(const Thread *thread) {
    return !thread->call && !thread->skips;
  }

  Thread *thread;
  uint32_t session, task, node;
  uint64_t begin;
  bool is_told;
};

/* A function that waits for an operation, and what is called instead. `original` is set if the
 * function stands in a vtable; else it is Collectives' own. */
template <int WHICH> struct WorkWaiter {
  static void *original;

  static bool call(void *work, Collectives::Timeout timeout) {
    auto wait =
        original ? reinterpret_cast<decltype(collectives->wait)>(original) : collectives->wait;
    if (!td_probe_is_on()) return wait(work, timeout);
    Waiting waiting(thread_now(), collectives->name(work));
    return wait(work, timeout);
  }
};

template <int WHICH> void *WorkWaiter<WHICH>::original;

} // namespace tapedeck
