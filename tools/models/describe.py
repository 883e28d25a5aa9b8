#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Describes a quantized network for `octet`, which then measures or runs its layers on this CPU.

    describe.py <model.tflite or model.onnx> [-o network.json] [--batch 1] [--shape input=1,3,224,224]
    octet bench network.json

With --data the constants are written beside the description, as NAME.bin, and `octet run NAME.json` runs it: an .onnx model in NHWC.

Needs the packages of requirements.txt: flatbuffers and tflite, or onnx. docs/networks.md says what a description holds. Convolutions, products,
additions and poolings of 8 bits are described with their quantization; all other operators are named; stderr lists the operators that Octet does not
compute.
"""
import argparse
import collections
import json
import pathlib
import sys

from operators import Unreadable

VERSION = 1


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def input_shape(text):
    """('x', [1, 3, 224, 224]) of 'x=1,3,224,224'."""
    name, equals, sizes = text.rpartition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not INPUT=N,...")
    return name, [positive(size) for size in sizes.split(",")]


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path, help="a quantized .tflite or .onnx file")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="standard output by default")
    parser.add_argument("--data", action="store_true", help="also write weights and biases to a .bin file beside the output")
    parser.add_argument("--batch", type=positive, default=1, help="size of the first dimension of inputs where the model leaves it open")
    parser.add_argument("--shape", type=input_shape, action="append", default=[], metavar="INPUT=N,...", help="shape of an input of an .onnx model, such as INPUT=1,3,224,224")
    return parser.parse_args(arguments)


def read(args, constants):
    if args.model.suffix == ".tflite":
        import from_tflite

        return from_tflite.read(args.model.read_bytes(), args.batch, constants)
    if args.model.suffix == ".onnx":
        import from_onnx

        return from_onnx.read(args.model, args.batch, dict(args.shape), constants)
    raise Unreadable("its name ends neither in .tflite nor in .onnx")


def describe(args, constants):
    operators, tensors, inputs, outputs = read(args, constants)
    left_out = collections.Counter(f"{op['operator']}: {op['left_out']}" for op in operators if "left_out" in op)
    network = {"octet_network": VERSION, "name": args.model.stem, "source": args.model.name, "inputs": inputs, "outputs": outputs,
               "operators": operators, "tensors": tensors}
    if args.model.suffix == ".onnx":
        network["arithmetic"] = "float"
    if constants is not None:
        network["data"] = args.output.with_suffix(".bin").name
    return network, left_out


def main(arguments=None):
    args = parse(arguments)
    constants = bytearray() if args.data else None
    if args.data and not args.output:
        sys.exit("--data needs -o")
    try:
        network, left_out = describe(args, constants)
    except OSError as error:
        sys.exit(f"{error.filename or args.model}: {error.strerror or error}")
    except Unreadable as error:
        sys.exit(f"{args.model}: {error}")
    except ImportError as error:
        sys.exit(f"{error}: pip install -r {pathlib.Path(__file__).parent / 'requirements.txt'}")
    text = json.dumps(network, indent=1) + "\n"
    if args.output:
        try:
            args.output.write_text(text)
            if args.data:
                args.output.with_suffix(".bin").write_bytes(constants)
        except OSError as error:
            sys.exit(f"{args.output}: {error.strerror}")
    else:
        sys.stdout.write(text)
    kinds = collections.Counter(op["kind"] for op in network["operators"])
    print(f"{network['name']}: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()), file=sys.stderr)
    for what, count in left_out.items():
        print(f"left out: {what}" + (f", {count} times" if count > 1 else ""), file=sys.stderr)


if __name__ == "__main__":
    main()
