/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where packets begin and end; and mail between shards. */
#ifndef DL_EMU_PACKET_H
#define DL_EMU_PACKET_H

#include "emu/access.h"

/* ---- packet.c ----------------------------------------------------------- */

/* Memory as in struct dl_emu_reserved, all zero; NULL: none to be had (e->err is set). */
void *dl_emu_reserve(struct dl_emu *e, size_t n, size_t size);
/* A new packet, not initialised; NIL: none to be had (e->err is set). */
uint32_t dl_emu_packet(struct dl_emu *e);
/* A packet has come to an end port: count it and free it. */
void dl_emu_deliver(struct dl_emu *e, uint32_t packet, uint32_t port);
void dl_emu_lose(struct dl_emu *e, uint32_t packet, enum dl_emu_drop cause);
/* The same of an acknowledgement: it is counted, and measured nowhere. */
void dl_emu_deliver_ack(struct dl_emu *e, uint32_t packet, uint32_t port);
/* What happens to a packet (NIL: to none) at a port, where somebody wants to know. */
void dl_emu_report_step(const struct dl_emu *e, const struct dl_emu_step *step, uint32_t packet,
			uint32_t port);

/* ---- mail.c ------------------------------------------------------------- */

/*
 * From one shard to another: credit, that a message has ended or was marked, or a
 * packet.  That is copied, so that each shard writes to packets of its own.
 */
enum dl_emu_mail_kind { DL_EMU_MAIL_CREDIT, DL_EMU_MAIL_FLOW, DL_EMU_MAIL_PACKET };

struct dl_emu_mail {
	uint64_t time;
	enum dl_emu_mail_kind kind;
	uint64_t what; /* channel; or flow, and DL_EMU_EV_... */
	struct dl_emu_fcp fcp;
	struct dl_emu_pkt packet;
	struct dl_emu_origin from;
	struct dl_emu_sequence sequence;
};

struct dl_emu_box {
	struct dl_emu_mail *mail;
	uint32_t n, cap;
};

/* A delivery that the source has not seen yet, and the event in which it happened. */
struct dl_emu_note {
	uint64_t event;
	struct dl_emu_delivery delivery;
};

void dl_emu_mail_packet(struct dl_emu *e, uint32_t port, uint32_t channel, uint64_t at,
			uint32_t packet);
void dl_emu_mail_credit(struct dl_emu *e, uint32_t port, uint32_t channel, uint64_t at,
			struct dl_emu_fcp fcp);
/* The source is to learn that a message has ended, or that a packet was marked: DL_EMU_EV_... */
void dl_emu_tell_flow(struct dl_emu *e, uint32_t flow, uint64_t what);
void dl_emu_note(struct dl_emu *e, const struct dl_emu_delivery *d);

#endif
