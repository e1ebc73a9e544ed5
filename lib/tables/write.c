/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Dumps of a routing in the formats of OpenSM (opensm -D 0x43) and ibdmchk,
 * so that whatever reads those reads ours.  One format, one function.
 *
 * What lines share is formatted once, and a line is put together from copies:
 * the dumps of forwarding tables and path SLs have tens of millions of them.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tables/internal.h"

#define RULE "#--------------------------------------------------------\n"
#define LITERAL(o, text) dl_tables_out_text((o), (text), sizeof(text) - 1)

static const char *type_name(const struct dl_fabric_node *n)
{
	static const char *const names[] = {
		[DL_FABRIC_CA] = "Channel Adapter",
		[DL_FABRIC_SWITCH] = "Switch",
		[DL_FABRIC_ROUTER] = "Router",
	};

	return names[n->type];
}

static void put_name(struct dl_tables_out *o, const struct dl_fabric *f, uint32_t node)
{
	const char *name = dl_fabric_node_name(f, node);

	dl_tables_out_text(o, name, strlen(name));
}

/* OpenSM falls back on the node's GUID for a port GUID just as a switch does. */
static uint64_t dump_port_guid(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port];

	return p->guid ? p->guid : f->nodes[p->node].guid;
}

static void put_digits(char at[3], unsigned int number)
{
	at[0] = '0' + number / 100;
	at[1] = '0' + number / 10 % 10;
	at[2] = '0' + number % 10;
}

/* ---- forwarding tables ------------------------------------------------- */

#define CHUNK 32	   /* bytes copied at a time; lines are rounded up to it */
#define LINE_MAX_BYTES 512 /* of a LID's line, rounded up */

/* The line of each LID, with a port number to be put in. */
struct lines {
	char *text; /* LIDs' lines, each from a multiple of CHUNK on */
	uint32_t cap;
	uint32_t *at;  /* by LID */
	uint16_t *len; /* by LID; 0: no line */
	uint32_t used;
};

static int add_line(struct lines *l, uint32_t lid, const char *text, size_t len)
{
	size_t size = (len + CHUNK - 1) / CHUNK * CHUNK;

	if (!dl_array_room(l->text, l->used, size, &l->cap))
		return -ENOMEM;
	l->at[lid] = l->used;
	l->len[lid] = len;
	memcpy(l->text + l->used, text, len);
	memset(l->text + l->used + len, 0, size - len);
	l->used += size;
	return 0;
}

static int lines_begin(struct lines *l, const struct dl_tables *t)
{
	*l = (struct lines){ .at = calloc(t->top_lid + 1ul, sizeof(*l->at)),
			     .len = calloc(t->top_lid + 1ul, sizeof(*l->len)) };
	return l->at && l->len ? 0 : -ENOMEM;
}

static void lines_end(struct lines *l)
{
	free(l->text);
	free(l->at);
	free(l->len);
}

/* A LID's line; `digits` is where the port's number stands. */
static void put_line(struct dl_tables_out *o, const struct lines *l, uint32_t lid,
		     unsigned int digits, uint8_t port)
{
	const char *from = l->text + l->at[lid];
	char *to = dl_tables_out_room(o, LINE_MAX_BYTES);
	unsigned int len = l->len[lid];

	for (unsigned int i = 0; i < len; i += CHUNK)
		memcpy(to + i, from + i, CHUNK);
	put_digits(to + digits, port);
	o->at += len;
}

static int lft_lines(const struct dl_tables *t, struct lines *l)
{
	const struct dl_fabric *f = t->fabric;
	int err = lines_begin(l, t);

	for (uint32_t lid = 1; !err && lid <= t->top_lid; lid++) {
		uint32_t port = f->lid_port[lid];
		char text[LINE_MAX_BYTES];
		int len;

		if (port == DL_NONE)
			continue;
		len = snprintf(text, sizeof(text),
			       "0x%04x 000 # %s portguid 0x%016" PRIx64 ": '%.256s'\n", lid,
			       type_name(&f->nodes[f->ports[port].node]), dump_port_guid(f, port),
			       dl_fabric_node_name(f, f->ports[port].node));
		err = add_line(l, lid, text, len);
	}
	return err;
}

