/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What fuzz targets share that read with a log, or a small fabric. */
#ifndef TEST_FUZZ_LISTEN_H
#define TEST_FUZZ_LISTEN_H

#include <stdbool.h>

#include "dateline/fabric.h"
#include "fuzz.h"

static bool error; /* has one been reported? */

static void hear(void *context, enum dl_log_level level, const char *message)
{
	(void)context;
	FUZZ_CHECK(*message);
	error |= level == DL_LOG_ERROR;
}

static const struct dl_log listener = { .write = hear, .context = NULL };

/* Two switches of so many ports, cabled, with an adapter each, and LIDs. */
static inline struct dl_fabric *fuzz_pair(unsigned int nports, const char *const names[2])
{
	struct dl_fabric *f;
	uint32_t node;

	FUZZ_CHECK(!dl_fabric_new(&f));
	for (unsigned int i = 0; i < 2; i++)
		FUZZ_CHECK(!dl_fabric_add_node(f, DL_FABRIC_SWITCH, nports, 0xA0 + i, "s", NULL));
	FUZZ_CHECK(!dl_fabric_connect(f, f->nodes[0].first_port + 1, f->nodes[1].first_port + 1));
	for (unsigned int i = 0; i < 2; i++) {
		FUZZ_CHECK(!dl_fabric_add_node(f, DL_FABRIC_CA, 1, 0xC0 + i, names[i], &node));
		FUZZ_CHECK(!dl_fabric_connect(f, f->nodes[i].first_port + 2,
					      f->nodes[node].first_port + 1));
	}
	FUZZ_CHECK(!dl_fabric_finish(f, NULL) && !dl_fabric_assign_lids(f, 0));
	return f;
}

#endif
