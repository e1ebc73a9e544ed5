/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Switches and adapters, but for what every hop does. */
#ifndef DL_EMU_NODE_H
#define DL_EMU_NODE_H

#include "emu/transmit.h"

/* forward.c: from a switch's input to its outputs. */
void dl_emu_look(struct dl_emu *e, uint32_t in);
bool dl_emu_came_through(struct dl_emu *e, uint32_t in, uint32_t packet);
void dl_emu_limit_wait(struct dl_emu *e, uint32_t packet, uint32_t out);
void dl_emu_ready(struct dl_emu *e, uint32_t in, uint32_t output);
void dl_emu_expire(struct dl_emu *e, uint32_t in, uint32_t output);
/* The head of a buffer, or a copy of it, has left or been thrown away. */
void dl_emu_copy_gone(struct dl_emu *e, uint32_t parent);
/* Drop a packet that waits for an output. */
void dl_emu_drop_waiting(struct dl_emu *e, uint32_t packet, enum dl_emu_drop cause);
/* Make copies of the multicast packet at the head of a buffer. */
void dl_emu_spread(struct dl_emu *e, uint32_t in);
/* When may a packet start through this output? */
uint64_t dl_emu_earliest_start(const struct dl_emu *e, const struct dl_emu_pkt *pk, uint32_t out);
/* Where a unicast packet goes on; or why it does not: enum dl_emu_drop.  -1: it does. */
int dl_emu_route(const struct dl_emu *e, const struct dl_emu_switch *s, uint32_t in,
		 const struct dl_emu_pkt *pk, uint32_t *out);

/* voq.c: buffers with virtual output queues. */
int dl_emu_voq_new(struct dl_emu *e);
void dl_emu_voq_store(struct dl_emu *e, uint32_t in, uint32_t packet);
void dl_emu_voq_join(struct dl_emu *e, uint32_t in, uint32_t out, uint32_t packet);
void dl_emu_voq_ready(struct dl_emu *e, uint32_t in, uint32_t output);
void dl_emu_voq_drop(struct dl_emu *e, uint32_t packet, enum dl_emu_drop cause);
/* A packet of a queue is being sent; it has been sent. */
void dl_emu_voq_leave(struct dl_emu *e, uint32_t in, uint32_t out);
void dl_emu_voq_sent(struct dl_emu *e, uint32_t in, uint32_t out);
/* The last copy of a multicast packet has left. */
void dl_emu_voq_forget(struct dl_emu *e, uint32_t parent);
/* The first packet of a queue, or NIL. */
uint32_t dl_emu_voq_head(const struct dl_emu *e, uint32_t in, uint32_t out, bool *sending);

/* adapter.c */
void dl_emu_flow_next(struct dl_emu *e, uint32_t flow);
void dl_emu_message(struct dl_emu *e, uint64_t what);
void dl_emu_flow_again(struct dl_emu *e, uint32_t flow);
void dl_emu_fill_places(struct dl_emu *e, struct dl_emu_adapter *a);
/* Let queue pairs make packets for all VLs that have a place for one: often there is none. */
static inline void dl_emu_fill(struct dl_emu *e, struct dl_emu_adapter *a)
{
	if (a->sched.ready & a->free_sls)
		dl_emu_fill_places(e, a);
}
void dl_emu_send_more(struct dl_emu *e, struct dl_emu_adapter *a);
void dl_emu_qp_switched(struct dl_emu *e, uint32_t adapter);
void dl_emu_leave_adapter(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t packet);
void dl_emu_left_adapter(struct dl_emu *e, struct dl_emu_link_port *p);
void dl_emu_receive(struct dl_emu *e, uint32_t packet);
void dl_emu_receive_done(struct dl_emu *e, uint32_t adapter);
void dl_emu_take_in(struct dl_emu *e, struct dl_emu_adapter *a);
void dl_emu_adapter_maps(struct dl_emu *e, struct dl_emu_adapter *a);

/* reliable.c: connections of queue pairs. */
int dl_emu_rc_new(struct dl_emu *e);
void dl_emu_rc_free(struct dl_emu *e);
/* A flow takes up the next message that is to be sent, or again, if there is one. */
bool dl_emu_rc_next(struct dl_emu *e, uint32_t flow);
/* The flow's message will come. */
void dl_emu_rc_due(struct dl_emu *e, uint32_t flow);
/* It has come, and joins those to be sent; false: it goes over no connection. */
bool dl_emu_rc_start(struct dl_emu *e, uint32_t flow);
/* A packet of the flow is made: its number; it counts as sent. */
void dl_emu_rc_number(struct dl_emu *e, uint32_t flow, uint32_t packet);
void dl_emu_rc_sent(struct dl_emu *e, uint32_t flow);
void dl_emu_rc_timeout(struct dl_emu *e, uint32_t flow);
/* Is it in the error state, the connection of the message that the flow is sending? */
bool dl_emu_rc_is_broken(const struct dl_emu *e, uint32_t flow);
/* The next acknowledgement of an adapter; false: there is none. */
bool dl_emu_rc_next_ack(struct dl_emu *e, uint32_t flow, struct dl_emu_message *out);
/* A packet has come whole to an adapter: is it to be delivered?  Else it is gone. */
bool dl_emu_rc_take(struct dl_emu *e, uint32_t packet, uint32_t port);

/* prefetch.c: before the events of a bucket are served. */
void dl_emu_look_ahead(const struct dl_emu *e);
/* Of a packet that came to the bucket while it was served. */
void dl_emu_find_way(const struct dl_emu *e, uint32_t in, uint32_t packet);

#endif
