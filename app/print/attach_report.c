/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/attach_report.h"

#include "app/print/attach_threads.h"
#include "app/print/state_text.h"
#include "app/session/attach/process.h"
#include "app/session/attach/verdict.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void
print_verdict(const td_attach_process *process) {
  g_autofree char *sentence = process->threads ? td_attach_verdict(process->threads) : NULL;
  if (sentence) printf("%s\n", sentence);
}

static void
print_tape(const td_attach_process *process) {
  char *age = td_format_ns((double)td_attach_process_age_ns(process));
  printf("Recorded into %s. The last event, number %" PRIu64 ", came %s ago.\n",
         process->program->tape, process->seq, age);
  free(age);
}

static void
print_threads(const td_attach_process *process, const char *title) {
  printf("\n%s\n", title);
  if (process->threads)
    td_attach_print(process->threads);
  else
    printf("  unknown: %s\n", process->silence);
}

static void
print_stop(const td_attach_process *process) {
  if (process->program->n_stopped)
    printf("The program stands still in a live session. `tapedeck attach %u --let-go` lets it run "
           "on.\n",
           process->pid);
}

static void
print_recorded(const td_attach_process *process) {
  print_verdict(process);
  print_stop(process);
  if (process->replay) print_tape(process);
  print_threads(process, "Its threads in Python, the innermost line first");
  if (process->replay) td_state_print_text(process->replay);
}

static void
print_looked_at(const td_attach_process *process) {
  if (!process->threads) {
    printf("Tapedeck does not record the process, and gdb cannot look into it: %s.\n",
           process->silence);
    return;
  }
  print_verdict(process);
  printf("Tapedeck does not record the process. It stood still for %.1f s while gdb looked into "
         "it, and runs on.\n",
         process->looked_s);
  print_threads(process, "Its threads, the innermost line first");
}

static void
print_process(const td_attach_process *process) {
  printf("Process %u: %s\n", process->pid, process->command ? process->command : "");
  if (!process->program)
    print_looked_at(process);
  else if (!process->program->tape)
    puts("Its tape is empty: no backward pass has begun.");
  else
    print_recorded(process);
}

void
td_attach_report_print(const GPtrArray *processes, const td_attach_ranks *ranks) {
  if (ranks && ranks->sentence) printf("%s\n\n", ranks->sentence);
  for (guint i = 0; i < processes->len; i++) {
    if (i) putchar('\n');
    print_process(processes->pdata[i]);
  }
}
