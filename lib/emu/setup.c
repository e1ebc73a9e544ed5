/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Setting up an emulation, and giving it new tables.
 *
 * Everything is allocated here, in arrays by port, channel, switch, adapter
 * and flow; packets and events grow to what is in use at the worst moment and
 * stay there.  Ports with the same arbitration tables and capabilities share
 * one compiled program.
 *
 * New tables come with a fabric of their own.  Nodes are found again by GUID;
 * a switch that the new fabric lacks keeps its tables, as a switch does that
 * the subnet manager cannot reach.
 */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "emu/run.h"
#include "dateline/base.h"

void dl_emu_config_init(struct dl_emu_config *c)
{
	*c = (struct dl_emu_config){
		.switching = DL_EMU_CUT_THROUGH,
		.flow_control = DL_LINK_CREDIT_IBA,
		.mtu = 2048,
		.flit = 64,
		.buffer = 8 * 33,
		.chunk = 1,
		.smp_buffer = 4,
		.switch_latency_ps = 100000,
		.cable_mm_all = 2000,
		.tenure = DL_EMU_TENURE_DEFAULT,
		.eager = 65535,
		.check_ps = UINT64_C(100000000),
		.threads = 1,
	};
	c->congestion = (struct dl_emu_congestion){
		.increase = 1,
		.limit = DL_EMU_CCT_MAX - 1,
		.marking_rate = 1,
		.timer_ps = 30720000, /* 30 units of 1.024 us */
		.becn_ps = 2000000,
	};
	for (uint32_t i = 0; i < DL_EMU_CCT_MAX; i++)
		c->congestion.table[i] = i * i * UINT64_C(1000000) / 256;
	dl_link_arb_options_init(&c->arbitration);
}

/* ---- is it possible? --------------------------------------------------- */

int dl_emu_refuse(const struct dl_log *log, const char *why)
{
	return dl_fail(log, -EINVAL, "emulation: %s", why);
}

uint32_t dl_emu_least_buffer(const struct dl_emu_config *c)
{
	uint32_t bytes = c->switching == DL_EMU_WORMHOLE ? c->flit :
							   c->mtu + DL_EMU_MCAST_HEADERS - 10;

	return c->chunk * dl_link_credit_units(c->flow_control, bytes);
}

static int check_config(const struct dl_emu_config *c, const struct dl_log *log)
{
	if (c->mtu < 256 || c->mtu > 4096)
		return dl_emu_refuse(log, "the MTU must be 256 to 4096 bytes");
	if (c->switching == DL_EMU_WORMHOLE && (!c->flit || c->flit % 64 || c->flit > 4096))
		return dl_emu_refuse(log, "flits must be a multiple of 64 bytes, at "
					  "most 4096");
	if (c->buffer > DL_EMU_BUFFER_MAX ||
	    (c->flow_control == DL_LINK_CREDIT_PCIE && c->buffer > DL_LINK_CREDIT_WINDOW))
		return dl_emu_refuse(log, "the buffer of a VL holds at most 32767 blocks, "
					  "or 2048 packets");
	if (!c->chunk || (c->flow_control == DL_LINK_CREDIT_PCIE && c->chunk > 1))
		return dl_emu_refuse(log, "chunks of several blocks need flow control iba");
	if (c->buffer < dl_emu_least_buffer(c))
		return dl_emu_refuse(log, "the buffer of a VL cannot promise one packet");
	if (c->queues == DL_EMU_VOQ && c->switching == DL_EMU_WORMHOLE)
		return dl_emu_refuse(log, "virtual output queues do not go with wormhole "
					  "switching");
	if (c->congestion.threshold &&
	    (c->switching == DL_EMU_WORMHOLE || c->congestion.threshold > 15 ||
	     c->congestion.limit >= DL_EMU_CCT_MAX || !c->congestion.timer_ps))
		return dl_emu_refuse(log, "congestion control needs a threshold of at most 15, a "
					  "limit below 128 and a timer, and no wormhole switching");
	if (c->retries.timeout_ps && (c->switching == DL_EMU_WORMHOLE || !c->retries.ack_packets))
		return dl_emu_refuse(log, "reliable connections need acknowledgements, and no "
					  "wormhole switching");
	if (!c->smp_buffer)
		return dl_emu_refuse(log, "VL 15 needs room for one packet");
	if ((c->sl_table && c->sl_table->n > DL_EMU_SL_ENTRIES_MAX) ||
	    (c->switch_sl_table && c->switch_sl_table->n > DL_EMU_SL_ENTRIES_MAX))
		return dl_emu_refuse(log, "the SL table is too long");
	return 0;
}

