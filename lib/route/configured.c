/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * VL arbitration as the user wants it (rules A7).
 *
 * Problem.  opensm.conf holds one pair of tables for each kind of port, and
 * one for all kinds that have none of their own.  They are written in terms
 * of the VLs between switches: VL 0-3 carry QoS level 0, VL 4-7 level 1.  On
 * end ports the levels travel on VL 0 and VL 1, so that there VL 4 becomes
 * VL 1, and the other VLs, on which nothing travels, give way: their entries
 * go and the rest moves up, so that nothing is lost where the port's table is
 * short.
 *
 * Two cases need care.  OpenSM has one option for all external ports of a
 * switch, whether they lead to a switch or to an adapter: the cable decides which
 * numbering a port needs.  And torus-2QoS asks its users to write the tables of end
 * ports in terms of VL 0 and VL 1: an option for end ports that names VL 1 but not
 * VL 4 is assumed to be written so.
 *
 * OpenSM hands its routing engine tables in blocks of 32 entries, with VLs
 * already cut to those of the port, which on an end port with two VLs has
 * made VL 0 out of VL 4.  That is why the tables are read from the options
 * here and not taken from the blocks.
 *
 * Between switches with fewer than 8 data VLs a VL is cut to its low bits, as
 * OpenSM does, which is also how the SL-to-VL maps drop the upper VL bits.
 *
 * Complexity: O(ports x 64).
 */
#include <errno.h>
#include <string.h>

#include "route/internal.h"

#define ENTRIES 64
#define LEVELS 2
#define BLANKS " \t,"
#define LEVEL_VLS 4 /* VLs of one QoS level between switches */

enum { HIGH, LOW, TABLES };

static const char *const table_names[TABLES] = { "high", "low" };

const char *dl_route_port_kind_name(enum dl_route_port_kind kind)
{
	static const char *const names[] = { "ca_", "sw0_", "swe_", "rtr_", "" };

	return names[kind];
}

int dl_route_read_weights(const struct dl_setting *s, void *to, const char *text, char *why,
			  size_t size)
{
	unsigned int *weights = dl_setting_member(s, to);
	uint64_t value[LEVELS];

	(void)why, (void)size; /* the setting says what is expected */
	for (unsigned int level = 0; level < LEVELS; level++) {
		const char *end = dl_number_scan(text, 10, &value[level]);

		if (end == text || !value[level] || value[level] > 255 ||
		    *end != (level ? '\0' : ':'))
			return -EINVAL;
		text = end + 1;
	}
	for (unsigned int level = 0; level < LEVELS; level++)
		weights[level] = value[level];
	return 0;
}

/* One option, parsed. */
struct table {
	bool given;
	bool end_numbered; /* written in terms of VL 0 and VL 1 */
	unsigned int n;
	struct dl_tables_vlarb_entry entries[ENTRIES];
};

/* What holds for one kind of port. */
struct kind {
	struct table table[TABLES];
	int high_limit; /* -1: the routing's */
};

/*
 * Read "VL:WEIGHT,...".  Returns NULL, or the place where it stopped being
 * that; the entries before it count.
 */
static const char *parse_table(const char *s, struct table *out)
{
	uint64_t vl, weight;

	out->given = s;
	out->end_numbered = false;
	out->n = 0;
	if (!s)
		return NULL;
	for (s += strspn(s, BLANKS); *s; s += strspn(s, BLANKS)) {
		const char *colon = dl_number_scan(s, 0, &vl), *end;

		if (colon == s || *colon != ':' || vl > 15 || out->n == ENTRIES)
			return s;
		end = dl_number_scan(colon + 1, 0, &weight);
		if (end == colon + 1 || weight > 255 || (*end && !strchr(BLANKS, *end)))
			return s;
		out->entries[out->n].vl = vl;
		out->entries[out->n++].weight = weight;
		s = end;
	}
	return NULL;
}

static bool names_vl(const struct table *t, unsigned int vl)
{
	unsigned int i;

	for (i = 0; i < t->n; i++) {
		if (t->entries[i].vl == vl && t->entries[i].weight)
			return true;
	}
	return false;
}

static bool is_end_kind(enum dl_route_port_kind kind)
{
	return kind != DL_ROUTE_SWE_PORTS;
}

static const char *word_of(const struct dl_route_arb_words *w, unsigned int table)
{
	return table == HIGH ? w->high : w->low;
}

