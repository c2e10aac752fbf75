/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the program's threads are in their Python code, for somebody who asks why it hangs. */
#pragma once

#include "engine/control/link.h"

/* where.py: a Python program that calls tell(text) once. It must run with the GIL. */
extern const char td_where_script[];

/* td_where_read runs where.py in Python and returns what it tells (the caller frees), or NULL. It
 * may wait for the GIL without an end. Who knows Python gives one to td_where_add. */
typedef char *(*td_where_read)(void);

/* td_where_add adds to a line what each thread does: `text`. It calls `read` in a thread of its
 * own. NULL: there is no Python. `held=1` if the text was read without the GIL, because its holder
 * kept it for a second. `problem` says why there is no text. The caller has neither the GIL nor a
 * lock. It waits for a second at most. One caller at a time. */
void td_where_add(td_line_text *line, td_where_read read);

/* td_where_answer answers a command on the link if it is `where`, and returns false if it is not.
 * `flush` comes first: who asks reads the tape, too. `add` calls td_where_add. */
bool td_where_answer(const td_line *command, td_link *link, void (*flush)(void),
                     void (*add)(td_line_text *line));

/* td_where_listen listens for a program that nobody stops: `hear` gets each command. A live program
 * hears them by td_gate_hear. One link per process. */
void td_where_listen(td_link *link, bool (*hear)(const td_line *command));