static int check_flows(const struct dl_fabric *f, const struct dl_emu_source *s,
		       const struct dl_log *log)
{
	for (uint32_t i = 0; i < s->nflows; i++)
		if (s->port[i] >= f->nports || !dl_fabric_is_end_port(f, s->port[i]) ||
		    !f->ports[s->port[i]].num)
			return dl_emu_refuse(log, "a flow starts at a port that is "
						  "not an adapter's");
	return 0;
}

/* ---- arbitration ------------------------------------------------------- */

static void even_tables(unsigned int vls, struct dl_tables_vlarb *arb)
{
	*arb = (struct dl_tables_vlarb){ .nlow = vls };
	for (unsigned int v = 0; v < vls; v++)
		arb->low[v] = (struct dl_tables_vlarb_entry){ v, 64 };
}

static void compile_program(struct dl_emu *e, struct dl_emu_arb_program *p)
{
	const struct dl_emu_arb_key *key = &p->key;
	struct dl_link_arb_options o = e->c.arbitration;
	struct dl_tables_vlarb own;
	bool programmed = key->arb != DL_TABLES_NO_ROW;

	o.nvls = key->nvls;
	o.high_cap = key->high_cap;
	o.low_cap = key->low_cap;
	if (!programmed && e->c.undefined_arbitration)
		dl_link_arb_undefined(e->c.seed, key->port, &own);
	else if (!programmed)
		even_tables(key->nvls, &own);
	dl_link_arb_compile(programmed ? &key->tables->arbs[key->arb] : &own, &o, &p->program);
}

/* The program of a key, compiled if it is new; NULL: no memory. */
static const struct dl_link_arb_program *find_program(struct dl_emu *e,
						      const struct dl_emu_arb_key *key)
{
	struct dl_emu_arb_program *p = e->programs;

	while (p && memcmp(&p->key, key, sizeof(*key)))
		p = p->next;
	if (p)
		return &p->program;
	p = dl_arena_alloc(&e->arena, sizeof(*p));
	if (!p)
		return NULL;
	p->key = *key;
	p->next = e->programs;
	e->programs = p;
	compile_program(e, p);
	return &p->program;
}

int dl_emu_program_ports(struct dl_emu *e)
{
	uint32_t undefined = 0;

	for (uint32_t i = 0; i < e->nports; i++) {
		struct dl_emu_link_port *p = &e->ports[i];
		const struct dl_fabric_port *port = &e->f->ports[e->fabric_port[i]];
		uint32_t there = dl_emu_their_port(e, i);
		const struct dl_link_arb_program *program;
		struct dl_emu_arb_key key;

		/* Tables of a fabric without the cable say nothing about it. */
		if (p->peer == DL_EMU_NIL || there == DL_NONE ||
		    e->tables->fabric->ports[there].peer == DL_NONE)
			continue;
		memset(&key, 0, sizeof(key));
		key.tables = e->tables;
		key.arb = e->tables->vlarb[there];
		key.nvls = p->vls;
		/* What a port holds is not cut: a snapshot does not say how much fits. */
		key.high_cap = key.low_cap = DL_LINK_ARB_ENTRIES;
		undefined += key.arb == DL_TABLES_NO_ROW && p->vls > 1;
		if (key.arb == DL_TABLES_NO_ROW && p->vls > 1 && e->c.undefined_arbitration) {
			key.high_cap = port->arb_high_cap;
			key.low_cap = port->arb_low_cap;
			key.port = e->fabric_port[i];
		}
		program = find_program(e, &key);
		if (!program)
			return -ENOMEM;
		if (p->arb.program)
			dl_link_arbiter_change(&p->arb, program);
		else
			dl_link_arbiter_init(&p->arb, program);
	}
	if (undefined)
		dl_log(e->log, DL_LOG_WARNING,
		       "emulation: the tables hold no VL "
		       "arbitration for %u ports; %s",
		       undefined,
		       e->c.undefined_arbitration ? "theirs is what they were powered up with" :
						    "there all VLs weigh the same");
	return 0;
}

/* ---- switches ---------------------------------------------------------- */

/* Maps that differ; a torus has few, one for each place relative to datelines. */
struct different_maps {
	uint32_t n;
	struct {
		const uint16_t *maps;
		unsigned int nports;
	} at[64];
};

