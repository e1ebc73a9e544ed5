/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every room of libdateline shares: conventions, messages, numbers and
 * text, arrays, random numbers.
 *
 * Conventions.  Functions that can fail return 0 or a negative errno value;
 * results come through the last parameter, which is left alone on failure.
 * Every message meant for a person goes to the caller's log.  The library
 * never prints, exits or aborts, keeps no global state, and gives the same
 * bytes for the same input.  Several threads may read an object at once; only
 * one thread may change it.
 */
#ifndef DATELINE_BASE_H
#define DATELINE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DL_NONE UINT32_MAX /* no such node, port, switch or site */

/* ---- messages --------------------------------------------------------------- */

enum dl_log_level { DL_LOG_ERROR, DL_LOG_WARNING, DL_LOG_INFO, DL_LOG_VERBOSE };

/* Where messages go.  `message` is one line without its newline. */
struct dl_log {
	void (*write)(void *context, enum dl_log_level level,
		      const char *message);
	void *context;
};

/* Format a message, at most 1023 bytes, and hand it to `log`, which may be NULL. */
void dl_log(const struct dl_log *log, enum dl_log_level level,
	    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- text ------------------------------------------------------------------- */

/*
 * Reading text line by line and token by token, with messages that name file,
 * line, token and what was expected.
 *
 * Lines may be of any length and end in LF, CR LF, or with the file.  A byte
 * 0 is refused, so that a line is a C string.
 */

struct dl_text {
	FILE *from;	  /* borrowed */
	const char *name; /* of the file, for messages; borrowed */
	const struct dl_log *log;
	uint32_t line; /* number of the current line, from 1 */
	char *at;      /* where reading goes on in the current line */
	char *buf;     /* the current line */
	size_t cap;
};

/* Begin with line 0 of a stream.  Release with dl_text_end(). */
void dl_text_begin(struct dl_text *t, FILE *from, const char *name,
		   const struct dl_log *log);
void dl_text_end(struct dl_text *t);

/* Go to the next line.  1: there is one; 0: end of file; negative errno. */
int dl_text_next(struct dl_text *t);

/* Report an error in the current line.  Returns -EINVAL. */
int dl_text_error(const struct dl_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Report that the token at `at` is not what was expected.  -EINVAL. */
int dl_text_expected(const struct dl_text *t, const char *what);

/* Skip blanks; then, is this the given character?  It is passed if so. */
bool dl_text_take(struct dl_text *t, char c);

/* Skip blanks; then, is this the given string?  It is passed if so. */
bool dl_text_take_string(struct dl_text *t, const char *s);

/* Skip blanks; then, is this the end of the line? */
bool dl_text_at_end(struct dl_text *t);

/*
 * Skip blanks and read an unsigned number of at most `max` in the base of
 * strtoull().  0, or -EINVAL after a message that `what` was expected.
 */
int dl_text_number(struct dl_text *t, int base, uint64_t max, const char *what,
		   uint64_t *out);

/*
 * Skip blanks and read a name in double quotes.  *out is its first character,
 * *len its length; it is not ended by NUL.  0, or -EINVAL after a message.
 */
int dl_text_quoted(struct dl_text *t, const char *what, const char **out,
		   size_t *len);

/* ---- arrays ----------------------------------------------------------------- */

/*
 * Make room for `more` elements of `size` bytes behind the first `used` of
 * *cap.  Returns the array, which may have moved, or NULL when there is no
 * memory or more than 32 bits can count; the old array is then still there.
 */
void *dl_array_grow(void *array, size_t size, uint32_t used, size_t more,
		    uint32_t *cap);

/*
 * Memory that is used all over, in no order: in large pages, where there are
 * any, the processor keeps its translation of addresses.  Not initialised,
 * aligned to cache lines, freed by free().  NULL: there is none.
 */
void *dl_array_large(size_t n, size_t size);

/* ---- random numbers ---------------------------------------------------- */

/*
 * Random numbers by counter: the same seed and stream give the same numbers
 * on every machine, however the work is split.  Streams of one seed are
 * independent of each other.
 */
struct dl_random {
	uint64_t seed;
	uint32_t stream;
	uint64_t at; /* how often numbers were drawn */
};

struct dl_random_block {
	uint32_t v[4];
};

/* Four numbers, for about the price of one. */
struct dl_random_block dl_random_four(struct dl_random *r);

uint32_t dl_random_next(struct dl_random *r);

/* A number from 0 to below - 1, all equally likely; `below` is not 0. */
uint32_t dl_random_below(struct dl_random *r, uint32_t below);

/* ---- time ------------------------------------------------------------------- */

/* Seconds since some moment, never set back.  The library itself calls it nowhere: clocks are arguments. */
double dl_clock_monotonic(void);

#ifdef __cplusplus
}
#endif
#endif
