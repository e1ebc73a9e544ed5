/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading a running fabric: discovery, and the frame for all the rest.
 *
 * libibnetdisc finds nodes, ports and cables; every further query goes to its
 * switch or adapter by the directed route found then, so that reading works
 * however bad the forwarding tables are that it reads.
 *
 * What does not answer is noted and left out.  The caller gets all that could
 * be read and a list of what could not.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ibnetdisc.h>

#include "live/internal.h"
#include "dateline/base.h"

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

ib_portid_t dl_live_route(const struct dl_live *l, uint32_t end_port)
{
	const struct dl_fabric *f = l->f;
	uint32_t s = dl_fabric_access_switch(f, end_port);
	ib_portid_t path;

	if (s == DL_NONE)
		return l->self;
	path = l->switches[s].path;
	if (f->ports[end_port].num && path.drpath.cnt + 1 < (int)sizeof(path.drpath.p))
		path.drpath.p[++path.drpath.cnt] = f->ports[f->ports[end_port].peer].num;
	return path;
}

/* ---- discovery --------------------------------------------------------- */

static uint32_t field(const void *info, enum MAD_FIELDS which)
{
	return mad_get_field((void *)info, 0, which);
}

static uint8_t width_of(const void *info)
{
	static const uint8_t lanes[] = { [1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2 };
	uint32_t code = field(info, IB_PORT_LINK_WIDTH_ACTIVE_F);

	return code < sizeof(lanes) ? lanes[code] : 0;
}

static uint8_t speed_of(const void *info)
{
	static const uint8_t plain[] = {
		[1] = DL_FABRIC_SDR, [2] = DL_FABRIC_DDR, [4] = DL_FABRIC_QDR
	};
	static const uint8_t extended[] = {
		[1] = DL_FABRIC_FDR, [2] = DL_FABRIC_EDR, [4] = DL_FABRIC_HDR, [8] = DL_FABRIC_NDR
	};
	uint32_t more = field(info, IB_PORT_LINK_SPEED_EXT_ACTIVE_F);
	uint32_t code = field(info, IB_PORT_LINK_SPEED_ACTIVE_F);

	if (more && more < sizeof(extended))
		return extended[more];
	return code < sizeof(plain) ? plain[code] : DL_FABRIC_SPEED_UNKNOWN;
}

static uint8_t vls_of(const void *info)
{
	static const uint8_t counts[] = { 0, 1, 2, 4, 8, 15 };
	uint32_t code = field(info, IB_PORT_OPER_VLS_F);

	return code < sizeof(counts) ? counts[code] : 0;
}

static int add_node(struct dl_fabric *f, const ibnd_node_t *n)
{
	static const char letters[] = {
		[DL_FABRIC_CA] = 'H', [DL_FABRIC_SWITCH] = 'S', [DL_FABRIC_ROUTER] = 'R'
	};
	uint32_t node;
	char id[24];
	int err;

	if (n->type < DL_FABRIC_CA || n->type > DL_FABRIC_ROUTER)
		return 0;
	snprintf(id, sizeof(id), "%c-%016" PRIx64, letters[n->type], n->guid);
	err = dl_fabric_add_node(f, n->type, n->numports, n->guid, id, &node);
	if (!err)
		err = dl_fabric_set_desc(f, node, n->nodedesc);
	if (err)
		return err;
	f->nodes[node].system_guid = mad_get_field64((void *)n->info, 0, IB_NODE_SYSTEM_GUID_F);
	f->nodes[node].device = field(n->info, IB_NODE_DEVID_F);
	f->nodes[node].vendor = field(n->info, IB_NODE_VENDORID_F);
	return 0;
}

static void fill_port(struct dl_live *l, uint32_t at, const ibnd_node_t *n, const ibnd_port_t *from)
{
	struct dl_fabric_port *p = &l->f->ports[at];

	p->width = width_of(from->info);
	p->speed = speed_of(from->info);
	p->vls = vls_of(from->info);
	p->arb_high_cap = field(from->info, IB_PORT_VL_ARBITRATION_HIGH_CAP_F);
	p->arb_low_cap = field(from->info, IB_PORT_VL_ARBITRATION_LOW_CAP_F);
	l->capabilities[at] = field(from->info, IB_PORT_CAPMASK_F);
	l->high_limit[at] = field(from->info, IB_PORT_VL_HIGH_LIMIT_F);
	if (!dl_fabric_is_end_port(l->f, at))
		return;
	p->guid = from->guid;
	p->lid = p->num ? from->base_lid : n->smalid;
	p->lmc = p->num ? from->lmc : n->smalmc;
}

static int fill_ports(struct dl_live *l, const ibnd_node_t *n, uint32_t node)
{
	const struct dl_fabric *f = l->f;
	int err = 0;

	for (int i = 0; i <= n->numports && !err; i++) {
		const ibnd_port_t *from = n->ports[i], *far;
		uint32_t at = f->nodes[node].first_port + i, other;

		if (!from)
			continue;
		fill_port(l, at, n, from);
		far = from->remoteport;
		if (!i || !far || !far->node || far->portnum <= 0)
			continue;
		other = dl_fabric_find_guid(f, far->node->guid);
		if (other == DL_NONE || far->portnum > f->nodes[other].nports)
			continue;
		err = dl_fabric_connect(l->f, at, f->nodes[other].first_port + far->portnum);
	}
	return err;
}

static void fill_switch(struct dl_live *l, const ibnd_node_t *n, uint32_t s)
{
	struct dl_live_switch *sw = &l->switches[s];

	sw->path = n->path_portid;
	sw->path.lid = 0;
	sw->lft_top = field(n->switchinfo, IB_SW_LINEAR_FDB_TOP_F);
	sw->mft_cap = field(n->switchinfo, IB_SW_MCAST_FDB_CAP_F);
	sw->mft_top = field(n->switchinfo, IB_SW_MCAST_FDB_TOP_F);
}

/* Nodes first; a fabric's GUIDs can be looked up once it is finished. */
static int build(struct dl_live *l, const ibnd_fabric_t *found)
{
	const ibnd_node_t *n;
	int err = dl_fabric_new(&l->f);

	for (n = found->nodes; n && !err; n = n->next)
		err = add_node(l->f, n);
	if (!err)
		err = dl_fabric_finish(l->f, l->log);
	if (err)
		return err;
	l->switches = calloc(l->f->nswitches + 1, sizeof(*l->switches));
	l->capabilities = calloc(l->f->nports + 1, sizeof(*l->capabilities));
	l->high_limit = calloc(l->f->nports + 1, 1);
	if (!l->switches || !l->capabilities || !l->high_limit)
		return -ENOMEM;
	for (n = found->nodes; n && !err; n = n->next) {
		uint32_t node = dl_fabric_find_guid(l->f, n->guid);

		if (node == DL_NONE)
			continue;
		err = fill_ports(l, n, node);
		if (dl_fabric_is_switch(l->f, node))
			fill_switch(l, n, l->f->nodes[node].sw);
	}
	return err ? err : dl_fabric_finish(l->f, l->log);
}

int dl_live_discover(struct dl_live *l)
{
	struct ibnd_config config = {
		.max_smps = l->o.in_flight < 16 ? l->o.in_flight : 16,
		.timeout_ms = l->o.timeout_ms,
		.retries = l->o.retries,
	};
	ibnd_fabric_t *found;
	int err;

	found = ibnd_discover_fabric((char *)l->o.ca, l->o.port, NULL, &config);
	if (!found) {
		dl_log(l->log, DL_LOG_ERROR,
		       "discovery found no fabric: is the "
		       "local InfiniBand port up, and are you root?");
		return -ENODEV;
	}
	err = build(l, found);
	ibnd_destroy_fabric(found);
	if (err == -EBUSY) {
		dl_log(l->log, DL_LOG_ERROR,
		       "the cabling changed during "
		       "discovery: try again");
		return -EAGAIN;
	}
	return err;
}

/* ---- the whole --------------------------------------------------------- */

static int open_live(const struct dl_live_options *o, const struct dl_log *log, struct dl_live *l)
{
	memset(l, 0, sizeof(*l));
	l->log = log;
	l->o = *o;
	l->gaps = open_memstream(&l->gaps_text, &l->gaps_len);
	return l->gaps ? 0 : -ENOMEM;
}

static void close_live(struct dl_live *l)
{
	dl_live_mads_close(l->mads);
	dl_fabric_free(l->f);
	free(l->switches);
	free(l->capabilities);
	free(l->high_limit);
	if (l->gaps)
		fclose(l->gaps);
	free(l->gaps_text);
}

int dl_live_fabric(const struct dl_live_options *o, const struct dl_log *log,
		   struct dl_fabric **out)
{
	struct dl_live l;
	int err = open_live(o, log, &l);

	if (!err)
		err = dl_live_discover(&l);
	if (!err) {
		*out = l.f;
		l.f = NULL;
	}
	close_live(&l);
	return err;
}

/* Hand the list of gaps over, as text; NULL when there are none. */
static int take_gaps(struct dl_live *l, char **gaps)
{
	*gaps = NULL;
	if (!l->ngaps)
		return 0;
	if (l->ngaps > MOST_GAPS)
		fprintf(l->gaps, "and %" PRIu64 " more\n", l->ngaps - MOST_GAPS);
	if (fclose(l->gaps)) {
		l->gaps = NULL;
		return -ENOMEM;
	}
	l->gaps = NULL;
	*gaps = l->gaps_text;
	l->gaps_text = NULL;
	return 0;
}

int dl_live_read(const struct dl_live_options *o, const struct dl_log *log, struct dl_snapshot *out,
		 char **gaps)
{
	struct dl_snapshot s = { 0 };
	struct dl_live l;
	int err = open_live(o, log, &l);

	if (!err)
		err = dl_live_discover(&l);
	if (!err && !l.f->top_lid) {
		dl_log(log, DL_LOG_ERROR,
		       "no port of this fabric has a LID: is "
		       "there a subnet manager?");
		err = -ENOTCONN;
	}
	if (!err)
		err = dl_tables_new(l.f, &s.tables);
	if (!err)
		err = dl_live_mads_open(o, log, &l.mads);
	if (!err)
		err = dl_live_tables(&l, s.tables);
	if (!err)
		err = dl_live_path_sls(&l, s.tables);
	if (!err)
		err = take_gaps(&l, gaps);
	if (err) {
		dl_snapshot_release(&s);
	} else {
		s.fabric = l.f;
		s.parts = DL_SNAPSHOT_HAS_LFTS | DL_SNAPSHOT_HAS_SL2VL | DL_SNAPSHOT_HAS_MCFDBS |
			  DL_SNAPSHOT_HAS_VLARB | (s.tables->psl ? DL_SNAPSHOT_HAS_PSL : 0) |
			  (*gaps ? DL_SNAPSHOT_IS_PARTIAL : 0);
		l.f = NULL;
		*out = s;
	}
	close_live(&l);
	return err;
}