/*
 * The maps of a switch, or the same ones of a switch before it: then they
 * stay in the processor's cache.
 */
static const uint16_t *shared_maps(struct different_maps *d, const uint16_t *maps,
				   unsigned int nports)
{
	size_t size = nports * (size_t)nports * sizeof(*maps);

	for (uint32_t i = 0; i < d->n; i++)
		if (d->at[i].nports == nports && !memcmp(d->at[i].maps, maps, size))
			return d->at[i].maps;
	if (d->n < sizeof(d->at) / sizeof(d->at[0])) {
		d->at[d->n].maps = maps;
		d->at[d->n++].nports = nports;
	}
	return maps;
}

static uint32_t count_linked(const struct dl_emu *e, const struct dl_fabric_node *n)
{
	uint32_t linked = 0;

	for (uint32_t i = 0; i <= n->nports; i++)
		linked += e->own_port[n->first_port + i] != DL_EMU_NIL;
	return linked;
}

void dl_emu_program_switches(struct dl_emu *e)
{
	const struct dl_tables *t = e->tables;
	struct different_maps maps = { 0 };

	for (uint32_t s = 0; s < e->f->nswitches; s++) {
		const struct dl_fabric_node *n = &e->f->nodes[e->f->switches[s]];
		uint32_t there = e->port_there ? e->port_there[n->first_port] : n->first_port,
			 theirs;

		if (there == DL_NONE)
			continue;
		theirs = t->fabric->nodes[t->fabric->ports[there].node].sw;
		e->switches[s] = (struct dl_emu_switch){
			.lft = t->lft + theirs * (size_t)t->stride,
			.top_lid = t->top_lid,
			.sl2vl = shared_maps(&maps, t->sl2vl + t->sl2vl_first[theirs],
					     n->nports + 1),
			.rows = t->rows,
			.tables = t,
			.their_sw = theirs,
			.ports = &e->own_port[n->first_port],
			.nlinked = count_linked(e, n),
			.nports = n->nports + 1,
			.vls = DL_EMU_VLS,
		};
	}
	for (uint32_t i = 0; i < e->nports; i++) {
		struct dl_emu_link_port *p = &e->ports[i];

		if (p->sw != DL_EMU_NIL && p->vls < e->switches[p->sw].vls)
			e->switches[p->sw].vls = p->vls;
	}
}

/* ---- arrays ------------------------------------------------------------ */

#define LINE 64 /* of a cache, in bytes */

/* All zero, from the beginning of a cache line on. */
static void *new_array(struct dl_emu *e, size_t n, size_t size)
{
	char *array = dl_arena_array(&e->arena, n + 1 + (LINE + size - 1) / size, size);

	return array ? array + -(uintptr_t)array % LINE : NULL;
}

/* Ports that can be used are numbered; see state.h. */
static int number_ports(struct dl_emu *e)
{
	const struct dl_fabric *f = e->f;

	e->own_port = new_array(e, f->nports, sizeof(*e->own_port));
	if (!e->own_port)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *p = &f->ports[i];
		bool adapter = f->nodes[p->node].sw == DL_NONE;

		if (p->num ? adapter || p->peer != DL_NONE : !adapter)
			e->own_port[i] = e->nports++;
		else
			e->own_port[i] = DL_EMU_NIL;
	}
	return e->nports < DL_EMU_PORTS_MAX ? 0 :
					      dl_emu_refuse(e->log, "more than a million ports");
}

static void set_up_vls(struct dl_emu *e, struct dl_emu_link_port *p)
{
	for (unsigned int v = 0; v < DL_EMU_VLS; v++) {
		p->vl[v] = (struct dl_emu_vl_port){
			.head = DL_EMU_NIL,
			.tail = DL_EMU_NIL,
			.in = DL_EMU_NIL,
			.in_tail = DL_EMU_NIL,
			.credit_at = DL_EMU_NEVER,
			.rx.free = v == DL_LINK_VL_SMP ? e->c.smp_buffer : e->terms.size,
		};
		dl_link_credit_start(&e->terms, &p->vl[v].tx, &p->vl[v].rx);
	}
}

