#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs run_tflite_networks.py with a LiteRT whose XNNPACK has Octet's bytes of all its networks of int8; the conformance vectors' LiteRT is older.

    run_xnnpack.py <directory for a virtual environment> <the octet command>
"""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
os.execv(sys.executable, [sys.executable, str(HERE / "run_tflite_networks.py"), *sys.argv[1:], str(HERE / "requirements.txt")])
