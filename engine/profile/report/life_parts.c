/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/lives.h"

static const char *const part_names[TD_N_LIFE_PARTS] = {
#define X(name) #name,
    TD_LIFE_PARTS(X)
#undef X
};

const char *
td_life_part_name(td_life_part part) {
  return part_names[part];
}

static bool
is_observed(const td_tape_info *info, uint16_t kind) {
  bool by_a_probe = info->n_by_kind[TD_EVENT_probe_level] > 0;
  if (info->known[kind] != TD_knowledge_observed) return false;
  return !by_a_probe || info->n_by_kind[kind] > 0;
}

/* Of rare events, none may be there because there was none. */
static bool
may_be_rare(const td_tape_info *info, uint16_t kind) {
  return info->known[kind] == TD_knowledge_observed && is_observed(info, TD_EVENT_queue_pop);
}

bool
td_life_is_known(const td_tape_info *info, td_life_part part) {
  switch (part) {
  case TD_LIFE_dependency_wait:
    return is_observed(info, TD_EVENT_buffer_add) && is_observed(info, TD_EVENT_queue_push);
  case TD_LIFE_queue_wait:
    return is_observed(info, TD_EVENT_queue_push) && is_observed(info, TD_EVENT_queue_pop);
  case TD_LIFE_lock_wait:
    return may_be_rare(info, TD_EVENT_lock_wait);
  case TD_LIFE_pre_hooks:
  case TD_LIFE_post_hooks:
    return may_be_rare(info, TD_EVENT_hook_begin);
  case TD_LIFE_apply:
    return info->known[TD_EVENT_node_end] != TD_knowledge_absent;
  case TD_LIFE_no_core: /* a tape begins with one that has no wait */
    return is_observed(info, TD_EVENT_core_wait) && info->n_by_kind[TD_EVENT_core_wait] > 0;
  case TD_LIFE_accumulate:
  case TD_LIFE_release:
    return info->n_by_kind[TD_EVENT_probe_level] == 0 || info->has_pop_times;
  default:
    return info->n_by_kind[TD_EVENT_probe_level] == 0;
  }
}
