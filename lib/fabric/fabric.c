/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Building and indexing a fabric.
 *
 * Problem.  Readers of four kinds (netlist, subnet list, live subnet, OpenSM)
 * hand in nodes and cables in any order; everything behind them wants dense
 * arrays, with switches, GUIDs and LIDs found in a step or a few.
 *
 * Invariants.  A node's ports are contiguous and never move relative to it;
 * arrays grow by doubling, so indices stay valid while pointers do not.  A
 * cable is stored at both ends or at neither.  After dl_fabric_finish() no
 * two nodes share a GUID and no two end ports a LID: of ports that claim the
 * same one, all but one have lost theirs.
 *
 * Complexity.  Adding is constant per node and port, amortised; finishing is
 * O(n log n) for the GUIDs and O(n + LIDs) for the rest; giving out LIDs is
 * one sweep over the LID space for each of the two range sizes.
 *
 * Limits.  Indices are 32 bits, DL_NONE excluded.
 */
#include "config.h"

#include "fabric/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DL_LID_SPACE (DL_FABRIC_MAX_LID + 1u)
#define GUID_PASSES 8
#define NO_LID 0xFFFF /* of a port that no subnet manager has met */

/* What a port is taken for until somebody says otherwise (see ibsim). */
static const struct dl_fabric_port port_defaults = {
	.peer = DL_NONE,
	.width = 4,
	.speed = DL_FABRIC_SDR,
	.vls = 8,
	.arb_high_cap = 8,
	.arb_low_cap = 8,
};

static int fabric_add_name(struct dl_fabric *f, const char *name, uint32_t *out)
{
	size_t len = strlen(name) + 1;

	if (len == 1) {
		*out = 0;
		return 0;
	}
	if (!dl_array_room(f->names, f->names_len, len, &f->names_cap))
		return -ENOMEM;
	memcpy(f->names + f->names_len, name, len);
	*out = f->names_len;
	f->names_len += dl_text_clean(f->names + f->names_len) + 1;
	return 0;
}

int dl_fabric_new(struct dl_fabric **out)
{
	struct dl_fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	if (!dl_array_room(f->names, 0, 1, &f->names_cap)) {
		free(f);
		return -ENOMEM;
	}
	f->names[0] = '\0';
	f->names_len = 1;
	*out = f;
	return 0;
}

void dl_fabric_free(struct dl_fabric *f)
{
	if (!f)
		return;
	free(f->nodes);
	free(f->ports);
	free(f->switches);
	free(f->lid_port);
	free(f->by_guid);
	free(f->names);
	free(f);
}

unsigned int dl_fabric_ports(const struct dl_log *log, unsigned int claimed, uint64_t guid,
			     const char *name)
{
	unsigned int n = claimed < 1 ? 1 : claimed;

	n = n > DL_FABRIC_MAX_PORTS ? DL_FABRIC_MAX_PORTS : n;
	if (n != claimed)
		dl_log(log, DL_LOG_WARNING,
		       "\"%.64s\" (node GUID 0x%016" PRIx64 ") claims %u ports, where 1 to %u are "
		       "possible: taken for %u",
		       name, guid, claimed, DL_FABRIC_MAX_PORTS, n);
	return n;
}

int dl_fabric_add_node(struct dl_fabric *f, enum dl_fabric_node_type type, unsigned int nports,
		       uint64_t guid, const char *id, uint32_t *out)
{
	struct dl_fabric_node *node;
	uint32_t name;
	int err;

	if (nports < 1 || nports > DL_FABRIC_MAX_PORTS)
		return -EINVAL;
	if (!dl_array_room(f->nodes, f->nnodes, 1, &f->nodes_cap) ||
	    !dl_array_room(f->ports, f->nports, nports + 1, &f->ports_cap))
		return -ENOMEM;
	err = fabric_add_name(f, id, &name);
	if (err)
		return err;

	node = &f->nodes[f->nnodes];
	*node = (struct dl_fabric_node){
		.guid = guid,
		.first_port = f->nports,
		.sw = DL_NONE,
		.id = name,
		.type = type,
		.nports = nports,
	};
	for (unsigned int i = 0; i <= nports; i++) {
		struct dl_fabric_port *p = &f->ports[f->nports + i];

		*p = port_defaults;
		p->node = f->nnodes;
		p->num = i;
	}
	f->nports += nports + 1;
	if (out)
		*out = f->nnodes;
	f->nnodes++;
	return 0;
}

