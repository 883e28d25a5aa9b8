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
expect 0 'convolutions right, 0 wrong' verify --kernel scalar_u8s8_4x4x4

expect 2 'cases is required' bench
expect 2 "'8x8' is not a case" bench 8x8
expect 2 "'8x0x8' is not a case" bench 8x0x8
expect 2 "'99999999999x8x8' is not a case" bench 99999999999x8x8
expect 2 "'u8s8' is not a combination of types" bench 8x8x8 --types u8s8
expect 2 'there is no tier' bench 8x8x8 --isa FAST
expect 2 'there is no kernel' bench 8x8x8 --kernel fast
expect 2 'threads' bench 8x8x8 --threads 0
network=$scratch/network.json
# network <text that the output holds> <the file's contents>: what is wrong with a description.
network() {
  printf '%s' "$2" >"$network"
  expect 2 "$1" bench "$network"
}
layer='{"kind": "convolution", "name": "conv;bias", "case": "ic8oc8_ih6kh3ph1", "types": "s8s8s8"}'
expect 2 'cannot read' bench "$scratch/missing.json"
network 'is no JSON' '{'
network 'describes no network' '{"operators": []}'
network 'describes no network' '3'
network 'of version 2, and this tool reads version 1' '{"octet_network": 2}'
network 'has no array of operators' '{"octet_network": 1, "name": "n", "operators": {}}'
network "has no text 'name'" '{"octet_network": 1, "operators": []}'
network 'has neither convolutions nor products' '{"octet_network": 1, "name": "n", "operators": [{"kind": "other"}]}'
network "operators[1] has no text 'kind'" '{"octet_network": 1, "name": "n", "operators": ['"$layer"', 4]}'
network "operators[0] has no text 'case'" '{"octet_network": 1, "name": "n", "operators": [{"kind": "product", "types": "s8s8s8", "case": 3}]}'
network "operators[0]: 'x8x' is not a case" '{"octet_network": 1, "name": "n", "operators": [{"kind": "product", "types": "s8s8s8", "case": "x8x", "name": "fc"}]}'
network "operators[0]: 's8' is not a combination" '{"octet_network": 1, "name": "n", "operators": [{"kind": "product", "types": "s8", "case": "8x8x8", "name": "fc"}]}'
printf '{"octet_network": 1, "name": "small", "operators": [%s, %s, {"kind": "other"}, %s]}' "$layer" "$layer" \
  '{"kind": "product", "types": "u8s8u8", "case": "4x8x8", "name": "fc"}' >"$network"
expect 0 'mb1_ic8oc8_ih6oh6kh3sh1ph1                    2 ' bench "$network" --repetitions 1
expect 0 '[1/1]    u8s8u8  4x8x8' bench "$network" --repetitions 1
expect 0 'small                     1 layers, 0 wrong' bench plan "$network" --repetitions 1
expect 0 ' kernel' bench pack "$network" --repetitions 1
expect 2 'repetitions' bench 8x8x8 --repetitions 0
expect 2 "the peer 'false' has ended" bench 8x8x8 --peer false
expect 2 'which is no answer' bench 8x8x8 --peer 'echo hello; cat >/dev/null'
expect 0 'peer: nobody' bench 8x8x8 --repetitions 1 --peer "echo '{\"name\": \"nobody\"}'; echo {}; echo {}; cat >/dev/null"
expect 2 "'fast' are no operands: uniform or real" bench 8x8x8 --operands fast
expect 0 '0 wrong' bench 8x8x8 12x70x40 ic8oc8_ih6kh3ph1 --operands real --types u8s8u8,s8s8s8,s8u8s8,u8u8f32 --repetitions 1 --json "$scratch/real.json"
[[ $(grep -c '"operands": "real"' "$scratch/real.json") -eq 12 && $(grep -c '"rhs_zero_point": 128' "$scratch/real.json") -eq 6 ]] || { echo 'the JSON does not tell real operands'; failures=$((failures + 1)); }
expect 2 "'fast' is no requantization" bench 8x8x8 --requant fast
expect 2 'outputs of 8 bits, not for u8s8s32' bench 8x8x8 --requant tflite --types u8s8s32
expect 0 'peer: symmetric weights' bench 8x8x8 ic8oc8_ih6kh3ph1 --rhs-zero-point 7 --peer symmetric --types u8u8u8 --repetitions 1
expect 2 'is no value of s8' bench 8x8x8 --rhs-zero-point 128
expect 0 'peer: float mode' bench 8x8x8 ic8oc8_ih6kh3ph1 --requant tflite --peer float --types s8s8s8 --repetitions 1
expect 2 '--residual is for outputs of 8 bits, not for u8s8s32' bench 8x8x8 --residual --types u8s8s32
expect 2 '--table is for outputs of 8 bits, not for u8s8f32' bench 8x8x8 --table --types u8s8f32
for requant in float tflite; do
  expect 0 'peer: neither residual nor table' bench 8x8x8 13x70x40 ic8oc8_ih6kh3ph1 g70ic70oc70_ih6kh3ph1 --residual --table --requant $requant --peer plain --types s8s8s8,u8s8u8 --repetitions 1 --json "$scratch/after.json"
  [[ $(grep -c '"residual": true' "$scratch/after.json") -eq 8 ]] || { echo 'the JSON does not tell residuals'; failures=$((failures + 1)); }
