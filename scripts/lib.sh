# Shared by the scripts beside it: `. scripts/lib.sh`. Needs bash and, to install packages, Debian's
# apt-get.

say() { printf '\n== %s\n' "$*"; }

# need <package>...: installs the missing packages; without any it does nothing.
need() {
  local package missing=() root=()
  command -v dpkg-query >/dev/null || { say "Not a Debian system. Needed: $*"; return; }
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID)); then
    command -v sudo >/dev/null || { echo "Run as root, or install: ${missing[*]}" >&2; return 1; }
    root=(sudo)
  fi
  step "Installing ${missing[*]}" "${root[@]}" env DEBIAN_FRONTEND=noninteractive bash -c '
    apt="apt-get -q -o DPkg::Lock::Timeout=600"
    until said=$($apt update 2>&1); do  # it waits for no lock itself
      [[ $said == *"get lock"* ]] && ((++tries < 60)) || { echo "$said"; exit 1; }
      sleep 10
    done
    $apt install -y --no-install-recommends "$@"' install "${missing[@]}"
}

# step <what> <command>...: runs it quietly. On a terminal its last line shows how far it is; its
# log is shown only if it fails.
step() {
  local what=$1 log start=$SECONDS pid
  shift
  log=$(mktemp)
  printf '== %s ' "$what"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  if [[ -t 1 ]]; then
    while kill -0 "$pid" 2>/dev/null; do
      printf '\r\033[K== %s: %.60s' "$what" "$(tail -n 1 "$log")"
      sleep 0.5
    done
    printf '\r\033[K== %s ' "$what"
  fi
  if wait "$pid"; then
    printf '(%d s)\n' $((SECONDS - start))
    rm -f "$log"
  else
    printf 'FAILED\n'
    tail -n 100 "$log"
    rm -f "$log"
    return 1
  fi
}

# unpack <folder> <suite> <package>...: unpacks packages of another suite of Debian, and installs
# nothing.
unpack() {
  local folder=$1 suite=$2 here mirror keys options package
  shift 2
  mkdir -p "$folder"/apt/{lists/partial,cache/archives/partial}
  here=$(cd "$folder" && pwd)
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
    awk '/\/debian\/?$/ { print; exit }')
  keys=$(echo /usr/share/keyrings/debian-archive-*.{gpg,pgp} | tr ' ' '\n' | grep -v '\*' |
    grep -v removed | paste -sd,)
  echo "deb [signed-by=$keys] $mirror $suite main" >"$here/apt/sources.list"
  options=(-o "Dir::Etc::SourceList=$here/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$here/apt/lists" -o "Dir::Cache=$here/apt/cache"
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
    -o APT::Sandbox::User=root -o Acquire::Languages=none
    -o Acquire::Check-Valid-Until=false) # a snapshot's list of packages expires, its signature does not
  step "Reading the list of packages" apt-get "${options[@]}" update || return 1
  for package in "$@"; do
    step "Unpacking $package" bash -c 'cd "$0" && apt-get "$@" && dpkg-deb -x '"$package"'_*.deb . &&
      rm '"$package"'_*.deb' "$here" "${options[@]}" -t "$suite" download "$package" || return 1
  done
  rm -rf "$here/apt"
}

# use_zig: puts zig, a cross compiler from PyPI, on the PATH of what follows, where there is none.
use_zig() {
  command -v zig >/dev/null || python3 -c 'import ziglang' 2>/dev/null || {
    local venv=$PWD/build/zig
    [[ -x $venv/bin/python3 ]] || step "Making $venv" python3 -m venv "$venv"
    export PATH=$venv/bin:$PATH
    python3 -c 'import ziglang' 2>/dev/null ||
      step "Installing zig" python3 -m pip install ziglang==0.17.1
  }
}

# use_clang_format: puts clang-format 14 on the PATH of what follows: that of Debian 12, else of PyPI.
use_clang_format() {
  local venv=$PWD/build/clang-format
  command -v clang-format-14 >/dev/null && return
  if apt-cache show clang-format-14 >/dev/null 2>&1; then need clang-format-14 && return; fi
  [[ -x $venv/bin/clang-format ]] || { need python3-venv && step "Installing clang-format 14" \
    bash -c 'python3 -m venv "$0" && "$0/bin/pip" install -q clang-format==14.0.6' "$venv"; } || return
  export PATH=$venv/bin:$PATH
}