/* What the kind's own options say: the general ones are never end-numbered. */
static bool end_numbered(const struct dl_route_arb_words *own, enum dl_route_port_kind kind)
{
	bool names1 = false, names4 = false;
	struct table t;
	unsigned int i;

	if (!is_end_kind(kind))
		return false;
	for (i = 0; i < TABLES; i++) {
		parse_table(word_of(own, i), &t);
		names1 |= names_vl(&t, 1);
		names4 |= names_vl(&t, LEVEL_VLS);
	}
	return names1 && !names4;
}

static void vlarb_resolve(const struct dl_route_arb_config *c, enum dl_route_port_kind kind,
			  struct kind *out)
{
	const struct dl_route_arb_words *own = &c->kind[kind];
	bool tables = false;
	unsigned int i;

	for (i = 0; i < TABLES; i++) {
		const char *word = word_of(own, i);

		parse_table(word ? word : word_of(&c->all, i), &out->table[i]);
		out->table[i].end_numbered = word && end_numbered(own, kind);
		tables |= out->table[i].given;
	}
	out->high_limit = own->high_limit >= 0 ? own->high_limit : c->all.high_limit;
	if (out->high_limit < 0 && tables)
		out->high_limit = c->default_high_limit;
}

static enum dl_route_port_kind kind_of(const struct dl_fabric *f, uint32_t port)
{
	switch (f->nodes[f->ports[port].node].type) {
	case DL_FABRIC_SWITCH:
		return f->ports[port].num ? DL_ROUTE_SWE_PORTS : DL_ROUTE_SW0_PORTS;
	case DL_FABRIC_ROUTER:
		return DL_ROUTE_RTR_PORTS;
	default:
		return DL_ROUTE_CA_PORTS;
	}
}

/* The VL that an entry means on an end port, or -1: nothing travels there. */
static int end_vl(unsigned int vl, bool end_numbered)
{
	if (vl == 0)
		return 0;
	return vl == (end_numbered ? 1 : LEVEL_VLS) ? 1 : -1;
}

/* Fit a table to a port.  Returns the number of entries. */
static unsigned int vlarb_fit(const struct table *t, bool between, const struct dl_fabric_port *p,
			      unsigned int cap, struct dl_tables_vlarb_entry out[ENTRIES])
{
	unsigned int mask = p->vls && p->vls < 8 ? p->vls - 1 : 15;
	unsigned int i, n = 0;

	memset(out, 0, ENTRIES * sizeof(*out));
	for (i = 0; i < t->n && n < cap; i++) {
		const struct dl_tables_vlarb_entry *e = &t->entries[i];
		int vl = e->vl & mask;

		if (!between) {
			vl = end_vl(e->vl, t->end_numbered);
			if (!e->weight || vl < 0 || (vl && p->vls == 1))
				continue;
		}
		out[n].vl = vl;
		out[n++].weight = e->weight;
	}
	return n;
}

/* What had to be changed in the user's tables so that every VL is served. */
struct vlarb_added {
	uint32_t ports, example;
	uint16_t vls; /* in any of them */
};

static unsigned int vlarb_heaviest(const struct dl_tables_vlarb_entry *e, unsigned int n)
{
	unsigned int most = 0;

	for (unsigned int i = 0; i < n; i++)
		most = e[i].weight > most ? e[i].weight : most;
	return most ? most : 64;
}

/* One entry more, as heavy as the heaviest.  False: there is no room. */
static bool vlarb_add(struct dl_tables_vlarb_entry *e, uint8_t *n, unsigned int cap,
		      unsigned int vl)
{
	unsigned int at = 0;

	while (at < *n && e[at].weight)
		at++; /* a null entry will do */
	if (at >= cap)
		return false;
	e[at] = (struct dl_tables_vlarb_entry){ vl, vlarb_heaviest(e, *n) };
	*n += at == *n;
	return true;
}

/*
 * Every VL that the routing uses, which are those that its own tables serve, must be
 * served by the user's (rules B10): a limit of 255 becomes 254 where the low table would
 * starve, and VLs without an entry get one, in the low table if there is room.
 */
