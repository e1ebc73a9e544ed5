/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading text line by line and token by token, with messages that name file,
 * line, token and what was expected.
 *
 * Lines may be of any length and end in LF, CR LF, or with the file.  A byte
 * 0 is refused, so that a line is a C string.
 */
#ifndef DL_TEXT_H
#define DL_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dateline.h"

struct dl_text {
	FILE *from;		/* borrowed */
	const char *name;	/* of the file, for messages; borrowed */
	const struct dl_log *log;
	uint32_t line;		/* number of the current line, from 1 */
	char *at;		/* where reading goes on in the current line */
	char *buf;		/* the current line */
	size_t cap;
};

/* Begin with line 0 of a stream.  Release with dl_text_end(). */
void dl_text_begin(struct dl_text *t, FILE *from, const char *name,
		   const struct dl_log *log);
void dl_text_end(struct dl_text *t);

/* Open a file, have it read as a fabric, close it. */
int dl_text_read_file(const char *path,
		      int (*read)(FILE *from, const char *name,
				  const struct dl_log *log,
				  struct dl_fabric **out),
		      const struct dl_log *log, struct dl_fabric **out);

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
int dl_text_number(struct dl_text *t, int base, uint64_t max,
		   const char *what, uint64_t *out);

/*
 * Skip blanks and read a name in double quotes.  *out is its first character,
 * *len its length; it is not ended by NUL.  0, or -EINVAL after a message.
 */
int dl_text_quoted(struct dl_text *t, const char *what, const char **out,
		   size_t *len);

/* "4x", "QDR" and "10" (Gb/s a lane) as numbers of dl_port; 0: none such. */
unsigned int dl_width_of(const char *word, size_t len);
unsigned int dl_speed_of(const char *word, size_t len);
unsigned int dl_speed_of_rate(const char *word, size_t len);
/* And back; 0 becomes "??". */
const char *dl_speed_name(unsigned int speed);
const char *dl_speed_rate(unsigned int speed);

#endif
