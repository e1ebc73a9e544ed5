/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the log and the metrics say of a change of tables. */
#ifndef DL_PLUGIN_PHASES_REPORT_H
#define DL_PLUGIN_PHASES_REPORT_H

struct dl_engine;
struct dl_osm_names;
struct dl_phases;

/* Whose path SLs change, so that they must reconnect? */
void dl_phases_report_reconnect(const struct dl_engine *e, const struct dl_phases *p);

/*
 * This change is not proven: what the switches in e->unconfirmed do not do, or, if there are
 * none, `nobody`.
 */
void dl_phases_report_unproven(struct dl_engine *e, const char *what, const char *nobody);

/*
 * Nothing shows that what OpenSM writes without a plan is safe: said before it does, if it
 * is known then.
 */
void dl_phases_report_unknown(const struct dl_engine *e, const char *why,
			      const struct dl_osm_names *silent);

/* It is over: its steps, and why old packets have left. */
void dl_phases_report(struct dl_engine *e, const struct dl_phases *p);

#endif
