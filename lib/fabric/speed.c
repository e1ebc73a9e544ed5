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
	static const struct {
		const char *word;
		unsigned int lanes;
	} widths[] = {
		{ "1x", 1 }, { "2x", 2 }, { "4x", 4 }, { "8x", 8 }, { "12x", 12 },
	};

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		if (is_word(widths[i].word, word, len))
			return widths[i].lanes;
	}
	return 0;
}

unsigned int dl_fabric_speed_of(const char *word, size_t len)
{
	for (unsigned int i = DL_FABRIC_SDR; i < NSPEEDS; i++) {
		if (is_word(speeds[i].name, word, len))
			return i;
	}
	return 0;
}

unsigned int dl_fabric_speed_of_rate(const char *word, size_t len)
{
	for (unsigned int i = DL_FABRIC_SDR; i < NSPEEDS; i++) {
		if (is_word(speeds[i].rate, word, len))
			return i;
	}
	return 0;
}

const char *dl_fabric_speed_name(unsigned int speed)
{
	return speeds[speed < NSPEEDS ? speed : 0].name;
}

const char *dl_fabric_speed_rate(unsigned int speed)
{
	return speeds[speed < NSPEEDS ? speed : 0].rate;
}
