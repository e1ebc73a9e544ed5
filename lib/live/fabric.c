/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading a running fabric: from what a walk has found to a fabric, and the
 * frame for all the rest.
 *
 * Every query goes to its switch or adapter by the directed route of the walk,
 * so that reading works however bad the forwarding tables are that it reads.
 *
 * What does not answer is noted and left out.  The caller gets all that could
 * be read and a list of what could not.  What contradicts the rest is named and
 * left out, too: a cable of which both ends say the same goes before one that
 * one end claims, and of ports that claim the same LID the one to which its
 * switch forwards that LID owns it.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "live/internal.h"

#define MOST_GAPS 1000 /* listed */

void dl_live_options_init(struct dl_live_options *o)
{
	memset(o, 0, sizeof(*o));
	o->timeout_ms = 500;
	o->retries = 4;
	o->in_flight = 64;
	o->paths = DL_LIVE_PATHS_SOME;
}

void dl_live_gap(struct dl_live *l, const char *format, ...)
{
	va_list args;

	if (l->ngaps++ >= MOST_GAPS)
		return;
	va_start(args, format);
	vfprintf(l->gaps, format, args);
	va_end(args);
	fputc('\n', l->gaps);
}

/* ---- discovery --------------------------------------------------------- */

static int live_add_node(struct dl_fabric *f, struct dl_live_node *n)
{
	int err = dl_fabric_add_guid_node(f, n->type, n->nports, n->guid, n->desc, &n->at);
	struct dl_fabric_node *to;

	if (err)
		return err;
	to = &f->nodes[n->at];
	to->system_guid = mad_get_field64((void *)n->info, 0, IB_NODE_SYSTEM_GUID_F);
	to->device = dl_live_field(n->info, IB_NODE_DEVID_F);
	to->vendor = dl_live_field(n->info, IB_NODE_VENDORID_F);
	to->lft_cap = dl_live_field(n->switch_info, IB_SW_LINEAR_FDB_CAP_F);
	return 0;
}

static void fill_port(struct dl_live *l, uint32_t at, const struct dl_live_node *n)
{
	struct dl_fabric_port *p = &l->f->ports[at];
	const uint8_t *info = n->ports[p->num].info;

	p->width = dl_fabric_width_of_code(dl_live_field(info, IB_PORT_LINK_WIDTH_ACTIVE_F));
	p->speed = dl_fabric_speed_of_codes(dl_live_field(info, IB_PORT_LINK_SPEED_ACTIVE_F),
					    dl_live_field(info, IB_PORT_LINK_SPEED_EXT_ACTIVE_F));
	p->vls = dl_fabric_vls_of_code(dl_live_field(info, IB_PORT_OPER_VLS_F));
	p->arb_high_cap = dl_live_field(info, IB_PORT_VL_ARBITRATION_HIGH_CAP_F);
	p->arb_low_cap = dl_live_field(info, IB_PORT_VL_ARBITRATION_LOW_CAP_F);
	l->capabilities[at] = dl_live_field(info, IB_PORT_CAPMASK_F);
	l->high_limit[at] = dl_live_field(info, IB_PORT_VL_HIGH_LIMIT_F);
	if (!dl_fabric_is_end_port(l->f, at))
		return;
	p->guid = p->num ? n->ports[p->num].guid :
			   mad_get_field64((void *)n->info, 0, IB_NODE_PORT_GUID_F);
	p->lid = dl_live_field(info, IB_PORT_LID_F);
	p->lmc = dl_live_field(info, IB_PORT_LMC_F);
	if (p->guid || !p->lid)
		return;
	/* Dumps name an end port by its GUID. */
	p->guid = n->guid + p->num;
	dl_log(l->log, DL_LOG_WARNING,
	       "\"%s\" (node GUID 0x%016" PRIx64
	       ") port %u says that it has no GUID: taken for 0x%016" PRIx64,
	       n->desc, n->guid, p->num, p->guid);
}

