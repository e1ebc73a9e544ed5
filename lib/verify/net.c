/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The fabric and its SL-to-VL maps, laid out for verification.
 *
 * Problem.  The same three things are looked up some ten million times: where
 * does this output port lead, what does the map of the port pair there do,
 * where is its place among the dependencies?  Here each answer becomes one
 * load.
 *
 * How maps work (IBA volume 1, 7.6.6).  A packet whose SL maps to VL 15, or
 * to a VL that the output port does not operate, is dropped.  A port with one
 * data VL needs no map.  Where the tables do not hold the map from some input
 * port, all packets out of the output port are taken to use VL 0, those from
 * other input ports as well: each cycle that there may be is then one here, so
 * that no cycle here proves that there is none.  Such links are marked vague.
 *
 * Sources.  End ports of one switch are merged when nothing that the check
 * looks at distinguishes them: the class of their path SLs and the maps from
 * their input port to every link.
 *
 * Complexity: ports plus pairs of ports of each switch.  Limit: dependencies
 * take 8 bytes (VLs 0 to 7) or 32 (above) for every pair of links of a switch.
 */
#include <errno.h>
#include <string.h>

#include "verify/internal.h"

/* ---- links ------------------------------------------------------------- */

/* Number the next hops and the pairs of links of each switch. */
static int number_ways(struct dl_verify_net *net)
{
	uint64_t pairs = 0;
	uint32_t next_hops = 0;

	for (uint32_t s = 0; s < net->nsw; s++) {
		uint64_t links = dl_verify_net_links(net, s);

		net->hop_first[s] = next_hops;
		net->pair_first[s] = pairs;
		next_hops += dl_fabric_switch_node(net->f, s)->nports + 2;
		pairs += links * links;
	}
	net->hop_first[net->nsw] = next_hops;
	net->pair_first[net->nsw] = pairs;
	return pairs > UINT32_MAX ? -ENOMEM : 0;
}

static void aim_links(struct dl_verify_net *net)
{
	const struct dl_fabric_links *links = &net->links;

	for (uint32_t w = 0; w < net->hop_first[net->nsw]; w++)
		net->next_hops[w].next = DL_NONE;
	for (uint32_t l = 0; l < links->n; l++) {
		const struct dl_fabric_link *link = &links->link[l];
		uint32_t s = link->to, back = link->back - links->first[s];
		uint32_t hop = net->hop_first[link->from] + link->out;

		net->far[l].row = dl_verify_net_row(net, s, link->in, 0);
		net->far[l].dep = net->pair_first[s] + back * dl_verify_net_links(net, s);
		net->next_hops[hop].next = s;
		net->next_hops[hop].dep = net->far[l].dep;
		net->hop_slot[hop] = l - links->first[link->from];
	}
}

static int lay_out_links(struct dl_verify_net *net)
{
	size_t n = net->nsw + 1, next_hops, nlinks;
	int err = dl_fabric_links_init(&net->links, net->f);

	if (err)
		return err;
	nlinks = net->links.n + 1;
	net->hop_first = dl_arena_array(net->arena, n, sizeof(*net->hop_first));
	net->pair_first = dl_arena_array(net->arena, n, sizeof(*net->pair_first));
	if (!net->hop_first || !net->pair_first)
		return -ENOMEM;
	err = number_ways(net);
	if (err)
		return err;
	next_hops = net->hop_first[net->nsw] + 1;
	net->next_hops = dl_arena_array(net->arena, next_hops, sizeof(*net->next_hops));
	net->hop_slot = dl_arena_array(net->arena, next_hops, 1);
	net->far = dl_arena_array(net->arena, nlinks, sizeof(*net->far));
	net->vls = dl_arena_array(net->arena, nlinks, sizeof(*net->vls));
	if (!net->next_hops || !net->hop_slot || !net->far || !net->vls)
		return -ENOMEM;
	aim_links(net);
	return 0;
}

/* ---- SL-to-VL maps ----------------------------------------------------- */

dl_tables_sl2vl_row dl_verify_net_effective(const struct dl_tables *t, uint16_t row,
					    unsigned int vls, bool merged)
{
	dl_tables_sl2vl_row value, result = 0;

	if (row == DL_TABLES_NO_ROW)
		return 0;
	value = t->rows[row];
	for (unsigned int sl = 0; sl < 16; sl++) {
		unsigned int vl = dl_tables_sl2vl_get(value, sl);

		if (vls && vl >= vls)
			vl = 15;
		result |= (uint64_t)(merged && vl != 15 ? 0 : vl) << 4 * sl;
	}
	return result;
}

