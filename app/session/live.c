/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/live.h"

#include "app/common/child.h"
#include "app/common/paths.h"
#include "app/session/remote_address.h"
#include "engine/control/condition.h"

#define WINDOW_VARIABLE "TAPEDECK_WINDOW"

void
td_live_options_clear(td_live_options *options) {
  g_strfreev(options->conditions);
}

bool
td_live_has_display(void) {
  const char *wayland = g_getenv("WAYLAND_DISPLAY"), *x = g_getenv("DISPLAY");
  return (wayland && *wayland) || (x && *x) || g_getenv(WINDOW_VARIABLE);
}

static td_status
check_condition(const char *text, td_error *error) {
  td_error trouble = {0};
  td_condition condition;
  if (td_condition_parse_live(text, &condition, &trouble)) {
    td_error_set(error, TD_INVALID, "--break %s", td_error_text(&trouble));
    td_error_clear(&trouble);
    return TD_INVALID;
  }
  td_condition_fini(&condition);
  return TD_OK;
}

td_status
td_live_options_check(td_live_options *options, const td_announcer *announcer, td_error *error) {
  for (char **text = options->conditions; text && *text; text++)
    if (check_condition(*text, error)) return TD_INVALID;
  options->live = options->live || options->conditions || options->listen;
  if (!options->live || options->listen || td_live_has_display()) return TD_OK;
  options->is_away = true;
  td_announcer_say(announcer,
                   "no display for a window; the program does not stop until one attaches");
  return TD_OK;
}

char *
td_live_dup_window(void) {
  const char *other = g_getenv(WINDOW_VARIABLE);
  return g_strdup(other ? other : td_path_program());
}

const char *
td_live_anomaly_mode(const td_live_options *options) {
  return options->live ? "nonfinite" : NULL;
}

void
td_live_add_answer(const td_live_options *options, td_line_text *record) {
  bool is_watched = options->live && !options->is_away;
  td_line_add(record, "live", options->live ? "1" : "0");
  td_line_add(record, "away", options->is_away ? "1" : NULL);
  for (char **text = options->conditions; is_watched && text && *text; text++)
    td_line_add(record, "break", *text);
}

/* A window that looks at a process. */
typedef struct show {
  td_hub *hub;
  pid_t process;
  const td_announcer *announcer;
} show;

/* If the window could not open, the program must not wait for it for ever. Another one may have
 * attached meanwhile. */
static void
window_gone_cb(GPid pid, gint status, gpointer data) {
  const show *self = data;
  if (status != 0) td_announcer_say(self->announcer, "no window: the program runs on");
  if (!td_hub_is_viewed(self->hub, self->process)) td_hub_detach(self->hub, self->process);
}

static void
tell_address(td_hub_target *target, const td_announcer *announcer) {
  g_autofree char *address = td_remote_address_dup_own((guint32)td_hub_target_get_pid(target));
  td_announcer_say(announcer,
                   "the program stops and waits for a window; on your desk, type\n"
                   "  tapedeck open %s",
                   address);
}

void
td_live_show(const td_live_options *options, td_hub_target *target, const char *tape,
             const td_announcer *announcer) {
  if (options->listen) tell_address(target, announcer);
  if (!options->live || options->is_away || options->listen) return;
  td_hub *hub = td_hub_target_get_hub(target);
  pid_t window, process = td_hub_target_get_pid(target);
  g_autofree char *program = td_live_dup_window();
  g_autofree char *number = g_strdup_printf("%d", (int)process);
  char *argv[] = {program,     "open", "--session",  (char *)td_hub_get_path(hub),
                  "--process", number, (char *)tape, NULL};
  int error = td_child_spawn(argv, NULL, &window);
  if (error) {
    td_announcer_say(announcer, "no window: %s; the program runs on", g_strerror(error));
    td_hub_detach(hub, process);
    return;
  }
  show *self = g_new(show, 1);
  *self = (show){hub, process, announcer};
  g_child_watch_add_full(G_PRIORITY_DEFAULT, window, window_gone_cb, self, g_free);
}
