// SPDX-License-Identifier: Apache-2.0
/*
 * Counts, as a plugin of qemu-user, how often each block of guest instructions ran. Deterministic
 * to the instruction.
 *
 * Debian's qemu-user has plugins compiled in but ships no header. The interface (version 1, qemu
 * 4.2 to 8.2) is small enough to declare here.
 *
 *     cc -O2 -fPIC -shared -o libcount_blocks.so count_blocks.c
 *     qemu-aarch64 -d plugin -plugin ./libcount_blocks.so program
 *
 * prints, on stderr, "block ADDRESS INSTRUCTIONS RUNS" per block.
 *
 * A block that qemu translated twice is printed twice. Programs with one thread only: the
 * counters are not atomic.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_info;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, enum qemu_plugin_op,
                                              void* counter, uint64_t add);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb*);
void qemu_plugin_outs(const char*);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

struct block {
  uint64_t address, instructions, runs;
  struct block* next;
};
static struct block* blocks;

static void at_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  struct block* block = calloc(1, sizeof *block);
  if (!block) abort();
  block->address = qemu_plugin_tb_vaddr(tb);
  block->instructions = qemu_plugin_tb_n_insns(tb);
  block->next = blocks;
  blocks = block;
  qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &block->runs, 1);
}

static void at_exit(qemu_plugin_id_t id, void* context) {
  (void)id, (void)context;
  for (const struct block* block = blocks; block; block = block->next) {
    char line[96];
    snprintf(line, sizeof line, "block %llx %llu %llu\n", (unsigned long long)block->address,
             (unsigned long long)block->instructions, (unsigned long long)block->runs);
    if (block->runs) qemu_plugin_outs(line);
  }
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int argc,
                               char** argv) {
  (void)info, (void)argc, (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, at_translation);
  qemu_plugin_register_atexit_cb(id, at_exit, NULL);
  return 0;
}