static int set_up_port(struct dl_emu *e, uint32_t i)
{
	const struct dl_fabric_port *port = &e->f->ports[i];
	struct dl_emu_link_port *p = &e->ports[e->own_port[i]];
	bool linked = port->num && port->peer != DL_NONE;
	uint64_t delay;

	e->fabric_port[e->own_port[i]] = i;
	*p = (struct dl_emu_link_port){
		.fcp_due = DL_EMU_NEVER,
		.hold = linked ? 0 : DL_EMU_DOWN,
		.number = e->own_port[i],
		.peer = linked ? e->own_port[port->peer] : DL_EMU_NIL,
		.sw = e->f->nodes[port->node].sw,
		.num = port->num,
		.vls = port->vls ? port->vls : DL_EMU_DEFAULT_VLS,
		.adapter = DL_EMU_NIL,
	};
	set_up_vls(e, p);
	if (p->sw == DL_NONE && port->num)
		p->adapter = e->nadapters++;
	if (p->sw != DL_NONE)
		p->sl_turn.table = e->c.switch_sl_table;
	if (!linked)
		return 0;
	if (dl_emu_link_rate(e->f, i, &p->rate))
		return dl_fail(e->log, -EINVAL,
			       "emulation: \"%s\" port %u has no "
			       "known speed or width",
			       dl_fabric_node_name(e->f, port->node), port->num);
	delay = dl_emu_cable_delay(e->f, &e->c, i);
	p->delay = delay <= UINT32_MAX ? delay : UINT32_MAX;
	p->fcp_time = dl_emu_rate_time(p->rate, DL_LINK_FCP_SYMBOLS);
	p->look = p->delay + dl_emu_rate_time(p->rate, DL_EMU_ROUTE_BYTES) + e->c.switch_latency_ps;
	p->fcp_due = dl_emu_rate_time(p->rate, DL_LINK_FCP_DEADLINE);
	p->to = e->f->nodes[e->f->ports[port->peer].node].sw == DL_NONE ? DL_EMU_TO_ADAPTER :
									  DL_EMU_TO_SWITCH;
	return 0;
}

static int set_up_packets(struct dl_emu *e)
{
	size_t n = DL_EMU_EV_PACKET;

	e->packets = dl_emu_reserve(e, n, sizeof(*e->packets));
	e->origins = dl_emu_reserve(e, n, sizeof(*e->origins));
	if (e->c.lifetime_ps)
		e->entered = dl_emu_reserve(e, n, sizeof(*e->entered));
	if (e->source.step)
		e->numbers = dl_emu_reserve(e, n, sizeof(*e->numbers));
	if (e->c.retries.timeout_ps)
		e->sequence = dl_emu_reserve(e, n, sizeof(*e->sequence));
	return e->err;
}

static int set_up_losses(struct dl_emu *e)
{
	e->losses = new_array(e, e->nports, sizeof(*e->losses));
	for (uint32_t i = 0; e->losses && i < e->nports; i++)
		e->losses[i].random = (struct dl_random){ e->c.seed, 0xE8000000 + i, 0 };
	return e->losses ? 0 : -ENOMEM;
}

static int set_up_channels(struct dl_emu *e)
{
	uint32_t n = e->nports * DL_EMU_VLS;
	bool marks = e->c.congestion.threshold;

	if (marks)
		e->marks = new_array(e, n, sizeof(*e->marks));
	if (e->mode.worms)
		e->worm = new_array(e, n, sizeof(*e->worm));
	for (uint32_t c = 0; e->worm && c < n; c++)
		e->worm[c].owner = e->worm[c].bound = DL_EMU_NIL;
	return (e->marks || !marks) && (e->worm || !e->mode.worms) ? 0 : -ENOMEM;
}

/*
 * Does a packet that has come find its output at once, wherever it goes?  In
 * cut-through the bits that are to follow must not be too slow for that; and
 * none may be dropped for its VL.
 */
static bool can_look_ahead(const struct dl_emu *e)
{
	const struct dl_emu_rate *first = NULL;

	for (uint32_t i = 0; i < e->nports; i++) {
		const struct dl_emu_rate *r = &e->ports[i].rate;

		if (e->ports[i].peer == DL_EMU_NIL)
			continue;
		if (first && (r->num != first->num || r->den != first->den))
			return false;
		first = r;
	}
	return !e->mode.worms && e->c.arbitration.unlisted_vl != DL_LINK_UNLISTED_DROP;
}

/* The port with a cable to which a switch forwards, or DL_TABLES_NO_PORT. */
static uint8_t linked_port(const struct dl_emu_switch *s, uint32_t lid)
{
	uint8_t port = s->lft[lid];

	return port && port < s->nports && s->ports[port] != DL_EMU_NIL ? port : DL_TABLES_NO_PORT;
}

