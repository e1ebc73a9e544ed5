/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading opensm-lfts.dump: unicast forwarding tables, and with them the
 * owners of all LIDs.
 *
 *   Unicast lids [0-60] of switch Lid 1 guid 0x0000000000200000 ('name'):
 *   0x0007 007 # Channel Adapter portguid 0x0000000020400001: 'name'
 *   60 lids dumped
 *
 * A block per switch, a line per LID.  UNREACHABLE instead of the port number
 * is a LID without a way.  The count at the end of each block tells a whole
 * dump from one that was cut off.
 *
 * Nothing else in a folder of OpenSM's dumps says how many LIDs each port
 * has, and a netlist may have none: dl_tables_read_lids() takes them from the first
 * block, before tables of the right size can be made.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tables/internal.h"

static int read_head(struct dl_text *text, const struct dl_fabric *f,
		     uint32_t *sw)
{
	char *guid;

	if (!dl_text_take_string(text, "Unicast lids"))
		return dl_text_expected(text, "\"Unicast lids ... of switch\"");
	guid = strstr(text->at, " guid ");
	if (!guid)
		return dl_text_error(text, "expected \"guid\" and the switch's "
					   "GUID");
	text->at = guid + strlen(" guid ");
	return dl_tables_read_switch(text, f, sw);
}

/*
 * One line inside a block.  1: *lid and *port were read, the comment follows;
 * 0: the block ends, after `lines` lines; negative: an error.
 */
static int read_entry(struct dl_text *text, uint32_t lines, uint16_t *lid,
		      uint8_t *port)
{
	uint64_t number;
	int err;

	if (strncmp(text->at, "0x", 2)) {
		err = dl_text_number(text, 10, UINT32_MAX,
				     "a LID, or the number of LIDs dumped",
				     &number);
		if (err)
			return err;
		if (!dl_text_take_string(text, "lids dumped"))
			return dl_text_expected(text, "\"lids dumped\"");
		if (number != lines)
			return dl_text_error(text,
					     "%" PRIu64 " LIDs announced, %u "
					     "read",
					     number, lines);
		return 0;
	}
	err = dl_text_number(text, 16, DL_FABRIC_MAX_LID, "a unicast LID",
			     &number);
	if (err)
		return err;
	*lid = number;
	*port = DL_TABLES_NO_PORT;
	if (dl_text_take_string(text, "UNREACHABLE"))
		return 1;
	err = dl_text_number(text, 10, DL_TABLES_NO_PORT, "a port number",
			     &number);
	if (err)
		return err;
	*port = number;
	return 1;
}

/* The next line that is not empty.  As dl_text_next(). */
static int next_line(struct dl_text *text)
{
	int state;

	do
		state = dl_text_next(text);
	while (state > 0 && dl_text_at_end(text));
	return state;
}

static int cut_off(const struct dl_text *text)
{
	return dl_text_error(text, "the file ends inside a switch's table: "
				   "expected \"... lids dumped\"");
}

static int read_block(struct dl_text *text, struct dl_tables *t, uint32_t sw)
{
	uint8_t *row = t->lft + sw * (size_t)t->stride;
	uint32_t lines = 0;
	int state;

	while ((state = next_line(text)) > 0) {
		uint16_t lid = 0;
		uint8_t port = DL_TABLES_NO_PORT;
		int err = read_entry(text, lines, &lid, &port);

		if (err <= 0)
			return err;
		if (lid > t->top_lid)
			return dl_text_error(text,
					     "LID 0x%04x is above 0x%04x, the "
					     "highest in the fabric",
					     lid, t->top_lid);
		if (row[lid] != DL_TABLES_NO_PORT && row[lid] != port)
			return dl_text_error(text,
					     "LID 0x%04x a second time, with "
					     "another port",
					     lid);
		row[lid] = port;
		lines++;
	}
	return state ? state : cut_off(text);
}

