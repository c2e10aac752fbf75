#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes packages for Debian 12: tapedeck, and tapedeck-window with the window.
#
#   debs.sh SOURCE WORK OUT
#
# WORK is a folder for what can be made again. The packages go to the folder OUT. Takes the files that git knows, as they are.
set -euo pipefail
source=$(realpath "${1:?usage: debs.sh SOURCE WORK OUT}")
mkdir -p "$2" "$3"
work=$(realpath "$2")
out=$(realpath "$3")
version=$(meson introspect --projectinfo "$source/meson.build" | sed -n 's/.*"version": "\([^"]*\)".*/\1/p')
tree=$work/tapedeck-$version

rm -rf "$work"/*
mkdir "$tree"
(cd "$source" && git ls-files -z | xargs -0 tar -c) | tar -x -C "$tree"
cp -r "$tree/resources/package/debian" "$tree/debian"
cat >"$tree/debian/changelog" <<TEXT
tapedeck ($version) unstable; urgency=medium

  * See NEWS.

 -- The Tapedeck developers <tapedeck@localhost>  $(cd "$source" && git log -1 --format=%aD)
TEXT
(cd "$tree" && dpkg-buildpackage --build=binary --unsigned-changes --unsigned-source)
rm -f "$work"/*-dbgsym_*.deb
mv "$work"/*.deb "$out"
