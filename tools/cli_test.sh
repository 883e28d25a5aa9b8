#!/usr/bin/env bash
# The octet command's exit codes, messages and JSON. Argument: the command.
set -u
export ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=allocator_may_return_null=1
octet=$1
failures=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect <exit code> <text that the output holds> <arguments>...
expect() {
  local code=$1 text=$2 output status
  shift 2
  output=$("$octet" "$@" 2>&1)
  status=$?
  if [[ $status -ne $code || $output != *"$text"* ]]; then
    printf 'octet %s\n  exit code %d, expected %d with "%s":\n%s\n' "$*" $status "$code" "$text" "$output"
    failures=$((failures + 1))
  fi
}

expect 0 'Usage' --help
expect 0 '.' --version
expect 2 'subcommand' 
expect 0 'scalar_u8s8_4x4x4' info
expect 0 '"kernels"' info --json
expect 2 'there is no kernel' verify --kernel no_such_kernel
expect 0 'products right, 0 wrong' verify --kernel scalar_u8s8_4x4x4

expect 2 'cases is required' bench
expect 2 "'8x8' is not a case" bench 8x8
expect 2 "'8x0x8' is not a case" bench 8x0x8
expect 2 "'99999999999x8x8' is not a case" bench 99999999999x8x8
expect 2 "'u8s8' is not a combination of types" bench 8x8x8 --types u8s8
expect 2 'there is no tier' bench 8x8x8 --isa FAST
expect 2 'there is no kernel' bench 8x8x8 --kernel fast
expect 2 'threads' bench 8x8x8 --threads 0
expect 2 'repetitions' bench 8x8x8 --repetitions 0
expect 2 'peer' bench 8x8x8 --peer nobody
expect 2 'cannot write' bench 8x8x8 --json "$scratch/missing/out.json"
expect 2 'cannot allocate' bench 9999999x9999999x8
OCTET_MAX_ISA=FAST expect 2 'OCTET_BAD_ENVIRONMENT' bench 8x8x8

expect 0 'scalar_u8s8_4x4x4' bench 8x8x8 3x5x7 --isa SCALAR --types u8s8s32,s8s8s8,u8u8f32,s8u8u8 --repetitions 1 --json "$scratch/out.json"
expect 0 'scalar_u8s8_3x5x2' bench 17x19x23 --kernel scalar_u8s8_3x5x2 --threads 2 --repetitions 1
for key in machine cases summary name count types octet_us gops percent_of_concurrent_peak gbps kernel algorithm verified; do
  grep -q "\"$key\":" "$scratch/out.json" || { echo "no \"$key\" in the JSON"; failures=$((failures + 1)); }
done

echo "$failures failures"
((failures == 0))
