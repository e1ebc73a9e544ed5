/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Dumps of a routing in the formats of OpenSM (opensm -D 0x43) and ibdmchk,
 * so that whatever reads those reads ours.  One format, one function.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/tables.h"

#define RULE "#--------------------------------------------------------\n"

static int written(FILE *to)
{
	return fflush(to) || ferror(to) ? -EIO : 0;
}

static const struct dl_fabric_node *switch_node(const struct dl_tables *t, uint32_t sw)
{
	return &t->fabric->nodes[t->fabric->switches[sw]];
}

static const char *switch_name(const struct dl_tables *t, uint32_t sw)
{
	return dl_fabric_node_name(t->fabric, t->fabric->switches[sw]);
}

static const char *type_name(const struct dl_fabric_node *n)
{
	static const char *const names[] = {
		[DL_FABRIC_CA] = "Channel Adapter",
		[DL_FABRIC_SWITCH] = "Switch",
		[DL_FABRIC_ROUTER] = "Router",
	};

	return names[n->type];
}

/* OpenSM falls back on the node's GUID for a port GUID just as a switch does. */
static uint64_t port_guid(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port];

	return p->guid ? p->guid : f->nodes[p->node].guid;
}

/*
 * Dumps of forwarding tables have a line for every switch and LID, so what a
 * line says of the LID is formatted once, and a line is put together from
 * copies: the text before the port, three digits, the text behind it.
 */
struct lid_texts {
	char *all;
	size_t len, cap;
	uint32_t *at; /* by LID: where its text begins; 0: no line */
};

/* Room for the port between the two texts of a LID. */
#define PORT_GAP "\001"
#define TEXT_MAX 512

static int add_text(struct lid_texts *t, uint32_t lid, const char *text)
{
	size_t len = strlen(text) + 1;
	char *grown;

	if (t->len + len > t->cap) {
		t->cap = 2 * t->cap + TEXT_MAX;
		grown = realloc(t->all, t->cap);
		if (!grown)
			return -ENOMEM;
		t->all = grown;
	}
	memcpy(t->all + t->len, text, len);
	t->at[lid] = t->len;
	t->len += len;
	return 0;
}

static int new_texts(const struct dl_tables *t, struct lid_texts *texts)
{
	memset(texts, 0, sizeof(*texts));
	texts->len = 1; /* offset 0 means no line */
	texts->at = calloc((size_t)t->top_lid + 1, sizeof(*texts->at));
	return texts->at ? 0 : -ENOMEM;
}

static void free_texts(struct lid_texts *texts)
{
	free(texts->all);
	free(texts->at);
}

/* One line; `text` as add_text() took it. */
static void put_line(FILE *to, const char *text, uint8_t port)
{
	const char *gap = strchr(text, *PORT_GAP);
	const char digits[3] = { '0' + port / 100, '0' + port / 10 % 10, '0' + port % 10 };

	fwrite_unlocked(text, 1, gap - text, to);
	fwrite_unlocked(digits, 1, sizeof(digits), to);
	fputs_unlocked(gap + 1, to);
}

static int lft_texts(const struct dl_tables *t, struct lid_texts *texts)
{
	const struct dl_fabric *f = t->fabric;
	char text[TEXT_MAX];
	uint32_t lid, port;
	int err = new_texts(t, texts);

	for (lid = 1; !err && lid <= t->top_lid; lid++) {
		port = f->lid_port[lid];
		if (port == DL_NONE)
			continue;
		snprintf(text, sizeof(text),
			 "0x%04x " PORT_GAP " # %s portguid 0x%016" PRIx64 ": '%.256s'\n", lid,
			 type_name(&f->nodes[f->ports[port].node]), port_guid(f, port),
			 dl_fabric_node_name(f, f->ports[port].node));
		err = add_text(texts, lid, text);
	}
	return err;
}

int dl_tables_write_lfts(const struct dl_tables *t, FILE *to)
{
	const struct dl_fabric *f = t->fabric;
	struct lid_texts texts;
	uint32_t s, lid, dumped;
	int err = lft_texts(t, &texts);

	for (s = 0; !err && s < f->nswitches; s++) {
		const struct dl_fabric_node *n = switch_node(t, s);

		fprintf(to,
			"Unicast lids [0-%u] of switch Lid %u guid "
			"0x%016" PRIx64 " ('%s'):\n",
			t->top_lid, f->ports[n->first_port].lid, n->guid, switch_name(t, s));
		for (lid = 1, dumped = 0; lid <= t->top_lid; lid++) {
			uint8_t out = dl_tables_lft(t, s, lid);

			if (out == DL_TABLES_NO_PORT || !texts.at[lid])
				continue;
			put_line(to, texts.all + texts.at[lid], out);
			dumped++;
		}
		fprintf(to, "%u lids dumped\n", dumped);
	}
	free_texts(&texts);
	return err ? err : written(to);
}

