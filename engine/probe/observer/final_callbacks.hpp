/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Final callbacks: what a program, or PyTorch itself, queues to run after the last node of a pass.
 * PyTorch has no function around the call of one. So the observer queues, instead of each callback,
 * one that calls it between two events. */
#pragma once

#include "engine/probe/observer/hooks.hpp"

namespace tapedeck {

/* A callback of Python's is a lambda that owns the callable, before all else. std::function keeps a
 * pointer to such a lambda. */
inline uint32_t
owner_of_callback(const std::function<void()> &callback) {
  std::string owner = owner_of_lambda(callback.target_type());
  if (owner.find("THPEngine") == std::string::npos) return td_probe_intern(owner.c_str());
  const void *const *lambda;
  memcpy(&lambda, &callback._M_functor, sizeof lambda);
  uint32_t name = td_probe_intern_callable(*lambda);
  return name ? name : td_probe_intern(owner.c_str());
}

inline bool
is_of_c10d(const std::function<void()> &callback) {
  return owner_of_lambda(callback.target_type()).compare(0, 6, "c10d::") == 0;
}

/* What runs instead of a callback. The pass is alive while its callbacks run. */
class FinalCallback {
public:
  FinalCallback(std::function<void()> &&given, Task *task, uint32_t owner)
      : callback(std::move(given)), task(task), owner(owner), session(td_probe_session),
        reduces(is_of_c10d(callback)) {
  }

  void operator()() const {
    if (td_probe_is_on() != session) return callback();
    Calling calling(thread_now(), this);
    callback();
  }

private:
  std::function<void()> callback;
  Task *task;
  uint32_t owner, session;
  bool reduces;

  struct Calling {
    Thread *thread;
    Task *outer;
    Evaluation *around; /* of the node that called backward; the callback is not part of it */
    uint32_t task;
    bool reduced;
    Calling(Thread *thread, const FinalCallback *self)
        : thread(thread), outer(thread->finishing), around(thread->evaluation),
          task(self->task->id), reduced(thread->reduces) {
      thread->finishing = self->task;
      thread->reduces = self->reduces;
      thread->evaluation = nullptr;
      EMIT(final_callback, TIME_NOW, task, self->owner);
    }
    ~Calling() {
      thread->evaluation = around;
      thread->finishing = outer;
      thread->reduces = reduced;
      EMIT(final_callback_end, TIME_NOW, task);
    }
  };
};

/* PyTorch adds a callback to the innermost pass of the thread: that of the node that runs, or the
 * one whose callbacks run. */
inline void
queue_callback_hook(Engine *self, std::function<void()> callback) {
  Thread *thread = td_probe_is_on() ? thread_self : nullptr;
  const Evaluation *evaluation = thread ? thread->evaluation : nullptr;
  Task *task = evaluation ? evaluation->task : thread ? thread->finishing : nullptr;
  if (!task) return self->Engine::queue_callback(std::move(callback));
  uint32_t owner = owner_of_callback(callback);
  EMIT(final_callback_new, TIME_NOW, task->id, evaluation ? evaluation->id : TD_NONE, owner);
  self->Engine::queue_callback(FinalCallback(std::move(callback), task, owner));
}

} // namespace tapedeck