/* What the local node's port says. */
static void fill_sm(struct dl_live *l, const struct dl_live_node *n)
{
	unsigned int port =
		n->type == DL_FABRIC_SWITCH ? 0 : dl_live_field(n->info, IB_NODE_LOCAL_PORT_F);
	const uint8_t *info;

	if (port > n->nports || !n->ports[port].answered)
		return;
	info = n->ports[port].info;
	l->sm.lid = dl_live_field(info, IB_PORT_SMLID_F);
	l->sm.sl = dl_live_field(info, IB_PORT_SMSL_F);
	l->sm.qp = 1;
	l->sm.qkey = IB_DEFAULT_QP1_QKEY;
}

static void fill_switch(struct dl_live *l, const struct dl_live_node *n, uint32_t s)
{
	struct dl_live_switch *sw = &l->switches[s];

	sw->path = n->path;
	sw->lft_top = dl_live_field(n->switch_info, IB_SW_LINEAR_FDB_TOP_F);
	sw->mft_cap = dl_live_field(n->switch_info, IB_SW_MCAST_FDB_CAP_F);
	sw->mft_top = dl_live_field(n->switch_info, IB_SW_MCAST_FDB_TOP_F);
}

/* ---- cables ------------------------------------------------------------- */

enum agreement {
	CONFIRMED, /* both ends say the same */
	CLAIMED,   /* one does, and the other does not know */
	DENIED
};

static enum agreement live_agreement(const struct dl_live_found *w, const struct dl_live_node *n,
				     unsigned int p)
{
	const struct dl_live_node *far = w->nodes[n->ports[p].far];
	unsigned int q = n->ports[p].far_num;

	if (far->left_out)
		return DENIED;
	if (far->ports[q].far != DL_NONE)
		return far->ports[q].far == n->number && far->ports[q].far_num == p ? CONFIRMED :
										      DENIED;
	/* It is up here: a port that says it is down there is another one. */
	if (far->ports[q].answered &&
	    dl_live_field(far->ports[q].info, IB_PORT_PHYS_STATE_F) != LINK_UP)
		return DENIED;
	return CLAIMED;
}

static void live_add_cable(struct dl_live *l, const struct dl_live_found *w,
			   const struct dl_live_node *n, unsigned int p, enum agreement wanted)
{
	const struct dl_live_node *far = w->nodes[n->ports[p].far];
	unsigned int q = n->ports[p].far_num;
	enum agreement a = live_agreement(w, n, p);

	if (a != wanted && (a != DENIED || wanted != CLAIMED))
		return;
	if (a != DENIED && !dl_fabric_connect(l->f, l->f->nodes[n->at].first_port + p,
					      l->f->nodes[far->at].first_port + q))
		return;
	dl_log(l->log, DL_LOG_WARNING,
	       "port %u of \"%s\" (node GUID 0x%016" PRIx64
	       ") leads to port %u of \"%s\" (0x%016" PRIx64
	       "), which says otherwise: left without a cable",
	       p, n->desc, n->guid, q, far->desc, far->guid);
}

/* First those that both ends confirm. */
static void add_cables(struct dl_live *l, const struct dl_live_found *w)
{
	for (enum agreement wanted = CONFIRMED; wanted <= CLAIMED; wanted++)
		for (uint32_t i = 0; i < w->n; i++)
			for (unsigned int p = 1; p <= w->nodes[i]->nports; p++)
				if (!w->nodes[i]->left_out && w->nodes[i]->ports[p].far != DL_NONE)
					live_add_cable(l, w, w->nodes[i], p, wanted);
}

/* ---- LIDs that several ports claim --------------------------------------- */

struct contest {
	struct dl_live *l;
	bool *contested; /* by port */
};

