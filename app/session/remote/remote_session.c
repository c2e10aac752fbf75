/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/remote_session.h"

#include "app/common/child.h"
#include "app/common/leftovers.h"
#include "app/session/live.h"
#include "app/session/remote/outlet.h"
#include "app/session/remote/relay.h"
#include "app/session/remote/remote_desk.h"
#include "app/session/remote/remote_ssh.h"
#include "app/session/remote/tape_copy.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define NOISE_BYTES_MAX 65536 /* that a login shell prints before the relay speaks */
#define GREETING "relay protocol="
#define READ_BYTES 65536
#define LONG_TAPE_BYTES (16u << 20)

typedef struct session {
  const td_remote_address *address;
  const td_announcer *announcer;
  char *command;   /* (owned) what ssh runs there */
  guint32 process; /* the program, as its hub numbers it */
  td_remote_ssh ssh;
  td_outlet to_relay;
  GString *noise; /* (owned) NULL: the relay has spoken */
  td_line_reader reader;
  guint reading;
  td_remote_desk desk;
  char *folder;       /* (owned) temporary */
  const char *output; /* of the user, or NULL */
  char *tape;         /* (owned) the copy, or NULL: it has not begun */
  td_tape_copy *copy; /* (owned) */
  bool is_ready;      /* the copy has begun, and the window may open */
  char *problem;      /* (owned) why the session ended, or NULL */
} session;

static void
say(const session *self, const char *text) {
  td_announcer_say(self->announcer, "%s: %s", self->address->label, text);
}

/* The window sees the end of the session, and stays. */
static void
end(session *self) {
  td_remote_desk_hang_up(&self->desk);
  td_outlet_fini(&self->to_relay); /* without input the relay ends, too */
}

/* ---- from the relay ---- */

/* A name from another machine: a plain one, or one of ours. */
static char *
dup_tape_name(const char *path) {
  g_autofree char *name = path ? g_path_get_basename(path) : NULL;
  bool is_plain = name && *name != '.' && *name != '-' && strlen(name) <= 200 &&
                  g_str_is_ascii(name) && !strpbrk(name, "/\\") && g_str_has_suffix(name, ".tape");
  for (const char *at = name; is_plain && *at; at++)
    is_plain = g_ascii_isprint(*at);
  return g_strdup(is_plain ? name : "remote.tape");
}

/* People wait for a long tape. */
static void
tell_size(const session *self, const td_line *line) {
  guint64 n;
  const char *text = td_line_find(line, "n");
  if (!text || !g_ascii_string_to_unsigned(text, 10, LONG_TAPE_BYTES, G_MAXINT64, &n, NULL)) return;
  g_autofree char *size = g_format_size(n);
  g_autofree char *sentence = g_strdup_printf("the tape comes first: %s", size);
  say(self, sentence);
}

static bool
begin_copy(session *self, const td_line *line) {
  g_autofree char *name = dup_tape_name(td_line_find(line, "path"));
  self->tape = self->output ? g_canonicalize_filename(self->output, NULL)
                            : g_build_filename(self->folder, name, NULL);
  self->copy = td_tape_copy_new(self->tape);
  if (!self->copy) {
    self->problem = g_strdup_printf("%s: %s", self->tape, g_strerror(errno));
    return false;
  }
  if (!self->output) td_leftovers_add(self->tape);
  tell_size(self, line);
  return true;
}

static bool
greet(session *self, const td_line *line) {
  guint32 protocol = 0;
  const char *version = td_line_find(line, "tapedeck");
  td_line_find_u32(line, "protocol", &protocol);
  td_line_find_u32(line, "pid", &self->process);
  if (protocol == TD_RELAY_PROTOCOL) return true;
  self->problem =
      g_strdup_printf("Tapedeck %.20s there and " TD_VERSION " here do not understand each other",
                      version ? version : "?");
  return false;
}

static bool
is_nonsense(session *self) {
  self->problem = g_strdup("the other end talks nonsense");
  return false;
}

static bool
take_part(session *self, const td_line *line) {
  return self->copy ? td_tape_copy_take(self->copy, line, &self->problem) : is_nonsense(self);
}

static bool
give_up(session *self, const td_line *line) {
  const char *problem = td_line_find(line, "problem");
  self->problem = g_strdup_printf("%.300s", problem ? problem : "no reason was given");
  g_strdelimit(self->problem, "\r\n", ' '); /* it stays one line */
  return false;
}

/* A line of the hub. The window can open as soon as the tape has come. */
static bool
pass_on(session *self, const td_line *line) {
  guint32 pid;
  bool is_own = td_line_find_u32(line, "pid", &pid) && pid == self->process;
  if (is_own && td_line_is(line, "tape") && self->copy) self->is_ready = true;
  if (td_remote_desk_tell(&self->desk, line)) return true;
  self->problem = g_strdup("the window does not read what comes");
  return false;
}

/* False: the session is over. */
static bool
hear(session *self, const td_line *line) {
  if (td_line_is(line, "relay")) return greet(self, line);
  if (td_line_is(line, "sorry")) return give_up(self, line);
  if (td_line_is(line, "copy")) return self->copy ? is_nonsense(self) : begin_copy(self, line);
  if (td_tape_copy_is_part(line)) return take_part(self, line);
  if (td_line_is(line, "waiting"))
    say(self, "no backward pass has begun; the window opens with the first");
  else if (!td_line_is(line, "ended"))
    return pass_on(self, line);
  return true;
}

