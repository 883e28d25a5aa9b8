#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
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
for command in '' info verify explain bench 'bench plan' 'bench pack' tune run traffic report; do
  [[ $("$octet" $command --help | wc -L) -le 100 ]] || { echo "octet $command --help is wider than 100 columns"; failures=$((failures + 1)); }
done
# The manual's page and the completions that are made of the help.
if command -v python3 >/dev/null; then
  complete_with() { # complete_with <word>...: what bash would complete the last word to
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _octet && echo "${COMPREPLY[*]}"
  }
  manual=$(cd "$(dirname "$0")/../.." && pwd)/packaging/manual.py
  if ! python3 "$manual" "$octet" 1.2.3 "$scratch/manual" || ! . "$scratch/manual/octet.bash" ||
    [[ $(complete_with octet bench plan --ch) != --check || $(complete_with octet ver) != verify ]] ||
    ! grep -q '^\.SH BENCH PLAN' "$scratch/manual/octet.1" || ! grep -q 1.2.3 "$scratch/manual/octet.1" ||
    ! grep -q "'--packed\\?-bytes-max" "$scratch/manual/_octet" ||
    ! grep -q 'from explain.* -l packed-bytes-max -r' "$scratch/manual/octet.fish"; then
    echo 'packaging/manual.py does not make a manual or completions of the help'
    failures=$((failures + 1))
  fi
fi
expect 0 '.' --version
expect 0 'scalar_u8s8_4x4x4' info
expect 0 '"kernels"' info --json
expect 2 'there is no kernel' verify --kernel no_such_kernel
expect 0 'products right, 0 wrong' verify --kernel scalar_u8s8_4x4x4
expect 0 'convolutions right, 0 wrong' verify --kernel scalar_u8s8_4x4x4

expect 2 "there is no command 'frobnicate': info, verify, explain, bench, tune, run, traffic" frobnicate
expect 2 'a command is required: info, verify' # none at all
expect 2 '--memory needs --goal memory' run mobilenet_v2 --memory 100
expect 2 'cases is required' bench
expect 0 'mb1_ic64oc256_ih56oh56kh1sh1ph0 4 conv2_1 projection' bench --list resnet50 espcn:32x48 8x8x8
expect 2 "'8x8' is not a case" bench 8x8
expect 2 "'8x0x8' is not a case" bench 8x0x8
expect 2 "'99999999999x8x8' is not a case" bench 99999999999x8x8
expect 2 "'u8s8' is not a combination of types" bench 8x8x8 --types u8s8
expect 2 'there is no tier' bench 8x8x8 --isa FAST
expect 2 'there is no kernel' bench 8x8x8 --kernel fast
expect 2 'threads' bench 8x8x8 --threads 0