done
expect 2 "'3:4' is no sparsity: 2:4 or auto" bench 8x8x8 --sparse 3:4
expect 2 'no --peer beside it' bench 8x8x8 --sparse 2:4 --peer float
expect 0 'peer: dense weights' bench 8x8x8 17x70x40 ic8oc8_ih6kh3ph1 --sparse 2:4 --types u8s8u8,s8s8s32 --repetitions 1 --json "$scratch/sparse.json"
grep -q '"dense_blob_bytes"' "$scratch/sparse.json" || failures=$((failures + 1))
expect 0 '0 wrong' bench 17x70x40 ic8oc8_ih6kh3ph1 --sparse auto --types u8u8u8 --rhs-zero-point 128 --repetitions 1
expect 0 'weights are packed 2:4 sparse' explain gemm --shape 8x64x64 --sparse 2:4
expect 0 'weights are packed 2:4 sparse' explain conv --shape ic64oc64_ih6kh3ph1 --sparse 2:4
expect 2 'cannot write' bench 8x8x8 --json "$scratch/missing/out.json"
expect 2 'cannot allocate' bench 9999999x9999999x8
OCTET_MAX_ISA=FAST expect 2 'OCTET_BAD_ENVIRONMENT' bench 8x8x8

expect 0 'scalar_u8s8_4x4x4' bench 8x8x8 3x5x7 --isa SCALAR --types u8s8s32,s8s8s8,u8u8f32,s8u8u8 --repetitions 1 --json "$scratch/out.json"
expect 0 'scalar_u8s8_3x5x2' bench 17x19x23 --kernel scalar_u8s8_3x5x2 --threads 2 --repetitions 1
grep -q '"operands": "uniform"' "$scratch/out.json" || { echo 'the JSON does not tell uniform operands'; failures=$((failures + 1)); }
for key in machine cases summary name count types requant octet_us gops percent_of_concurrent_peak gbps kernel algorithm verified; do
  grep -q "\"$key\":" "$scratch/out.json" || { echo "no \"$key\" in the JSON"; failures=$((failures + 1)); }
done


# Convolutions: names.
conv=ic8oc8_ih6kh3ph1
expect 2 'oc is missing' bench mb1_ic64
expect 2 'ih is missing' bench ic3oc4
expect 2 'kh is missing' bench ic3oc4ih5
expect 2 "oc has no number" bench ic4oc_ih5kh1
expect 2 'ic must be at least 1' bench ic0oc1_ih5kh1
expect 2 "no field starts at 'xx3'" bench ic4oc4_ih5kh3xx3
expect 2 'ic is given twice' bench ic4oc4ic4
expect 2 'ic4 is not a multiple of g3' bench g3ic4oc6_ih5kh3
expect 2 'the kernel reaches over 9 positions, the padded input has 5' bench ic4oc4_ih5kh9
expect 2 'oh is at least 3' bench ic4oc4_ih5oh2kh3
expect 2 'ow is at least 3' bench ic4oc4_ih5kh3oh4ow2
expect 2 'a dilation of 1 is none here' bench ic4oc4_ih5kh3dh0
expect 2 'ih is larger than' bench ic4oc4_ih99999999kh3
expect 2 'oh is at most 11' bench tic4oc4_ih5oh12kh3sh2ph1
expect 2 'the padding leaves no output' bench tic4oc4_ih1kh3ph2
expect 2 'a tensor has more than 10^12 elements' bench mb99999_ic99999oc5_ih999kh1
expect 2 "'resnet51' is not a case" bench resnet51

