/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Widths and speeds of links as words and as codes on the wire,
 * and the data they carry; see fabric.h.
 *
 * A lane signals at a multiple of 1/64 Gbit/s: SDR 2.5, DDR 5, QDR 10, FDR10
 * 10.3125, FDR 14.0625, EDR 25.78125, HDR 53.125, NDR 106.25.  The first
 * three carry 8 data bits in 10, FDR10, FDR and EDR 64 in 66.  HDR and NDR add
 * forward error correction to that, RS(544,514) after transcoding 256b/257b:
 * 256/257 * 514/544, which leaves 50 and 100 Gbit/s exactly.  FDR carries 150/11
 * Gbit/s; 1/11 Gbit/s is the unit in which all of them are whole numbers.
 */
#include <string.h>

#include "dateline/fabric.h"

static const struct {
	const char *name, *word;
	unsigned int rate; /* data of one lane, in 1/11 Gbit/s */
} speeds[] = {
	[DL_FABRIC_SPEED_UNKNOWN] = { "??", "??", 0 }, [DL_FABRIC_SDR] = { "SDR", "2.5", 22 },
	[DL_FABRIC_DDR] = { "DDR", "5", 44 },	       [DL_FABRIC_QDR] = { "QDR", "10", 88 },
	[DL_FABRIC_FDR10] = { "FDR10", "FDR10", 110 }, [DL_FABRIC_FDR] = { "FDR", "14", 150 },
	[DL_FABRIC_EDR] = { "EDR", "25", 275 },	       [DL_FABRIC_HDR] = { "HDR", "50", 550 },
	[DL_FABRIC_NDR] = { "NDR", "100", 1100 },      [DL_FABRIC_XDR] = { "XDR", "200", 2200 },
};

/* by lanes */
static const char *const widths[] = { [1] = "1x", [2] = "2x", [4] = "4x", [8] = "8x", [12] = "12x" };

#define NSPEEDS (sizeof(speeds) / sizeof(*speeds))
#define NWIDTHS (sizeof(widths) / sizeof(*widths))

static bool is_word(const char *s, const char *word, size_t len)
{
	return strlen(s) == len && !memcmp(s, word, len);
}

unsigned int dl_fabric_width_of(const char *word, size_t len)
{
	unsigned int lanes = NWIDTHS - 1;

	while (lanes && !(widths[lanes] && is_word(widths[lanes], word, len)))
		lanes--;
	return lanes;
}

unsigned int dl_fabric_speed_of(const char *word, size_t len)
{
	unsigned int i = NSPEEDS - 1;

	while (i && !is_word(speeds[i].name, word, len))
		i--;
	return i;
}

unsigned int dl_fabric_speed_of_rate(const char *word, size_t len)
{
	unsigned int i = NSPEEDS - 1;

	while (i && !is_word(speeds[i].word, word, len))
		i--;
	return i;
}

const char *dl_fabric_speed_name(unsigned int speed)
{
	return speeds[speed < NSPEEDS ? speed : 0].name;
}

const char *dl_fabric_speed_rate(unsigned int speed)
{
	return speeds[speed < NSPEEDS ? speed : 0].word;
}

uint32_t dl_fabric_rate(unsigned int speed, unsigned int width)
{
	bool known = speed < NSPEEDS && width < NWIDTHS && widths[width];

	return known ? speeds[speed].rate * width : 0;
}

struct dl_fabric_speed_width dl_fabric_agreed(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port];
	const struct dl_fabric_port *q = p->peer == DL_NONE ? p : &f->ports[p->peer];
	struct dl_fabric_speed_width agreed = { p->speed, p->width };

	if (!p->speed || (q->speed && q->speed < p->speed))
		agreed.speed = q->speed;
	if (!p->width || (q->width && q->width < p->width))
		agreed.width = q->width;
	return agreed;
}

unsigned int dl_fabric_width_of_code(unsigned int code)
{
	static const uint8_t lanes[] = { [1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2 };

	return code < sizeof(lanes) ? lanes[code] : 0;
}

/* One bit stands for a speed, from `first` on. */
static unsigned int speed_of_bit(unsigned int code, unsigned int last, unsigned int first)
{
	return code && code <= last && !(code & (code - 1)) ? first + __builtin_ctz(code) : 0;
}

unsigned int dl_fabric_speed_of_codes(unsigned int plain, unsigned int extended)
{
	unsigned int speed = speed_of_bit(extended, 8, DL_FABRIC_FDR);

	return speed ? speed : speed_of_bit(plain, 4, DL_FABRIC_SDR);
}

unsigned int dl_fabric_vls_of_code(unsigned int code)
{
	static const uint8_t vls[] = { 0, 1, 2, 4, 8, 15 };

	return code < sizeof(vls) ? vls[code] : 0;
}
