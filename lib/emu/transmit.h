/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One end of a link, but for what every hop does: transmit.c. */
#ifndef DL_EMU_TRANSMIT_H
#define DL_EMU_TRANSMIT_H

#include "emu/packet.h"

/* Take a packet out of its output's queue. */
void dl_emu_unwait(struct dl_emu *e, uint32_t packet);
void dl_emu_pass_deadline(struct dl_emu *e, struct dl_emu_link_port *p, bool now);
bool dl_emu_loses_fcp(struct dl_emu *e, const struct dl_emu_link_port *p,
		      const struct dl_link_fcp *fcp);
bool dl_emu_has_credit(const struct dl_emu *e, const struct dl_emu_vl_port *o);
void dl_emu_expect_credit(struct dl_emu *e, uint32_t channel, struct dl_emu_fcp fcp, uint64_t at);
void dl_emu_wait_for_credit(struct dl_emu *e, struct dl_emu_link_port *p, unsigned int vls);
void dl_emu_credit(struct dl_emu *e, uint32_t channel, uint32_t record);
void dl_emu_deadline(struct dl_emu *e, uint32_t port);
void dl_emu_report_later(struct dl_emu *e, struct dl_emu_link_port *p);
unsigned int dl_emu_choose(struct dl_emu *e, struct dl_emu_link_port *p, uint32_t *packet,
			   unsigned int *ready);
uint64_t dl_emu_worm_sent(struct dl_emu *e, const struct dl_emu_pkt *pk, uint64_t time);
void dl_emu_mark(struct dl_emu *e, const struct dl_emu_link_port *p, uint32_t packet);
void dl_emu_damage(struct dl_emu *e, const struct dl_emu_link_port *p, struct dl_emu_pkt *pk,
		   struct dl_emu_vl_port *o);
void dl_emu_wake_outputs(struct dl_emu *e, struct dl_emu_switch *s);

/* Packets wait, and none can be sent. */
static inline void dl_emu_note_starved(const struct dl_emu *e, struct dl_emu_link_port *p)
{
	if (!p->starved)
		p->wait_since = e->now;
	p->starved = true;
}

/* An adapter's port, whose SL table may wait for credit before it makes packets? */
static inline bool dl_emu_has_sl_table(const struct dl_emu *e, uint32_t channel)
{
	return e->c.sl_table && e->ports[dl_emu_port_of(channel)].adapter != DL_EMU_NIL;
}

/* No packet waits; does an SL table? */
static inline void dl_emu_note_nothing(const struct dl_emu *e, struct dl_emu_link_port *p)
{
	if (!dl_emu_has_sl_table(e, dl_emu_channel(p->number, 0)) ||
	    !e->adapters[p->adapter].sched.ready)
		dl_emu_note_idle(e, p);
}

#endif