static uint16_t row_passes(dl_tables_sl2vl_row row)
{
	uint16_t passes = 0;

	for (unsigned int sl = 0; sl < 16; sl++)
		if (dl_tables_sl2vl_get(row, sl) != 15)
			passes |= 1u << sl;
	return passes;
}

/*
 * Port VL counts are few and rows are numbered already, so the number of an
 * effective row is remembered by (row, count, merged) and never searched for
 * twice.
 */
struct row_memo {
	uint16_t *number; /* [merged][count][row], 0xFFFF: not seen yet */
	uint32_t width;	  /* rows, and one for "no map" */
};

#define VL_COUNTS 17

static int add_row(struct dl_verify_net *net, struct row_memo *memo, uint16_t row, unsigned int vls,
		   bool merged)
{
	uint32_t column = row == DL_TABLES_NO_ROW ? net->t->nrows : row;
	uint16_t *slot;

	if (vls >= VL_COUNTS)
		vls = 0;
	slot = &memo->number[(merged * VL_COUNTS + vls) * memo->width + column];
	if (*slot != 0xFFFF)
		return *slot;
	net->values[net->nvalues] = dl_verify_net_effective(net->t, row, vls, merged);
	net->passes[net->nvalues] = row_passes(net->values[net->nvalues]);
	*slot = net->nvalues;
	return net->nvalues++;
}

/* Which pairs of a switch's ports lack a map that packets between switches need? */
static unsigned int count_unknown(const struct dl_verify_net *net, uint32_t s, unsigned int out)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(net->f, s);
	unsigned int unknown = 0;

	if (dl_verify_net_link(net, s, out) == DL_NONE ||
	    net->f->ports[n->first_port + out].vls == 1)
		return 0;
	for (unsigned int i = 0; i <= n->nports; i++)
		if (i != out && (!i || net->f->ports[n->first_port + i].peer != DL_NONE) &&
		    net->t->sl2vl[dl_verify_net_row(net, s, i, out)] == DL_TABLES_NO_ROW)
			unknown++;
	return unknown;
}

static int map_output(struct dl_verify_net *net, struct row_memo *memo, uint32_t s,
		      unsigned int out)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(net->f, s);
	unsigned int unknown = count_unknown(net, s, out);
	unsigned int vls = out ? net->f->ports[n->first_port + out].vls : 0;

	net->without_vl += unknown;
	if (unknown)
		net->vague[dl_verify_net_link(net, s, out)] = true;
	for (unsigned int i = 0; i <= n->nports; i++) {
		uint32_t at = dl_verify_net_row(net, s, i, out);

		if (net->nvalues == net->values_cap)
			return -ENOMEM;
		net->rows[at] = add_row(net, memo, net->t->sl2vl[at], vls, unknown);
	}
	return 0;
}

static int map_switch(struct dl_verify_net *net, struct row_memo *memo, uint32_t s)
{
	int err = 0;

	for (unsigned int o = 0; !err && o <= dl_fabric_switch_node(net->f, s)->nports; o++)
		err = map_output(net, memo, s, o);
	return err;
}

static unsigned int highest_vl(const struct dl_verify_net *net)
{
	unsigned int top = 0;

	for (uint32_t i = 0; i < net->nvalues; i++) {
		for (unsigned int sl = 0; sl < 16; sl++) {
			unsigned int vl = dl_tables_sl2vl_get(net->values[i], sl);

			if (vl != 15 && vl > top)
				top = vl;
		}
	}
	return top;
}

/* What each end port lets out: its own map, and no VL that it lacks. */
static int map_end_ports(struct dl_verify_net *net)
{
	const struct dl_fabric *f = net->f;

	net->end_passes = dl_arena_array(net->arena, f->nports, sizeof(*net->end_passes));
	net->leaving = dl_arena_array(net->arena, f->nports, sizeof(*net->leaving));
	net->sends_groups = dl_arena_array(net->arena, f->nports, sizeof(*net->sends_groups));
	if (!net->end_passes || !net->leaving || !net->sends_groups)
		return -ENOMEM;
	for (uint32_t p = 0; p < f->nports; p++) {
		uint16_t row = net->t->end_sl2vl[p];

		net->end_passes[p] = 0xFFFF;
		if (f->ports[p].num && dl_fabric_is_end_port(f, p))
			net->end_passes[p] = row_passes(
				dl_verify_net_effective(net->t, row, f->ports[p].vls, false));
	}
	return 0;
}

