#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MKL as a peer of `octet bench`: cblas_gemm_s8u8s32, row-major u8 x s8 -> s32, with the weights packed beforehand as for a network.

On processors of other makers MKL takes a general path; the name says which processor it assumed."""

import ctypes as c
import glob
import sys

import peer

ROW_MAJOR, NO_TRANSPOSE, PACKED, B_MATRIX, FIX_OFFSET = 101, 111, 151, 162, 173
SEQUENTIAL, INTEL_THREADS = 1, 0


class Version(c.Structure):
    _fields_ = [("major", c.c_int), ("minor", c.c_int), ("update", c.c_int)] + [
        (name, c.c_char_p) for name in ("status", "build", "processor", "platform")
    ]


class Mkl:
    def __init__(self, threads):
        self.mkl = c.CDLL(glob.glob(sys.prefix + "/lib/libmkl_rt.so*")[0])
        self.mkl.MKL_Set_Threading_Layer(SEQUENTIAL if threads == 1 else INTEL_THREADS)
        self.mkl.MKL_Set_Num_Threads(threads)
        version = Version()
        self.mkl.MKL_Get_Version(c.byref(version))
        self.name = f"MKL {version.major} update {version.update} for {version.processor.decode()}"

        i, f, s8, p = c.c_int, c.c_float, c.c_int8, c.c_void_p
        self.mkl.cblas_gemm_s8u8s32_pack_get_size.argtypes = [i, i, i, i]
        self.mkl.cblas_gemm_s8u8s32_pack_get_size.restype = c.c_size_t
        self.mkl.cblas_gemm_s8u8s32_pack.argtypes = [i, i, i, i, i, i, p, i, p]
        self.mkl.cblas_gemm_s8u8s32_compute.argtypes = [i, i, i, i, i, i, i, f, p, i, s8, p, i, s8, f, p, i, p]
        self.empty_call = self.product(0, 0, 0, *(peer.aligned(64, "u1") for _ in range(3)))

    def product(self, m, n, k, lhs, packed, dst):
        """A call whose arguments are made beforehand: ctypes would take longer than a small product."""
        i, f, s8, p = c.c_int, c.c_float, c.c_int8, c.c_void_p
        offset = peer.aligned(1, "i4")
        address = lambda array: p(array.ctypes.data)
        arguments = (i(ROW_MAJOR), i(NO_TRANSPOSE), i(PACKED), i(FIX_OFFSET), i(m), i(n), i(k), f(1), address(lhs), i(max(k, 1)), s8(0),
                     address(packed), i(max(n, 1)), s8(0), f(0), address(dst), i(max(n, 1)), address(offset))  # fmt: skip
        compute, keep = self.mkl.cblas_gemm_s8u8s32_compute, (lhs, packed, dst, offset)
        return lambda _=keep: compute(*arguments)

    def gemm(self, problem, tensors):
        if peer.types_of(problem) != "u8s8s32":
            return None
        m, n, k = problem["m"], problem["n"], problem["k"]
        packed = peer.aligned(self.mkl.cblas_gemm_s8u8s32_pack_get_size(B_MATRIX, m, n, k), "u1")
        self.mkl.cblas_gemm_s8u8s32_pack(ROW_MAJOR, B_MATRIX, NO_TRANSPOSE, m, n, k, tensors["rhs"].ctypes.data, n, packed.ctypes.data)
        dst = peer.aligned((m, n), "i4")
        return self.product(m, n, k, tensors["lhs"], packed, dst), dst

    def conv(self, problem, tensors):
        return None


peer.serve(Mkl)
