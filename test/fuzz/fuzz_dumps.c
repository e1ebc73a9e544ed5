/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as the dumps of a snapshot.  A line of "=" and a letter begins
 * the next file:
 *
 *   =l LFTs, =f fdbs, =m mcfdbs, =s sl2vl, =v slvl, =a vlarb, =p path SLs,
 *   =c path SLs by class,
 *   =i the LFTs' LIDs
 *
 * What is accepted is judged.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "listen.h"
#include "dateline/tables.h"
#include "dateline/verify.h"

static const struct {
	char letter;
	enum dl_tables_file file;
} readers[] = {
	{ 'l', DL_TABLES_LFTS },  { 'f', DL_TABLES_FDBS }, { 'm', DL_TABLES_MCFDBS },
	{ 's', DL_TABLES_SL2VL }, { 'v', DL_TABLES_SLVL }, { 'a', DL_TABLES_VLARB },
	{ 'p', DL_TABLES_PSL },
};

/* A ring of four switches A0, B0, ... with an adapter C0, C1, ... each. */
static struct dl_fabric *ring(void)
{
	struct dl_fabric *f;

	FUZZ_CHECK(!dl_fabric_new(&f));
	for (uint32_t i = 0; i < 4; i++)
		FUZZ_CHECK(!dl_fabric_add_node(f, DL_FABRIC_SWITCH, 4, 0xA0 + i, "s", NULL));
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t node;

		FUZZ_CHECK(!dl_fabric_add_node(f, DL_FABRIC_CA, 1, 0xC0 + i, "h", &node));
		FUZZ_CHECK(!dl_fabric_connect(f, f->nodes[i].first_port + 1,
					      f->nodes[(i + 1) % 4].first_port + 2));
		FUZZ_CHECK(!dl_fabric_connect(f, f->nodes[i].first_port + 3,
					      f->nodes[node].first_port + 1));
		f->ports[f->nodes[node].first_port + 1].guid = 0xD0 + i;
	}
	FUZZ_CHECK(!dl_fabric_finish(f, NULL));
	return f;
}

static bool read_part(struct dl_fabric *f, struct dl_tables *t, char letter, const char *text,
		      size_t len)
{
	FILE *from;
	int err = 0;

	if (!len)
		return true;
	from = fmemopen((void *)text, len, "r");
	FUZZ_CHECK(from);
	error = false;
	if (letter == 'i')
		err = dl_tables_read_lids(f, from, "input", &listener);
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
		if (t && readers[i].letter == letter)
			err = dl_tables_read_file(t, readers[i].file, from, "input", &listener);
	fclose(from);
	FUZZ_CHECK(!err || err == -EINVAL);
	FUZZ_CHECK(error == !!err);
	return !err;
}

/* Read all parts whose letter is 'i' or all whose letter is not. */
static bool read_parts(struct dl_fabric *f, struct dl_tables *t, const char *text, size_t len)
{
	const char *end = text + len;

	while (text + 3 <= end && text[0] == '=') {
		const char *from = text + 3, *next = from;

		while (next < end && (*next != '=' || next[-1] != '\n'))
			next++;
		if ((text[1] == 'i') == !t && !read_part(f, t, text[1], from, next - from))
			return false;
		text = next;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dl_fabric *f = ring();
	struct dl_verify_result *v;
	struct dl_tables *t;

	if (read_parts(f, NULL, (const char *)data, size)) {
		FUZZ_CHECK(!dl_fabric_assign_lids(f, 0));
		FUZZ_CHECK(!dl_tables_new(f, &t));
		if (read_parts(f, t, (const char *)data, size)) {
			FUZZ_CHECK(!dl_verify(t, NULL, NULL, &v));
			FUZZ_CHECK((v->verdict == DL_VERIFY_FREE) == !v->cycle.n);
			dl_verify_result_free(v);
		}
		dl_tables_free(t);
	}
	dl_fabric_free(f);
	return 0;
}
