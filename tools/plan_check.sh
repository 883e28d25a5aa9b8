#!/bin/sh
# plan_check.sh OCTET: does the plan of this machine choose the fastest algorithms of layers that are
# unlike each other? The one test that measures time: octet bench plan times algorithms in
# alternation, and what seems to lose again. Skipped where the plan's costs were not fitted to these
# layers on this design of core, and where something else keeps the machine busy.
octet=$1
fitted="zen4"
design=$("$octet" info --json | sed -n 's/.*"design": *"\([a-z0-9_]*\)".*/\1/p')
case " $fitted " in
  *" $design "*) ;;
  *) echo "Skipped: the costs for '$design' were not fitted to this list of layers." && exit 77 ;;
esac
# Another process that runs all the time makes a core's share of a measurement a matter of luck
busy=$(awk '{print int($4)}' /proc/loadavg 2>/dev/null)
if [ "${busy:-1}" -gt 2 ]; then
  echo "Skipped: $busy processes want to run." && exit 77
fi
exec "$octet" bench plan unlike --operands real --repetitions 3 --check 2
