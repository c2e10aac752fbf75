/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The address of a program on another machine: ssh://[USER@]HOST[:PORT]/PID[?tapedeck=PROGRAM].
 * People type it, or copy it from what `--listen` prints. Its parts become arguments of ssh. So a
 * name may hold only letters, digits and a few signs, and does not begin with "-". Main thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct td_remote_address {
  char *user;    /* (owned) or NULL: ssh knows */
  char *host;    /* (owned) */
  int port;      /* or -1: ssh knows */
  guint32 pid;   /* 0: the address names no program */
  char *program; /* (owned) the path of Tapedeck there, or NULL: it is in the PATH of ssh */
  char *label;   /* (owned) for people: USER@HOST */
} td_remote_address;

/* td_remote_address_is tells whether a word is such an address, good or bad. */
bool td_remote_address_is(const char *text);

/* td_remote_address_parse reads an address. If it is wrong, it returns false and sets *problem to
 * the reason (free it). */
bool td_remote_address_parse(const char *text, td_remote_address *address, char **problem);
void td_remote_address_fini(td_remote_address *address);

/* td_remote_address_dup_own returns the address of a program on this machine, as one types it in a
 * shell. Free it. */
char *td_remote_address_dup_own(guint32 pid);

/* td_remote_address_dup_command returns the command line of ssh that runs Tapedeck there with these
 * arguments, which hold nothing that a shell changes. TAPEDECK_SSH names a program to take in place
 * of `ssh`. Free it with g_strfreev. */
GStrv td_remote_address_dup_command(const td_remote_address *address, const char *arguments);