int dl_tables_read_lfts(struct dl_tables *t, FILE *from, const char *name,
			const struct dl_log *log)
{
	uint8_t *met = calloc(t->fabric->nswitches + 1, 1);
	struct dl_text text;
	int err = met ? 0 : -ENOMEM, state = 0;

	dl_text_begin(&text, from, name, log);
	while (!err && (state = next_line(&text)) > 0) {
		uint32_t sw;

		err = read_head(&text, t->fabric, &sw);
		if (!err && met[sw])
			err = dl_text_error(&text,
					    "a second table for this switch");
		if (err)
			break;
		met[sw] = 1;
		err = read_block(&text, t, sw);
	}
	dl_text_end(&text);
	free(met);
	return err ? err : state;
}

/* ---- owners of LIDs ---------------------------------------------------- */

struct end_guid {
	uint64_t guid;
	uint32_t port;
};

static int by_guid(const void *a, const void *b)
{
	const struct end_guid *x = a, *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

/* All end ports in order of GUID. */
static int list_ends(const struct dl_fabric *f, struct end_guid **out,
		     uint32_t *nout)
{
	struct end_guid *ends = malloc((f->nports + 1) * sizeof(*ends));
	uint32_t n = 0;

	if (!ends)
		return -ENOMEM;
	for (uint32_t p = 0; p < f->nports; p++) {
		uint64_t guid = f->ports[p].guid;

		if (!guid && !f->ports[p].num)
			guid = f->nodes[f->ports[p].node].guid;
		if (guid && dl_fabric_is_end_port(f, p))
			ends[n++] = (struct end_guid){ guid, p };
	}
	qsort(ends, n, sizeof(*ends), by_guid);
	*out = ends;
	*nout = n;
	return 0;
}

/* The owner that a line's comment names, or DL_NONE when it names none. */
static int read_owner(struct dl_text *text, const struct end_guid *ends,
		      uint32_t n, uint32_t *owner)
{
	struct end_guid key = { 0 };
	const struct end_guid *end;
	char *at = strstr(text->at, " portguid ");
	int err;

	*owner = DL_NONE;
	if (!at)
		return 0;
	text->at = at + strlen(" portguid ");
	err = dl_text_number(text, 16, UINT64_MAX, "a port's GUID", &key.guid);
	if (err)
		return err;
	end = bsearch(&key, ends, n, sizeof(*ends), by_guid);
	if (!end)
		return dl_text_error(text,
				     "the fabric has no port with the GUID "
				     "0x%016" PRIx64,
				     key.guid);
	*owner = end->port;
	return 0;
}

/*
 * Each port owns an aligned range of 2^LMC LIDs.  Ports that have a LID
 * already keep it; what the dump says must agree.
 */
static int give_lid(const struct dl_text *text, struct dl_fabric *f,
		    uint32_t owner, uint16_t lid)
{
	struct dl_fabric_port *p = &f->ports[owner];

	if (!p->lid)
		p->lid = lid;
	while (p->lmc < DL_FABRIC_MAX_LMC && lid >= p->lid + (1u << p->lmc) &&
	       lid < p->lid + (1u << DL_FABRIC_MAX_LMC))
		p->lmc++;
	if (lid >= p->lid && lid < p->lid + (1u << p->lmc))
		return 0;
	return dl_text_error(text,
			     "LID 0x%04x belongs to \"%s\" here, whose LIDs "
			     "begin at 0x%04x in the fabric",
			     lid, dl_fabric_node_name(f, p->node), p->lid);
}

int dl_tables_read_lids(struct dl_fabric *f, FILE *from, const char *name,
			const struct dl_log *log)
{
	struct end_guid *ends;
	struct dl_text text;
	uint32_t n, lines = 0, sw;
	int err = list_ends(f, &ends, &n), state;

	if (err)
		return err;
	dl_text_begin(&text, from, name, log);
	state = next_line(&text);
	if (state > 0)
		err = read_head(&text, f, &sw);
	while (!err && state > 0 && (state = next_line(&text)) > 0) {
		uint32_t owner;
		uint16_t lid = 0;
		uint8_t port;

		err = read_entry(&text, lines++, &lid, &port);
		if (err <= 0)
			break;
		err = read_owner(&text, ends, n, &owner);
		if (!err && owner != DL_NONE)
			err = give_lid(&text, f, owner, lid);
	}
	if (!err && state < 0)
		err = state;
	if (!err)
		err = dl_fabric_finish(f, log);
	dl_text_end(&text);
	free(ends);
	return err;
}
