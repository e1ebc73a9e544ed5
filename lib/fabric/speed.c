/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Widths and speeds of links as words; see fabric.h. */
#include <string.h>

#include "dateline/fabric.h"

static const struct {
	const char *name, *rate;
} speeds[] = {
	[DL_FABRIC_SPEED_UNKNOWN] = { "??", "??" }, [DL_FABRIC_SDR] = { "SDR", "2.5" },
	[DL_FABRIC_DDR] = { "DDR", "5" },	    [DL_FABRIC_QDR] = { "QDR", "10" },
	[DL_FABRIC_FDR10] = { "FDR10", "FDR10" },   [DL_FABRIC_FDR] = { "FDR", "14" },
	[DL_FABRIC_EDR] = { "EDR", "25" },	    [DL_FABRIC_HDR] = { "HDR", "50" },
	[DL_FABRIC_NDR] = { "NDR", "100" },	    [DL_FABRIC_XDR] = { "XDR", "200" },
};

#define NSPEEDS (sizeof(speeds) / sizeof(*speeds))

static bool is_word(const char *s, const char *word, size_t len)
{
	return strlen(s) == len && !memcmp(s, word, len);
}

unsigned int dl_fabric_width_of(const char *word, size_t len)
{
	static const char *const widths[] = {
		[1] = "1x", [2] = "2x", [4] = "4x", [8] = "8x", [12] = "12x"
	};
	unsigned int lanes = sizeof(widths) / sizeof(*widths) - 1;

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

	while (i && !is_word(speeds[i].rate, word, len))
		i--;
	return i;
}

const char *dl_fabric_speed_name(unsigned int speed)
{
	return speeds[speed < NSPEEDS ? speed : 0].name;
}

const char *dl_fabric_speed_rate(unsigned int speed)
{
	return speeds[speed < NSPEEDS ? speed : 0].rate;
}
