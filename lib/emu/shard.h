/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An emulation on several cores. */
#ifndef DL_EMU_SHARD_H
#define DL_EMU_SHARD_H

#include "emu/internal.h"

/*
 * From one shard to another: credit, that a message has ended, or a packet.
 * That is copied, so that each shard writes to packets of its own.
 */
enum dl_emu_mail_kind { DL_EMU_MAIL_CREDIT, DL_EMU_MAIL_ENDED, DL_EMU_MAIL_PACKET };

struct dl_emu_mail {
	uint64_t time;
	enum dl_emu_mail_kind kind;
	uint32_t what; /* channel, or flow */
	struct dl_emu_fcp fcp;
	struct dl_emu_pkt packet;
	struct dl_emu_origin from;
};

struct dl_emu_box {
	struct dl_emu_mail *mail;
	uint32_t n, cap;
};

/* A delivery that is still to be told, and the event in which it happened. */
struct dl_emu_note {
	uint64_t event;
	struct dl_emu_delivery delivery;
};

/* divide.c: so many shards of about the same size, in e->shard_of. */
int dl_emu_divide(struct dl_emu *e, uint32_t shards);

/* shard.c: an emulation on several cores. */
int dl_emu_set_up_shards(struct dl_emu *e);
void dl_emu_free_shards(struct dl_emu *e);
void dl_emu_share(struct dl_emu *e);
void dl_emu_run_shards(struct dl_emu *e, uint64_t until);
void dl_emu_mail_packet(struct dl_emu *e, uint32_t port, uint32_t channel, uint64_t at,
			uint32_t packet);
void dl_emu_mail_credit(struct dl_emu *e, uint32_t port, uint32_t channel, uint64_t at,
			const struct dl_emu_fcp *fcp);
/* The source of a closed loop is to learn that a message has ended. */
void dl_emu_end_message(struct dl_emu *e, uint32_t flow);
void dl_emu_open_mail(struct dl_emu *e);
void dl_emu_note(struct dl_emu *e, const struct dl_emu_delivery *d);

#endif