int dl_tables_write_fdbs(const struct dl_tables *t, FILE *to)
{
	const struct dl_fabric *f = t->fabric;
	char text[TEXT_MAX];
	struct lid_texts texts;
	uint32_t s, lid;
	int err = new_texts(t, &texts);

	for (lid = 1; !err && lid <= t->top_lid; lid++) {
		snprintf(text, sizeof(text), "0x%04X : " PORT_GAP "  : HOPS UNKNOWN\n", lid);
		err = add_text(&texts, lid, text);
	}
	for (s = 0; !err && s < f->nswitches; s++) {
		fprintf(to,
			"dump_ucast_routes: Switch 0x%016" PRIx64 "\n"
			"LID    : Port : Hops : Optimal\n",
			switch_node(t, s)->guid);
		for (lid = 1; lid <= t->top_lid; lid++) {
			uint8_t out = dl_tables_lft(t, s, lid);

			if (out == DL_TABLES_NO_PORT)
				fprintf(to, "0x%04X : UNREACHABLE\n", lid);
			else
				put_line(to, texts.all + texts.at[lid], out);
		}
		fputc('\n', to);
	}
	free_texts(&texts);
	return err ? err : written(to);
}

/* Groups that do not pass through a switch have no line there. */
static void mcfdb_line(const struct dl_tables_mcast_group *g, uint32_t sw, unsigned int nports,
		       FILE *to)
{
	bool any = false;
	unsigned int p;

	for (p = 0; p <= nports; p++) {
		if (!dl_tables_mask_get(g->masks, sw, p))
			continue;
		if (!any)
			fprintf(to, "0x%04X :", g->mlid);
		fprintf(to, " 0x%03X ", p);
		any = true;
	}
	if (any)
		fputc('\n', to);
}

int dl_tables_write_mcfdbs(const struct dl_tables *t, FILE *to)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t s, g;

	for (s = 0; s < f->nswitches && t->ngroups; s++) {
		const struct dl_fabric_node *n = switch_node(t, s);

		fprintf(to,
			"Switch 0x%016" PRIx64 "\n"
			"LID    : Out Port(s)\n",
			n->guid);
		for (g = 0; g < t->ngroups; g++)
			mcfdb_line(&t->groups[g], s, n->nports, to);
		fputc('\n', to);
	}
	return written(to);
}

static void sl2vl_line(FILE *to, unsigned int in, unsigned int out, dl_tables_sl2vl_row row)
{
	unsigned int sl;

	fprintf(to, "%-3u %-3u :", in, out);
	for (sl = 0; sl < 16; sl++)
		fprintf(to, " %-2u", dl_tables_sl2vl_get(row, sl));
	fputc('\n', to);
}

static void sl2vl_head(const struct dl_tables *t, FILE *to, const struct dl_fabric_node *n,
		       uint64_t guid, uint16_t lid)
{
	fprintf(to,
		"%s 0x%016" PRIx64 ", base LID %u, \"%s\"\n"
		"#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 "
		"15\n" RULE,
		type_name(n), guid, lid, dl_fabric_node_name(t->fabric, n - t->fabric->nodes));
}

/* The map of a switch's port pair, or NULL where none is set. */
static const dl_tables_sl2vl_row *pair_row(const struct dl_tables *t, uint32_t sw, unsigned int in,
					   unsigned int out)
{
	unsigned int width = switch_node(t, sw)->nports + 1;
	uint16_t row = t->sl2vl[t->sl2vl_first[sw] + in * width + out];

	return row == DL_TABLES_NO_ROW ? NULL : &t->rows[row];
}