static int lay_out_maps(struct dl_verify_net *net)
{
	struct row_memo memo = { .width = net->t->nrows + 1 };
	size_t entries = net->t->sl2vl_first[net->nsw];
	int err;

	/* More than 65,535 distinct ones cannot be numbered. */
	net->values_cap = 2 * memo.width * VL_COUNTS;
	if (net->values_cap > 0xFFFF)
		net->values_cap = 0xFFFF;
	memo.number = dl_arena_alloc(net->arena, 2 * memo.width * VL_COUNTS * sizeof(*memo.number));
	net->vague = dl_arena_array(net->arena, net->links.n + 1, sizeof(*net->vague));
	net->rows = dl_arena_array(net->arena, entries, sizeof(*net->rows));
	net->values = dl_arena_array(net->arena, net->values_cap, sizeof(*net->values));
	net->passes = dl_arena_array(net->arena, net->values_cap, sizeof(*net->passes));
	if (!memo.number || !net->vague || !net->rows || !net->values || !net->passes)
		return -ENOMEM;
	memset(memo.number, 0xFF, 2 * memo.width * VL_COUNTS * sizeof(*memo.number));
	for (uint32_t s = 0; s < net->nsw; s++) {
		err = map_switch(net, &memo, s);
		if (err)
			return err;
	}
	net->nvl = highest_vl(net) > 7 ? 16 : 8;
	net->words = net->nvl * net->nvl / 64;
	return map_end_ports(net);
}

/* ---- sources ----------------------------------------------------------- */

/* Do two input ports of a switch map alike towards every link? */
static bool same_maps(const struct dl_verify_net *net, uint32_t s, uint32_t a, uint32_t b)
{
	if (a == b)
		return true;
	for (uint32_t l = net->links.first[s]; l < net->links.first[s + 1]; l++) {
		unsigned int out = net->links.link[l].out;

		if (net->rows[a + out] != net->rows[b + out])
			return false;
	}
	return true;
}

struct dl_verify_source dl_verify_net_source(const struct dl_verify_net *net, uint32_t s,
					     uint32_t end_port)
{
	return (struct dl_verify_source){
		.row = dl_verify_net_row(net, s, dl_fabric_access_port(net->f, end_port), 0),
		.psl = net->sls || !net->t->psl ? DL_NONE : net->t->psl_src[end_port],
		.count = 1,
		.sls = net->end_passes[end_port],
	};
}

static void add_source(struct dl_verify_net *net, uint32_t s, uint32_t end_port, uint32_t *n)
{
	struct dl_verify_source new = dl_verify_net_source(net, s, end_port);

	for (uint32_t i = net->source_first[s]; i < *n; i++) {
		struct dl_verify_source *old = &net->sources[i];

		if (old->psl == new.psl &&
		    old->sls == new.sls &&same_maps(net, s, old->row, new.row)) {
			old->count++;
			return;
		}
	}
	net->sources[(*n)++] = new;
}

static int list_source_rows(struct dl_verify_net *net)
{
	size_t n = 0;

	for (uint32_t s = 0; s < net->nsw; s++)
		n += (size_t)dl_verify_net_links(net, s) *
		     (net->source_first[s + 1] - net->source_first[s]);
	net->source_rows = dl_arena_array(net->arena, n, sizeof(*net->source_rows));
	if (!net->source_rows)
		return -ENOMEM;
	n = 0;
	for (uint32_t s = 0; s < net->nsw; s++) {
		for (uint32_t i = net->source_first[s]; i < net->source_first[s + 1]; i++) {
			struct dl_verify_source *src = &net->sources[i];

			src->links = n;
			for (uint32_t l = net->links.first[s]; l < net->links.first[s + 1]; l++)
				net->source_rows[n++] =
					net->rows[src->row + net->links.link[l].out];
		}
	}
	return 0;
}

