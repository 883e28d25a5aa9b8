// SPDX-License-Identifier: Apache-2.0
# The forms, in loops of the assembler: each instruction with each register in each place, and with
# each way to address memory.

# AVX512-VNNI has an encoding of its own for these four.
.macro vex_vpdpbusd operands:vararg
  {vex} vpdpbusd \operands
.endm
.macro vex_vpdpbusds operands:vararg
  {vex} vpdpbusds \operands
.endm
.macro vex_vpdpwssd operands:vararg
  {vex} vpdpwssd \operands
.endm
.macro vex_vpdpwssds operands:vararg
  {vex} vpdpwssds \operands
.endm

# The code of a form, and its row of `InstructionForm`.
.macro form o, m, v, lanes, dst, lhs, kind, rhs, base, index, factor, displacement, source:vararg
  .text
1:
  \m \source, %\v\lhs, %\v\dst
  ret
  .section .data.rel.ro, "aw"
  .quad 1b
  .long \o, \lanes, \dst, \lhs, \kind, \rhs, \base, \index, \factor, \displacement
.endm

.macro registers o, m, v, lanes, dst, lhs, rhs
  form \o, \m, \v, \lanes, \dst, \lhs, 0, \rhs, -1, -1, 1, 0, %\v\rhs
.endm

.macro memory o, m, v, lanes, base, index, factor, displacement, source:vararg
  form \o, \m, \v, \lanes, 4, 11, 1, -1, \base, \index, \factor, \displacement, \source
.endm

.macro base o, m, v, lanes, number, name
  memory \o, \m, \v, \lanes, \number, -1, 1, 0, (%\name)
  memory \o, \m, \v, \lanes, \number, -1, 1, -104, -104(%\name)
  memory \o, \m, \v, \lanes, \number, -1, 1, 4096, 4096(%\name)
.endm

.macro index o, m, v, lanes, number, name
  .irp factor, 1, 2, 4, 8
  memory \o, \m, \v, \lanes, 3, \number, \factor, 0, (%rbx, %\name, \factor)
  memory \o, \m, \v, \lanes, 4, \number, \factor, 0, (%rsp, %\name, \factor)
  memory \o, \m, \v, \lanes, -1, \number, \factor, 64, 64(, %\name, \factor)
  .endr
.endm

.macro base_and_index o, m, v, lanes, number, name
  base \o, \m, \v, \lanes, \number, \name
  index \o, \m, \v, \lanes, \number, \name
.endm

.macro each_form o, m, v, lanes
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  registers \o, \m, \v, \lanes, \n, 6, 9
  registers \o, \m, \v, \lanes, 6, \n, 9
  registers \o, \m, \v, \lanes, 6, 9, \n
  .endr
  registers \o, \m, \v, \lanes, 10, 10, 10

  base_and_index \o, \m, \v, \lanes, 0, rax
  base_and_index \o, \m, \v, \lanes, 1, rcx
  base_and_index \o, \m, \v, \lanes, 2, rdx
  base_and_index \o, \m, \v, \lanes, 5, rbp
  base_and_index \o, \m, \v, \lanes, 6, rsi
  base_and_index \o, \m, \v, \lanes, 7, rdi
  .irp n, 8, 9, 10, 11, 12, 13, 14, 15
  base_and_index \o, \m, \v, \lanes, \n, r\n
  .endr
  base \o, \m, \v, \lanes, 3, rbx
  memory \o, \m, \v, \lanes, 0, 3, 2, 8, 8(%rax, %rbx, 2)
  memory \o, \m, \v, \lanes, 5, 3, 2, 0, (%rbp, %rbx, 2)
  memory \o, \m, \v, \lanes, 12, 3, 2, 0, (%r12, %rbx, 2)
  memory \o, \m, \v, \lanes, 13, 3, 2, 0, (%r13, %rbx, 2)
  memory \o, \m, \v, \lanes, 4, -1, 1, -104, -104(%rsp)
  memory \o, \m, \v, \lanes, 4, -1, 1, 4096, 4096(%rsp)
  form \o, \m, \v, \lanes, 4, 11, 2, -1, -1, -1, 1, 0, emulated_isa_relative_operand(%rip)
  form \o, \m, \v, \lanes, 4, 11, 3, -1, -1, -1, 1, 0, 0x20000000