static void vlarb_mend(const struct dl_tables_vlarb *plan, const struct dl_fabric_port *p,
		       uint32_t port, struct dl_tables_vlarb *arb, struct vlarb_added *m)
{
	uint16_t used = dl_tables_vlarb_serves(plan, p, 0);
	uint16_t missing = used & ~dl_tables_vlarb_serves(arb, p, used);

	if (p->vls == 1 || !missing)
		return;
	m->example = m->ports++ ? m->example : port;
	m->vls |= missing;
	if (arb->high_limit == 255 && missing & dl_tables_vlarb_serves(arb, p, 0))
		arb->high_limit = 254;
	for (missing &= ~dl_tables_vlarb_serves(arb, p, used); missing; missing &= missing - 1) {
		unsigned int vl = __builtin_ctz(missing);

		if (vlarb_add(arb->low, &arb->nlow, p->arb_low_cap, vl) ||
		    vlarb_add(arb->high, &arb->nhigh, p->arb_high_cap, vl))
			continue;
		*arb = *plan;
		return;
	}
	/* What was added to the low table may starve now. */
	if (used & ~dl_tables_vlarb_serves(arb, p, used))
		arb->high_limit = 254;
}

static void vlarb_report_added(const struct dl_fabric *f, const struct vlarb_added *m,
			       const struct dl_log *log)
{
	const struct dl_fabric_port *p = &f->ports[m->example];
	char vls[64] = "";
	size_t at = 0;

	for (unsigned int left = m->vls; left; left &= left - 1)
		at += snprintf(vls + at, sizeof(vls) - at, "%s%u", at ? ", " : "",
			       __builtin_ctz(left));
	dl_log(log, DL_LOG_ERROR,
	       "the VL arbitration tables of opensm.conf starve VL %s on %u port%s, such as "
	       "\"%s\" port %u: there the VLs get an entry, and a high limit of 255 becomes 254; "
	       "name "
	       "every VL in qos_vlarb_high or qos_vlarb_low",
	       vls, m->ports, m->ports == 1 ? "" : "s", dl_fabric_node_name(f, p->node), p->num);
}

static int apply_port(const struct kind *k, uint32_t port, struct dl_tables *t,
		      struct vlarb_added *m)
{
	const struct dl_fabric_port *p = &t->fabric->ports[port];
	bool between = dl_fabric_joins_switches(t->fabric, port);
	const struct dl_tables_vlarb plan = t->arbs[t->vlarb[port]];
	struct dl_tables_vlarb arb = plan;
	int number;

	if (k->table[HIGH].given)
		arb.nhigh = vlarb_fit(&k->table[HIGH], between, p, p->arb_high_cap, arb.high);
	if (k->table[LOW].given)
		arb.nlow = vlarb_fit(&k->table[LOW], between, p, p->arb_low_cap, arb.low);
	if (k->high_limit >= 0)
		arb.high_limit = k->high_limit;
	vlarb_mend(&plan, p, port, &arb, m);
	number = dl_tables_arb(t, &arb);
	if (number < 0)
		return number;
	t->vlarb[port] = number;
	return 0;
}

int dl_route_arb_apply(const struct dl_route_arb_config *c, struct dl_tables *t,
		       const struct dl_log *log)
{
	struct kind kinds[DL_ROUTE_PORT_KINDS];
	struct vlarb_added added = { 0 };
	enum dl_route_port_kind kind;
	uint32_t port;
	int err;

	for (kind = 0; kind < DL_ROUTE_PORT_KINDS; kind++)
		vlarb_resolve(c, kind, &kinds[kind]);
	for (port = 0; port < t->fabric->nports; port++) {
		const struct kind *k = &kinds[kind_of(t->fabric, port)];

		if (t->vlarb[port] == DL_TABLES_NO_ROW ||
		    (!k->table[HIGH].given && !k->table[LOW].given && k->high_limit < 0))
			continue;
		err = apply_port(k, port, t, &added);
		if (err)
			return err;
	}
	if (added.ports)
		vlarb_report_added(t->fabric, &added, log);
	return 0;
}

/* The first level whose VLs do not weigh the same, or -1. */
static int unfair_level(const struct table *t, unsigned int weight[16])
{
	unsigned int i, level;

	memset(weight, 0, 16 * sizeof(*weight));
	for (i = 0; i < t->n; i++)
		weight[t->entries[i].vl] += t->entries[i].weight;
	for (level = 0; level < LEVELS; level++) {
		const unsigned int *w = &weight[level * LEVEL_VLS];

		for (i = 1; i < LEVEL_VLS; i++) {
			if (w[i] != w[0])
				return level;
		}
	}
	return -1;
}

