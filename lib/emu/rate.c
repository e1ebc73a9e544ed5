/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Link rates as exact fractions.
 */
#include "config.h"

#include <errno.h>

#include "dateline/emu.h"

/* Picoseconds for a byte at the fabric's unit of rates. */
#define RATE_UNIT_PS (8000 * DL_FABRIC_RATE_GBIT)

/* Few rates need a division then. */
static struct dl_emu_rate rate_shortened(uint32_t num, uint32_t den)
{
	uint32_t a = num, b = den;

	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return (struct dl_emu_rate){ num / a, den / a };
}

int dl_emu_link_rate(const struct dl_fabric *f, uint32_t port, struct dl_emu_rate *out)
{
	struct dl_fabric_speed_width agreed = dl_fabric_agreed(f, port);
	uint32_t rate = dl_fabric_rate(agreed.speed ? agreed.speed : DL_EMU_DEFAULT_SPEED,
				       agreed.width ? agreed.width : DL_EMU_DEFAULT_WIDTH);

	if (!rate)
		return -EINVAL;
	*out = rate_shortened(RATE_UNIT_PS, rate);
	return 0;
}

uint64_t dl_emu_cable_delay(const struct dl_fabric *f, const struct dl_emu_config *c, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;
	uint32_t mm = c->cable_mm_all;

	if (c->cable_mm)
		mm = c->cable_mm[port] ? c->cable_mm[port] : c->cable_mm[peer];
	return 5 * (uint64_t)mm; /* 5 ns a metre */
}
