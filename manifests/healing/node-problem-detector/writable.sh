#!/bin/sh
# Tells whether a node's disk takes writes: 0 yes, 1 no (its file system is read-only), 2 unknown.
# A file system that meets an error is mounted read-only by the kernel, and the node goes on as if nothing were.
# Usage: writable.sh FOLDER
export LC_ALL=C
if said=$( { mkdir -p "$1" && : >"$1/test"; } 2>&1); then
  echo "$1 takes writes"
  exit 0
fi
echo "$said"
case $said in
*"Read-only file system"*) exit 1 ;;
*) exit 2 ;;
esac