.endm

.macro both_widths o, m
  each_form \o, \m, xmm, 4
  each_form \o, \m, ymm, 8
.endm

  .section .data.rel.ro, "aw"
  .balign 8
  .global emulated_isa_instructions
emulated_isa_instructions:
  both_widths 0, vex_vpdpbusd
  both_widths 1, vex_vpdpbusds
  both_widths 2, vex_vpdpwssd
  both_widths 3, vex_vpdpwssds
  both_widths 4, vpdpbssd
  both_widths 5, vpdpbssds
  both_widths 6, vpdpbsud
  both_widths 7, vpdpbsuds
  both_widths 8, vpdpbuud
  both_widths 9, vpdpbuuds
  .global emulated_isa_instructions_end
emulated_isa_instructions_end:

# Formats of one kind, for threads to race to.
  .global emulated_isa_race
emulated_isa_race:
  .rept 256
  registers 0, vex_vpdpbusd, ymm, 8, 6, 7, 9
  .endr
  .global emulated_isa_race_end
emulated_isa_race_end:

  .data
  .balign 32
  .global emulated_isa_relative_operand
emulated_isa_relative_operand:
  .skip 32

# emulated_isa_run(%rdi: site, %rsi: state). In a State: vectors at 0, general registers at 512,
# flags at 640. With rsp the form's, as the site sees it, 8(%rsp) holds the state, 16(%rsp) our rsp,
# 24(%rsp) the site, and 32(%rsp) is free.
  .text
  .global emulated_isa_run
emulated_isa_run:
  .irp register, rbx, rbp, r12, r13, r14, r15
  pushq %\register
  .endr
  movq 512 + 8 * 4(%rsi), %rax
  movq %rsi, 8(%rax)
  movq %rsp, 16(%rax)
  movq %rdi, 24(%rax)
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  vmovdqu 32 * \n(%rsi), %ymm\n
  .endr
  pushq 640(%rsi)
  popfq
  leaq 8(%rax), %rsp
  movq 512 + 8 * 0(%rsi), %rax
  movq 512 + 8 * 1(%rsi), %rcx
  movq 512 + 8 * 2(%rsi), %rdx
  movq 512 + 8 * 3(%rsi), %rbx
  movq 512 + 8 * 5(%rsi), %rbp
  movq 512 + 8 * 7(%rsi), %rdi
  .irp n, 8, 9, 10, 11, 12, 13, 14, 15
  movq 512 + 8 * \n(%rsi), %r\n
  .endr
  movq 512 + 8 * 6(%rsi), %rsi

  call *16(%rsp)

  movq %rax, 24(%rsp)
  movq (%rsp), %rax
  pushfq
  popq 640(%rax)
  movq %rcx, 512 + 8 * 1(%rax)
  movq %rdx, 512 + 8 * 2(%rax)
  movq %rbx, 512 + 8 * 3(%rax)
  movq %rbp, 512 + 8 * 5(%rax)
  movq %rsi, 512 + 8 * 6(%rax)
  movq %rdi, 512 + 8 * 7(%rax)
  .irp n, 8, 9, 10, 11, 12, 13, 14, 15
  movq %r\n, 512 + 8 * \n(%rax)
  .endr
  movq 24(%rsp), %rcx
  movq %rcx, 512 + 8 * 0(%rax)
  leaq -8(%rsp), %rcx
  movq %rcx, 512 + 8 * 4(%rax)
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  vmovdqu %ymm\n, 32 * \n(%rax)
  .endr
  movq 8(%rsp), %rsp
  cld
  vzeroupper
  .irp register, r15, r14, r13, r12, rbp, rbx
  popq %\register
  .endr
  ret

  .section .note.GNU-stack, "", @progbits