/*
 * The forwarding tables, turned round: all entries for one LID lie together.  A
 * packet goes on along a line or two of them, where tables by switch take it to
 * another page with each hop.
 */
static int set_up_routes(struct dl_emu *e)
{
	uint32_t n = e->f->nswitches;

	if (!can_look_ahead(e))
		return 0;
	e->routes.n = e->tables->top_lid + 1u;
	e->routes.row = (n + LINE - 1ul) / LINE * LINE;
	e->routes.at = dl_array_large(e->routes.n, e->routes.row);
	if (!e->routes.at)
		return -ENOMEM;
	for (uint32_t first = 0; first < n; first += LINE)
		for (uint32_t lid = 0; lid < e->routes.n; lid++)
			for (uint32_t s = first; s < n && s < first + LINE; s++)
				e->routes.at[lid * e->routes.row + s] =
					linked_port(&e->switches[s], lid);
	for (uint32_t i = 0; i < e->nports; i++) {
		uint32_t peer = e->ports[i].peer;

		if (peer != DL_EMU_NIL && e->ports[peer].sw != DL_EMU_NIL)
			e->ports[i].far_route = e->routes.at + e->ports[peer].sw;
	}
	e->mode.looks_ahead = true;
	return 0;
}

static uint32_t tenure_of(const struct dl_emu *e)
{
	if (e->c.tenure != DL_EMU_TENURE_DEFAULT)
		return e->c.tenure;
	return e->c.sl_table ? 4096 : e->mode.whole_messages;
}

static int set_up_adapters(struct dl_emu *e)
{
	uint32_t acks = e->c.retries.timeout_ps ? e->nadapters : 0; /* queue pairs for them */

	e->adapters = new_array(e, e->nadapters, sizeof(*e->adapters));
	e->flows = new_array(e, (size_t)e->source.nflows + acks, sizeof(*e->flows));
	e->qps = new_array(e, (size_t)e->source.nflows + acks, sizeof(*e->qps));
	if (!e->adapters || !e->flows || !e->qps)
		return -ENOMEM;
	for (uint32_t a = 0; a < acks; a++)
		e->flows[e->source.nflows + a].adapter = a;
	for (uint32_t i = 0; i < e->nports; i++) {
		struct dl_emu_adapter *a;

		if (e->ports[i].adapter == DL_EMU_NIL)
			continue;
		a = &e->adapters[e->ports[i].adapter];
		a->port = i;
		a->rate = 1000000;
		a->head = a->tail = DL_EMU_NIL;
		dl_emu_sl_sched_init(&a->sched, e->c.sl_table, tenure_of(e), e->qps);
		dl_emu_adapter_maps(e, a);
	}
	for (uint32_t f = 0; f < e->source.nflows; f++) {
		uint32_t port = e->own_port[e->source.port[f]];

		e->flows[f].adapter = e->ports[port].adapter;
		if (e->source.window)
			e->flows[f].window = e->source.window[f];
	}
	return 0;
}

#define MAX_PAIR_ENDS 8192

static int set_up_pairs(struct dl_emu *e)
{
	if (!e->c.pairs)
		return 0;
	if (e->nadapters > MAX_PAIR_ENDS)
		return dl_fail(e->log, -E2BIG,
			       "emulation: %u adapters are too many "
			       "for statistics of pairs",
			       e->nadapters);
	e->pairs = new_array(e, (size_t)e->nadapters * e->nadapters, sizeof(*e->pairs));
	return e->pairs ? 0 : -ENOMEM;
}

#define FULL 256	 /* packets that all ports could send in a bucket */
#define SHORTEST_BITS 12 /* shorter buckets gain nothing, nor do */
#define LONGEST_BITS 19	 /* longer ones */

/*
 * A bucket lasts the longer the less happens: or most of the time would go into opening
 * buckets, or else into finding places in them.
 */
unsigned int dl_emu_bucket_bits(const struct dl_emu *e)
{
	unsigned int bits = SHORTEST_BITS;
	uint64_t packets = 0; /* in 2^32 ps */

	for (uint32_t i = 0; i < e->nports; i++)
		if (e->ports[i].peer != DL_EMU_NIL)
			packets +=
				(UINT64_C(1) << 32) / dl_emu_rate_time(e->ports[i].rate, e->c.mtu);
	while (bits < LONGEST_BITS && packets << (bits + 1) <= (uint64_t)FULL << 32 &&
	       dl_emu_channel(e->nports, 0) < UINT64_C(1) << (60 - DL_EMU_EV_CHANNEL - bits - 1))
		bits++;
	return bits;
}

