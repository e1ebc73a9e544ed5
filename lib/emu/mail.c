/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a shard leaves for others, which find it before the next window
 * (shard.c), and deliveries that are reported when all have been there.
 */
#include "config.h"

#include "emu/packet.h"

/* A place for one more to the shard of a port, or NULL. */
static struct dl_emu_mail *new_mail(struct dl_emu *e, uint32_t port, uint64_t at,
				    enum dl_emu_mail_kind kind, uint64_t what)
{
	struct dl_emu_box *box = &e->mail.box[e->mail.even][e->split.of[port]];
	struct dl_emu_mail *m;

	if (!dl_array_room(box->mail, box->n, 1, &box->cap)) {
		e->err = -ENOMEM;
		return NULL;
	}
	e->mail.sent = true;
	m = &box->mail[box->n++];
	m->time = at;
	m->kind = kind;
	m->what = what;
	return m;
}

void dl_emu_mail_packet(struct dl_emu *e, uint32_t port, uint32_t channel, uint64_t at,
			uint32_t packet)
{
	struct dl_emu_mail *m = new_mail(e, port, at, DL_EMU_MAIL_PACKET, channel);

	if (!m)
		return;
	m->packet = e->packets[packet];
	m->from = e->origins[packet];
	if (e->sequence)
		m->sequence = e->sequence[packet];
	dl_emu_recycle(e, packet);
}

void dl_emu_mail_credit(struct dl_emu *e, uint32_t port, uint32_t channel, uint64_t at,
			struct dl_emu_fcp fcp)
{
	struct dl_emu_mail *m = new_mail(e, port, at, DL_EMU_MAIL_CREDIT, channel);

	if (m)
		m->fcp = fcp;
}

void dl_emu_tell_flow(struct dl_emu *e, uint32_t flow, uint64_t what)
{
	uint32_t port = e->adapters[e->flows[flow].adapter].port;
	uint64_t at =
		e->now + (what == DL_EMU_EV_BECN ? e->c.congestion.becn_ps : e->c.ack_latency_ps);

	if (dl_emu_shard(e, port) == e)
		dl_emu_message_at(e, at, flow, what);
	else
		new_mail(e, port, at, DL_EMU_MAIL_FLOW, what | flow);
}

void dl_emu_note(struct dl_emu *e, const struct dl_emu_delivery *d)
{
	if (dl_array_room(e->mail.notes, e->mail.nnotes, 1, &e->mail.notes_cap))
		e->mail.notes[e->mail.nnotes++] = (struct dl_emu_note){ e->event, *d };
	else
		e->err = -ENOMEM;
}
