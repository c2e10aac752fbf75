#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Unpacks the headers and libraries of Debian 11 into a folder, for a compiler that is told --sysroot. What is linked
# there runs with the C library of Debian 11 and any later one. Needs no right but to write the folder.
#
#   old_root.sh FOLDER
#
# FOLDER/root is the root. FOLDER/lists has a list of files for each package. FOLDER/complete is the script that filled them: a
# later one begins again. Set MIRROR to another mirror.
set -euo pipefail
mkdir -p "${1:?usage: old_root.sh FOLDER}"
folder=$(realpath "$1")
root=$folder/root
mirror=${MIRROR:-http://deb.debian.org/debian}
wanted='libc6-dev libglib2.0-dev libcairo2-dev libpango1.0-dev libzstd-dev libopenblas-openmp-dev libseccomp-dev libyajl-dev
  libsqlite3-dev'

if cmp -s "$0" "$folder/complete"; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder/lists" "$folder"/apt/{lists,archives}/partial "$root"/usr/{bin,lib,lib64,sbin}
: >"$folder/apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >"$folder/apt/sources.list"

apt() {
  apt-get -q -o Dir::Etc::sourcelist="$folder/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$folder/apt/lists" \
    -o Dir::State::status="$folder/apt/status" -o Dir::Cache::archives="$folder/apt/archives" \
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User= -o Debug::NoLocking=1 \
    -o APT::Install-Recommends=false -o Acquire::Retries=3 "$@"
}

apt update
# shellcheck disable=SC2086 # one argument per package
apt -y --download-only install $wanted >/dev/null

# All programs and libraries are in /usr, as Debian has it now.
for name in bin lib lib64 sbin; do ln -s usr/$name "$root/$name"; done
for package in "$folder"/apt/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -t | sed "s,^\./,," >"$folder/lists/$(dpkg-deb --field "$package" Package)"
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink --no-same-owner
done

# Links lead to places in the root, not on this machine.
find "$root" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath -sm --relative-to="$(realpath "$(dirname "$link")")" "$root$(readlink "$link")")" "$link"
done

# What the scripts of the packages would do, and headers of the Python that the module is built for.
triplet=$(gcc -print-multiarch)
ln -s openblas-openmp/libopenblas.so.0 "$root/usr/lib/$triplet/libopenblas.so.0"
ln -s libopenblas.so.0 "$root/usr/lib/$triplet/libopenblas.so"
cp "$root/usr/include/$triplet/openblas-openmp"/*.h "$root/usr/include/"
for headers in /usr/include/python3.* "/usr/include/$triplet"/python3.*; do
  cp -r "$headers" "$root${headers%/*}/"
done
rm -r "$folder/apt"
cp "$0" "$folder/complete"
