/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/life_times.h"

void
td_life_times_add(td_life_times *self, td_life *life, td_life_part part,
                  const td_range_time *time) {
  td_range_time_add(&self->parts[part], time);
  life->parts[part] = self->parts[part].inside;
}

static void
take_out(td_life_times *self, td_life *life, td_life_part part, const td_range_time *taken,
         double share) {
  td_range_time_remove(&self->parts[part], taken);
  life->parts[part] = self->parts[part].inside;
  life->shares[part] -= share;
}

void
td_life_times_record(td_life_times *self, td_life *life, td_life_part part, uint64_t ns,
                     uint32_t n_busy) {
  td_range_time taken = td_range_time_last(&self->parts[part], ns);
  double share = TD_MIN((double)taken.inside / n_busy, life->shares[part]);
  take_out(self, life, part, &taken, share);
  td_range_time_add(&self->recorder, &taken);
  life->recorder_ns = self->recorder.inside;
  life->recorder_share += share;
}

/* Of a share of the wall, what is taken in proportion. */
static double
share_of(double share, const td_range_time *taken, const td_range_time *time) {
  return time->all ? share * ((double)taken->all / (double)time->all) : 0;
}

static void
give(td_life *life, const td_range_time *taken, double share) {
  life->parts[TD_LIFE_no_core] += taken->inside;
  life->shares[TD_LIFE_no_core] += share;
}

static uint64_t
lack_in(td_life_times *self, td_life *life, td_life_part part, uint64_t ns) {
  const td_range_time *time = &self->parts[part];
  td_range_time taken = td_range_time_share(time, ns);
  double share = share_of(life->shares[part], &taken, time);
  take_out(self, life, part, &taken, share);
  give(life, &taken, share);
  return taken.all;
}

static uint64_t
lack_in_recorder(td_life_times *self, td_life *life, uint64_t ns) {
  td_range_time taken = td_range_time_share(&self->recorder, ns);
  double share = share_of(life->recorder_share, &taken, &self->recorder);
  td_range_time_remove(&self->recorder, &taken);
  life->recorder_ns = self->recorder.inside;
  life->recorder_share -= share;
  give(life, &taken, share);
  return taken.all;
}

static td_life_part
longest_part(const td_life_times *self) {
  td_life_part longest = TD_LIFE_lock_wait;
  for (int part = TD_LIFE_lock_wait; part < TD_LIFE_no_core; part++)
    if (self->parts[part].all > self->parts[longest].all) longest = (td_life_part)part;
  return longest;
}

void
td_life_times_lack(td_life_times *self, td_life *life, td_life_part part, uint64_t ns) {
  if (part != TD_N_LIFE_PARTS) ns -= lack_in(self, life, part, ns);
  ns -= lack_in_recorder(self, life, ns);
  for (int i = TD_LIFE_lock_wait; i < TD_LIFE_no_core && ns; i++)
    ns -= lack_in(self, life, longest_part(self), ns);
}
