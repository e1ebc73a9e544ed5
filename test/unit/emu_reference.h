/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The emulator's reference model. */
#ifndef TEST_EMU_REFERENCE_H
#define TEST_EMU_REFERENCE_H

#include "emu_fixture.h"

struct emu_step {
	uint64_t at;
	struct dl_emu_fault fault;
};

/*
 * Run the fixture's flows until nothing happens any more, or until a time; its
 * deliveries are noted there.  Of *out (may be NULL) injected, dropped,
 * drops[] and packet_hops are counted.
 */
void emu_reference_run(struct emu_fixture *w, const struct emu_step *steps, uint32_t nsteps,
		       uint64_t until, struct dl_emu_totals *out);

#endif
