#!/bin/sh
# run.sh FOLDER PROGRAM ARGUMENT…: runs a program and tells its process id in FOLDER/pid and, at its end, its exit status in
# FOLDER/exit (128 and more after a signal). tmux 3.3 now and then misses that a program has ended.
folder=$1
shift
# Caught and not ignored, because what is ignored is inherited.
trap : INT QUIT
# shellcheck disable=SC2016
/bin/sh -c 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec "$@"' "$folder/pid" "$@"
echo $? >"$folder/exit.new"
mv "$folder/exit.new" "$folder/exit"
