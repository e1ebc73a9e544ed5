/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Fabrics from and to strings, for tests of the readers and writers. */
#ifndef TEST_FABRIC_TEXT_H
#define TEST_FABRIC_TEXT_H

#include <stdio.h>

#include "dateline/fabric.h"

#include "random.h"

/* What a reader said. */
struct heard {
	struct dl_log log;
	unsigned int errors, warnings;
	char error[1100], warning[1100]; /* the last one, the first one */
};

void heard_init(struct heard *h);

typedef int (*fabric_reader)(FILE *from, const char *name, const struct dl_log *log,
			     struct dl_fabric **out);
typedef int (*fabric_writer)(const struct dl_fabric *f, FILE *to);

/* Read `len` bytes as a file of the name "test". */
int read_bytes(fabric_reader read, const char *text, size_t len, struct heard *h,
	       struct dl_fabric **out);

/* Write to a string, which the caller frees. */
char *write_string(fabric_writer write, const struct dl_fabric *f);

/* Fails the test where two fabrics differ in what a netlist can say. */
void assert_same_fabric(const struct dl_fabric *a, const struct dl_fabric *b);

/*
 * A text in which something contradicts the rest: it is read without that.
 * `first` is the line of the first warning, which has these words; 0 stands for
 * one about the whole.  `cables` of the fabric are "node.port-node.port", with
 * the nodes counted from 0, blanks between them, in order; `lids` those of its
 * end ports.  NULL: not compared.
 */
struct contradiction {
	const char *text;
	unsigned int line;
	const char *words, *cables, *lids;
};

void assert_contradiction(fabric_reader read, const struct contradiction *c);

/* Fails the test unless the error reads "test:<line>: ...<words>...". */
void assert_error(const struct heard *h, unsigned int line, const char *words);

/*
 * Damage copies of the texts in every random way, read them, and check that
 * each is either refused with one error, or written and read back the same.
 */
void mutate(fabric_reader read, fabric_writer write, const char *const *texts, unsigned int ntexts,
	    struct test_random *r, unsigned int rounds);

/*
 * Switches A0 (LID 1) and B0 (LID 2), adapters C0 at A0 (3), D0 at B0 (4); LIDs
 * only if asked for.
 */
struct dl_fabric *small_fabric(bool lids);

/* A seed that prints itself: from the environment, or `fallback`. */
uint32_t text_seed(uint32_t fallback);

#endif