/* In wormhole switching a buffer may be smaller than a packet, but holds a flit. */
static int set_up_terms(struct dl_emu *e)
{
	uint32_t largest = dl_emu_units(e, e->c.mtu + DL_EMU_MCAST_HEADERS);
	uint32_t report = dl_emu_units(e, e->c.mtu + DL_EMU_HEADERS);
	uint32_t size = e->c.buffer / e->c.chunk;
	int err;

	if (largest > size)
		largest = dl_emu_units(e, e->c.flit);
	if (e->c.switching == DL_EMU_WORMHOLE && report > (size + 3) / 4)
		report = (size + 3) / 4;
	err = dl_link_credit_terms_init(&e->terms, e->c.flow_control, e->c.buffer, e->c.chunk,
					largest);
	e->terms.report = e->c.credit ? e->c.credit : report;
	return err;
}

static int set_up_mode(struct dl_emu *e)
{
	e->mode.worms = e->c.switching == DL_EMU_WORMHOLE;
	e->mode.choosy = e->mode.worms || e->c.speedup || e->c.switch_sl_table;
	e->mode.voq = e->c.queues == DL_EMU_VOQ;
	/* As GOAL has it; but acknowledgements, which take turns, too, must not wait for them. */
	e->mode.whole_messages = e->source.program && e->c.tenure == DL_EMU_TENURE_DEFAULT &&
				 !e->c.sl_table && !e->c.retries.timeout_ps;
	e->mode.large = e->nports > DL_EMU_LARGE;
	return 0;
}

static int set_up_ports(struct dl_emu *e)
{
	int err = 0;

	e->ports = dl_array_large(e->nports + 1ul, sizeof(*e->ports));
	e->fabric_port = new_array(e, e->nports, sizeof(*e->fabric_port));
	e->counters = new_array(e, e->nports, sizeof(*e->counters));
	if (!e->ports || !e->fabric_port || !e->counters)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < e->f->nports; i++)
		if (e->own_port[i] != DL_EMU_NIL)
			err = set_up_port(e, i);
	return err;
}

static int set_up_switches(struct dl_emu *e)
{
	e->switches = new_array(e, e->f->nswitches, sizeof(*e->switches));
	if (!e->switches)
		return -ENOMEM;
	dl_emu_program_switches(e);
	return 0;
}

/* Each needs what those before it have set up. */
static int (*const set_up[])(struct dl_emu *e) = {
	number_ports,	set_up_terms,	set_up_mode,	      set_up_ports,
	set_up_losses,	set_up_packets, set_up_channels,      set_up_switches,
	dl_emu_voq_new, set_up_routes,	dl_emu_program_ports, set_up_adapters,
	dl_emu_rc_new,	set_up_pairs,	dl_emu_set_up_shards,
};

int dl_emu_new(const struct dl_tables *t, const struct dl_emu_config *c,
	       const struct dl_emu_source *source, const struct dl_log *log, struct dl_emu **out)
{
	struct dl_emu *e;
	int err = check_config(c, log);

	if (!err)
		err = check_flows(t->fabric, source, log);
	if (err)
		return err;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->f = t->fabric;
	e->tables = t;
	e->c = *c;
	e->source = *source;
	e->log = log;
	e->handlers = &dl_emu_hop_handlers;
	for (size_t i = 0; !err && i < sizeof(set_up) / sizeof(*set_up); i++)
		err = set_up[i](e);
#ifdef DL_EMU_AUDIT
	e->after_event = e->split.n == 1 ? dl_emu_audit : NULL;
#endif
	if (err) {
		dl_emu_free(e);
		return err;
	}
	*out = e;
	return 0;
}

void dl_emu_free(struct dl_emu *e)
{
	if (!e)
		return;
	dl_emu_free_shards(e);
	for (uint32_t i = 0; i < e->nreserved; i++)
		munmap(e->reserved[i].at, e->reserved[i].bytes);
	dl_emu_rc_free(e);
	free(e->ports);
	free(e->routes.at);
	free(e->port_there);
	free(e->look.cycle.steps);
	dl_arena_free(&e->arena);
	free(e);
}
