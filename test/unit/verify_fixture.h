/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Small random fabrics and tables for the proof: of every shape, sound and
 * broken.  All follow from the numbers drawn.
 */
#ifndef VERIFY_FIXTURE_H
#define VERIFY_FIXTURE_H

#include "draw.h"
#include "dateline/verify.h"

struct fixture {
	struct dl_fabric *fabric;
	struct dl_tables *tables;
	uint16_t sls, multicast_sls;
	unsigned int levels;
	bool adapters_only;
};

/* Ends the test when there is no memory. */
void fixture_make(struct draw *d, struct fixture *w);
void fixture_free(struct fixture *w);

#endif
