/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/range.h"

uint64_t
td_range_share(uint64_t time, uint64_t ns, uint64_t all) {
  return (uint64_t)((unsigned __int128)time * ns / all);
}

td_range_time
td_range_time_share(const td_range_time *self, uint64_t ns) {
  if (ns >= self->all) return *self;
  uint64_t begin = td_range_share(self->before, ns, self->all);
  uint64_t end = td_range_share(self->before + self->inside, ns, self->all);
  return (td_range_time){begin, end - begin, ns};
}

td_range_time
td_range_time_last(const td_range_time *self, uint64_t ns) {
  uint64_t taken = TD_MIN(ns, self->all), first = self->all - taken;
  uint64_t begin = TD_MAX(self->before, first) - first;
  uint64_t end = TD_MAX(self->before + self->inside, first) - first;
  return (td_range_time){begin, end - begin, taken};
}
