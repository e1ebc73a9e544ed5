/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The library's messages in OpenSM's log. */
#include <stdio.h>

#include "log.h"

#define MAX_NAMES 3

static void log_write(void *context, enum dl_log_level level, const char *message)
{
	struct dl_osm_log *l = context;

	switch (level) {
	case DL_LOG_ERROR:
		l->errors++;
		DL_SAY(l->osm, OSM_LOG_ERROR, "ERR %s: %s", l->number, message);
		break;
	case DL_LOG_WARNING:
		DL_SAY(l->osm, OSM_LOG_INFO, "Warning: %s", message);
		break;
	case DL_LOG_INFO:
		DL_SAY(l->osm, l->info, "%s", message);
		break;
	case DL_LOG_VERBOSE:
		DL_SAY(l->osm, OSM_LOG_VERBOSE, "%s", message);
		break;
	}
}

void dl_osm_log_init(struct dl_osm_log *l, struct osm_opensm *osm, const char *number)
{
	*l = (struct dl_osm_log){ .log = { .write = log_write, .context = l },
				  .osm = osm,
				  .number = number,
				  .info = OSM_LOG_INFO };
}

void dl_osm_names_add(struct dl_osm_names *names, const osm_switch_t *sw)
{
	if (names->n++ < MAX_NAMES && names->used < sizeof(names->text))
		names->used += snprintf(names->text + names->used,
					sizeof(names->text) - names->used, "%s%.40s",
					names->n > 1 ? ", " : "", sw->p_node->print_desc);
}

const char *dl_osm_names_say(const struct dl_osm_names *names, const char *what, const char *nobody,
			     char *text, size_t size)
{
	if (!names->n)
		return nobody;
	snprintf(text, size, "%u switch%s not %s (%s%s)", names->n,
		 names->n == 1 ? " does" : "es do", what, names->text,
		 names->n > MAX_NAMES ? ", ..." : "");
	return text;
}