static int lay_out_sources(struct dl_verify_net *net)
{
	const struct dl_fabric *f = net->f;
	uint32_t ends = 0, sources = 0;

	for (uint32_t p = 0; p < f->nports; p++)
		net->nends += dl_verify_net_is_end(net, p);
	net->end_ports = dl_arena_array(net->arena, net->nends, sizeof(*net->end_ports));
	net->sources = dl_arena_array(net->arena, net->nends, sizeof(*net->sources));
	net->end_first = dl_arena_array(net->arena, net->nsw + 1, sizeof(*net->end_first));
	net->source_first = dl_arena_array(net->arena, net->nsw + 1, sizeof(*net->source_first));
	if (!net->end_ports || !net->sources || !net->end_first || !net->source_first)
		return -ENOMEM;
	for (uint32_t s = 0; s < net->nsw; s++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);

		net->end_first[s] = ends;
		net->source_first[s] = sources;
		for (unsigned int o = 0; o <= n->nports; o++) {
			uint32_t port = dl_fabric_end_at(f, n, o);

			if (port == DL_NONE || !dl_verify_net_is_end(net, port))
				continue;
			net->end_ports[ends++] = port;
			add_source(net, s, port, &sources);
		}
	}
	net->end_first[net->nsw] = ends;
	net->source_first[net->nsw] = sources;
	return list_source_rows(net);
}

/* ---- pairs of links ---------------------------------------------------- */

static int lay_out_pairs(struct dl_verify_net *net)
{
	size_t n = net->pair_first[net->nsw];

	net->pairs = dl_arena_array(net->arena, n, sizeof(*net->pairs));
	net->deps = dl_arena_array(net->arena, n * net->words, sizeof(*net->deps));
	if (!net->pairs || !net->deps)
		return -ENOMEM;
	net->alive = n ? 0x00FF : 0xFFFF;
	for (uint32_t l = 0; l < net->links.n; l++) {
		uint32_t s = net->links.link[l].to, first = net->links.first[s];

		for (uint32_t i = 0; i < dl_verify_net_links(net, s); i++) {
			struct dl_verify_pair *pair = &net->pairs[net->far[l].dep + i];

			pair->row = net->rows[net->far[l].row + net->links.link[first + i].out];
			pair->last = 0;
			net->alive |= net->passes[pair->row];
		}
	}
	return 0;
}

static bool same_sl(const struct dl_verify_net *net, unsigned int a, unsigned int b)
{
	for (uint32_t i = 0; i < net->nvalues; i++)
		if (dl_tables_sl2vl_get(net->values[i], a) !=
		    dl_tables_sl2vl_get(net->values[i], b))
			return false;
	for (uint32_t p = 0; p < net->f->nports; p++)
		if ((net->end_passes[p] >> a ^ net->end_passes[p] >> b) & 1)
			return false;
	return true;
}

uint16_t dl_verify_net_distinct(const struct dl_verify_net *net, uint16_t sls)
{
	uint16_t distinct = 0;

	for (unsigned int left = sls; left; left &= left - 1) {
		unsigned int sl = __builtin_ctz(left), others = distinct;

		while (others && !same_sl(net, sl, __builtin_ctz(others)))
			others &= others - 1;
		if (!others)
			distinct |= 1u << sl;
	}
	return distinct;
}

/* Does any path SL use bit 3 already? */
static bool uses_upper_sls(const struct dl_tables *t)
{
	size_t n = (size_t)t->npsl_src * t->npsl_dst;

	for (size_t i = 0; i < n; i++)
		if (t->psl[i] >= 8 && t->psl[i] < 16)
			return true;
	return false;
}

unsigned int dl_verify_net_levels(const struct dl_tables *t, const struct dl_verify_options *o)
{
	if (o->levels)
		return o->levels;
	return t->psl && uses_upper_sls(t) ? 1 : 2;
}

int dl_verify_net_init(struct dl_verify_net *net, struct dl_arena *arena, const struct dl_tables *t,
		       const struct dl_verify_options *o)
{
	int err;

	memset(net, 0, sizeof(*net));
	net->arena = arena;
	net->t = t;
	net->f = t->fabric;
	net->nsw = net->f->nswitches;
	net->sls = o->sls; /* of any, those in use show when the maps are laid out */
	net->adapters_only = o->adapters_only;
	net->orphans = o->orphans && o->orphans->n ? o->orphans : NULL;
	net->group_orphans = o->orphans;
	net->levels = dl_verify_net_levels(t, o);
	err = lay_out_links(net);
	if (!err)
		err = lay_out_maps(net);
	if (!err)
		err = lay_out_sources(net);
	if (!err)
		err = lay_out_pairs(net);
	if (!err && net->sls)
		net->sls = dl_verify_net_distinct(net, net->sls == DL_VERIFY_ANY_SL ? net->alive :
										      net->sls);
	return err;
}

void dl_verify_net_release(struct dl_verify_net *net)
{
	dl_fabric_links_release(&net->links);
}
