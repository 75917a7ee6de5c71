# Brings the packages of a checkout, where they are missing or older than package-lock.json, by `npm ci`. Sourced by
# runtime.sh when the times of files say that there may be something to do. POSIX sh: the runtime is one of the packages.

# Where npm's words go; it is left behind where npm fails. Held while npm runs, by one command at a time.
npm_log=$home/npm-ci.log
turn=$home/.npm-ci

# How long a command waits for another one's npm, and for the owner of a turn to write who it is.
MOST_WAIT_SECONDS=900
MOST_UNOWNED_SECONDS=5
# How often a turn may be neither there nor to be made.
MOST_MISSED=20

# Every sentence that this file can say.
say_installing() {
  say "$lacking: running \`npm ci\` first, which takes some seconds"
}
say_waiting() {
  say "$lacking: another command is installing them, waiting for it"
}
say_waited() {
  say "another command has been installing packages for $MOST_WAIT_SECONDS s: where none is, remove $turn"
}
say_no_npm() {
  say "$lacking, and there is no npm to install them: install Node.js 20 or newer with npm"
}
say_no_registry() {
  say "$lacking, and npm cannot reach its registry. With a network run the same command again; without one, copy" \
    "node_modules of the same commit from a machine of the same kind to $home. What npm said is in $npm_log"
}
say_npm_failed() {
  say "$lacking, and \`npm ci\` in $home failed with exit code $1: what it said is in $npm_log"
}

