/* SPDX-License-Identifier: Apache-2.0
 * Octet: measured instead of predicted choices.
 *
 * A formula chooses how a product or a convolution is computed. octet_tune_* measure the
 * alternatives on this machine, in alternation, and return the best one; an octet_tuning keeps it,
 * in memory and in a file, for octet_conv2d_pack, octet_conv2d_create and octet_gemm_create, which
 * find it by a descriptor's machine or by OCTET_TUNING=FILE. No output byte depends on any of it.
 *
 * octet_tune_gemm, octet_tune_conv2d and octet_calibrate are in an archive of their own,
 * liboctet_tune.a (CMake: octet::tune, pkg-config: octet-tune), which a library built with
 * OCTET_WITH_TUNING=OFF does not have. octet_tuning_* are in liboctet.a, where they are
 * OCTET_UNSUPPORTED then.
 *
 * A program that calls none of these functions links only the reader of OCTET_TUNING.
 * docs/tuning.md has the format of the file. Stack: measuring needs less than 40 KB.
 */
#ifndef OCTET_TUNE_H_
#define OCTET_TUNE_H_

#include <octet/octet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- measured choices ------------------------------------------------------------------------ */

/* The numbers of lines that were found in a file. */
typedef struct octet_tuning_report {
  size_t struct_size;
  size_t usable;        /* of this machine and this version of the library */
  size_t other_machine; /* kept, for shared files, and not used */
  size_t other_version; /* kept and not used, too */
  size_t damaged;       /* left out */
  size_t first_damaged; /* the first such line's number, from 1; 0 if there is none */
  /* -- an older struct may end here -- */
} octet_tuning_report;
#define OCTET_TUNING_REPORT_INIT OCTET_INIT(octet_tuning_report)

/* Makes an empty tuning. Many threads may read it (by pack and create) at once; while one thread
 * loads or tunes into it, no other may use it. It must live until the last create or pack that is
 * given it. */
OCTET_API octet_status octet_tuning_create(octet_tuning** tuning, octet_error* error);
OCTET_API void octet_tuning_destroy(octet_tuning* tuning); /* null is allowed */

/* Adds the lines of a file; where both have one for a problem, the file's counts. Damaged lines are
 * no error, and reported. A file that is not there counts as empty; a path that is no regular file
 * is OCTET_BAD_FILE. report may be null. */
OCTET_API octet_status octet_tuning_load(octet_tuning* tuning, const char* path,
                                         octet_tuning_report* report, octet_error* error);

/* Adds all lines to a file, in order; where both have one for a problem, the tuning's counts. It is
 * written aside and renamed: readers see the old file or the new one. Writers on one machine wait
 * for each other, and none loses another's lines. A file of other content than a tuning is
 * OCTET_BAD_FILE, and left alone. */
OCTET_API octet_status octet_tuning_save(const octet_tuning* tuning, const char* path,
                                         octet_error* error);

/* ---- measuring ------------------------------------------------------------------------------- */

/* Called for each candidate after its last turn, with its choice and its time over the plan's. */
typedef void (*octet_tune_watcher)(void* context, const char* choice, double relative);

/* Zeros are right. */
typedef struct octet_tune_options {
  size_t struct_size;
  double seconds; /* at most, but for one turn of each candidate; 0 means 2 */
  /* As for a run: choices are tuned for so many threads. */
  octet_parallel_for parallel_for;
  void* parallel_context;
  size_t concurrency; /* 0 means 1 */
  /* -- an older struct may end here -- */
  /* Returns seconds, and must advance; null means the system's monotonic clock. */
  double (*clock)(void* context);
  void* clock_context;
  octet_tune_watcher watcher; /* null means none */
  void* watcher_context;
  /* 1: a problem that the tuning has already, for so many threads, is not measured again;
   * result.candidates is then 0, and times and choice are the tuning's. Else 0. */
  int keep_known;
  int reserved; /* must be 0 */
} octet_tune_options;
#define OCTET_TUNE_OPTIONS_INIT OCTET_INIT(octet_tune_options)

typedef struct octet_tune_result {
  size_t struct_size;
  /* Medians per run at the declared sizes: of the choice that is predicted to be best, of the
   * choice that was measured to be best, and of the choice that is kept. The last is the plan's own
   * unless another one has won by more than the noise. */
  double plan_us, best_us, chosen_us;
  size_t candidates; /* that were measured, the plan among them; 0: see keep_known */
  /* -- an older struct may end here -- */
  double seconds; /* that it took */
  int changed;    /* 1: the choice is not the plan's */
  int reserved;
  char plan[256]; /* as a line of text (DESIGN.md, "A choice") */
  char best[256];
  char choice[256]; /* the one that is kept */
} octet_tune_result;
#define OCTET_TUNE_RESULT_INIT OCTET_INIT(octet_tune_result)

/* Measures a product as octet_gemm_create would make it, with data of its own; desc.packed may be
 * null, for run-time weights. The kernel must not be named. options, tuning and result may be null;
 * the tuning gets the choice. */
OCTET_API octet_status octet_tune_gemm(const octet_gemm_desc* desc,
                                       const octet_tune_options* options, octet_tuning* tuning,
                                       octet_tune_result* result, octet_error* error);

/* Measures a convolution that would be packed from `filter` and created by `desc`, whose packed
 * weights are not looked at: each algorithm needs its own. Their shapes and types must be the same,
 * neither an algorithm nor a kernel named, and the filter exact. Memory: all algorithms'
 * weights. */
OCTET_API octet_status octet_tune_conv2d(const octet_filter_desc* filter,
                                         const octet_conv2d_desc* desc,
                                         const octet_tune_options* options, octet_tuning* tuning,
                                         octet_tune_result* result, octet_error* error);

/* ---- this machine's costs -------------------------------------------------------------------- */

/* Times that are not measured are predicted, by costs of each tier that were fitted on some designs
 * of CPUs, or on none. A tuning may hold other costs: plans of octet_conv2d_pack use them, and
 * octet_conv2d_explain says "predicted, calibrated" or "predicted, assumed". */
typedef struct octet_calibration {
  size_t struct_size;
  size_t probes; /* convolutions that were timed */
  /* By how much predictions of these were off, with built-in costs and with those that were found:
   * about the mean square of the relative error. */
  double error_before, error_after;
  /* -- an older struct may end here -- */
  double seconds;
  char costs[640]; /* as a line of text (docs/tuning.md) */
} octet_calibration;
#define OCTET_CALIBRATION_INIT OCTET_INIT(octet_calibration)

/* Times some dozens of convolutions by each algorithm, on one core, and finds costs by which
 * predictions agree with these times; it takes some seconds. isa: the tier, OCTET_ISA_AUTO the best
 * one. options (whose concurrency must not be above 1), tuning and result may be null; the tuning
 * gets the costs. The watcher is called for each probe, with its name and predicted / measured. */
OCTET_API octet_status octet_calibrate(octet_isa isa, const octet_tune_options* options,
                                       octet_tuning* tuning, octet_calibration* result,
                                       octet_error* error);

/* Costs that are assumed and not measured, of a text of lines "TIER NAME=VALUE ...": costs that it
 * does not name are the built-in ones. An error names the line that is wrong, and leaves the tuning
 * as it was. */
OCTET_API octet_status octet_tuning_assume(octet_tuning* tuning, const char* path,
                                           octet_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OCTET_TUNE_H_ */