# Convolutions: commands.
run=(--isa SCALAR --repetitions 1)
expect 0 'mb1_ic8oc8_ih6oh6kh3sh1ph1 ' bench $conv "${run[@]}" --json "$scratch/conv.json"
expect 0 'mb1_ic8oc8_ih6oh6kh3sh1ph1_iw9ow9kw3sw1pw1 ' bench ${conv}iw9 "${run[@]}"
expect 0 'g8mb2_ic8oc8_ih6oh3kh3sh2ph0 ' bench mb2g8ic8oc8_ih6oh3kh3sh2 "${run[@]}"
expect 0 'tmb1_ic8oc8_ih6oh12kh3sh2ph1 ' bench tic8oc8ih6oh12kh3sh2ph1 "${run[@]}" --types s8s8s8,s8u8s32,u8u8f32
expect 0 'mb1_ic8oc8_ih6oh4kh3sh1dh2ph1 ' bench ic8oc8ih6kh3ph1dh2 "${run[@]}" --threads 2
expect 0 'im2col' bench $conv "${run[@]}" --algorithm im2col
expect 2 "there is no algorithm 'fast'" bench $conv --algorithm fast
expect 2 'OCTET_UNSUPPORTED' bench $conv --algorithm depthwise
expect 2 '--algorithm is for convolutions' bench 8x8x8 --algorithm direct
for key in suite algorithm kernel verified octet_us percent_of_concurrent_peak; do
  grep -q "\"$key\":" "$scratch/conv.json" || { echo "no \"$key\" in the JSON"; failures=$((failures + 1)); }
done
expect 2 'shape is required' explain conv
expect 2 'oc is missing' explain conv --shape ic4
expect 0 '<--' explain conv --shape $conv
expect 0 '"candidates"' explain conv --shape $conv --isa SCALAR --json
expect 0 '"choice": "im2col weights=' explain conv --shape $conv --isa SCALAR --json
expect 0 'filter.packed_bytes_max is 1300' explain conv --shape $conv --isa SCALAR --packed-bytes-max 1300
expect 2 'packs these weights to is' explain conv --shape $conv --packed-bytes-max 100
expect 0 '"chosen": true' explain conv --shape $conv --l2 524288 --l3 1000000 --in-order --json
expect 2 'filter.machine.l2_bytes is 5' explain conv --shape $conv --l2 5
expect 2 '--l2' explain conv --shape $conv --in-order
expect 2 'shape is required' explain gemm
expect 2 'is no product' explain gemm --shape 5x6
expect 0 'choice      product weights=' explain gemm --shape 5x6x7 --threads 4
expect 0 '"kernel": "scalar_' explain gemm --shape 5x6x7 --isa SCALAR --types u8s8s32 --json
expect 2 'cases is required' bench plan
expect 2 'only convolutions here' bench plan 8x8x8
expect 0 'loses' bench plan $conv "${run[@]}" --json "$scratch/plan.json"
expect 0 'distinct layers' bench pack $conv "${run[@]}" --json "$scratch/pack.json"
grep -q '"loss_percent":' "$scratch/plan.json" && grep -q '"pack_us":' "$scratch/pack.json" || { echo 'plan or pack JSON lacks its figures'; failures=$((failures + 1)); }

# Measured choices.
tuning=(tune $conv 8x8x8 --isa SCALAR --seconds 0.2)
expect 2 'cases is required' tune
expect 2 '--seconds' tune 8x8x8 --seconds 0
expect 2 "'resnet51' is not a case" tune resnet51
expect 2 'path is' "${tuning[@]}" --cache "$scratch/missing/cache"
expect 0 '2 cases' "${tuning[@]}" --requant tflite --types s8s8s8 --cache "$scratch/cache" --json "$scratch/tune.json"
for key in plan_us best_us chosen_us plan chosen summary; do
  grep -q "\"$key\":" "$scratch/tune.json" || { echo "no \"$key\" in the JSON of tune"; failures=$((failures + 1)); }
done
echo rubbish >>"$scratch/cache"
OCTET_TUNING="$scratch/cache" expect 0 'measured, on this machine' explain conv --shape $conv --isa SCALAR
OCTET_TUNING="$scratch/cache" expect 0 '2 lines of this machine, 0 of others, 0 of other versions, 1 damaged (the first: line 3)' "${tuning[@]}"
OCTET_TUNING="$scratch/cache" expect 0 '4 lines of this machine, 0 of others, 0 of other versions, 0 damaged' "${tuning[@]}"
OCTET_TUNING="$scratch/missing" expect 2 'OCTET_TUNING is' bench 8x8x8

echo "$failures failures"
((failures == 0))
