/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Results of `dateline emulate` as counters of a simulated fabric (ibsim). */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "emulate.h"

/* A counter that is so many bits wide sticks at the top. */
static void emulate_set_counter(const struct emulate_run *r, uint32_t port, const char *attribute,
				const char *counter, unsigned int bits, uint64_t value, FILE *to)
{
	const struct dl_fabric *f = r->fabric;
	uint64_t top = UINT64_MAX >> (64 - bits);

	fprintf(to, "PerformanceSet \"%s\"[%u] %s.%s=%" PRIu64 "\n",
		dl_fabric_node_name(f, f->ports[port].node), f->ports[port].num, attribute, counter,
		value > top ? top : value);
}

static void emulate_set_counters(const struct emulate_run *r, uint32_t port, FILE *to)
{
	const struct dl_emu_port *sent = dl_emu_port(r->result.emu, port);
	const struct dl_emu_port *received =
		dl_emu_port(r->result.emu, r->fabric->ports[port].peer);
	/* IBA 16.1.3.5: data in words of 4 bytes. */
	const struct {
		const char *name;
		unsigned int bits;
		bool extended; /* in PortCountersExtended, too */
		uint64_t value;
	} counters[] = {
		{ "PortXmitData", 32, true, sent->bytes / 4 },
		{ "PortRcvData", 32, true, received->bytes / 4 },
		{ "PortXmitPkts", 32, true, sent->packets },
		{ "PortRcvPkts", 32, true, received->packets },
		{ "PortXmitWait", 32, false, sent->wait_ps / 1000 },
		{ "PortXmitDiscards", 16, false, sent->xmit_discards },
		{ "PortRcvErrors", 16, false, sent->rcv_errors },
		{ "PortRcvSwitchRelayErrors", 16, false, sent->relay_errors },
		{ "VL15Dropped", 16, false, sent->vl15_dropped },
	};

	for (size_t c = 0; c < sizeof(counters) / sizeof(*counters); c++) {
		emulate_set_counter(r, port, "PortCounters", counters[c].name, counters[c].bits,
				    counters[c].value, to);
		if (counters[c].extended)
			emulate_set_counter(r, port, "PortCountersExtended", counters[c].name, 64,
					    counters[c].value, to);
	}
}

int emulate_counters(const struct emulate_run *r, FILE *to)
{
	for (uint32_t i = 0; i < r->fabric->nports; i++)
		if (r->fabric->ports[i].peer != DL_NONE)
			emulate_set_counters(r, i, to);
	return ferror(to) ? -EIO : 0;
}
