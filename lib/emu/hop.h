/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What every hop does: hop.c. */
#ifndef DL_EMU_HOP_H
#define DL_EMU_HOP_H

#include "emu/node.h"

extern const struct dl_emu_handlers dl_emu_hop_handlers;

/* The events of the present bucket whose keys are below `end`. */
void dl_emu_serve(struct dl_emu *e, uint64_t end);
/* A packet comes into the buffer that it was sent to. */
void dl_emu_enter(struct dl_emu *e, uint32_t packet);
enum hop_kind dl_emu_is_plain(const struct dl_emu *e);
void dl_emu_deliver_credit(struct dl_emu *e, uint32_t channel, struct dl_emu_fcp fcp, uint64_t at);

#endif
