#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plan_check.sh OCTET: does the plan of this machine choose the fastest algorithms for unlike
# layers? Only this test measures time: octet bench plan times algorithms in alternation, and layers
# that seem to lose once more. It fails when two attempts lose too much while nothing else ran. It
# is skipped, with the reason, where the plan's costs were not fitted to these layers on this design
# of core, and where other processes or other guests of the host kept taking the CPUs.
octet=$1
fitted="zen3 zen4 zen5"
percent=2
attempts=4
design=$("$octet" info --json | sed -n 's/.*"design": *"\([a-z0-9_]*\)".*/\1/p')
case " $fitted " in
  *" $design "*) ;;
  *) echo "Skipped: the costs for '$design' were not fitted to this list of layers." && exit 77 ;;
esac
[ -r /proc/stat ] || { echo "Skipped: /proc/stat does not tell what else runs." && exit 77; }

# Ticks of all CPUs since the start: used ones, with stolen ones, and all.
ticks() {
  awk '/^cpu / { for (i = 2; i <= 9; ++i) all += $i; print all - $5 - $6, all }' /proc/stat
}

# CPUs in use between two answers of ticks; octet keeps one of them.
cpus_in_use() {
  echo "$1 $2 $(grep -c '^cpu[0-9]' /proc/stat)" |
    awk '{ all = $4 - $2; printf "%.2f", (all > 0 ? ($3 - $1) * $5 / all : 0) }'
}

log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
undisturbed=0
attempt=0
while [ $((attempt += 1)) -le $attempts ] && [ $undisturbed -lt 2 ]; do
  [ $attempt -eq 1 ] || sleep 5
  before=$(ticks)
  "$octet" bench plan unlike --operands real --repetitions 3 --check $percent >"$log" 2>&1
  status=$?
  used=$(cpus_in_use "$before" "$(ticks)")
  cat "$log"
  echo "Attempt $attempt: exit code $status, $used CPUs in use meanwhile."
  [ $status -eq 0 ] && exit 0
  # A wrong result or an error does not go away by itself
  { grep -q ' 0 wrong;' "$log" && grep -q '^The plan loses .*, more than' "$log"; } || exit $status
  undisturbed=$((undisturbed + $(echo "$used" | awk '{ print ($1 < 1.2) }')))
done
[ $undisturbed -ge 2 ] && exit 1
echo "Skipped: something else ran in $((attempt - 1 - undisturbed)) of $((attempt - 1)) attempts, and no attempt found less than $percent % lost."
exit 77
