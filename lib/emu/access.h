/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What many files ask of the state of an emulation, or do to it, in a few lines. */
#ifndef DL_EMU_ACCESS_H
#define DL_EMU_ACCESS_H

#include "emu/state.h"

/* ---- calls upwards ----------------------------------------------------- */

static inline void dl_emu_transmit(struct dl_emu *e, struct dl_emu_link_port *p)
{
	e->handlers->transmit(e, p);
}

static inline void dl_emu_ask(struct dl_emu *e, uint32_t packet, uint32_t out)
{
	e->handlers->ask(e, packet, out);
}

static inline void dl_emu_release(struct dl_emu *e, uint32_t in, uint32_t units)
{
	e->handlers->release(e, in, units);
}

static inline void dl_emu_report(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int vl)
{
	e->handlers->report(e, p, vl);
}

/* ---- small things ------------------------------------------------------ */

/* Of what an event concerns. */
static inline uint32_t dl_emu_event_channel(uint64_t what)
{
	return what >> DL_EMU_EV_CHANNEL;
}

static inline void dl_emu_at(struct dl_emu *e, uint64_t time, enum dl_emu_log log,
			     enum dl_emu_event_kind kind, uint64_t what)
{
	dl_emu_events_push(&e->events, time, log, kind, what);
}

/* An event about a channel. */
static inline void dl_emu_channel_at(struct dl_emu *e, uint64_t time, enum dl_emu_event_kind kind,
				     uint32_t channel, uint32_t packet)
{
	dl_emu_at(e, time, DL_EMU_LOG_OTHER, kind, (uint64_t)channel << DL_EMU_EV_CHANNEL | packet);
}

/* The same, where it is so soon that it mostly comes in the bucket being served. */
static inline void dl_emu_soon(struct dl_emu *e, uint64_t time, enum dl_emu_event_kind kind,
			       uint32_t channel)
{
	dl_emu_events_push_near(&e->events, time, DL_EMU_LOG_WAKE,
				dl_emu_events_key(&e->events, time, kind,
						  (uint64_t)channel << DL_EMU_EV_CHANNEL));
}

/* The switch that a port belongs to. */
static inline const struct dl_emu_switch *dl_emu_switch_of(const struct dl_emu *e,
							   const struct dl_emu_link_port *p)
{
	return &e->switches[p->sw];
}

/* An output channel as events name it. */
static inline uint32_t dl_emu_output_of(const struct dl_emu *e, uint32_t out)
{
	return (uint32_t)e->ports[out / DL_EMU_VLS].num << 4 | out % DL_EMU_VLS;
}

static inline uint32_t dl_emu_channel(uint32_t port, unsigned int vl)
{
	return port * DL_EMU_VLS + vl;
}

static inline uint32_t dl_emu_port_of(uint32_t channel)
{
	return channel / DL_EMU_VLS;
}

static inline unsigned int dl_emu_vl_of(uint32_t channel)
{
	return channel % DL_EMU_VLS;
}

static inline struct dl_emu_vl_port *dl_emu_vl_at(const struct dl_emu *e, uint32_t channel)
{
	return &e->ports[dl_emu_port_of(channel)].vl[dl_emu_vl_of(channel)];
}

/* Only data VLs have credit. */
static inline bool dl_emu_is_data(uint32_t channel)
{
	return dl_emu_vl_of(channel) != DL_LINK_VL_SMP;
}

static inline uint16_t dl_emu_units(const struct dl_emu *e, uint32_t bytes)
{
	if (e->c.switching != DL_EMU_WORMHOLE)
		return dl_link_credit_units(e->c.flow_control, bytes - 10);
	/* Flits have no headers. */
	return e->c.flow_control == DL_LINK_CREDIT_PCIE ? (bytes + e->c.flit - 1) / e->c.flit :
							  (bytes + 63) / 64;
}

/*
 * Units that an output has sent undamaged, and that an input has received: what
 * is between them is coming.
 */
static inline uint16_t dl_emu_sound(const struct dl_emu *e, const struct dl_emu_vl_port *o)
{
	return e->mode.timers ? o->sound : o->tx.sent;
}

static inline uint16_t dl_emu_entered(const struct dl_emu *e, const struct dl_emu_vl_port *in)
{
	return e->mode.timers ? in->entered : in->rx.received;
}

/* Units that are on their way from a sender to its peer's buffer. */
static inline uint16_t dl_emu_coming(const struct dl_emu *e, const struct dl_emu_vl_port *o,
				     const struct dl_emu_vl_port *in)
{
	return (dl_emu_sound(e, o) - dl_emu_entered(e, in)) & DL_LINK_CREDIT_MASK;
}