/* Where does the switch that a port is attached to forward its LID? */
static bool next_contest(void *context, uint32_t at[2], struct dl_live_query *q)
{
	const struct contest *c = context;
	const struct dl_fabric *f = c->l->f;

	while (at[0] < f->nports) {
		uint32_t port = at[0]++;
		uint32_t s = c->contested[port] ? dl_fabric_access_switch(f, port) : DL_NONE;

		if (s == DL_NONE)
			continue;
		q->key[0] = port;
		q->to = c->l->switches[s].path;
		q->attr = IB_ATTR_LINEARFORWTBL;
		q->mod = f->ports[port].lid / LFT_BLOCK;
		return true;
	}
	return false;
}

static void contest_answer(void *context, const struct dl_live_query *q, int status)
{
	struct contest *c = context;
	struct dl_fabric *f = c->l->f;
	struct dl_fabric_port *p = &f->ports[q->key[0]];

	if (status || q->data[p->lid % LFT_BLOCK] == dl_fabric_access_port(f, q->key[0]))
		return;
	dl_log(c->l->log, DL_LOG_WARNING,
	       "\"%s\" (node GUID 0x%016" PRIx64 ") port %u claims LID %u, as another does, and "
	       "its switch forwards that elsewhere: left without a LID",
	       dl_fabric_node_name(f, p->node), f->nodes[p->node].guid, p->num, p->lid);
	p->lid = 0;
	p->lmc = 0;
}

/* `owner`, by LID: the first port that claims it. */
static void contest_lid(struct contest *c, uint32_t *owner, uint32_t port)
{
	const struct dl_fabric_port *p = &c->l->f->ports[port];

	for (uint32_t lid = p->lid; lid < p->lid + (1u << p->lmc) && lid <= DL_FABRIC_MAX_LID;
	     lid++) {
		if (owner[lid] == DL_NONE)
			owner[lid] = port;
		else
			c->contested[port] = c->contested[owner[lid]] = true;
	}
}

/* What the switches say decides, where it can; dl_fabric_finish(), where not. */
static int settle_lids(struct dl_live *l)
{
	const struct dl_fabric *f = l->f;
	size_t size = (DL_FABRIC_MAX_LID + 1ul) * sizeof(uint32_t);
	struct contest c = { l, calloc(f->nports + 1, sizeof(*c.contested)) };
	const struct dl_live_queries list = { "contested LIDs", &c, next_contest, contest_answer };
	uint32_t *owner = malloc(size);
	int err = -ENOMEM;

	if (c.contested && owner) {
		memset(owner, 0xFF, size); /* DL_NONE */
		for (uint32_t i = 0; i < f->nports; i++)
			if (f->ports[i].lid && dl_fabric_is_end_port(f, i))
				contest_lid(&c, owner, i);
		err = dl_live_mads_run(l->mads, &list);
	}
	free(c.contested);
	free(owner);
	return err;
}

/* ---- the fabric --------------------------------------------------------- */

static int live_add_nodes(struct dl_live *l, const struct dl_live_found *w)
{
	int err = dl_fabric_new(&l->f);

	for (uint32_t i = 0; !err && i < w->n; i++)
		if (!w->nodes[i]->left_out)
			err = live_add_node(l->f, w->nodes[i]);
	/* The switches get their numbers. */
	return err ? err : dl_fabric_finish(l->f, l->log);
}

static int live_build(struct dl_live *l, const struct dl_live_found *w)
{
	int err = live_add_nodes(l, w);

	if (err)
		return err;
	l->switches = calloc(l->f->nswitches + 1, sizeof(*l->switches));
	l->capabilities = calloc(l->f->nports + 1, sizeof(*l->capabilities));
	l->high_limit = calloc(l->f->nports + 1, 1);
	if (!l->switches || !l->capabilities || !l->high_limit)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct dl_live_node *n = w->nodes[i];
		const struct dl_fabric_node *to = &l->f->nodes[n->at];

		for (unsigned int p = 0; !n->left_out && p <= n->nports; p++)
			if (n->ports[p].answered)
				fill_port(l, to->first_port + p, n);
		if (!n->left_out && n->type == DL_FABRIC_SWITCH)
			fill_switch(l, n, to->sw);
	}
	fill_sm(l, w->nodes[0]);
	add_cables(l, w);
	err = settle_lids(l);
	return err ? err : dl_fabric_finish(l->f, l->log);
}

