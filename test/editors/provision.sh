#!/bin/sh
# Makes the real editors that the tests drive, and prints the folder of their programs: nvim, emacs, emacsclient, hx, vim.
#
#   test/editors/provision.sh [--force] [--method=closure|debootstrap] [--own]
#
# Guarantees: the folder is the only thing on stdout; a second call only looks it up; calls at the same time wait for
# one another; a folder that is printed holds editors that run. Nothing of the system is changed but for small Debian
# packages that are missing (tmux, git, patchelf). --own ignores editors that the system already has.
# Must not know: the tests, the project, which mirror is used (it is the one in apt's own sources).
#
# Where the system's own editors are new enough they are linked. Otherwise a newer Debian is unpacked into the cache.
# Its programs are copies with their own loader and library path in the ELF header, not "loader PROGRAM" lines, because
# Neovim's terminal interface starts itself again through /proc/self/exe, which under a loader line is the loader.
set -eu

suite=trixie
packages="neovim emacs-nox hx vim-nox elpa-markdown-mode elpa-package-lint"
method=
force=
own=
for argument in "$@"; do
  case $argument in
    --method=*) method=${argument#*=} ;;
    --force) force=1 ;;
    --own) own=1 ;;
    *)
      echo "unknown option $argument" >&2
      exit 2
      ;;
  esac
done

# The same rule is in test/support/editors.ts.
cache=${ATOMIC_TEST_EDITORS:-${XDG_CACHE_HOME:-$HOME/.cache}/atomic-editors}/$suite
root=$cache/root
bin=$cache/bin
log=$cache/log

say() { echo "provision: $*" >&2; }

# need PROGRAM PACKAGE: installs a Debian package when its program is missing.
need() {
  command -v "$1" >/dev/null && return
  command -v apt-get >/dev/null || {
    say "$1 is missing, and there is no apt-get to install it"
    return 1
  }
  say "installing $2"
  {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 "$2"
  } >>"$log" 2>&1 </dev/null
}

# at_least WANTED PROGRAM: whether the system has PROGRAM in version WANTED or later; sets `found` to its path.
at_least() {
  [ -z "$own" ] && found=$(command -v "$2") || return 1
  version=$("$found" --version 2>/dev/null | head -1 | grep -oE '[0-9]+(\.[0-9]+)+' | head -1)
  [ -n "$version" ] && [ "$(printf '%s\n%s\n' "$1" "$version" | sort -V | head -1)" = "$1" ]
}

# link_system: links the system's editors when all of them are new enough.
link_system() {
  for want in nvim:0.10 emacs:30 emacsclient:30 hx:25; do at_least "${want#*:}" "${want%:*}" || return 1; done
  for name in nvim emacs emacsclient hx vim; do ! found=$(command -v $name) || ln -sf "$found" "$bin/$name"; done
  say "this system's own editors are new enough"
}

# archive_url: the first Debian archive among apt's own sources, in either of their formats.
archive_url() {
  {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
      sed -n 's/^ *deb \(\[[^]]*\] *\)\{0,1\}\([^ ]*\) .*/\2/p'
    cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed -n 's/^URIs: *//p' | tr ' ' '\n'
  } | grep -E '/debian/?$' | head -1
}

