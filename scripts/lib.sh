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
