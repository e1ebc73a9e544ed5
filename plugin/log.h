/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages go to OpenSM's log.  Errors carry numbers, DL01 to DL99, each from one
 * place; osmdateline(8) lists them.
 */
#ifndef DL_PLUGIN_LOG_H
#define DL_PLUGIN_LOG_H

#include "opensm.h"
#include <opensm/osm_log.h>

#include "dateline/base.h"

/* One line in OpenSM's log. */
#define DL_SAY(osm, level, format, ...) \
	osm_log(&(osm)->log, (level), "dateline: " format "\n", ##__VA_ARGS__)

/* Messages of the library, errors with a number. */
struct dl_osm_log {
	struct dl_log log; /* handed to the library */
	struct osm_opensm *osm;
	const char *number;   /* "DL13" */
	osm_log_level_t info; /* level of the library's information */
	unsigned int errors;  /* reported so far */
};

/* Switches for a message: "2 switches do not answer (S_3_1_0, S_4_1_0)". */
struct dl_osm_names {
	char text[256];
	size_t used;
	uint32_t n;
};

void dl_osm_names_add(struct dl_osm_names *names, const osm_switch_t *sw);

/* The text, of `size`, about them, or `nobody` where there are none. */
const char *dl_osm_names_say(const struct dl_osm_names *names, const char *what, const char *nobody,
			     char *text, size_t size);

void dl_osm_log_init(struct dl_osm_log *l, struct osm_opensm *osm, const char *number);

#endif