static void put_lft(struct dl_tables_out *o, const struct dl_tables *t, uint32_t sw,
		    const struct lines *l)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, sw);
	const uint8_t *row = t->lft + sw * (size_t)t->stride;
	uint32_t dumped = 0;

	dl_tables_out_print(o, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('",
			    t->top_lid, t->fabric->ports[n->first_port].lid, n->guid);
	put_name(o, t->fabric, t->fabric->switches[sw]);
	LITERAL(o, "'):\n");
	for (uint32_t lid = 1; lid <= t->top_lid; lid++) {
		if (row[lid] == DL_TABLES_NO_PORT || !l->len[lid])
			continue;
		put_line(o, l, lid, sizeof("0x0001 ") - 1, row[lid]);
		dumped++;
	}
	dl_tables_out_print(o, "%u lids dumped\n", dumped);
}

static int put_lfts(struct dl_tables_out *o, const struct dl_tables *t)
{
	struct lines l;
	int err = lft_lines(t, &l);

	for (uint32_t s = 0; !err && s < t->fabric->nswitches; s++)
		put_lft(o, t, s, &l);
	lines_end(&l);
	return err;
}

static int put_fdbs(struct dl_tables_out *o, const struct dl_tables *t)
{
	static const char head[] = "LID    : Port : Hops : Optimal\n";
	struct lines l;
	int err = lines_begin(&l, t);

	for (uint32_t lid = 1; !err && lid <= t->top_lid; lid++) {
		char text[CHUNK];
		int len = snprintf(text, sizeof(text), "0x%04X : 000  : HOPS UNKNOWN\n", lid);

		err = add_line(&l, lid, text, len);
	}
	for (uint32_t s = 0; !err && s < t->fabric->nswitches; s++) {
		const uint8_t *row = t->lft + s * (size_t)t->stride;

		dl_tables_out_print(o, "dump_ucast_routes: Switch 0x%016" PRIx64 "\n%s",
				    dl_fabric_switch_node(t->fabric, s)->guid, head);
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			if (row[lid] == DL_TABLES_NO_PORT)
				dl_tables_out_print(o, "0x%04X : UNREACHABLE\n", lid);
			else
				put_line(o, &l, lid, sizeof("0x0001 : ") - 1, row[lid]);
		LITERAL(o, "\n");
	}
	lines_end(&l);
	return err;
}

/* Groups that do not pass through a switch have no line there. */
static void put_group(struct dl_tables_out *o, const struct dl_tables_mcast_group *g, uint32_t sw,
		      unsigned int nports)
{
	bool any = false;

	for (unsigned int p = 0; p <= nports; p++) {
		if (!dl_tables_mask_get(&g->masks, sw, p))
			continue;
		if (!any)
			dl_tables_out_print(o, "0x%04X :", g->mlid);
		dl_tables_out_print(o, " 0x%03X ", p);
		any = true;
	}
	if (any)
		LITERAL(o, "\n");
}

static int put_mcfdbs(struct dl_tables_out *o, const struct dl_tables *t)
{
	for (uint32_t s = 0; s < t->fabric->nswitches && t->ngroups; s++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, s);

		dl_tables_out_print(o, "Switch 0x%016" PRIx64 "\nLID    : Out Port(s)\n", n->guid);
		for (uint32_t g = 0; g < t->ngroups; g++)
			put_group(o, &t->groups[g], s, n->nports);
		LITERAL(o, "\n");
	}
	return 0;
}

/* ---- SL to VL and VL arbitration --------------------------------------- */

#define ROW_TEXT 64 /* of a row: at most " 0xVV" eight times, " VV" sixteen times */
#define PAIR_MAX 32 /* of the GUID and two port numbers before it */

/* A row's text in a line, by number of the row. */
typedef char row_text[ROW_TEXT];

static row_text *row_texts(const struct dl_tables *t, bool in_hex)
{
	row_text *texts = calloc(t->nrows + 1ul, sizeof(*texts));

	for (uint32_t i = 0; texts && i < t->nrows; i++) {
		char *at = texts[i];

		for (unsigned int sl = 0; sl < 16; sl++) {
			unsigned int vl = dl_tables_sl2vl_get(t->rows[i], sl);

			at += sprintf(at, in_hex ? "%s%x" : "%s%-2u",
				      in_hex && sl % 2 ? "" :
				      in_hex	       ? " 0x" :
							 " ",
				      vl);
		}
		*at = '\n';
	}
	return texts;
}

static char *put_number(char *at, unsigned int number)
{
	if (number >= 100)
		*at++ = '0' + number / 100;
	if (number >= 10)
		*at++ = '0' + number / 10 % 10;
	*at++ = '0' + number % 10;
	return at;
}

