/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the tests of snapshots share. */
#ifndef TEST_SNAPSHOT_FIXTURE_H
#define TEST_SNAPSHOT_FIXTURE_H

#include "fabric_text.h"
#include "draw.h"
#include "grid_fabric.h"
#include "dateline/route.h"
#include "dateline/verify.h"

#define MUTATIONS 300

struct bytes {
	char *at;
	size_t len;
};

struct routed {
	struct grid_fabric g;
	struct dl_torus *torus;
	struct dl_route_result result;
	struct dl_snapshot s;
};

/* The files that a snapshot can have in a directory. */
#define NNAMES 13
extern const char *const snapshot_names[NNAMES];

/* The path of a file of a directory; remove it, or all of a snapshot. */
void in_folder(char *path, size_t size, const char *dir, const char *name);
void drop(const char *dir, const char *name);

/* Read it, and what that said. */
int read_directory(const char *dir, const char *net, struct heard *h, struct dl_snapshot *s);
void remove_all(const char *dir);

/* Fails the test unless it is refused by one error with these words. */
void assert_refused(const char *dir, const char *words);

/* A whole file; `at` is for free(). */
struct bytes load_bytes(const char *path);
void save_bytes(const char *path, struct bytes b);

/* All that a snapshot says, as text. */
char *text_of(const struct dl_snapshot *s);

/* A routed torus, and what was told of it. */
void draw_routed(struct draw *d, struct routed *r);
void routed_free(struct routed *r);

/* Refused, with one message; or all that is read is what it was. */
void refused_or_same(const char *path, const char *good);

#endif