int dl_fabric_set_desc(struct dl_fabric *f, uint32_t node, const char *desc)
{
	return fabric_add_name(f, desc, &f->nodes[node].desc);
}

int dl_fabric_add_guid_node(struct dl_fabric *f, enum dl_fabric_node_type type, unsigned int nports,
			    uint64_t guid, const char *desc, uint32_t *out)
{
	char id[24];
	int err;

	snprintf(id, sizeof(id), "%c-%016" PRIx64, dl_fabric_letter(type), guid);
	err = dl_fabric_add_node(f, type, nports, guid, id, out);
	return err ? err : dl_fabric_set_desc(f, *out, desc);
}

int dl_fabric_connect(struct dl_fabric *f, uint32_t a, uint32_t b)
{
	struct dl_fabric_port *pa, *pb;

	if (a >= f->nports || b >= f->nports || a == b)
		return -EINVAL;
	pa = &f->ports[a];
	pb = &f->ports[b];
	if (!pa->num || !pb->num)
		return -EINVAL;
	if (pa->peer == b && pb->peer == a)
		return 0;
	if (pa->peer != DL_NONE || pb->peer != DL_NONE)
		return -EBUSY;
	pa->peer = b;
	pb->peer = a;
	return 0;
}

/* ---- indices ------------------------------------------------------------ */

int dl_fabric_compare_guids(const void *left, const void *right)
{
	const struct dl_fabric_guid_key *a = left, *b = right;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Nodes without a GUID come first; they clash with no other. */
static int index_guids(struct dl_fabric *f, const struct dl_log *log, uint32_t **out)
{
	struct dl_fabric_guid_key *keys = calloc(f->nnodes + 1ul, sizeof(*keys));
	uint32_t *by_guid = calloc(f->nnodes + 1ul, sizeof(*by_guid));
	int err = 0;

	if (!keys || !by_guid) {
		err = -ENOMEM;
		goto out;
	}
	for (uint32_t i = 0; i < f->nnodes; i++)
		keys[i] = (struct dl_fabric_guid_key){ f->nodes[i].guid, i };
	qsort(keys, f->nnodes, sizeof(*keys), dl_fabric_compare_guids);
	for (uint32_t i = 0; i < f->nnodes; i++) {
		by_guid[i] = keys[i].node;
		if (!i || !keys[i].guid || keys[i].guid != keys[i - 1].guid)
			continue;
		dl_log(log, DL_LOG_ERROR, "GUID 0x%016llx belongs to both \"%s\" and \"%s\"",
		       (unsigned long long)keys[i].guid, dl_fabric_node_name(f, keys[i - 1].node),
		       dl_fabric_node_name(f, keys[i].node));
		err = -EINVAL;
	}
out:
	free(keys);
	if (err)
		free(by_guid);
	else
		*out = by_guid;
	return err;
}

static uint64_t usual_guid(const struct dl_fabric *f, uint32_t port)
{
	return f->nodes[f->ports[port].node].guid + f->ports[port].num;
}

/* Takes for a port's GUID the one that follows from its node. */
static bool renumber_port(struct dl_fabric *f, const struct dl_log *log, uint32_t port)
{
	struct dl_fabric_port *p = &f->ports[port];

	if (p->guid == usual_guid(f, port))
		return false;
	dl_log(log, DL_LOG_WARNING,
	       "\"%.64s\" (node GUID 0x%016" PRIx64 ") port %u claims port GUID 0x%016" PRIx64
	       ", which is that of another: taken for 0x%016" PRIx64,
	       dl_fabric_node_name(f, p->node), f->nodes[p->node].guid, p->num, p->guid,
	       usual_guid(f, port));
	p->guid = usual_guid(f, port);
	return true;
}

/* Of ports that say the same, all but the one that follows from its node, or the first. */
static bool renumber_ports(struct dl_fabric *f, const struct dl_log *log,
			   const struct dl_fabric_guid_key *keys, uint32_t n)
{
	uint32_t owner = 0;
	bool changed = false;

	for (uint32_t i = n; i-- > 0;)
		if (keys[i].guid == usual_guid(f, keys[i].node))
			owner = i;
	for (uint32_t i = 0; i < n; i++)
		if (i != owner)
			changed |= renumber_port(f, log, keys[i].node);
	return changed;
}

/*
 * Dumps name end ports by their GUIDs: those that say another's get the ones that
 * follow from their nodes, as adapters number their ports.  Such a GUID may be what
 * yet another one says; each port gives way once, so some passes end it.
 */
static int settle_port_guids(struct dl_fabric *f, const struct dl_log *log)
{
	struct dl_fabric_guid_key *keys = calloc(f->nports + 1ul, sizeof(*keys));
	bool changed = true;

	if (!keys)
		return -ENOMEM;
	for (unsigned int pass = 0; changed && pass < GUID_PASSES; pass++) {
		uint32_t n = 0;

		changed = false;
		for (uint32_t i = 0; i < f->nports; i++)
			if (f->ports[i].guid && dl_fabric_is_end_port(f, i))
				keys[n++] = (struct dl_fabric_guid_key){ f->ports[i].guid, i };
		qsort(keys, n, sizeof(*keys), dl_fabric_compare_guids);
		for (uint32_t i = 0, end; i < n; i = end) {
			for (end = i + 1; end < n && keys[end].guid == keys[i].guid;)
				end++;
			if (end - i > 1)
				changed |= renumber_ports(f, log, keys + i, end - i);
		}
	}
	free(keys);
	return 0;
}

static void index_switches(const struct dl_fabric *f, uint32_t *switches, uint32_t *count)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nnodes; i++) {
		if (dl_fabric_is_switch(f, i)) {
			f->nodes[i].sw = n;
			switches[n++] = i;
		}
	}
	*count = n;
}

