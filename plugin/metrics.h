/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Metrics: what is counted in each sweep, and when it is written. */
#ifndef DL_PLUGIN_METRICS_H
#define DL_PLUGIN_METRICS_H

#include "opensm.h"
#include <opensm/osm_event_plugin.h>

#include "metrics_text.h"

struct dl_engine;

struct dl_metrics_state {
	struct dl_metrics now;
	double last;  /* the end of the stage before, monotonic */
	bool failing; /* was the last write refused? */
};

/*
 * Begin a sweep, account the time since the end of the stage before to a stage,
 * and end the sweep.
 */
void dl_metrics_begin(struct dl_engine *e);
void dl_metrics_stage_done(struct dl_engine *e, enum dl_metrics_stage stage);
void dl_metrics_end(struct dl_engine *e, enum dl_metrics_sweep_result what);

/* OpenSM starts, ends, or reports something.  Takes OpenSM's lock. */
void dl_metrics_start(struct dl_engine *e);
void dl_metrics_stop(struct dl_engine *e);
void dl_metrics_event(struct dl_engine *e, osm_epi_event_id_t event);

#endif
