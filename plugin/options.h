/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The words of event_plugin_options that are Dateline's.  No OpenSM in here.
 */
#ifndef DL_PLUGIN_OPTIONS_H
#define DL_PLUGIN_OPTIONS_H

#include <stdbool.h>

#include "dateline.h"

/* How long packets may take to leave. */
enum dl_plugin_drain {
	DL_PLUGIN_DRAIN_BOUND = -1, /* as long as switches may keep them */
	DL_PLUGIN_DRAIN_SEEN = -2   /* ... or until counters show that nothing waits */
};

struct dl_plugin_options {
	struct dl_route_options route;
	bool has_high_limit;	    /* did the user give high_limit=? */
	unsigned int transitions;   /* 1: new tables in proven steps */
	int drain_ms;		    /* between them; negative: enum dl_plugin_drain */
	unsigned int drain_seconds; /* ... at most, proven or not, unless drain_ms is a number */
	int hoq_life;		    /* head-of-queue lifetime to program, or negative */
	char *dump_dir;		    /* where snapshots go, or NULL */
	char *metrics;		    /* where metrics are to go, or NULL */
	char *avoid;		    /* the list of what is not to be used, or NULL */
};

/*
 * Parse `words`: key=value, separated by blanks or commas; NULL is an empty
 * string.  A bad value or an unknown word is reported, with what was expected,
 * and otherwise ignored: the option keeps its default.  With `shared` (other
 * plugins read the same string) an unknown word is no error, only
 * information.  Words without effect, because of others or because they are
 * repeated, are warned of.  Returns 0 or -ENOMEM; *out is released with
 * dl_plugin_options_clear().
 */
int dl_plugin_options_parse(const char *words, bool shared, const struct dl_log *log,
			    struct dl_plugin_options *out);
void dl_plugin_options_clear(struct dl_plugin_options *o);

#endif