int dl_tables_write_sl2vl(const struct dl_tables *t, FILE *to)
{
	const struct dl_fabric *f = t->fabric;
	unsigned int in, out;
	uint32_t s, p;

	for (s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = switch_node(t, s);

		sl2vl_head(t, to, n, n->guid, f->ports[n->first_port].lid);
		for (out = 1; out <= n->nports; out++) {
			if (f->ports[n->first_port + out].peer == DL_NONE)
				continue;
			for (in = 0; in <= n->nports; in++) {
				const dl_tables_sl2vl_row *row = pair_row(t, s, in, out);

				if (row)
					sl2vl_line(to, in, out, *row);
			}
		}
		fputs(RULE "\n", to);
	}
	for (p = 0; p < f->nports; p++) {
		const struct dl_fabric_node *n = &f->nodes[f->ports[p].node];

		/* The format names adapters by their LIDs. */
		if (t->end_sl2vl[p] == DL_TABLES_NO_ROW || !f->ports[p].lid)
			continue;
		sl2vl_head(t, to, n, port_guid(f, p), f->ports[p].lid);
		sl2vl_line(to, 0, 0, t->rows[t->end_sl2vl[p]]);
		fputs(RULE "\n", to);
	}
	return written(to);
}

int dl_tables_write_slvl(const struct dl_tables *t, FILE *to)
{
	const struct dl_fabric *f = t->fabric;
	unsigned int in, out, sl;
	uint32_t s;

	for (s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = switch_node(t, s);

		for (in = 0; in <= n->nports; in++) {
			for (out = 1; out <= n->nports; out++) {
				const dl_tables_sl2vl_row *row = pair_row(t, s, in, out);

				if (!row || f->ports[n->first_port + out].peer == DL_NONE)
					continue;
				fprintf(to, "0x%016" PRIx64 " %u %u", n->guid, in, out);
				for (sl = 0; sl < 16; sl += 2)
					fprintf(to, " 0x%x%x", dl_tables_sl2vl_get(*row, sl),
						dl_tables_sl2vl_get(*row, sl + 1));
				fputc('\n', to);
			}
		}
	}
	return written(to);
}

static void vlarb_entries(FILE *to, const char *name, const struct dl_tables_vlarb_entry *e,
			  unsigned int n)
{
	unsigned int i;

	fprintf(to, " %s", name);
	for (i = 0; i < n; i++)
		fprintf(to, "%c%u:%u", i ? ',' : ' ', e[i].vl, e[i].weight);
	if (!n)
		fputs(" -", to);
}

int dl_tables_write_vlarb(const struct dl_tables *t, FILE *to)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t p;

	fputs("# node GUID, port, VLHighLimit, then VL:weight of each entry\n", to);
	for (p = 0; p < f->nports; p++) {
		const struct dl_tables_vlarb *a;

		if (t->vlarb[p] == DL_TABLES_NO_ROW)
			continue;
		a = &t->arbs[t->vlarb[p]];
		fprintf(to, "0x%016" PRIx64 " %u limit %u", f->nodes[f->ports[p].node].guid,
			f->ports[p].num, a->high_limit);
		vlarb_entries(to, "high", a->high, a->nhigh);
		vlarb_entries(to, "low", a->low, a->nlow);
		fputc('\n', to);
	}
	return written(to);
}

/*
 * Path SLs are the one dump that grows with the square of the fabric, so its
 * lines are put together by hand: " LID " is formatted once for all sources.
 */
#define LID_TEXT 8

static void psl_source(const struct dl_tables *t, uint32_t port, const char *source, FILE *to,
		       char (*lid_text)[LID_TEXT])
{
	size_t source_len = strlen(source);
	char line[64];
	uint32_t lid;

	memcpy(line, source, source_len);
	for (lid = 1; lid <= t->top_lid; lid++) {
		unsigned int sl = dl_tables_path_sl(t, port, lid);
		size_t len;

		if (sl == DL_TABLES_NO_SL)
			continue;
		len = strlen(lid_text[lid]);
		memcpy(line + source_len, lid_text[lid], len);
		len += source_len;
		if (sl >= 10)
			line[len++] = '1';
		line[len++] = '0' + sl % 10;
		line[len++] = '\n';
		fwrite(line, 1, len, to);
	}
}

int dl_tables_write_psl(const struct dl_tables *t, FILE *to)
{
	const struct dl_fabric *f = t->fabric;
	char(*lid_text)[LID_TEXT];
	uint32_t p, lid, last = DL_NONE;

	if (!t->psl)
		return 0;
	lid_text = malloc(((size_t)t->top_lid + 1) * sizeof(*lid_text));
	if (!lid_text)
		return -ENOMEM;
	for (lid = 0; lid <= t->top_lid; lid++)
		snprintf(lid_text[lid], LID_TEXT, " %u ", lid);
	for (p = 0; p < f->nports; p++) {
		uint64_t guid = f->nodes[f->ports[p].node].guid;
		char source[48];

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
		psl_source(t, p, source, to, lid_text);
	}
	free(lid_text);
	return written(to);
}
