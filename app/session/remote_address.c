/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote_address.h"

#include "app/common/paths.h"

#include <stdlib.h>
#include <string.h>

#define SCHEME "ssh://"
#define SSH_VARIABLE "TAPEDECK_SSH"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define NAME_MAX_BYTES 255

bool
td_remote_address_is(const char *text) {
  return g_str_has_prefix(text, SCHEME);
}

void
td_remote_address_fini(td_remote_address *address) {
  g_free(address->user);
  g_free(address->host);
  g_free(address->program);
  g_free(address->label);
  *address = (td_remote_address){0};
}

static bool
is_name(const char *text, const char *signs) {
  g_autofree char *allowed = g_strconcat(LETTERS, signs, NULL);
  gsize n = strlen(text);
  return n > 0 && n <= NAME_MAX_BYTES && *text != '-' && strspn(text, allowed) == n;
}

/* "/123" or "/123/"; "/" and "" name no program. */
static bool
read_pid(const char *path, guint32 *pid) {
  guint64 number;
  g_autofree char *word = g_strdup(*path == '/' ? path + 1 : path);
  if (g_str_has_suffix(word, "/")) word[strlen(word) - 1] = '\0';
  if (!*word) return true;
  if (!g_ascii_string_to_unsigned(word, 10, 1, G_MAXINT32, &number, NULL)) return false;
  *pid = (guint32)number;
  return true;
}

static const char *
read_query(const char *query, td_remote_address *address) {
  if (!query) return NULL;
  g_autoptr(GHashTable) words = g_uri_parse_params(query, -1, "&", G_URI_PARAMS_NONE, NULL);
  const char *program = words ? g_hash_table_lookup(words, "tapedeck") : NULL;
  if (!program || g_hash_table_size(words) != 1)
    return "after the question mark comes tapedeck=/path/of/tapedeck alone";
  if (!g_path_is_absolute(program)) return "the path of tapedeck must begin with /";
  address->program = g_strdup(program);
  return NULL;
}

/* What is wrong, or NULL. */
static const char *
take_parts(GUri *uri, td_remote_address *address) {
  const char *user = g_uri_get_user(uri), *host = g_uri_get_host(uri);
  if (!host || !is_name(host, "._-:%")) return "the name of the host is not one";
  if (user && !is_name(user, "._-@+\\")) return "the name of the user is not one";
  if (g_uri_get_fragment(uri)) return "nothing comes after a # sign";
  if (!read_pid(g_uri_get_path(uri), &address->pid)) return "after the host comes the PID";
  address->user = g_strdup(user);
  address->host = g_strdup(host);
  address->port = g_uri_get_port(uri);
  address->label = user ? g_strdup_printf("%s@%s", user, host) : g_strdup(host);
  return read_query(g_uri_get_query(uri), address);
}

bool
td_remote_address_parse(const char *text, td_remote_address *address, char **problem) {
  g_autoptr(GUri) uri = g_uri_parse(text, G_URI_FLAGS_ENCODED_QUERY, NULL);
  *address = (td_remote_address){0};
  const char *wrong = uri ? take_parts(uri, address) : "it is no address";
  if (!wrong) return true;
  td_remote_address_fini(address);
  *problem = g_strdup_printf("%s; it looks like ssh://USER@HOST/PID", wrong);
  return false;
}

/* The program that a shell finds there without any setting of the user. */
static bool
is_found_by_ssh(const char *program) {
  static const char *const folders[] = {"/usr/local/bin", "/usr/bin", "/bin"};
  g_autofree char *own = realpath(program, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(folders); i++) {
    g_autofree char *path = g_build_filename(folders[i], "tapedeck", NULL);
    g_autofree char *real = realpath(path, NULL);
    if (real) return g_strcmp0(own, real) == 0;
  }
  return false;
}

/* The port by which somebody came here: the last word of SSH_CONNECTION. */
static int
find_port(void) {
  const char *connection = g_getenv("SSH_CONNECTION");
  const char *word = connection ? strrchr(connection, ' ') : NULL;
  guint64 port;
  if (!word || !g_ascii_string_to_unsigned(word + 1, 10, 1, 65535, &port, NULL)) return -1;
  return port == 22 ? -1 : (int)port;
}

char *
td_remote_address_dup_own(guint32 pid) {
  const char *program = td_path_program();
  g_autofree char *escaped = g_uri_escape_string(program, "/", FALSE);
  g_autofree char *query =
      is_found_by_ssh(program) ? NULL : g_strdup_printf("tapedeck=%s", escaped);
  g_autofree char *path = g_strdup_printf("/%u", pid);
  g_autofree char *address = g_uri_join(G_URI_FLAGS_ENCODED_QUERY, "ssh", g_get_user_name(),
                                        g_get_host_name(), find_port(), path, query, NULL);
  return query ? g_shell_quote(address) : g_steal_pointer(&address); /* ? is for shells, too */
}

GStrv
td_remote_address_dup_command(const td_remote_address *address, const char *arguments) {
  const char *ssh = g_getenv(SSH_VARIABLE);
  g_autofree char *program = g_shell_quote(address->program ? address->program : "tapedeck");
  g_autofree char *port = address->port > 0 ? g_strdup_printf("%d", address->port) : NULL;
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  g_strv_builder_add_many(words, ssh && *ssh ? ssh : "ssh", "-T", NULL);
  if (address->user) g_strv_builder_add_many(words, "-l", address->user, NULL);
  if (port) g_strv_builder_add_many(words, "-p", port, NULL);
  g_autofree char *command = g_strdup_printf("%s %s", program, arguments);
  g_strv_builder_add_many(words, "--", address->host, command, NULL);
  return g_strv_builder_end(words);
}
