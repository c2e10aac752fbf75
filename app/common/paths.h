/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the program's own files are. A program that runs from its build folder uses the build
 * and source folders; an installed one uses the installed folders. The installed tree may have been
 * moved as a whole. The strings are constant. */
#pragma once

/* td_path_python returns the Python interpreter: TAPEDECK_PYTHON, which a Python package sets, or
 * the one that the build found. td_path_module returns the folder of the package tapedeck.
 * td_path_engine returns the folder that has the package torch of Tapedeck's own engine; a build
 * without that engine has no such folder. td_path_examples returns the folder of the example
 * scripts, td_path_lessons that of the lessons, and td_path_translations that of the catalogues of
 * messages. */
const char *td_path_python(void);
const char *td_path_module(void);
const char *td_path_engine(void);
const char *td_path_examples(void);
const char *td_path_lessons(void);
const char *td_path_translations(void);

/* td_path_fonts returns the folder of app/common/fonts.h, which need not be there. */
const char *td_path_fonts(void);

/* td_path_program returns the program that people start. td_path_whole_program returns the one that
 * has all commands, td_path_window_program the one with the window: Note [Three programs] in
 * app/command.h. There may be no such file. */
const char *td_path_program(void);
const char *td_path_whole_program(void);
const char *td_path_window_program(void);

/* td_path_probe_libraries returns the folder of libtapedeck-preload.so and libtapedeck-probe.so.
 * td_path_probe_sources returns the root of the files that engine/probe/observer.def lists. */
const char *td_path_probe_libraries(void);
const char *td_path_probe_sources(void);

/* td_path_cache returns the user's folder for files that can be made again: tapedeck in
 * $XDG_CACHE_HOME, or in ~/.cache. As the XDG base directory specification has it, a relative path
 * in the variable counts for nothing. */
const char *td_path_cache(void);