/* A port that claims what it cannot have is named, and has no LIDs. */
static void drop_lids(struct dl_fabric *f, const struct dl_log *log, uint32_t port,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));

static void drop_lids(struct dl_fabric *f, const struct dl_log *log, uint32_t port,
		      const char *format, ...)
{
	struct dl_fabric_port *p = &f->ports[port];
	char why[256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	dl_log(log, DL_LOG_WARNING,
	       "\"%.64s\" (node GUID 0x%016" PRIx64 ") port %u claims LID %u with LMC %u, %s: left "
	       "without a LID",
	       dl_fabric_node_name(f, p->node), f->nodes[p->node].guid, p->num, p->lid, p->lmc,
	       why);
	p->lid = 0;
	p->lmc = 0;
}

/* Enter one end port's range, unless it does not fit below `limit`. */
static void enter_lids(struct dl_fabric *f, const struct dl_log *log, uint32_t port,
		       uint32_t *lid_port, uint32_t limit)
{
	struct dl_fabric_port *p = &f->ports[port];
	uint32_t lid, end = p->lid + (1u << (p->lmc & 31));

	if (p->lid == NO_LID) {
		p->lid = 0;
		p->lmc = 0;
		return;
	}
	if (p->lmc > DL_FABRIC_MAX_LMC || end > DL_LID_SPACE) {
		drop_lids(f, log, port, "where unicast LIDs are 1 to %u", DL_FABRIC_MAX_LID);
		return;
	}
	if (end > limit) {
		drop_lids(f, log, port, "where forwarding tables of switches end at %u", limit - 1);
		return;
	}
	for (lid = p->lid; lid < end; lid++) {
		uint32_t other = lid_port[lid];

		if (other == DL_NONE)
			continue;
		drop_lids(f, log, port,
			  "where LID %u is that of \"%.64s\" (node GUID 0x%016" PRIx64 ") port %u",
			  lid, dl_fabric_node_name(f, f->ports[other].node),
			  f->nodes[f->ports[other].node].guid, f->ports[other].num);
		return;
	}
	for (lid = p->lid; lid < end; lid++)
		lid_port[lid] = port;
}

/*
 * Who claims least is believed first: one adapter that claims 128 LIDs leaves
 * the others theirs.  And switches before adapters, whose hosts may have made
 * them say what they like.
 */
static unsigned int claim_rank(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port];
	unsigned int lmc = p->lmc > DL_FABRIC_MAX_LMC ? DL_FABRIC_MAX_LMC : p->lmc;

	return 2 * lmc + !dl_fabric_is_switch(f, p->node);
}

