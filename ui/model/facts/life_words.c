/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts/life_words.h"

#include <glib/gi18n.h>

static const struct {
  const char *title, *reason;
} parts[TD_N_LIFE_PARTS] = {
    [TD_LIFE_dependency_wait] = {N_("waited for gradients"),
                                 N_("the arrival of gradients was not observed")},
    [TD_LIFE_queue_wait] = {N_("lay in the queue"), N_("pushes and pops were not observed")},
    [TD_LIFE_lock_wait] = {N_("waited for locks"), N_("locks were not observed")},
    [TD_LIFE_pre_hooks] = {N_("hooks before"), N_("hooks were not observed")},
    [TD_LIFE_apply] = {N_("function"), N_("the ends of nodes were not observed")},
    [TD_LIFE_post_hooks] = {N_("hooks after"), N_("hooks were not observed")},
    [TD_LIFE_accumulate] = {N_("handed gradients on"), N_("the recording did not time it")},
    [TD_LIFE_release] = {N_("released inputs"), N_("the recording did not time it")},
    [TD_LIFE_no_core] = {N_("had no core"), N_("the recording did not observe it")},
    [TD_LIFE_push] = {N_("pushed ready nodes"), N_("the recording does not tell it apart")},
};

const char *
td_life_part_title(td_life_part part) {
  return _(parts[part].title);
}

const char *
td_life_part_reason(td_life_part part) {
  return _(parts[part].reason);
}
