/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Link rates as exact fractions.
 *
 * A lane signals at a multiple of 1/64 Gbit/s: SDR 2.5, DDR 5, QDR 10, FDR10
 * 10.3125, FDR 14.0625, EDR 25.78125, HDR 53.125, NDR 106.25.  The first
 * three carry 8 data bits in 10, FDR10, FDR and EDR 64 in 66.  HDR and NDR add
 * forward error correction to that, RS(544,514) after transcoding 256b/257b:
 * 256/257 * 514/544, which leaves 50 and 100 Gbit/s exactly.
 */
#include "config.h"

#include <errno.h>

#include "dateline/emu.h"

/* Picoseconds that one lane takes for a byte of data. */
static const struct dl_emu_rate lane[] = {
	[DL_FABRIC_SDR] = { 4000, 1 },
	[DL_FABRIC_DDR] = { 2000, 1 },
	[DL_FABRIC_QDR] = { 1000, 1 },
	[DL_FABRIC_FDR10] = { 800, 1 }, /* 10.3125 * 64/66 = 10 Gbit/s */
	[DL_FABRIC_FDR] = { 1760, 3 },	/* 14.0625 * 64/66 = 150/11 */
	[DL_FABRIC_EDR] = { 320, 1 },	/* 25 */
	[DL_FABRIC_HDR] = { 160, 1 },	/* 50 */
	[DL_FABRIC_NDR] = { 80, 1 },	/* 100 */
	[DL_FABRIC_XDR] = { 40, 1 },	/* 200 */
};

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

int dl_emu_rate_of(unsigned int speed, unsigned int width, struct dl_emu_rate *out)
{
	if (speed >= sizeof(lane) / sizeof(*lane) || !lane[speed].num)
		return -EINVAL;
	switch (width) {
	case 1:
	case 2:
	case 4:
	case 8:
	case 12:
		*out = rate_shortened(lane[speed].num, lane[speed].den * width);
		return 0;
	default:
		return -EINVAL;
	}
}

/* Each end's fastest mode is what the fabric says; they agree on the slower. */
int dl_emu_link_rate(const struct dl_fabric *f, const struct dl_emu_config *c, uint32_t port,
		     struct dl_emu_rate *out)
{
	const struct dl_fabric_port *p = &f->ports[port];
	unsigned int speed = p->speed ? p->speed : c->default_speed;
	unsigned int width = p->width ? p->width : c->default_width;

	if (p->peer != DL_NONE) {
		const struct dl_fabric_port *q = &f->ports[p->peer];
		unsigned int far_speed = q->speed ? q->speed : c->default_speed;
		unsigned int far_width = q->width ? q->width : c->default_width;

		speed = far_speed < speed ? far_speed : speed;
		width = far_width < width ? far_width : width;
	}
	return dl_emu_rate_of(speed, width, out);
}
