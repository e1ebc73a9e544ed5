/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading dateline-vlarb.dump: VL arbitration, a line per port.
 *
 *   0x0000000000200000 3 limit 4 high 0:64,1:64 low 4:64
 *
 * GUID of the node, port number, VLHighLimit, entries of the two tables as
 * VL:weight; "-" stands for an empty table.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tables/internal.h"

static int read_entries(struct dl_text *text, const char *name,
			struct dl_tables_vlarb_entry *entries, uint8_t *n)
{
	uint64_t vl, weight;
	int err;

	if (!dl_text_take_string(text, name))
		return dl_text_expected(text, name);
	if (dl_text_take(text, '-'))
		return 0;
	do {
		err = dl_text_number(text, 10, 15, "a VL, 0 to 15", &vl);
		if (!err && !dl_text_take(text, ':'))
			err = dl_text_expected(text, "\":\" and a weight");
		if (!err)
			err = dl_text_number(text, 10, 255,
					     "a weight, 0 to 255", &weight);
		if (err)
			return err;
		if (*n == 64)
			return dl_text_error(text, "more than 64 entries");
		entries[(*n)++] = (struct dl_tables_vlarb_entry){ vl, weight };
	} while (dl_text_take(text, ','));
	return 0;
}

static int read_node(struct dl_text *text, const struct dl_fabric *f,
		     uint32_t *node)
{
	uint64_t guid;
	int err = dl_text_number(text, 16, UINT64_MAX, "a node's GUID", &guid);

	if (err)
		return err;
	*node = dl_fabric_find_guid(f, guid);
	if (*node == DL_NONE)
		return dl_text_error(text,
				     "the fabric has no node with the GUID "
				     "0x%016" PRIx64,
				     guid);
	return 0;
}

static int read_line(struct dl_text *text, struct dl_tables *t)
{
	struct dl_tables_vlarb arb;
	unsigned int port;
	uint64_t limit;
	uint32_t node;
	int err = read_node(text, t->fabric, &node);

	memset(&arb, 0, sizeof(arb));
	if (!err)
		err = dl_tables_read_port(text, &t->fabric->nodes[node], 10,
					  &port);
	if (!err && !dl_text_take_string(text, "limit"))
		err = dl_text_expected(text, "\"limit\"");
	if (!err)
		err = dl_text_number(text, 10, 255, "a limit, 0 to 255",
				     &limit);
	if (!err)
		err = read_entries(text, "high", arb.high, &arb.nhigh);
	if (!err)
		err = read_entries(text, "low", arb.low, &arb.nlow);
	if (!err)
		err = dl_tables_read_end(text);
	if (err)
		return err;
	arb.high_limit = limit;
	err = dl_tables_arb(t, &arb);
	if (err == -ENOSPC)
		return dl_text_error(text, "more than 65,535 different tables");
	if (err < 0)
		return err;
	t->vlarb[t->fabric->nodes[node].first_port + port] = err;
	return 0;
}

int dl_tables_read_vlarb(struct dl_tables *t, FILE *from, const char *name,
			 const struct dl_log *log)
{
	struct dl_text text;
	int err = 0, state;

	dl_text_begin(&text, from, name, log);
	while (!err && (state = dl_text_next(&text)) > 0)
		if (!dl_text_at_end(&text) && *text.at != '#')
			err = read_line(&text, t);
	dl_text_end(&text);
	return err ? err : state;
}