# A report whose time is up at once, and pages of reports.
expect 2 'seconds' report --seconds 0
expect 2 'cannot write' report --to "$scratch/no/such/report"
expect 2 'cannot read' report --from "$scratch/no_such.json" --to "$scratch/page"
echo '{"report": 2}' >"$scratch/other.json"
expect 2 'is no report' report --from "$scratch/other.json" --to "$scratch/page"
echo '{"report": 1}' >"$scratch/other.json"
expect 2 'lacks something' report --from "$scratch/other.json" --to "$scratch/page"
expect 0 "Wrote $scratch/report.json" report --seconds 0.001 --to "$scratch/report"
expect 0 '' report --from "$scratch/report.json" --to "$scratch/page"
docs=$(dirname "$0")/../../docs # its page of machines is nothing but their reports
expect 0 '' report --from "$docs"/benchmarks/*.json --to "$scratch/machines"
diff "$scratch/machines.md" "$docs/benchmarks.md" || failures=$((failures + 1))
python3 - "$scratch" <<'END' || failures=$((failures + 1))
import json, pathlib, sys
scratch = pathlib.Path(sys.argv[1])
report, page = json.loads((scratch / "report.json").read_text()), (scratch / "report.md").read_text()
assert page == (scratch / "page.md").read_text()
assert report["verified"]["products"]["right"] > 100 and report["verified"]["left_out"] > 1 and not report["verified"]["products"]["wrong"]
assert report["machine"]["isa"] in page and report["compiler"] in page and report["date"] in page
assert not any(part["cases"] for part in report["results"])
assert {part["suite"] for part in report["results"]} == {"products", "mobilenet_v2", "resnet50"}
assert page.count("the time was up") == 1 + len(report["results"]) > 3
case = {"name": "1x2x3", "count": 2, "verified": True, "octet_us": 10.04, "gops": 5, "kernel": "some_kernel",
        "percent_of_concurrent_peak": 34.9, "peer_us": 20, "ratio": 1.994, "peer_verified": True}
wrong = {"name": "3x2x1", "count": 1, "verified": False, "first_error": "1 | 2"}
report["results"] = [{"suite": "resnet50", "peer": "P", "left_out": [], "cases": [case, wrong],
                      "summary": {"cases": 2, "octet_us": 20080, "gops": 5, "peer_us": 40000, "ratio": 1.992}}]
report["machine"]["cpu"] = "A <b>"
(scratch / "more.json").write_text(json.dumps(report))
END
expect 0 '' report --from "$scratch/report.json" "$scratch/more.json" --to "$scratch/page"
for text in '| 1x2x3 (2 times) | 10.0 | 5 | ███░░░░░░░ 35 % | 20.0 | **1.99** | some_kernel |' \
  '| 3x2x1 | **wrong**: 1 \| 2 |' '20.08 ms, 5 GOPS; P: 40.00 ms, x **1.99**.' '## A \<b>, '; do
  grep -qF -- "$text" "$scratch/page.md" || { echo "A page of reports lacks: $text"; failures=$((failures + 1)); }
done

expect 2 'network is required' traffic
expect 2 "'no_such' is not a case" traffic no_such
expect 2 'espcn:8x8: sizes are from 32 to 8192' traffic espcn:8x8
expect 2 "espcn:99x: '99x' is no size" traffic espcn:99x
expect 2 "'1K' is no size of a cache" traffic espcn:32x32 --cache 1K
expect 2 "'5K' is no size of a cache" traffic espcn:32x32 --cache 5K
expect 2 "'fast' is no size of a cache" traffic espcn:32x32 --cache 64K,fast
expect 2 "'5GHz' is no bandwidth" traffic espcn:32x32 --bandwidth 5GHz
expect 2 'fps' traffic espcn:32x32 --fps 0
expect 2 'batch' traffic espcn:32x32 --batch 0
expect 2 'batch' traffic espcn:32x32 --batch -1
expect 2 'batch' traffic espcn:32x32 --batch 18446744073709551616
expect 2 'batch' run espcn:32x32 --batch 0
expect 2 'batch' run espcn:32x32 --batch 4294967297
expect 0 'equal bytes' run espcn:32x32 --batch 3 --goal traffic --cache 65536 --repetitions 1
expect 2 'there is no tier' traffic espcn:32x32 --isa FAST
expect 2 'cannot write' traffic espcn:32x32 --csv "$scratch/no/such/directory.csv"
expect 0 '' traffic espcn:32x32 --execute
expect 0 '' traffic espcn:32x32 --execute --chains
expect 2 'requires --execute' traffic espcn:32x32 --chains
expect 0 '; 1 chain' traffic bottleneck --algorithm direct
expect 0 'in chains   ' traffic unet_encoder:64x64 --types s8s8s8 --cache 64K
expect 0 'in chains   ' traffic bottleneck:32 --types u8u8u8
expect 0 '0 chains' traffic 6x8x12 --types u8s4s32
expect 2 'its residual tensor 0 or its output is not of 8 bits' traffic bottleneck:32 --types u8s8s32
expect 2 'filter.algorithm = depthwise cannot be used' traffic ic8oc8_ih6kh3ph1 --algorithm depthwise
# The tier and the algorithm are named: whether chains fit a small cache depends on both
expect 0 'to change first:' traffic espcn:64x64 --isa SCALAR --algorithm direct --cache 64K,1M --batch 2 --fps 60 --bandwidth 800MB/s \
  --csv "$scratch/traffic.csv" --svg "$scratch/traffic.svg" --json "$scratch/traffic.json"
python3 - "$scratch" <<'END' || failures=$((failures + 1))
import csv, json, pathlib, sys, xml.dom.minidom
scratch = pathlib.Path(sys.argv[1])
json_ = json.loads((scratch / "traffic.json").read_text())
rows = list(csv.DictReader((scratch / "traffic.csv").open()))
xml.dom.minidom.parse(str(scratch / "traffic.svg"))
total = json_["layer_by_layer"]
assert [row["name"] for row in rows] == ["features", "map", "sub-pixels", "depth to space"] == [layer["name"] for layer in json_["layers"]]
assert (rows[1]["Ni"], rows[1]["No"], rows[1]["OutW"]) == ("64", "32", "64"), rows[1]
for field in ("read_bytes", "write_bytes"):
    assert total[field] == sum(layer[field] for layer in json_["layers"]) == sum(int(row[field]) for row in rows)
assert [cache["cache_bytes"] for cache in json_["caches"]] == [64 << 10, 1 << 20]
for cache in json_["caches"]:
    chains, apart = cache["chains"], cache["layer_by_layer"]
    for field in ("read_bytes", "write_bytes"):
        assert chains[field] == sum(layer[field] for layer in chains["layers"])
        assert apart[field] == sum(layer[field] for layer in apart["layers"])
    assert len(chains["layers"]) == 4 and chains["parts"]
# Blocks follow the machine's caches, and with them all that is close in a cache as small as those. The larger one holds the bands of every chain.
for field in ("read_bytes", "write_bytes", "map_bytes"):
    assert chains[field] < apart[field], (field, chains[field], apart[field])
small, large = (cache["layer_by_layer"]["read_bytes"] for cache in json_["caches"])
assert small > large > 0
assert total["map_bytes"] == 2 * 64 * 64 * (1 + 64 + 32 + 4), total  # the ends are the caller's
assert json_["batch_merge"]["bytes_per_image"] <= json_["batch_merge"]["bytes_per_image_together"]
merged = json_["batch_merge"]["chains"]
assert 0 <= merged["from_layer"] <= 4 and merged["bytes_per_image"] <= 1.05 * merged["bytes_per_image_one_by_one"], merged
END
network=$scratch/network.json
# network <text that the output holds> <the file's contents>: the error of a description.
network() {
  printf '%s' "$2" >"$network"
  expect 2 "$1" bench "$network"
}
layer='{"kind": "convolution", "name": "conv;bias", "case": "ic8oc8_ih6kh3ph1", "types": "s8s8s8"}'
expect 2 'cannot read' bench "$scratch/missing.json"
mkdir "$scratch/folder.json"
expect 2 'is a folder' bench "$scratch/folder.json"
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
expect 2 'the description has no weights' traffic "$network"
expect 0 '[1/1]    u8s8u8  4x8x8' bench "$network" --repetitions 1
# Tiers whose costs nobody measured on this CPU, and others
for isa in $("$octet" info --json | sed -n '/"detected"/,/]/s/^ *"\([A-Z0-9]*\)",\{0,1\}$/\1/p'); do
  asks=$("$octet" bench 8x8x8 --isa "$isa" --repetitions 1 | grep -c 'octet report')
  measured=$("$octet" explain conv --shape ic64oc64_ih14kh3ph1 --isa "$isa" | grep -c 'costs not measured')
  [[ $asks == "$measured" ]] || { echo "octet bench --isa $isa asks for a report: $asks, expected $measured"; failures=$((failures + 1)); }
done
expect 0 'small                     1 layers, 0 wrong' bench plan "$network" --repetitions 1
expect 0 ' kernel' bench pack "$network" --repetitions 1
expect 2 'repetitions' bench 8x8x8 --repetitions 0
expect 2 "the peer 'false' has ended" bench 8x8x8 --peer false
expect 2 'which is no answer' bench 8x8x8 --peer 'echo hello; cat >/dev/null'
expect 0 'peer: nobody' bench 8x8x8 --repetitions 1 --peer "echo '{\"name\": \"nobody\"}'; echo {}; echo {}; cat >/dev/null"
expect 2 'no such product' bench 8x8x8 --repetitions 1 --peer "echo '{\"error\": \"no such product\"}'; cat >/dev/null"
# A peer and its children are stopped while Octet has its turn: a watcher in another group of
# processes sees it in one of 100 turns, also on a busy machine.
cat >"$scratch/peer.py" <<'END'
import json, os, sys
if os.fork() == 0:
    os.setsid()
    while True:
        try:
            state = open(f"/proc/{os.getppid()}/stat").read().rsplit(")", 1)[1].split()[0]
        except OSError:
            break
        if os.getppid() == 1 or state in "TZ":
            open(sys.argv[1], "a").write(state)
            break
    os._exit(0)
for line in sys.stdin.buffer:
    (verb, problem), = json.loads(line).items()
    sizes = problem["tensors"].values() if verb == "gemm" else []
    sys.stdin.buffer.read(sum(sizes))
    answer = {"hello": {"name": "stopped"}, "gemm": {"dst": 256}, "run": {"seconds": 1}, "get": {}}[verb]
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + (b"x" * 256 if verb == "get" else b""))
    sys.stdout.buffer.flush()
END
expect 0 'peer: stopped' bench 8x8x8 --types u8s8s32 --repetitions 100 --threads 2 --peer "exec python3 $scratch/peer.py $scratch/state"
if [[ -r /proc/self/stat && $(cat "$scratch/state") != T ]]; then
  echo 'a peer goes on while Octet has its turn'
  failures=$((failures + 1))
fi
expect 2 "'fast' are no operands: uniform, real or model" bench 8x8x8 --operands fast
expect 0 '0 wrong' bench 8x8x8 12x70x40 ic8oc8_ih6kh3ph1 --operands real --types u8s8u8,s8s8s8,s8u8s8,u8u8f32 --repetitions 1 --json "$scratch/real.json"
[[ $(grep -c '"operands": "real"' "$scratch/real.json") -eq 12 && $(grep -c '"rhs_zero_point": 128' "$scratch/real.json") -eq 6 ]] || { echo 'the JSON does not tell real operands'; failures=$((failures + 1)); }
expect 2 "'fast' is no requantization" bench 8x8x8 --requant fast
expect 2 'outputs of 8 bits, not for u8s8s32' bench 8x8x8 --requant tflite --types u8s8s32
expect 0 'peer: symmetric weights' bench 8x8x8 ic8oc8_ih6kh3ph1 --rhs-zero-point 7 --peer symmetric --types u8u8u8 --repetitions 1
expect 2 'rhs-zero-point 128 is no zero point of s8' bench 8x8x8 --rhs-zero-point 128
expect 0 '0 wrong' bench 8x8x8 ic8oc8_ih6kh3ph1 --lhs-zero-point 7 --types u8s8u8,s8u8s32 --repetitions 1 --json "$scratch/lhs.json"
[[ $(grep -c '"lhs_zero_point": 7' "$scratch/lhs.json") -eq 4 ]] || { echo 'the JSON does not tell zero points of inputs'; failures=$((failures + 1)); }
expect 2 'lhs-zero-point -1 is no zero point of u8' bench 8x8x8 --lhs-zero-point -1
expect 2 'lhs-zero-point 128 is no zero point of s8' bench plan ic8oc8_ih6kh3ph1 --types s8s8s8 --lhs-zero-point 128
expect 2 'lhs-zero-point 1 is no zero point of s16' bench 8x8x8 --types s16s8s16 --lhs-zero-point 1
# Only a peer that says that it has zero points of inputs is asked for them.
asked="read -r hello; echo '{\"name\": \"asked\", \"lhs_zero_point\": HAS}'; read -r problem; case \$problem in
  *'\"lhs_zero_point\":7'*) echo '{\"error\": \"asked for 7\"}' ;; esac; cat >/dev/null"
expect 0 'peer: asked' bench 8x8x8 ic8oc8_ih6kh3ph1 --lhs-zero-point 7 --repetitions 1 --peer "${asked/HAS/false}"
for problem in 8x8x8 ic8oc8_ih6kh3ph1; do
  expect 2 'asked for 7' bench $problem --lhs-zero-point 7 --repetitions 1 --peer "${asked/HAS/true}"
done
expect 0 'peer: float mode' bench 8x8x8 ic8oc8_ih6kh3ph1 --requant tflite --peer float --types s8s8s8 --repetitions 1
expect 0 'peer: 8 bits' bench 8x8x8 ic8oc8_ih6kh3ph1 --requant tflite --peer int8 --types s16s8s16 --repetitions 1
expect 2 'requant double is for outputs of 8 bits, not for s16s8s16' bench 8x8x8 --requant double --types s16s8s16
expect 2 'requant double is for outputs of 8 bits, not for u8s8s32' bench 8x8x8 --requant double --types u8s8s32
expect 2 'requant double has no --residual' bench 8x8x8 --requant double --residual
expect 0 '8 cases, 0 wrong' bench 8x8x8 13x70x40 ic8oc8_ih6kh3ph1 g70ic70oc70_ih6kh3ph1 --requant double --types s8s8s8,u8s8u8 --repetitions 1
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
expect 0 '_s8u4_blocks_' \
    explain gemm --shape 8x64x64 --types s8s4f32 --scale-block 32
expect 2 'is for f32 outputs' explain gemm --shape 8x64x64 --scale-block 32
expect 2 'rhs.scale_block = 24' \
    explain gemm --shape 8x64x48 --types s8s4f32 --scale-block 24
expect 0 'weights are packed 2:4 sparse' explain conv --shape ic64oc64_ih6kh3ph1 --sparse 2:4
expect 2 'cannot write' bench 8x8x8 --json "$scratch/missing/out.json"
expect 2 'cannot allocate' bench 9999999x9999999x8
OCTET_MAX_ISA=FAST expect 2 'OCTET_BAD_ENVIRONMENT' bench 8x8x8

expect 0 'scalar_u8s8_4x16x4' bench 8x8x8 3x5x7 --isa SCALAR --types u8s8s32,s8s8s8,u8u8f32,s8u8u8 --repetitions 1 --json "$scratch/out.json"
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
# A refusal lists all tiers, `octet info` the tiers of this build.
compiled=" $("$octet" info | sed -n 's/.*compiled in: //p') "
for tier in $("$octet" explain conv --shape $conv --isa none 2>&1 | sed -n "s/.*no tier 'none': //p"); do
  [[ $compiled == *" $tier "* ]] || foreign=$tier
done
expect 0 "This library has no kernels of ${foreign:-none}" explain conv --shape g16ic64oc64_ih6kh3ph1 --isa "${foreign:-none}"
expect 0 '"choice": "direct weights=' explain conv --shape $conv --isa SCALAR --json
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
expect 0 'loses' bench plan $conv "${run[@]}" --lhs-zero-point 7 --json "$scratch/plan.json"
expect 0 'predictions off by a factor' bench plan $conv "${run[@]}" --threads 1
expect 0 'predictions are of one thread' bench plan $conv "${run[@]}" --threads 2
expect 0 'distinct layers' bench pack $conv "${run[@]}" --json "$scratch/pack.json"
expect 0 'distinct layers' bench pack $conv "${run[@]}" --requant tflite --rhs-zero-point 3 --residual --table
expect 2 'are for outputs of 8 bits, not for u8s8f32' bench pack $conv --types u8s8f32 --table
grep -q '"loss_percent":' "$scratch/plan.json" && grep -q '"pack_us":' "$scratch/pack.json" || { echo 'plan or pack JSON lacks its figures'; failures=$((failures + 1)); }

# Measured choices.
tuning=(tune $conv 8x8x8 --isa SCALAR --seconds 0.2)
expect 2 'cases is required' tune
for seconds in 0 -1 nan 2e6; do
  expect 2 "--seconds: '$seconds' is not 0.001 to 1000000 seconds" tune 8x8x8 --seconds=$seconds
done
expect 0 'kept nowhere' tune 8x8x8 --isa SCALAR --seconds 0.01
printf 'root:x:0:0\n' >"$scratch/other"
expect 2 'without any line of a tuning' tune 8x8x8 --isa SCALAR --seconds 0.01 --cache "$scratch/other"
[[ $(cat "$scratch/other") == root:x:0:0 ]] || { echo 'tune has overwritten a file that is no tuning'; failures=$((failures + 1)); }
expect 2 "'resnet51' is not a case" tune resnet51
expect 2 'path cannot be opened' "${tuning[@]}" --cache "$scratch/missing/cache"
expect 2 'take no cases' tune 8x8x8 --calibrate
expect 2 'one core' tune --calibrate --threads 2
expect 0 'kept nowhere' tune --calibrate --seconds 0.1 --json "$scratch/calibrate.json"
grep -q '"factor_after":' "$scratch/calibrate.json" || { echo 'calibrate JSON lacks its figures'; failures=$((failures + 1)); }
printf '# invented\nSCALAR macs=0.5 int16_macs=0.4\n' >"$scratch/invented.profile"
printf 'SCALAR macs=fast\n' >"$scratch/wrong.profile"
expect 2 'line 1: macs is' tune --profile "$scratch/wrong.profile" --cache "$scratch/assumed"
expect 0 'assumed' tune --profile "$scratch/invented.profile" --cache "$scratch/assumed"
OCTET_TUNING="$scratch/assumed" expect 0 'predicted, assumed' explain conv --shape $conv --isa SCALAR
expect 0 '2 cases' "${tuning[@]}" --requant tflite --types s8s8s8 --cache "$scratch/cache" --json "$scratch/tune.json"
for key in plan_us best_us chosen_us plan chosen summary; do
  grep -q "\"$key\":" "$scratch/tune.json" || { echo "no \"$key\" in the JSON of tune"; failures=$((failures + 1)); }
done
echo rubbish >>"$scratch/cache"
OCTET_TUNING="$scratch/cache" expect 0 'measured, on this machine' explain conv --shape $conv --isa SCALAR
OCTET_TUNING="$scratch/cache" expect 0 '2 lines of this machine, 0 of others, 0 of other versions, 1 damaged (the first: line 3)' "${tuning[@]}"
OCTET_TUNING="$scratch/cache" expect 0 '4 lines of this machine, 0 of others, 0 of other versions, 0 damaged' "${tuning[@]}"
expect 0 '2 known already, 0 candidates' "${tuning[@]}" --only-missing --cache "$scratch/cache"
expect 0 '0 known already' "${tuning[@]}" --only-missing --types s8s8s32 --cache "$scratch/cache"
# `octet tune` keeps a description's layout and zero points, as create looks them up.
printf '{"octet_network": 1, "name": "n", "operators": [{"kind": "convolution", "name": "c", "case": "%s", "types": "u8s8u8", "layout": "nchw", "inputs": [0, 1, -1]}], "tensors": [{}, {"quantization": {"zero_points": [0, 3]}}]}' $conv >"$network"
expect 0 '1 cases' tune "$network" --isa SCALAR --seconds 0.05 --cache "$scratch/nchw"
grep -q 'lhs=u8,nchw,0 dst=u8,nchw zero_points=yes' "$scratch/nchw" || { echo 'tune ignores the layout or the zero points'; failures=$((failures + 1)); }
printf '{"octet_network": 1, "name": "n", "operators": [{"kind": "convolution", "name": "c", "case": "%s", "types": "u8s8u8", "layout": "other"}]}' $conv >"$network"
expect 2 "operators[0] has the layout 'other'" tune "$network" --isa SCALAR
OCTET_TUNING="$scratch/missing" expect 2 'OCTET_TUNING cannot be read' bench 8x8x8

# Networks.
expect 2 "'resnet51' is not a case" run resnet51
expect 0 'equal bytes' run 6x8x12 mb2ic8oc16_ih9kh3ph1 tic8oc4_ih6kh2sh2 g16ic32oc32_ih9kh3ph1 --batch 2 --repetitions 1
expect 2 'is no size' run espcn:64y64
expect 2 'is no limit of weights' run espcn:64 --weights-max 5G
expect 2 'is no limit of weights' run espcn:64 --weights-max -1
expect 2 "'0' is no limit of weights" run espcn:64 --weights-max 0
expect 2 'is no limit of weights' run espcn:64 --weights-max 99999999999999999999
expect 2 'espcn:64: --weights-max is 1; the least that these' run espcn:64 --weights-max 1
expect 0 "MB of convolutions' filters: " run resnet50:32x32 --weights-max none --repetitions 1 --json "$scratch/free.json"
expect 0 'equal bytes' run resnet50:32x32 --weights-max 25M --repetitions 1 --json "$scratch/limited.json"
python3 - "$scratch" <<'END' || failures=$((failures + 1))
import json, sys
free, limited = (json.load(open(f"{sys.argv[1]}/{name}.json"))["networks"][0]
                 for name in ("free", "limited"))
assert free["packed_filter_bytes"] == free["unlimited_filter_bytes"], free
assert limited["unlimited_filter_bytes"] == free["unlimited_filter_bytes"], limited
assert limited["filter_bytes"] < limited["packed_filter_bytes"] <= 25 * 2**20, limited
END
expect 2 'is no goal' run espcn:64 --goal speed
expect 2 'desc.memory_bytes = 100, but the tensors need at least' run espcn:64 --goal memory --memory 100
expect 0 'equal bytes' run espcn:64 unet:32x64 --goal traffic --threads 2 --repetitions 1 --json "$scratch/run.json"
# A described model: a 1x1 convolution, a pooling, and left-out operators; then faulty models.
python3 - "$scratch" <<'END'
import json, pathlib, sys
scratch = pathlib.Path(sys.argv[1])
(scratch / "model.bin").write_bytes(bytes([1] * 32 + [0] * 16))
q = lambda scale: {"scales": [scale], "zero_points": [0]}
tensor = lambda name, shape, kind="s8", **more: {"name": name, "shape": shape, "type": kind, "quantization": q(0.5), "constant": False, **more}
model = {"octet_network": 1, "name": "m", "source": "m.tflite", "data": "model.bin",
         "tensors": [tensor("in", [1, 4, 4, 8]), tensor("w", [4, 1, 1, 8], constant=True, data_at=0), tensor("b", [4], "s32", constant=True, data_at=32),
                     tensor("conv", [1, 4, 4, 4]), tensor("pool", [1, 2, 2, 4]), tensor("soft", [1, 2, 2, 4])],
         "operators": [{"kind": "convolution", "name": "c", "operator": "CONV_2D", "inputs": [0, 1, 2], "outputs": [3], "types": "s8s8s8", "layout": "nhwc",
                        "case": "mb1ic8oc4ih4iw4oh4ow4kh1kw1sh1sw1ph0pw0", "activation": "NONE"},
                       {"kind": "pooling", "name": "p", "operator": "MAX_POOL_2D", "inputs": [3], "outputs": [4], "activation": "RELU",
                        "geometry": {"in_h": 4, "in_w": 4, "out_h": 2, "out_w": 2, "kernel_h": 2, "kernel_w": 2, "stride_h": 2, "stride_w": 2, "pad_top": 0, "pad_left": 0}},
                       {"kind": "other", "name": "s", "operator": "SOFTMAX", "inputs": [4], "outputs": [5], "left_out": "not Octet's"}]}
def write(name, change):
    copy = json.loads(json.dumps(model))
    change(copy)
    (scratch / f"{name}.json").write_text(json.dumps(copy))
write("model", lambda m: None)
write("no_data", lambda m: m.pop("data"))
write("short_data", lambda m: m["tensors"][2].update(data_at=40))
write("middle", lambda m: (m["tensors"].append(tensor("more", [1, 2, 2, 4])), m["operators"].append({**m["operators"][1], "inputs": [5], "outputs": [6], "geometry": {**m["operators"][1]["geometry"], "kernel_h": 1, "kernel_w": 1, "stride_h": 1, "stride_w": 1}})))
write("nothing", lambda m: (m["operators"].pop(0), m["operators"][0].update(activation="TANH", inputs=[0])))
write("window", lambda m: m["operators"][1]["geometry"].update(kernel_h=0))
write("activation", lambda m: m["operators"][1].update(activation="TANH"))
write("layout", lambda m: m["operators"][0].update(layout="nchw"))
write("tensor", lambda m: m["operators"][1].update(inputs=[9]))
write("unquantized", lambda m: m["tensors"][0].update(quantization=None))
write("kind", lambda m: m["operators"][1].update(kind="resize"))
write("text", lambda m: m["operators"][0].update(activation=3))
write("zero_point", lambda m: m["tensors"][0]["quantization"].update(zero_points=[2**63]))
write("far_zero_point", lambda m: m["tensors"][1]["quantization"].update(zero_points=[1e300]))
write("size", lambda m: m["tensors"][0].update(shape=[-1, 4, 4, 8]))
write("images", lambda m: m["tensors"][0].update(shape=[2**31, 4, 4, 8]))
write("dimensions", lambda m: m["tensors"][0].update(shape=[1, 2, 4, 4, 8]))
write("stride", lambda m: m["operators"][1]["geometry"].update(stride_h=1e300))
write("type", lambda m: m["tensors"][0].update(type="f32"))
write("bias_type", lambda m: m["tensors"][2].update(type="s8"))
write("far_scale", lambda m: m["tensors"][0].update(quantization=q(3e38)))
write("no_interval", lambda m: (m.update(arithmetic="float"), m["tensors"][2].update(quantization=None), m["operators"][1].update(operator="MaxPool", activation="CLIP", clip=[9, -9])))
write("data_folder", lambda m: m.update(data="."))
write("twice", lambda m: m["operators"].insert(1, m["operators"][0]))
write("early", lambda m: m["operators"].reverse())
def join(m, kind, inputs, shape):
    m["tensors"].append(tensor("more", shape))
    m["operators"].append({"kind": kind, "name": "j", "operator": kind.upper(), "inputs": inputs, "outputs": [6], "activation": "NONE"})
write("shapes", lambda m: join(m, "addition", [3, 4], [1, 4, 4, 4]))
write("larger", lambda m: join(m, "addition", [4, 4], [1, 4, 4, 4]))
write("itself", lambda m: join(m, "reshape", [6], [1, 16]))
write("elements", lambda m: join(m, "reshape", [4], [1, 17]))
write("second", lambda m: (m["operators"][2].update(inputs=[0], outputs=[5, 6]), join(m, "addition", [4, 6], [1, 2, 2, 4]), m["operators"][3].update(outputs=[7]),
                           m["tensors"].append(tensor("sum", [1, 2, 2, 4]))))
write("outputs", lambda m: m.update(inputs=[0], outputs=[4, 3]))
write("passing", lambda m: m.update(inputs=[0], outputs=[0, 4]))
write("replaced", lambda m: m.update(inputs=[0], outputs=[5, 3]))
write("constant", lambda m: m.update(inputs=[0], outputs=[1, 4]))
write("unmade", lambda m: (m["tensors"].append(tensor("more", [1, 4])), m.update(inputs=[0], outputs=[6, 4])))
write("no_output", lambda m: m.update(inputs=[0], outputs=[9]))
write("two_inputs", lambda m: (m["tensors"].append(tensor("second", [1, 2, 2, 4])), m["tensors"].append(tensor("sum", [1, 2, 2, 4])), m.update(inputs=[6, 0], outputs=[7]),
                               m["operators"].append({"kind": "addition", "name": "a", "operator": "ADD", "inputs": [4, 6], "outputs": [7], "activation": "NONE"})))
write("split", lambda m: (m["operators"][2].update(from_outside=True, inputs=[4, 7]), m["tensors"].extend([tensor("sum", [1, 2, 2, 4]), tensor("second", [1, 2, 2, 4])]),
                          m["operators"].append({"kind": "addition", "name": "a", "operator": "ADD", "inputs": [5, 5], "outputs": [6], "activation": "NONE"}),
                          m.update(inputs=[7, 0], outputs=[6])))
write("unknown", lambda m: (m["tensors"].append(tensor("more", None)), m["operators"].append({**m["operators"][1], "outputs": [6]})))
write("empty", lambda m: m["tensors"].append(tensor("roi", [0])))
def reshape(m, source, shape):
    m["tensors"].append(tensor("reshaped", shape))
    return {"kind": "reshape", "name": "r", "operator": "RESHAPE", "inputs": [source], "outputs": [len(m["tensors"]) - 1]}
write("image", lambda m: (m["tensors"][0].update(shape=[1, 128]), m["operators"].insert(0, reshape(m, 0, [1, 4, 4, 8])), m["operators"][1].update(inputs=[6, 1, 2])))
write("copied", lambda m: (m["operators"].append(reshape(m, 4, [1, 4, 1, 4])), m["tensors"].append(tensor("more", [1, 2, 1, 4])), m.update(inputs=[0], outputs=[7, 4, 6]),
                           m["operators"].append({**m["operators"][1], "inputs": [6], "outputs": [7], "geometry": {**m["operators"][1]["geometry"], "kernel_w": 1, "stride_w": 1}})))
write("all", lambda m: (m["operators"][0].update(activation="TANH"), m["operators"][1].update(activation="TANH"), m["tensors"].append(tensor("more", [1, 2, 2, 8])),
                        m["operators"].append({**m["operators"][1], "activation": "NONE", "inputs": [0], "outputs": [6]})))
(scratch / "in").write_bytes(bytes(range(128)))
END
expect 0 'left out: operators[2] (SOFTMAX): not Octet' run --network "$scratch/model.json" --goal memory --repetitions 1 \
  --input "$scratch/in" --output "$scratch/out"
python3 - "$scratch" <<'END' || failures=$((failures + 1))
import pathlib, sys
scratch = pathlib.Path(sys.argv[1])
data = (scratch / "in").read_bytes()
# 8 ones at scale 0.25 / 0.5: half of the sum, halves up; then the maximum of four pixels
sums = [min((sum(data[8 * p:8 * p + 8]) + 1) // 2, 127) for p in range(16)]
pooled = [max(sums[4 * (2 * y + i) + 2 * x + j] for i in (0, 1) for j in (0, 1)) for y in (0, 1) for x in (0, 1)]
made = list((scratch / "out").read_bytes())
assert made == [value for value in pooled for _ in range(4)], (made, pooled)
END
expect 0 'model.json: left out: operators[2] (SOFTMAX): not Octet' traffic --network "$scratch/model.json"
expect 0 'model.json: 2 layers' traffic "$scratch/model.json"
expect 0 ' 0 c   ' traffic "$scratch/model.json" # the model's name of a layer
# A bench with the model's weights takes each layer by itself, also behind left-out operators.
own=(--operands model --repetitions 1)
expect 0 'mb1_ic8oc4_ih4oh4kh1sh1ph0' bench "$scratch/model.json" "${own[@]}" --peer float --json "$scratch/own.json"
expect 0 'm s8s8s8                  1 cases, 0 wrong' bench "$scratch/middle.json" "${own[@]}"
grep -q '"operands": "model"' "$scratch/own.json" && grep -q '"requant": "tflite"' "$scratch/own.json" || { echo 'the JSON does not tell a model'"'"'s operands'; failures=$((failures + 1)); }
expect 0 'm                         1 layers, 0 wrong' bench plan "$scratch/model.json" "${own[@]}"
expect 0 '1 distinct layers' bench pack "$scratch/model.json" "${own[@]}"
expect 2 'the description has no weights: tools/models/describe.py --data' bench "$scratch/no_data.json" "${own[@]}"
expect 2 'tensor 2 is a constant of 8 bytes, but its shape takes 16' bench "$scratch/short_data.json" "${own[@]}"
expect 2 "'resnet50' has no operands of its own" bench resnet50 "${own[@]}"
expect 2 '--operands model leaves --requant to the model' bench "$scratch/model.json" "${own[@]}" --requant tflite
expect 2 '--operands model leaves --types to the model' bench "$scratch/model.json" "${own[@]}" --types s8s8s8
expect 2 '--operands model leaves --lhs-zero-point to' bench "$scratch/model.json" "${own[@]}" --lhs-zero-point 7
expect 2 '--operands model leaves --peer to the model; peers are' bench "$scratch/model.json" "${own[@]}" --peer onednn
expect 2 'a network is required' run
expect 2 'not both' traffic espcn --network "$scratch/model.json"
expect 2 'cannot read' run "$scratch/missing.json"
expect 2 'has 6 bytes, and the inputs of a run 128' run "$scratch/model.json" --input <(printf '123456')
expect 2 'the description has no weights' run "$scratch/no_data.json"
expect 2 'tensor 2 is a constant of 8 bytes, but its shape takes 16' run "$scratch/short_data.json"
# An operator that cannot run is left out with all that need it; each is named, and the rest runs.
expect 0 'middle.json: left out: operators[3] (MAX_POOL_2D): needs what operators[2] (SOFTMAX) makes' run "$scratch/middle.json"
expect 0 'middle.json: runs 2 of 4 operators' run "$scratch/middle.json"
expect 2 'nothing.json has nothing that Octet computes' run "$scratch/nothing.json"
expect 2 'left out: operators[0] (MAX_POOL_2D): its activation TANH' run "$scratch/nothing.json"
expect 2 'left out: operators[1] (SOFTMAX): not Octet' run "$scratch/nothing.json"
expect 0 'operators[1] (MAX_POOL_2D): its stride or its window is 0' run "$scratch/window.json"
expect 0 'operators[1] (MAX_POOL_2D): its activation TANH is not' run "$scratch/activation.json"
expect 2 'tensors in NHWC' run "$scratch/layout.json"
expect 2 'operators[1] (MAX_POOL_2D): 9 is no tensor' run "$scratch/tensor.json"
expect 2 'operators[0] (CONV_2D): tensor 0 has 0 scales; it needs one' run "$scratch/unquantized.json"
expect 2 "'resize' is no kind of operator" run "$scratch/kind.json"
expect 2 'operators[0] (CONV_2D): [json.exception.type_error.302] type must be string' run "$scratch/text.json"
expect 2 'tensor 0 of s8 has the zero point 9223372036854775808' run "$scratch/zero_point.json"
expect 2 'tensor 1 of s8 has the zero point 1e+300' run "$scratch/far_zero_point.json"
expect 2 'operators[0]: 1e+300 is no zero point of its weights' bench "$scratch/far_zero_point.json"
expect 2 'tensors[0]: a size is -1, and must be a whole number' run "$scratch/size.json"
expect 2 'but it makes 2147483648x4x4x4' run "$scratch/images.json"
expect 2 'tensor 0 is not of rank 3 or 4' run "$scratch/dimensions.json"
expect 2 'stride_h is 1e+300, and must be' run "$scratch/stride.json"
expect 2 'tensor 0 is not of 8 bits' run "$scratch/type.json"
expect 2 'its bias tensor 2 is not of int32' run "$scratch/bias_type.json"
expect 2 'tensor 0 has the scale 3e+38' run "$scratch/far_scale.json"
expect 0 'operators[1] (MaxPool): its bounds 9 and -9 have nothing between them' run "$scratch/no_interval.json"
expect 2 'is no regular file' run "$scratch/data_folder.json"
expect 2 'tensor 3 is made twice, the second time by operators[1] (CONV_2D)' run "$scratch/twice.json"
expect 0 'early.json: runs 2 of 3 operators' run "$scratch/early.json"
expect 0 'operators[3] (ADDITION): its inputs have different shapes' run "$scratch/shapes.json"
expect 0 'operators[3] (ADDITION): its inputs have different shapes' run "$scratch/larger.json"
expect 2 'operators[3] (RESHAPE) needs its own result: a circle' run "$scratch/itself.json"
expect 0 'operators[3] (RESHAPE): its input and its output have different types or numbers of elements' run "$scratch/elements.json"
expect 0 'left out: operators[3] (ADDITION): needs what operators[2] (SOFTMAX) makes' run "$scratch/second.json"
# Outputs are in the model's order, read by others or not; an input passes through; a left-out one
# is replaced.
ends() {
  "$octet" run "$scratch/$1.json" --repetitions 1 --json "$scratch/ends" >"$scratch/said" 2>&1
  python3 -c 'import json, sys; run = json.load(open(sys.argv[1]))["networks"][0]; print(run["inputs"], run["outputs"], run["equal"])' "$scratch/ends" |
    grep -qxF "$2 True" || { echo "$1.json: the ends are not $2: $(cat "$scratch/said")"; failures=$((failures + 1)); }
}
ends model '[0] [4]'
ends outputs '[0] [4, 3]'
ends passing '[0] [0, 4]'
ends replaced '[0] [4, 3]'
ends two_inputs '[6, 0] [7, 4]'
ends split '[0, 5] [6, 4]'
expect 0 'not written: output tensor 1: it is a constant' run "$scratch/constant.json"
expect 2 'inputs and outputs: 9 is no tensor' run "$scratch/no_output.json"
expect 0 'operators[3] (MAX_POOL_2D): the sizes of tensor 6 are not known' run "$scratch/unknown.json"
expect 0 'not written: output tensor 6: no operator makes it' run "$scratch/unmade.json"
# An operator without elements, whose result is not needed.
expect 0 'equal bytes' run "$scratch/empty.json"
expect 0 'empty.json: 2 layers' traffic --network "$scratch/empty.json"
# A line that becomes an image: one from outside lies as its reader has it, one that was made is copied.
ends image '[0] [4]'
ends copied '[0] [7, 4, 6]'
for name in image copied; do
  expect 0 'equal bytes' run "$scratch/$name.json" --goal memory --repetitions 1 --input "$scratch/in" --output "$scratch/$name.out"
done
python3 - "$scratch" <<'END' || failures=$((failures + 1))
import pathlib, sys
scratch = pathlib.Path(sys.argv[1])
pooled, image, copied = ((scratch / name).read_bytes() for name in ("out", "image.out", "copied.out"))
assert image == pooled
rows = [pooled[i:i + 4] for i in range(0, 16, 4)]  # the maximum of two each
assert copied == b"".join(bytes(map(max, rows[i], rows[i + 1])) for i in (0, 2)) + pooled + pooled, copied
END
# All obstacles are named, not only the first.
expect 0 'left out: operators[0] (CONV_2D), operators[1] (MAX_POOL_2D): its activation TANH is not' run "$scratch/all.json"
expect 0 '1 layers, 0 wrong' bench plan --network "$scratch/model.json" --repetitions 1
expect 0 's8s8s8  mb1_ic8oc4' bench --network "$scratch/model.json" --repetitions 1
expect 2 'cannot read' tune --network "$scratch/missing.json"
for command in run traffic bench tune 'bench plan'; do
  # shellcheck disable=SC2086 # two words are two arguments
  expect 2 "--network: 'model' is no file with a name of .json" $command --network model
done
expect 2 'is a folder' run "$scratch/model.json" --input "$scratch"
expect 2 "'-1' is no size of a cache" run "$scratch/model.json" --cache -1
expect 2 '--memory' run "$scratch/model.json" --goal memory --memory -1
expect 2 '--fps' traffic "$scratch/model.json" --fps nan
expect 0 'equal bytes' run "$scratch/model.json" --cache 64K --goal traffic --repetitions 1
for key in equal layers_ms planned_ms separate_bytes layers_map_bytes planned_map_bytes; do
  grep -q "\"$key\":" "$scratch/run.json" || { echo "no \"$key\" in the JSON of run"; failures=$((failures + 1)); }
done

echo "$failures failures"
((failures == 0))