/* What cannot be reached if a switch is left out: itself, and the adapters at it. */
static uint32_t ends_at(const struct dl_fabric *f, const struct dl_fabric_node *sw)
{
	uint32_t n = 1;

	for (unsigned int i = 1; i <= sw->nports; i++)
		n += dl_fabric_end_at(f, sw, i) != DL_NONE;
	return n;
}

/* The last LID that a port claims, or 0 if it claims none, or no unicast LIDs. */
static uint32_t last_claimed(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port];
	uint32_t last = p->lid + (1u << (p->lmc & 31)) - 1;

	return p->lid && dl_fabric_is_end_port(f, port) && last <= DL_FABRIC_MAX_LID ? last : 0;
}

/*
 * The LID below which all are to be, up to `last` and one more: where this costs
 * the fewest end ports, those with higher LIDs or those of switches whose
 * forwarding tables end before.  Of the same cost, the highest.
 */
static int limit_lids(const struct dl_fabric *f, uint32_t last, uint32_t *limit)
{
	uint32_t *rise, cost = 0, least = UINT32_MAX, n = 0;

	*limit = last + 1;
	for (uint32_t i = 0; i < f->nnodes; i++)
		n += f->nodes[i].lft_cap && f->nodes[i].lft_cap <= last;
	if (!n)
		return 0;
	/* From limit to limit; modulo 2^32, for it also falls. */
	rise = calloc(last + 2, sizeof(*rise));
	if (!rise)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nports; i++)
		if (last_claimed(f, i)) {
			rise[1]++;
			rise[last_claimed(f, i) + 1]--;
		}
	for (uint32_t i = 0; i < f->nnodes; i++)
		if (f->nodes[i].lft_cap && f->nodes[i].lft_cap <= last)
			rise[f->nodes[i].lft_cap + 1] += ends_at(f, &f->nodes[i]);
	for (uint32_t l = 1; l <= last + 1; l++) {
		cost += rise[l];
		*limit = cost <= least ? l : *limit;
		least = cost <= least ? cost : least;
	}
	free(rise);
	return 0;
}

/*
 * *out gets a port for each LID up to the highest that is claimed, and `more` after
 * it, all below *end; *top is the highest LID in use.
 */
static int index_lids(struct dl_fabric *f, const struct dl_log *log, uint32_t more, uint32_t **out,
		      uint32_t *end, uint16_t *top)
{
	uint32_t *lid_port, ranks = 0, last = 0, limit;
	int err;

	for (uint32_t i = 0; i < f->nports; i++) {
		uint32_t highest = last_claimed(f, i);

		if (f->ports[i].lid && dl_fabric_is_end_port(f, i))
			ranks |= 1u << claim_rank(f, i);
		last = highest > last ? highest : last;
	}
	err = limit_lids(f, last, &limit);
	if (err)
		return err;
	*end = last + more < DL_LID_SPACE ? last + more + 1 : DL_LID_SPACE;
	lid_port = malloc(*end * sizeof(*lid_port));
	if (!lid_port)
		return -ENOMEM;
	memset(lid_port, 0xff, *end * sizeof(*lid_port));
	for (uint32_t rank = 0; ranks >> rank; rank++)
		for (uint32_t i = 0; ranks >> rank & 1 && i < f->nports; i++)
			if (f->ports[i].lid && dl_fabric_is_end_port(f, i) &&
			    claim_rank(f, i) == rank)
				enter_lids(f, log, i, lid_port, limit);
	*top = last;
	while (*top && lid_port[*top] == DL_NONE)
		--*top;
	*out = lid_port;
	return 0;
}

int dl_fabric_finish(struct dl_fabric *f, const struct dl_log *log)
{
	uint32_t *switches = calloc(f->nnodes + 1ul, sizeof(*switches));
	uint32_t *by_guid = NULL, *lid_port = NULL, end;
	uint16_t top_lid = 0;
	int err;

	if (!switches)
		return -ENOMEM;
	err = index_guids(f, log, &by_guid);
	if (!err)
		err = settle_port_guids(f, log);
	if (!err)
		err = index_lids(f, log, 0, &lid_port, &end, &top_lid);
	if (err) {
		free(switches);
		free(by_guid);
		return err;
	}
	free(f->switches);
	free(f->by_guid);
	free(f->lid_port);
	f->switches = switches;
	f->by_guid = by_guid;
	f->lid_port = lid_port;
	f->top_lid = top_lid;
	index_switches(f, f->switches, &f->nswitches);
	return 0;
}

