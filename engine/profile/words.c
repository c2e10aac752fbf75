/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/words.h"

#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "engine/profile/source_place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void
write_line(FILE *out, const char *text, size_t max) {
  size_t n = td_line_cut(text, max);
  for (size_t i = 0; i < n; i++) {
    const char *newline = memchr(text + i, '\n', n - i);
    size_t end = newline ? (size_t)(newline - text) : n;
    fwrite(text + i, 1, end - i, out);
    if (newline) putc(' ', out);
    i = end;
  }
  if (text[n]) fputs(TD_LINE_CUT, out);
}

void
td_words_name(FILE *out, const char *name) {
  write_line(out, name, TD_NAME_SHOWN);
}

void
td_words_text(FILE *out, const char *text) {
  write_line(out, text, TD_TEXT_SHOWN);
}

static void
write_name(FILE *out, const td_catalog_node *facts, uint32_t node) {
  td_words_name(out, facts && *facts->name ? facts->name : "node");
  if (facts && facts->label && *facts->label) {
    putc('(', out);
    td_words_name(out, facts->label);
    putc(')', out);
  } else {
    fprintf(out, " #%u", node);
  }
}

static void
write_node(FILE *out, const td_catalog_node *facts, uint32_t node, char *place) {
  char *module = td_catalog_node_module_label(facts);
  if (node == TD_NONE)
    fputs(td_translate("no node"), out);
  else
    write_name(out, facts, node);
  if (module || place)
    fprintf(out, " (%s%s%s)", module ? module : "", module && place ? ", " : "",
            place ? place : "");
  free(module);
  free(place);
}

void
td_words_node_again(FILE *out, const td_catalog *catalog, uint32_t node) {
  if (node == TD_NONE)
    fputs(td_translate("no node"), out);
  else
    write_name(out, td_catalog_node_find(catalog, node), node);
}

void
td_words_node(FILE *out, const td_catalog *catalog, uint32_t node) {
  write_node(out, td_catalog_node_find(catalog, node), node, NULL);
}

void
td_words_node_of(FILE *out, const td_catalog_node *facts) {
  write_node(out, facts, facts->id, NULL);
}

void
td_words_node_whole(FILE *out, const td_catalog *catalog, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  char *place = facts ? td_source_place(facts->stack) : NULL;
  write_node(out, facts, node, place ? td_line_make(place, TD_NAME_SHOWN) : NULL);
}

void
td_words_process(FILE *out, const td_catalog *catalog, uint32_t process) {
  char *label = td_catalog_process_label(catalog, process);
  fputs(label, out);
  free(label);
}

void
td_words_graph_task(FILE *out, const td_catalog *catalog, uint32_t graph_task) {
  if (graph_task == TD_NONE)
    fputs(td_translate("no graph task"), out);
  else
    fprintf(out, td_translate("graph task %u"), graph_task);
}

static void
write_thread(FILE *out, const td_catalog *catalog, uint32_t thread) {
  char *name = td_line_dup(catalog->threads[thread].name, TD_NAME_SHOWN);
  char *process = catalog->n_processes < 2
                      ? NULL
                      : td_catalog_process_label(catalog, catalog->threads[thread].process);
  if (process)
    fprintf(out, td_translate("thread %s of %s"), name, process);
  else
    fprintf(out, td_translate("thread %s"), name);
  free(name);
  free(process);
}

void
td_words_thread(FILE *out, const td_catalog *catalog, uint32_t thread) {
  if (thread < catalog->n_threads && *catalog->threads[thread].name)
    write_thread(out, catalog, thread);
  else if (thread == TD_NONE)
    fputs(td_translate("no thread"), out);
  else
    fprintf(out, td_translate("thread %u"), thread);
}

void
td_words_queue(FILE *out, const td_catalog *catalog, uint32_t queue) {
  if (queue == TD_NONE)
    fputs(td_translate("no queue"), out);
  else
    fprintf(out, td_translate("queue %u"), queue);
  if (queue >= catalog->n_queues) return;
  const td_catalog_queue *facts = &catalog->queues[queue];
  fputs(" (", out);
  td_words_name(out, td_catalog_device_name(catalog, facts->device));
  if (facts->owner != TD_NONE) {
    fputs(", ", out);
    td_words_thread(out, catalog, facts->owner);
  }
  putc(')', out);
}

void
td_words_number(FILE *out, uint64_t number) {
  if (number == UINT64_MAX)
    fputs("max", out);
  else
    fprintf(out, "%" PRIu64, number);
}
