/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schemas of what --json prints, made of resources/schemas. Constant. */
#pragma once

#include <stddef.h>

typedef struct td_schema {
  const char *name;  /* of the command, and its option: "report-idle" */
  const char *id;    /* with the version: "tapedeck-report-idle-1" */
  const char *title; /* in English */
  const char *text;  /* JSON; a string "@name" stands for words of schema_words.h */
} td_schema;

extern const td_schema td_schemas[];
extern const size_t td_n_schemas;
