/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Setting up, running and examining an emulation. */
#ifndef DL_EMU_RUN_H
#define DL_EMU_RUN_H

#include "emu/hop.h"

/* engine.c: all events up to a time. */
void dl_emu_run_to(struct dl_emu *e, uint64_t until);
/* May something happen yet? */
bool dl_emu_goes_on(const struct dl_emu *e);
#define DL_EMU_PAUSE_BITS 20 /* every microsecond */
/* Is it time, between two events, to ask, and is nothing left but timers? */
bool dl_emu_pauses(const struct dl_emu *e, uint64_t before, uint64_t after);

/* setup.c: report why something cannot be.  -EINVAL. */
int dl_emu_refuse(const struct dl_log *log, const char *why);
uint32_t dl_emu_least_buffer(const struct dl_emu_config *c); /* that can promise one packet */
unsigned int dl_emu_bucket_bits(const struct dl_emu *e);     /* with one thread */
/* With its tables. */
void dl_emu_program_switches(struct dl_emu *e);
int dl_emu_program_ports(struct dl_emu *e);

/* divide.c: so many shards of about the same size, in e->shard_of. */
int dl_emu_divide(struct dl_emu *e, uint32_t shards);

/* shard.c: an emulation on several cores. */
int dl_emu_set_up_shards(struct dl_emu *e);
void dl_emu_free_shards(struct dl_emu *e);
void dl_emu_share(struct dl_emu *e);
void dl_emu_run_shards(struct dl_emu *e, uint64_t until);
void dl_emu_open_mail(struct dl_emu *e);

/* deadlock.c: fill in e->cycle; 0, 1 (there is one) or -ENOMEM. */
int dl_emu_look_for_deadlock(struct dl_emu *e);

/* stall.c: is nothing left but deadlines and the flow-control packets that losses make repeat? */
bool dl_emu_only_reports(const struct dl_emu *e);
/* Is nothing left to happen that could move a packet?  Only losses make it ask. */
bool dl_emu_has_stalled(const struct dl_emu *e);

/*
 * audit.c: do the laws of conservation hold?  O(everything).  0 or -EPROTO.
 */
int dl_emu_audit(const struct dl_emu *e, const struct dl_log *log);

#endif
