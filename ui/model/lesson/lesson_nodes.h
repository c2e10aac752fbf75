/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nodes as a lesson writes them: Note [Lesson files] in ui/model/lesson/lesson.h. Main thread. */
#pragma once

#include "engine/replay/catalog.h"

#include <glib.h>

/* td_lesson_fits tells whether a node is one that a lesson calls so. */
gboolean td_lesson_fits(const td_catalog *catalog, uint32_t node, const char *words);

/* td_lesson_has_node tells whether any node is. */
gboolean td_lesson_has_node(const td_catalog *catalog, const char *words);

/* td_lesson_find_node returns the one node that a lesson calls so. TD_NONE with an error if there
 * is none, or more than one. */
uint32_t td_lesson_find_node(const td_catalog *catalog, const char *words, GError **error);