# by_closure: apt computes the closure of the packages in a private root, dpkg-deb unpacks it. No package script runs.
by_closure() {
  private=$cache/apt
  keys=/usr/share/keyrings/debian-archive-keyring.gpg
  rm -rf "$root" "$private"
  mkdir -p "$root" "$private/etc/preferences.d" "$private/lists/partial" "$private/cache/archives/partial"
  : >"$private/status"
  echo "deb [signed-by=$keys] $url $suite main" >"$private/etc/sources.list"
  private_apt update >>"$log" 2>&1 && ls "$private"/lists/*Packages* >/dev/null 2>&1 || {
    say "this system's keyring is too old to check $suite's signature: read without a check"
    echo "deb [trusted=yes] $url $suite main" >"$private/etc/sources.list"
    private_apt update >>"$log" 2>&1 || return 1
  }
  # shellcheck disable=SC2086
  private_apt install -y --download-only $packages libc6 base-files >>"$log" 2>&1 || return 1
  for folder in bin sbin lib lib64; do
    mkdir -p "$root/usr/$folder"
    ln -s "usr/$folder" "$root/$folder"
  done
  for deb in "$private"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink || return 1
  done >>"$log" 2>&1
  rm -rf "$private"
}

private_apt() {
  apt-get -o Dir::Etc="$private/etc" -o Dir::Etc::SourceList="$private/etc/sources.list" \
    -o Dir::Etc::SourceParts=/nonexistent -o Dir::State="$private" -o Dir::State::Lists="$private/lists" \
    -o Dir::State::status="$private/status" -o Dir::Cache="$private/cache" -o APT::Install-Recommends=false \
    -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root "$@" </dev/null
}

# by_debootstrap: the slower way, for a system whose apt or dpkg is too old for the first.
by_debootstrap() {
  need debootstrap debootstrap || return 1
  script=
  [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=/usr/share/debootstrap/scripts/sid
  rm -rf "$root"
  debootstrap --variant=minbase --include="$(echo "$packages" | tr ' ' ,)" "$suite" "$root" "$url" $script >>"$log" 2>&1
}

# unpack: fills $root once, by the first way that works.
unpack() {
  [ ! -f "$cache/unpacked" ] || return 0
  url=$(archive_url)
  [ -n "$url" ] || {
    say "no Debian archive in apt's sources: install Neovim 0.10, Emacs 30 and Helix 25 yourself"
    return 1
  }
  for way in ${method:-closure debootstrap}; do
    say "unpacking $suite by $way (log: $log)"
    if "by_$way"; then
      rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
      touch "$cache/unpacked"
      return 0
    fi
    say "$way failed; see the log"
  done
  return 1
}

# bind NAME CANDIDATE…: a copy of the first candidate in the tree, bound to the tree's loader and libraries.
# It stays in usr/bin: Emacs finds its native-compiled Lisp by the place of its executable.
bind() {
  copy=$root/usr/bin/$1.bound
  name=$1
  shift
  for candidate in "$@"; do
    [ -f "$root/$candidate" ] || continue
    rm -f "$copy"
    cp -L "$root/$candidate" "$copy"
    # One call each: the patchelf of bookworm makes a broken file when both change at once.
    patchelf --set-interpreter "$loader" "$copy"
    patchelf --force-rpath --set-rpath "$libraries" "$copy"
    return
  done
  say "no $name in the tree"
  return 1
}

# wrap NAME ENVIRONMENT ARGUMENTS: the program NAME of the folder, a line that starts the bound copy.
wrap() {
  printf '#!/bin/sh\n%s\nexec "%s" %s "$@"\n' "${2:+export $2}" "$root/usr/bin/$1.bound" "$3" >"$bin/$1"
  chmod +x "$bin/$1"
}

bind_all() {
  need patchelf patchelf
  libraries=$(dirname "$(ls "$root"/usr/lib/*-linux-gnu*/libc.so.6 | head -1)")
  loader=$(ls "$libraries"/ld-linux*.so.* "$libraries"/ld-*.so.? 2>/dev/null | head -1)

  bind nvim usr/bin/nvim usr/libexec/neovim/nvim
  lua=$root/usr/share/lua/5.1
  wrap nvim "VIMRUNTIME='$root/usr/share/nvim/runtime' LUA_CPATH='$libraries/lua/5.1/?.so;;' LUA_PATH='$lua/?.lua;$lua/?/init.lua;;'" \
    "--cmd 'set packpath-=/usr/share/nvim/runtime'"

  bind hx usr/bin/hx usr/lib/helix/hx
  runtime=$(ls -d "$root"/usr/lib/hx/runtime "$root"/usr/lib/helix/runtime 2>/dev/null | head -1)
  wrap hx "HELIX_RUNTIME='$runtime'" ""

  bind vim usr/bin/vim.nox
  wrap vim "VIMRUNTIME='$(ls -d "$root"/usr/share/vim/vim[0-9]* | tail -1)'" ""

  bind emacs usr/bin/emacs-nox
  share=$root/usr/share/emacs
  version=$(basename "$(ls -d "$share"/[0-9]*.[0-9]* | tail -1)")
  dump=$(find "$root/usr/libexec/emacs/$version" "$root/usr/lib/emacs/$version" -name '*.pdmp' 2>/dev/null | head -1)
  extra=$(ls -d "$share"/site-lisp/elpa-src/* "$share"/site-lisp/elpa/* 2>/dev/null | sort | tr '\n' ':')
  lisp=$(find "$share/$version/lisp" -type d -not -path '*/obsolete*' | sort | tr '\n' ':' | sed 's/:$//')
  wrap emacs "EMACSLOADPATH='$extra$lisp' EMACSDATA='$share/$version/etc' EMACSDOC='$share/$version/etc' EMACSPATH='$(dirname "$dump")'" \
    "--dump-file='$dump'"

  bind emacsclient usr/bin/emacsclient.emacs usr/bin/emacsclient
  wrap emacsclient "" ""
}

# verify: every program of the folder runs; says which versions they are.
verify() {
  for name in nvim hx emacs emacsclient; do
    "$bin/$name" --version >"$cache/version" 2>&1 || {
      say "$name does not run: $(tail -1 "$cache/version")"
      return 1
    }
    say "$(head -1 "$cache/version")"
  done
}

mkdir -p "$cache"
exec 9>"$cache/lock"
if command -v flock >/dev/null; then flock 9; fi
if [ -n "$force" ]; then rm -rf "$cache/ready" "$cache/unpacked" "$bin"; fi
need tmux tmux
need git git
if [ ! -f "$cache/ready" ]; then
  mkdir -p "$bin"
  link_system || { unpack && bind_all; }
  verify
  touch "$cache/ready"
fi
echo "$bin"