/* What has arrived at an output unseen, counts now. */
static inline void dl_emu_see_credit(const struct dl_emu *e, struct dl_emu_vl_port *o)
{
	struct dl_link_credit_tx after = o->tx;
	bool here = o->credit_at <= e->credited;

	dl_link_credit_update(&e->terms, &after, o->credit);
	o->tx.limit = here ? after.limit : o->tx.limit;
	o->credit_at = here ? DL_EMU_NEVER : o->credit_at;
}

static inline void dl_emu_recycle(struct dl_emu *e, uint32_t packet)
{
	e->packets[packet].next = e->stock.recycled;
	e->stock.recycled = packet;
	e->stock.live--;
}

/* The shard that a port belongs to. */
static inline struct dl_emu *dl_emu_shard(const struct dl_emu *e, uint32_t port)
{
	return e->split.shard[e->split.of ? e->split.of[port] : 0];
}

/* The parent of a copy; NIL for other packets. */
static inline uint32_t dl_emu_parent(const struct dl_emu *e, uint32_t packet)
{
	return e->packets[packet].flags & DL_EMU_PK_COPY ? e->origins[packet].parent : DL_EMU_NIL;
}

/* A port's index in the tables' fabric, or DL_NONE. */
static inline uint32_t dl_emu_their_port(const struct dl_emu *e, uint32_t port)
{
	uint32_t in_fabric = e->fabric_port[port];

	return e->port_there ? e->port_there[in_fabric] : in_fabric;
}

static inline void dl_emu_note_idle(const struct dl_emu *e, struct dl_emu_link_port *p)
{
	if (p->starved) {
		p->wait_ps += e->now - p->wait_since;
		p->starved = false;
	}
}

/* A packet wants to leave through an output channel. */
static inline void dl_emu_wait_for(struct dl_emu *e, uint32_t packet, uint32_t out)
{
	struct dl_emu_pkt *pk = &e->packets[packet];
	struct dl_emu_link_port *p = &e->ports[dl_emu_port_of(out)];
	unsigned int vl = dl_emu_vl_of(out);
	struct dl_emu_vl_port *o = &p->vl[vl];

	pk->out = out;
	pk->since = e->now;
	pk->flags |= DL_EMU_PK_WAITING;
	if (o->head == DL_EMU_NIL) {
		o->head = packet;
		o->units = pk->units;
		o->served = e->now;
		p->waiting |= 1u << vl;
	} else if (e->mode.worms && !(pk->flags & DL_EMU_PK_HEAD) && e->worm[out].owner == pk->in) {
		pk->wait_next = o->head; /* goes on where it stopped */
		o->head = packet;
		o->units = pk->units;
		return;
	} else {
		e->packets[o->tail].wait_next = packet;
	}
	pk->wait_next = DL_EMU_NIL;
	o->tail = packet;
}

/* The VL at an output of a switch, or DL_EMU_NO_VL. */
static inline unsigned int dl_emu_map_vl(const struct dl_emu_switch *s, unsigned int in,
					 unsigned int out, unsigned int sl, uint8_t vls)
{
	uint16_t row = s->sl2vl[in * (size_t)s->nports + out];
	unsigned int vl = row == DL_TABLES_NO_ROW ? 0 : dl_tables_sl2vl_get(s->rows[row], sl);

	return vl < vls ? vl : DL_EMU_NO_VL;
}

static inline bool dl_emu_is_for(const struct dl_emu *e, uint16_t dlid, uint32_t port)
{
	return dlid >= DL_TABLES_MCAST_LID ||
	       (dlid <= e->f->top_lid && e->f->lid_port[dlid] == e->fabric_port[port]);
}

/* Does a flow send its present message over a reliable connection? */
static inline bool dl_emu_is_reliable(const struct dl_emu *e, uint32_t flow)
{
	return e->senders && flow < e->source.nflows && !e->flows[flow].message.smp &&
	       e->flows[flow].message.dlid < DL_TABLES_MCAST_LID;
}

/* An event about a flow: its next message is due (0); or DL_EMU_EV_ENDED and so on. */
static inline void dl_emu_message_at(struct dl_emu *e, uint64_t time, uint32_t flow, uint64_t what)
{
	dl_emu_at(e, time, DL_EMU_LOG_OTHER, DL_EMU_EV_MESSAGE, what | flow);
}

/* Where the tables have an adapter's SL for a destination, or NULL. */
static inline const uint8_t *dl_emu_path_sl(const struct dl_emu *e, const struct dl_emu_adapter *a,
					    uint16_t dlid)
{
	uint32_t class = a->path_sl && dlid <= e->tables->top_lid ? e->tables->psl_dst[dlid] :
								    DL_NONE;

	return class == DL_NONE ? NULL : &a->path_sl[class];
}

#endif
