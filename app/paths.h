/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the program's own files are: in the build and source folders where it runs from the folder
 * it was built in, else where they were installed. The strings are constant. */
#pragma once

/* td_path_python returns the Python interpreter, td_path_module the folder of the package tapedeck,
 * td_path_examples that of the example scripts. */
const char *td_path_python(void);
const char *td_path_module(void);
const char *td_path_examples(void);

/* td_path_probe_libraries returns the folder of libtapedeck-preload.so and libtapedeck-probe.so;
 * td_path_probe_sources the root of what engine/probe/observer.def lists. */
const char *td_path_probe_libraries(void);
const char *td_path_probe_sources(void);