/* Warn, once, about an option as it works between switches. */
static bool check_between(const struct table *t, const char *option, const struct dl_log *log)
{
	unsigned int weight[16], *w;
	int level = unfair_level(t, weight);

	if (level < 0)
		return false;
	w = &weight[level * LEVEL_VLS];
	dl_log(log, DL_LOG_WARNING,
	       "%s is unfair within QoS level %d: VLs %d to "
	       "%d weigh %u, %u, %u and %u in it, but should weigh the same",
	       option, level, level * LEVEL_VLS, level * LEVEL_VLS + LEVEL_VLS - 1, w[0], w[1],
	       w[2], w[3]);
	return true;
}

/* Has a table as many entries as the IBA asks for: one (high); one for each data VL (low)? */
static bool check_length(const struct table *t, unsigned int table, const char *option,
			 unsigned int vls, const struct dl_log *log)
{
	unsigned int least = table == HIGH ? 1 : vls, valid = 0;

	for (unsigned int i = 0; i < t->n; i++)
		valid += t->entries[i].weight != 0;
	if (!vls || valid >= least)
		return false;
	dl_log(log, DL_LOG_WARNING,
	       "%s has %u entries with a weight: InfiniBand asks for at least %u%s", option, valid,
	       least, table == HIGH ? "" : ", one for each data VL");
	return true;
}

/* The same for end ports. */
static bool check_ends(const struct table *t, const char *option, const struct dl_log *log)
{
	unsigned int i;

	for (i = 0; i < t->n; i++) {
		const struct dl_tables_vlarb_entry *e = &t->entries[i];

		if (!e->weight || end_vl(e->vl, t->end_numbered) >= 0)
			continue;
		dl_log(log, DL_LOG_WARNING,
		       "%s: entries for VLs other than 0 and "
		       "%d, such as %u:%u, are dropped on end ports",
		       option, t->end_numbered ? 1 : LEVEL_VLS, e->vl, e->weight);
		return true;
	}
	return false;
}

/* Data VLs that the ports between switches have, at most. */
static unsigned int configured_vls(const struct dl_fabric *f)
{
	unsigned int most = 0;

	for (uint32_t p = 0; f && p < f->nports; p++)
		if (dl_fabric_joins_switches(f, p) && f->ports[p].vls > most)
			most = f->ports[p].vls;
	return most;
}

/* One option; DL_ROUTE_PORT_KINDS: of the kinds that have none of their own. */
static void check_option(const struct dl_route_arb_config *c, enum dl_route_port_kind kind,
			 unsigned int table, unsigned int vls, const struct dl_log *log)
{
	bool general = kind == DL_ROUTE_PORT_KINDS;
	const struct dl_route_arb_words *own = general ? &c->all : &c->kind[kind];
	const char *word = word_of(own, table), *bad;
	bool between = kind == DL_ROUTE_SWE_PORTS, ends = !general && !between;
	enum dl_route_port_kind k;
	char option[40];
	struct table t;

	if (!word)
		return;
	for (k = 0; general && k < DL_ROUTE_PORT_KINDS; k++)
		*(is_end_kind(k) ? &ends : &between) |= !word_of(&c->kind[k], table);
	snprintf(option, sizeof(option), "qos_%svlarb_%s", dl_route_port_kind_name(kind),
		 table_names[table]);
	bad = parse_table(word, &t);
	t.end_numbered = !general && end_numbered(own, kind);
	if (bad)
		dl_log(log, DL_LOG_WARNING,
		       "%s: expected VL:WEIGHT (VL 0 to 15, weight 0 to 255, "
		       "at most %d entries) at \"%s\"",
		       option, ENTRIES, bad);
	else if (!(between && check_between(&t, option, log)) &&
		 !check_length(&t, table, option, between || vls < 2 ? vls : 2, log) && ends)
		check_ends(&t, option, log);
}

void dl_route_arb_check(const struct dl_route_arb_config *c, const struct dl_fabric *f,
			const struct dl_log *log)
{
	unsigned int vls = configured_vls(f);

	for (unsigned int table = 0; table < TABLES; table++) {
		check_option(c, DL_ROUTE_PORT_KINDS, table, vls, log);
		for (enum dl_route_port_kind kind = 0; kind < DL_ROUTE_PORT_KINDS; kind++)
			check_option(c, kind, table, vls, log);
	}
}