# Returns where they are there or cannot be brought here, and ends the command where bringing them failed.
bring_packages() {
  # Installed as a package: whoever installed it brings them.
  case $home in
    */node_modules/*) return 0 ;;
  esac
  [ -w "$home" ] || return 0
  lacks_packages || return 0
  if ! command -v npm >/dev/null; then
    say_no_npm
    exit 1
  fi
  take_turn
  if lacks_packages; then run_npm; fi
  rm -f "$npm_log"
  give_turn
}

# Sets `lacking` to what is wrong. A lock file that is newer is no proof: a checkout writes it anew as it was.
lacks_packages() {
  lacking='packages that Keywright needs are missing'
  [ -f "$installed" ] || return 0
  lacking='the packages are older than package-lock.json'
  found_same=$home/node_modules/.cache/keywright-lock
  if [ -f "$found_same" ] && ! [ "$lock" -nt "$found_same" ] && ! [ "$installed" -nt "$found_same" ]; then return 1; fi
  same_packages || return 0
  # Removed before it is written, since a copy of node_modules may share the file. Without it the next command compares.
  { mkdir -p "${found_same%/*}" && rm -f "$found_same" && : >"$found_same"; } 2>/dev/null || :
  return 1
}

# Compares what npm is told to install with what it wrote down that it installed, both in npm's own layout. What is
# optional may be missing, since it may be for another system, and so may all that is for development.
same_packages() {
  awk '
    FNR == 1 { file++ }
    { sub(/,$/, "") }
    /^    "/ { name = $1 ~ /^"node_modules\// ? $1 : "" }
    name == "" { next }
    /^    "/ { if (file == 1) named[name] = 1; else found[name] = 1 }
    /^      "(version|integrity)": / { content[file, name] = content[file, name] " " $0 }
    /^      "(optional|devOptional)": true/ { optional[name] = 1 }
    /^      "dev": true/ { dev[name] = 1; if (file == 2) has_dev = 1 }
    END {
      for (name in found) if (!(name in named) || content[1, name] != content[2, name]) exit 1
      for (name in named) if (!(name in found) && !(name in optional) && (has_dev || !(name in dev))) exit 1
    }
  ' "$lock" "$installed"
}

# One command at a time: the directory is the turn. Its file `owner` has the ids of the shell and of its npm; where
# neither is alive, whoever makes `taken` in it looks once more and goes on from there.
take_turn() {
  waited=0
  missed=0
  until mkdir "$turn" 2>/dev/null; do
    # Given back since; or it cannot be made, and then the last attempt says why.
    if ! [ -d "$turn" ]; then
      missed=$((missed + 1))
      [ "$missed" -gt "$MOST_MISSED" ] || continue
      mkdir "$turn" && break
      exit 1
    fi
    if owner_is_gone && mkdir "$turn/taken" 2>/dev/null; then
      if owner_is_gone; then
        own_turn
        rmdir "$turn/taken"
        put_back
        return 0
      fi
      rmdir "$turn/taken"
    fi
    if [ "$waited" -eq 0 ]; then say_waiting; fi
    if [ "$waited" -ge "$MOST_WAIT_SECONDS" ]; then
      say_waited
      exit 1
    fi
    sleep 1
    waited=$((waited + 1))
  done
  own_turn
}

owner_is_gone() {
  if ! { read -r owners <"$turn/owner"; } 2>/dev/null; then
    [ "$waited" -ge "$MOST_UNOWNED_SECONDS" ]
    return
  fi
  for owner in $owners; do
    # A signal may be refused where the process is of another user.
    if kill -0 "$owner" 2>/dev/null || ps -p "$owner" >/dev/null 2>&1; then
      # One that has ended has its number until somebody asks how, which in a container may be nobody.
      case $(ps -o stat= -p "$owner" 2>/dev/null) in
        Z*) ;;
        *) return 1 ;;
      esac
    fi
  done
}

# By name, so that nobody reads half of it.
own_turn() {
  echo "$$" >"$turn/owner.$$"
  mv "$turn/owner.$$" "$turn/owner"
}

give_turn() {
  rm -rf "$turn"
}

# `npm ci` begins with removing all packages: until it succeeds the old ones are kept aside.
put_back() {
  [ -e "$turn/before" ] || return 0
  rm -rf "$home/node_modules"
  mv "$turn/before" "$home/node_modules"
}

run_npm() {
  say_installing
  if [ -e "$home/node_modules" ]; then mv "$home/node_modules" "$turn/before" 2>/dev/null || :; fi
  npm=''
  trap 'stop_npm 129' HUP
  trap 'stop_npm 130' INT
  trap 'stop_npm 143' TERM
  # Behind `npm test`, and in the environment, are settings for another command: what matters is said here. The id of what
  # becomes npm stands in the turn before npm begins.
  (
    cd "$home" && without_package_commands
    exec sh -c 'echo "$PPID $$" >"$1/owner.$$" && mv "$1/owner.$$" "$1/owner" && shift && exec npm ci "$@"' sh "$turn" \
      --prefix "$home" --no-global --include=dev --include=optional --package-lock --no-dry-run --prefer-offline \
      --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --loglevel=notice --no-progress
  ) </dev/null >"$npm_log" 2>&1 &
  npm=$!
  wait "$npm"
  status=$?
  trap - HUP INT TERM
  [ "$status" -eq 0 ] && return 0
  put_back
  give_turn
  if grep -Eq 'ENOTFOUND|ENOTCACHED|EAI_AGAIN|ECONN|ENET|EHOST|ETIMEDOUT|EPROTO|SOCKET_TIMEOUT|network' "$npm_log"; then
    say_no_registry
  else
    say_npm_failed "$status"
  fi
  exit 1
}

stop_npm() {
  trap '' HUP INT TERM
  if [ -n "$npm" ]; then
    kill "$npm" 2>/dev/null
    wait "$npm"
  fi
  put_back
  rm -f "$npm_log"
  give_turn
  exit "$1"
}

# npm puts commands of packages first in PATH, a runtime among them, which would be removed under it.
without_package_commands() {
  kept=''
  rest=$PATH:
  while [ -n "$rest" ]; do
    case ${rest%%:*} in
      */node_modules/.bin) ;;
      *) kept=$kept:${rest%%:*} ;;
    esac
    rest=${rest#*:}
  done
  PATH=${kept#:}
}