/* ---- the whole --------------------------------------------------------- */

/* 0 or a negative errno, reported; close in either case. */
static int live_discover(const struct dl_live_options *o, const struct dl_log *log,
			 struct dl_live *l)
{
	struct dl_live_found found = { 0 };
	int err;

	*l = (struct dl_live){ .log = log, .o = *o };
	l->gaps = dl_memory_open(&l->gaps_text, &l->gaps_len);
	err = l->gaps ? dl_live_mads_open(o, log, &l->mads) : -ENOMEM;
	if (!err)
		err = dl_live_walk(l, &found);
	if (!err && found.n < 2)
		err = dl_fail(log, -ENODEV,
			      "discovery found no fabric: is the local InfiniBand port up, and are "
			      "you root?");
	if (!err)
		err = live_build(l, &found);
	dl_live_found_free(&found);
	return err;
}

static void close_live(struct dl_live *l)
{
	dl_live_mads_close(l->mads);
	dl_fabric_free(l->f);
	free(l->switches);
	free(l->capabilities);
	free(l->high_limit);
	free(l->marks);
	if (l->gaps)
		fclose(l->gaps);
	free(l->gaps_text);
}

int dl_live_fabric(const struct dl_live_options *o, const struct dl_log *log,
		   struct dl_fabric **out)
{
	struct dl_live l;
	int err = live_discover(o, log, &l);

	if (!err) {
		*out = l.f;
		l.f = NULL;
	}
	close_live(&l);
	return err;
}

/* Hand the list of gaps over, if there are any. */
static int take_gaps(struct dl_live *l, struct dl_snapshot *s)
{
	int err;

	if (!l->ngaps)
		return 0;
	if (l->ngaps > MOST_GAPS)
		fprintf(l->gaps, "and %" PRIu64 " more\n", l->ngaps - MOST_GAPS);
	err = fclose(l->gaps);
	l->gaps = NULL;
	if (err)
		return -ENOMEM;
	s->parts |= DL_SNAPSHOT_IS_PARTIAL;
	err = dl_snapshot_add_note(s, "dateline-partial.txt", l->gaps_text, l->gaps_len);
	l->gaps_text = NULL;
	return err;
}

int dl_live_read(const struct dl_live_options *o, const struct dl_log *log, struct dl_snapshot *out,
		 struct dl_torus_mark **marks)
{
	struct dl_snapshot s = { 0 };
	struct dl_live l;
	int err = live_discover(o, log, &l);

	if (!err && !l.f->top_lid)
		err = dl_fail(log, -ENOTCONN,
			      "no port of this fabric has a LID: is there a subnet manager?");
	if (!err)
		err = dl_tables_new(l.f, &s.tables);
	if (!err)
		err = dl_live_tables(&l, s.tables);
	if (!err)
		err = dl_live_path_sls(&l, s.tables);
	if (!err)
		err = take_gaps(&l, &s);
	if (err) {
		dl_snapshot_release(&s);
	} else {
		s.fabric = l.f;
		s.parts |= DL_SNAPSHOT_HAS_LFTS | DL_SNAPSHOT_HAS_SL2VL | DL_SNAPSHOT_HAS_MCFDBS |
			   DL_SNAPSHOT_HAS_VLARB | (s.tables->psl ? DL_SNAPSHOT_HAS_PSL : 0);
		s.about.fabric = dl_snapshot_fabric_id(l.f);
		if (s.tables->psl)
			s.about.sls = DL_SNAPSHOT_SLS_ASKED;
		l.f = NULL;
		*out = s;
		*marks = l.marks;
		l.marks = NULL;
	}
	close_live(&l);
	return err;
}
