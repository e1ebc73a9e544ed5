/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Comments in a netlist.  ibnetdiscover puts there what it knows beyond the
 * cabling:
 *
 *   # "<description>" enhanced port 0 lid 5 lmc 0	behind a switch
 *   # "<description>"					behind an adapter
 *   # "<far end's>" lid 8 4xQDR			a switch's port
 *   # lid 8 lmc 0 "<far end's>" lid 5 4xQDR		an adapter's port
 *
 * and, with --full, sets of widths and speeds and the code of the VLs (v=4).
 * A description may hold quotes itself, so it goes from the first to the last
 * of the line.  People write comments too: what does not look like one of
 * these words is passed over.
 */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "fabric/internal.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Read "lid N" or "lmc N" if it stands at `at`. */
static int comment_number(struct dl_text *t, const char *word, size_t len, uint64_t max,
			  const char *what, uint64_t *out)
{
	const char *next = t->at + len;

	if (len != 3 || strncmp(t->at, word, 3))
		return 0;
	while (is_blank(*next))
		next++;
	if (!isdigit((unsigned char)*next))
		return 0;
	t->at += len;
	return dl_text_number(t, 10, max, what, out);
}

/* "4xQDR" and ibnetdiscover --full's "v=4", PortInfo's OperationalVLs. */
static void comment_annotation(const char *word, size_t len, struct dl_fabric_comment *c)
{
	static const uint8_t vls[] = { 0, 1, 2, 4, 8, 15 };
	const char *x = memchr(word, 'x', len);
	unsigned int width, speed;

	if (len == 3 && word[0] == 'v' && word[1] == '=' && word[2] >= '0' && word[2] <= '5')
		c->vls = vls[word[2] - '0'];
	if (!x)
		return;
	width = dl_fabric_width_of(word, x + 1 - word);
	speed = dl_fabric_speed_of(x + 1, len - (x + 1 - word));
	if (width && speed) {
		c->width = width;
		c->speed = speed;
	}
}

/* The words from t->at to `end`. */
static int comment_words(struct dl_text *t, const char *end, bool far, struct dl_fabric_comment *c)
{
	uint64_t *lid = far ? &c->far.lid : &c->own.lid;
	uint64_t *lmc = far ? &c->far.lmc : &c->own.lmc;
	int err = 0;

	while (!err) {
		char *word;
		size_t len = 0;

		while (t->at < end && is_blank(*t->at))
			t->at++;
		word = t->at;
		if (word >= end)
			break;
		while (word + len < end && !is_blank(word[len]))
			len++;
		comment_annotation(word, len, c);
		err = comment_number(t, "lid", len, UINT16_MAX, "a LID, 16 bits", lid);
		if (!err && t->at == word)
			err = comment_number(t, "lmc", len, DL_FABRIC_MAX_LMC, "an LMC, at most 7",
					     lmc);
		if (t->at == word)
			t->at += len;
	}
	return err;
}

int dl_fabric_netlist_comment(struct dl_text *t, struct dl_fabric_comment *c)
{
	char *first, *last, *end = t->at + strlen(t->at);
	int err;

	*c = (struct dl_fabric_comment){ 0 };
	if (!dl_text_take(t, '#'))
		return 0;
	first = strchr(t->at, '"');
	last = strrchr(t->at, '"');
	if (!first || first == last)
		return comment_words(t, end, false, c);
	err = comment_words(t, first, false, c);
	if (err)
		return err;
	c->desc = first + 1;
	c->desc_len = last - c->desc;
	t->at = last + 1;
	return comment_words(t, end, true, c);
}