static char *put_padded(char *at, unsigned int number)
{
	char *end = put_number(at, number);

	while (end < at + 3)
		*end++ = ' ';
	return end;
}

static char *put_row(char *at, const row_text *text, size_t len)
{
	memcpy(at, text, ROW_TEXT);
	return at + len;
}

static void put_sl2vl_line(struct dl_tables_out *o, unsigned int in, unsigned int out,
			   const row_text *row)
{
	char *at = dl_tables_out_room(o, PAIR_MAX + ROW_TEXT);

	at = put_padded(at, in);
	*at++ = ' ';
	at = put_padded(at, out);
	*at++ = ' ';
	*at++ = ':';
	o->at = put_row(at, row, 16 * 3 + 1);
}

static void put_sl2vl_head(struct dl_tables_out *o, const struct dl_fabric *f, uint32_t node,
			   uint64_t guid, uint16_t lid)
{
	dl_tables_out_print(o, "%s 0x%016" PRIx64 ", base LID %u, \"", type_name(&f->nodes[node]),
			    guid, lid);
	put_name(o, f, node);
	LITERAL(o, "\"\n#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n" RULE);
}

/* The map of a switch's port pair, or DL_TABLES_NO_ROW. */
static uint16_t pair_row(const struct dl_tables *t, uint32_t sw, unsigned int in, unsigned int out)
{
	return t->sl2vl[dl_tables_map_index(t, sw, in, out)];
}

static void put_switch_maps(struct dl_tables_out *o, const struct dl_tables *t, uint32_t sw,
			    const row_text *texts)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, sw);

	put_sl2vl_head(o, f, f->switches[sw], n->guid, f->ports[n->first_port].lid);
	for (unsigned int out = 1; out <= n->nports; out++) {
		if (f->ports[n->first_port + out].peer == DL_NONE)
			continue;
		for (unsigned int in = 0; in <= n->nports; in++) {
			uint16_t row = pair_row(t, sw, in, out);

			if (row != DL_TABLES_NO_ROW)
				put_sl2vl_line(o, in, out, &texts[row]);
		}
	}
	LITERAL(o, RULE "\n");
}

static int put_sl2vl(struct dl_tables_out *o, const struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	row_text *texts = row_texts(t, false);

	if (!texts)
		return -ENOMEM;
	for (uint32_t s = 0; s < f->nswitches; s++)
		put_switch_maps(o, t, s, texts);
	for (uint32_t p = 0; p < f->nports; p++) {
		/* The format names adapters by their LIDs. */
		if (t->end_sl2vl[p] == DL_TABLES_NO_ROW || !f->ports[p].lid)
			continue;
		put_sl2vl_head(o, f, f->ports[p].node, dump_port_guid(f, p), f->ports[p].lid);
		put_sl2vl_line(o, 0, 0, &texts[t->end_sl2vl[p]]);
		LITERAL(o, RULE "\n");
	}
	free(texts);
	return 0;
}

static void put_slvl_switch(struct dl_tables_out *o, const struct dl_tables *t, uint32_t sw,
			    const row_text *texts)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, sw);
	char guid[PAIR_MAX];
	int len = snprintf(guid, sizeof(guid), "0x%016" PRIx64 " ", n->guid);

	for (unsigned int in = 0; in <= n->nports; in++) {
		for (unsigned int out = 1; out <= n->nports; out++) {
			uint16_t row = pair_row(t, sw, in, out);
			char *at;

			if (row == DL_TABLES_NO_ROW ||
			    t->fabric->ports[n->first_port + out].peer == DL_NONE)
				continue;
			at = dl_tables_out_room(o, PAIR_MAX + ROW_TEXT);
			memcpy(at, guid, sizeof(guid));
			at = put_number(at + len, in);
			*at++ = ' ';
			at = put_number(at, out);
			o->at = put_row(at, &texts[row], 8 * 5 + 1);
		}
	}
}

static int put_slvl(struct dl_tables_out *o, const struct dl_tables *t)
{
	row_text *texts = row_texts(t, true);

	for (uint32_t s = 0; texts && s < t->fabric->nswitches; s++)
		put_slvl_switch(o, t, s, texts);
	free(texts);
	return texts ? 0 : -ENOMEM;
}

