#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compiles with gcc's static analyser what reads foreign bytes or another program's memory: tapes, traces, messages, the probe,
# `attach`. Where the tests are thorough, all but the window. Each finding is an error.
#
# Left out: -Wanalyzer-malloc-leak takes every block that TD_GROW doubles for lost. The leak sanitizer of the setup
# `asan` watches for real leaks.
set -eu
folder=$BUILD_ROOT/analysed
foreign='libtapedeck-core.*/(base|control|replay|trace)_|libtapedeck-(exchange|handed-down|preload|probe|session|common)'
cd "$SOURCE_ROOT"
if ! echo 'int main(void) { return 0; }' | cc -fanalyzer -x c -o /dev/null - 2>/dev/null; then
  echo "skipped: cc has no -fanalyzer, which gcc has"
  exit 77
fi
[ -e "$folder/build.ninja" ] ||
  meson setup "$folder" -Dgtk=disabled -Dcuda=disabled -Dwerror=true -Dc_args='-fanalyzer -Wno-analyzer-malloc-leak' >/dev/null
objects=$(ninja -C "$folder" -t targets all | sed -n 's/^\([^:]*\.c\.o\): .*/\1/p' | grep -v '^tests/')
[ -n "${TAPEDECK_THOROUGH:-}" ] || objects=$(echo "$objects" | grep -E "$foreign")
# shellcheck disable=SC2086 # one argument per object
if ! ninja -C "$folder" -k 0 $objects >"$folder/log"; then
  grep -E 'error:|\[-Werror' "$folder/log" | sort -u
  exit 1
fi
echo "$(echo "$objects" | wc -l) files analysed, nothing found"