static bool
hear_all(session *self) {
  td_line line;
  td_line_result result;
  while ((result = td_line_reader_take(&self->reader, &line)) == TD_LINE_READY) {
    bool goes_on = hear(self, &line);
    td_line_fini(&line);
    if (!goes_on) return false;
  }
  return result != TD_LINE_BAD || is_nonsense(self);
}

/* Login shells print greetings of their own. They are no lines of ours. */
static bool
skip_noise(session *self, const char *bytes, gsize n_bytes) {
  g_string_append_len(self->noise, bytes, (gssize)n_bytes);
  const char *at = memmem(self->noise->str, self->noise->len, GREETING, strlen(GREETING));
  if (!at && self->noise->len <= NOISE_BYTES_MAX) return true;
  if (at)
    td_line_reader_add(&self->reader, at, (gsize)(self->noise->str + self->noise->len - at));
  else
    self->problem = g_strdup("a login shell there prints too much");
  g_string_free(g_steal_pointer(&self->noise), TRUE);
  return at != NULL;
}

static bool
receive(session *self) {
  char bytes[READ_BYTES];
  ssize_t n = read(self->ssh.out, bytes, sizeof bytes);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  bool fine = true;
  if (self->noise)
    fine = skip_noise(self, bytes, (gsize)n);
  else
    td_line_reader_add(&self->reader, bytes, (size_t)n);
  return fine && (self->noise || hear_all(self));
}

static gboolean
read_cb(gint fd, GIOCondition condition, gpointer data) {
  session *self = data;
  if (receive(self)) return G_SOURCE_CONTINUE;
  self->reading = 0;
  end(self);
  return G_SOURCE_REMOVE;
}

/* ---- from the window ---- */

static void
said_cb(const td_line *line, void *data) {
  session *self = data;
  td_line_text text;
  td_line_copy(&text, line);
  if (!td_outlet_send(&self->to_relay, text.bytes, text.n_bytes)) end(self);
  td_line_text_fini(&text);
}

/* ---- all of it ---- */

static bool
start(session *self) {
  if (!td_remote_ssh_start(&self->ssh, self->address, self->command, &self->problem)) return false;
  td_outlet_init(&self->to_relay, NULL, NULL);
  td_outlet_set_file(&self->to_relay, self->ssh.in);
  self->ssh.in = -1;
  self->noise = g_string_new(NULL);
  self->reading = g_unix_fd_add(self->ssh.out, G_IO_IN | G_IO_HUP | G_IO_ERR, read_cb, self);
  while (!self->is_ready && self->reading)
    g_main_context_iteration(NULL, TRUE);
  return self->is_ready;
}

static int
show(session *self, char **arguments) {
  g_autofree char *program = td_live_dup_window();
  g_autofree char *number = g_strdup_printf("%u", self->process);
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  g_strv_builder_add_many(words, program, "open", "--session", self->desk.path, "--process", number,
                          "--remote", self->address->label, NULL);
  g_strv_builder_addv(words, (const char **)arguments);
  g_strv_builder_add_many(words, "--", self->tape, NULL);
  g_auto(GStrv) argv = g_strv_builder_end(words);
  return td_child_run(&(td_child_options){.argv = argv}, &self->problem);
}

/* Why there was no window, or why the session ended before the program did. NULL: it did not. */
static char *
explain(session *self) {
  td_remote_ssh_end(&self->ssh);
  if (self->problem || self->is_ready) return g_steal_pointer(&self->problem);
  return g_strdup(td_remote_ssh_explain(&self->ssh));
}

static void
session_fini(session *self) {
  g_clear_handle_id(&self->reading, g_source_remove);
  td_outlet_fini(&self->to_relay);
  td_remote_desk_fini(&self->desk);
  td_line_reader_fini(&self->reader);
  if (self->noise) g_string_free(self->noise, TRUE);
  td_tape_copy_free(self->copy);
  if (self->copy && !self->output) g_unlink(self->tape);
  if (self->tape) td_leftovers_forget(self->tape);
  g_rmdir(self->folder);
  td_leftovers_forget(self->folder);
  g_free(self->tape);
  g_free(self->folder);
  g_free(self->command);
  g_free(self->problem);
}

bool
td_remote_session_open(const td_remote_address *address, char **arguments, const char *output,
                       const td_announcer *announcer, int *status, char **problem) {
  g_autoptr(GError) error = NULL;
  session self = {
      .address = address, .announcer = announcer, .output = output, .process = address->pid};
  self.folder = td_leftovers_make_folder("tapedeck-remote-XXXXXX", &error);
  if (!self.folder) {
    *problem = g_strdup(error->message);
    return false;
  }
  self.command = g_strdup_printf("relay %u", address->pid);
  signal(SIGPIPE, SIG_IGN);
  int failure = td_remote_desk_open(&self.desk, self.folder, said_cb, &self);
  if (failure) self.problem = g_strdup(g_strerror(failure));
  bool has_begun = !failure && start(&self);
  if (has_begun) *status = show(&self, arguments);
  g_clear_handle_id(&self.reading, g_source_remove);
  td_outlet_fini(&self.to_relay);
  *problem = explain(&self);
  session_fini(&self);
  return has_begun;
}