static void put_entries(struct dl_tables_out *o, const char *name,
			const struct dl_tables_vlarb_entry *e, unsigned int n)
{
	dl_tables_out_print(o, " %s", name);
	for (unsigned int i = 0; i < n; i++)
		dl_tables_out_print(o, "%c%u:%u", i ? ',' : ' ', e[i].vl, e[i].weight);
	if (!n)
		LITERAL(o, " -");
}

static int put_vlarb(struct dl_tables_out *o, const struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;

	LITERAL(o, "# node GUID, port, VLHighLimit, then VL:weight of each entry\n");
	for (uint32_t p = 0; p < f->nports; p++) {
		const struct dl_tables_vlarb *a;

		if (t->vlarb[p] == DL_TABLES_NO_ROW)
			continue;
		a = &t->arbs[t->vlarb[p]];
		dl_tables_out_print(o, "0x%016" PRIx64 " %u limit %u",
				    f->nodes[f->ports[p].node].guid, f->ports[p].num,
				    a->high_limit);
		put_entries(o, "high", a->high, a->nhigh);
		put_entries(o, "low", a->low, a->nlow);
		LITERAL(o, "\n");
	}
	return 0;
}

/* ---- path SLs ---------------------------------------------------------- */

#define LID_TEXT 8
#define SOURCE_TEXT 48

/* The one dump that grows with the square of the fabric. */
static void put_psl_source(struct dl_tables_out *o, const struct dl_tables *t, uint32_t port,
			   const char source[SOURCE_TEXT], char (*lid_text)[LID_TEXT])
{
	size_t len = strlen(source);

	for (uint32_t lid = 1; lid <= t->top_lid; lid++) {
		unsigned int sl = dl_tables_path_sl(t, port, lid);
		char *at;

		if (sl == DL_TABLES_NO_SL)
			continue;
		at = dl_tables_out_room(o, SOURCE_TEXT + LID_TEXT + 4);
		memcpy(at, source, SOURCE_TEXT);
		memcpy(at + len, lid_text[lid], LID_TEXT);
		at += len + lid_text[lid][LID_TEXT - 1];
		if (sl >= 10)
			*at++ = '1';
		*at++ = '0' + sl % 10;
		*at++ = '\n';
		o->at = at;
	}
}

static int put_psl(struct dl_tables_out *o, const struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	char(*lid_text)[LID_TEXT];
	uint32_t last = DL_NONE;

	if (!t->psl)
		return 0;
	lid_text = calloc(t->top_lid + 1ul, sizeof(*lid_text));
	if (!lid_text)
		return -ENOMEM;
	/* " 49151 ", and behind it its length. */
	for (uint32_t lid = 1; lid <= t->top_lid; lid++)
		lid_text[lid][LID_TEXT - 1] = sprintf(lid_text[lid], " %u ", lid);
	for (uint32_t p = 0; p < f->nports; p++) {
		uint64_t guid = f->nodes[f->ports[p].node].guid;
		char source[SOURCE_TEXT] = "";

		if (t->psl_src[p] == DL_NONE || !f->ports[p].lid)
			continue;
		/*
		 * The format knows nodes, not ports: the first one speaks for
		 * its node, and what others have to say stands in comments.
		 */
		snprintf(source, sizeof(source),
			 f->ports[p].node == last ? "#port %2$u of 0x%1$016" PRIx64 ":" :
						    "0x%1$016" PRIx64,
			 guid, f->ports[p].num);
		last = f->ports[p].node;
		put_psl_source(o, t, p, source, lid_text);
	}
	free(lid_text);
	return 0;
}

/* ---- all --------------------------------------------------------------- */

static int (*const put[])(struct dl_tables_out *o, const struct dl_tables *t) = {
	[DL_TABLES_LFTS] = put_lfts,   [DL_TABLES_FDBS] = put_fdbs, [DL_TABLES_MCFDBS] = put_mcfdbs,
	[DL_TABLES_SL2VL] = put_sl2vl, [DL_TABLES_SLVL] = put_slvl, [DL_TABLES_VLARB] = put_vlarb,
	[DL_TABLES_PSL] = put_psl,
};

int dl_tables_put(struct dl_tables_out *o, const struct dl_tables *t, enum dl_tables_file which)
{
	return put[which](o, t);
}

int dl_tables_write_file(const struct dl_tables *t, enum dl_tables_file which, FILE *to)
{
	struct dl_tables_out o;
	int err = dl_tables_out_begin(&o, to);

	return err ? err : dl_tables_out_end(&o, dl_tables_put(&o, t, which));
}