int dl_fabric_widen(struct dl_fabric *f, uint16_t top)
{
	uint32_t *lid_port;

	if (top <= f->top_lid)
		return 0;
	lid_port = realloc(f->lid_port, (top + 1ul) * sizeof(*lid_port));
	if (!lid_port)
		return -ENOMEM;
	f->lid_port = lid_port;
	while (f->top_lid < top)
		lid_port[++f->top_lid] = DL_NONE;
	return 0;
}

/* ---- LIDs --------------------------------------------------------------- */

/*
 * The lowest free aligned range of `size` LIDs from *next upwards.  LIDs are
 * never given back, so the next search for this size starts where this one
 * ended.
 */
static int take_range(uint32_t *lid_port, uint32_t end, uint32_t size, uint32_t *next,
		      uint32_t port)
{
	uint32_t i;

	for (uint32_t base = *next; base + size <= end; base += size) {
		for (i = 0; i < size && lid_port[base + i] == DL_NONE; i++)
			;
		if (i < size)
			continue;
		for (i = 0; i < size; i++)
			lid_port[base + i] = port;
		*next = base + size;
		return base;
	}
	return -ENOSPC;
}

/* Ports that a subnet manager can reach, and that have no LID. */
static bool wants_lid(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port];

	if (p->lid || !dl_fabric_is_end_port(f, port))
		return false;
	return p->peer != DL_NONE || dl_fabric_is_switch(f, p->node);
}

int dl_fabric_assign_lids(struct dl_fabric *f, unsigned int lmc)
{
	/* Where to look next, for one LID and for 2^lmc of them. */
	uint32_t next[2] = { 1, 1u << (lmc & 7) };
	uint32_t *lid_port, end, more = 1u << (lmc & 7);
	uint16_t top;
	int base, err;

	if (lmc > DL_FABRIC_MAX_LMC)
		return -EINVAL;
	for (uint32_t i = 0; i < f->nports; i++)
		if (wants_lid(f, i))
			more += 1u << lmc;
	err = index_lids(f, NULL, more, &lid_port, &end, &top);
	if (err)
		return err;
	for (uint32_t i = 0; i < f->nports; i++) {
		bool many;

		if (!wants_lid(f, i))
			continue;
		many = !dl_fabric_is_switch(f, f->ports[i].node);
		base = take_range(lid_port, end, many ? 1u << lmc : 1, &next[many], i);
		if (base < 0)
			goto undo;
		if (next[many] > top)
			top = next[many] - 1;
	}

	/* All fit: only now touch the ports, each at the first of its LIDs. */
	for (uint32_t i = 1; i <= top; i++) {
		struct dl_fabric_port *p;

		if (lid_port[i] == DL_NONE)
			continue;
		p = &f->ports[lid_port[i]];
		if (p->lid)
			continue;
		p->lid = i;
		p->lmc = dl_fabric_is_switch(f, p->node) ? 0 : lmc;
	}
	free(f->lid_port);
	f->lid_port = lid_port;
	f->top_lid = top;
	return 0;
undo:
	free(lid_port);
	return base;
}

/* ---- look-ups ----------------------------------------------------------- */

uint32_t dl_fabric_find_guid(const struct dl_fabric *f, uint64_t guid)
{
	uint32_t at;

	if (!guid || !f->by_guid)
		return DL_NONE;
	at = dl_array_count_before(i, f->nnodes, f->nodes[f->by_guid[i]].guid < guid);
	return at < f->nnodes && f->nodes[f->by_guid[at]].guid == guid ? f->by_guid[at] : DL_NONE;
}

uint32_t dl_fabric_access_switch(const struct dl_fabric *f, uint32_t end_port)
{
	uint32_t node = f->ports[end_port].node;

	if (!dl_fabric_is_switch(f, node))
		node = dl_fabric_peer_node(f, end_port);
	if (node == DL_NONE)
		return DL_NONE;
	return f->nodes[node].sw;
}
