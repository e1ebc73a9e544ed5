/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is written for people and for the dateline command: with dump_dir the
 * whole routing after each sweep as a .dls file, in a directory or under its own
 * name; and the coordinates beside OpenSM's own dumps.
 *
 * A snapshot of a large fabric takes seconds, and a disk may take for ever.  So
 * a thread of its own writes them, one after the other; it begins with the
 * first one, and hears no signal.  A snapshot is handed to it as a reference to
 * the sweep, whose tables do not change any more, with a copy of the groups,
 * which do.  One more may wait: a newer one takes its place, which the log and
 * the metrics tell.  At the end both are still written, so that there always is
 * the last one, as a whole.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "dump_dir.h"
#include "engine.h"
#include "log.h"
#include "sweep.h"

struct job {
	struct dl_sweep *sweep;
	struct dl_tables tables; /* its own, but for the groups */
	uint16_t multicast_sls;
	time_t at;
};

struct dl_writer {
	const struct dl_engine *engine; /* only what never changes */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job *waiting; /* or NULL */
	bool ends;
};

/* In it, or beside a file, why its tables have no credit loop: for contrib/check. */
static void write_certificate(struct osm_opensm *osm, const struct job *j, const char *to)
{
	char path[PATH_MAX];
	struct dl_verify_options o;
	struct dl_file f;
	int err = snprintf(path, sizeof(path), "%s%sdateline-certificate.txt", to,
			   dl_snapshot_names_file(to) ? "." : "/") < PATH_MAX ?
			  dl_file_begin(&f, path) :
			  -ENAMETOOLONG;

	dl_verify_options_init(&o);
	o.multicast_sls = j->multicast_sls;
	if (!err)
		err = dl_file_finish(&f, dl_verify_certificate(&j->tables, &o, f.to));
	if (!err)
		err = dl_file_place(&f);
	if (err)
		DL_SAY(osm, OSM_LOG_ERROR, "ERR DL33: cannot write %s: %s", path, strerror(-err));
}

/* The file: in the directory dump_dir, which is made, or dump_dir itself. */
static int find_path(const char *dump_dir, char path[PATH_MAX])
{
	bool is_file = dl_snapshot_names_file(dump_dir);
	int len = snprintf(path, PATH_MAX, "%s%s", dump_dir,
			   is_file ? "" : "/" DL_SNAPSHOT_ENGINE_FILE);

	if (len >= PATH_MAX)
		return -ENAMETOOLONG;
	return is_file || !mkdir(dump_dir, 0777) || errno == EEXIST ? 0 : -errno;
}

static void writer_write(const struct dl_engine *e, struct job *j)
{
	const char *to = e->options.dump_dir;
	char path[PATH_MAX];
	struct dl_snapshot s = { .about.written = j->at };
	struct dl_osm_log l;
	int err;

	dl_osm_log_init(&l, e->osm, "DL30");
	s.tables = &j->tables;
	err = dl_route_describe(j->sweep->torus, j->sweep->config, &e->options.route, &s);
	if (!err)
		err = find_path(to, path);
	if (!err)
		err = dl_snapshot_pack(&s, path, &l.log);
	if (err && !l.errors)
		dl_log(&l.log, DL_LOG_ERROR, "cannot write a snapshot to %s: %s", to,
		       strerror(-err));
	s.tables = NULL; /* they stay in force */
	dl_snapshot_release(&s);
	if (err) {
		/* Such as a full disk: the next sweep tries again. */
		__atomic_store_n(&j->sweep->dumped, false, __ATOMIC_RELAXED);
		return;
	}
	DL_SAY(e->osm, OSM_LOG_VERBOSE, "snapshot written to %s", to);
	if (j->sweep->proven)
		write_certificate(e->osm, j, to);
}

static void free_job(struct job *j)
{
	if (!j)
		return;
	dl_tables_free_groups(&j->tables);
	dl_sweep_free(j->sweep);
	free(j);
}

static int copy_groups(struct dl_tables *to, const struct dl_tables *from)
{
	int err = 0;

	to->groups = calloc(from->ngroups + 1, sizeof(*to->groups));
	to->ngroups = to->groups_cap = 0;
	for (uint32_t i = 0; to->groups && !err && i < from->ngroups; i++) {
		struct dl_tables_mcast_group *g = &to->groups[i];

		g->mlid = from->groups[i].mlid;
		err = dl_tables_masks_copy(&g->masks, &from->groups[i].masks);
		to->ngroups++;
	}
	return to->groups ? err : -ENOMEM;
}

static struct job *new_job(struct dl_sweep *sweep)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->sweep = dl_sweep_share(sweep);
	j->tables = *sweep->routed.tables;
	j->multicast_sls = sweep->safe_sls;
	j->at = time(NULL);
	if (!copy_groups(&j->tables, sweep->routed.tables))
		return j;
	free_job(j);
	return NULL;
}

/* ---- the thread --------------------------------------------------------- */

static void *writer_run(void *context)
{
	struct dl_writer *w = context;
	struct job *j;

	pthread_mutex_lock(&w->lock);
	while (w->waiting || !w->ends) {
		j = w->waiting;
		w->waiting = NULL;
		if (!j) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		writer_write(w->engine, j);
		free_job(j);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Returns NULL if there can be none. */
static struct dl_writer *writer_start(const struct dl_engine *e)
{
	struct dl_writer *w = calloc(1, sizeof(*w));
	sigset_t all, before;
	int err;

	if (!w)
		return NULL;
	w->engine = e;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&w->thread, NULL, writer_run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err)
		return w;
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return NULL;
}

void dl_dump_dir_write(struct dl_engine *e)
{
	struct job *j, *late;

	if (!e->options.dump_dir || !e->in_force ||
	    __atomic_load_n(&e->in_force->dumped, __ATOMIC_RELAXED))
		return;
	if (!e->writer)
		e->writer = writer_start(e);
	j = e->writer ? new_job(e->in_force) : NULL;
	if (!j) {
		DL_SAY(e->osm, OSM_LOG_ERROR, "ERR DL30: no memory to write a snapshot to %s",
		       e->options.dump_dir);
		return;
	}
	__atomic_store_n(&e->in_force->dumped, true, __ATOMIC_RELAXED);
	pthread_mutex_lock(&e->writer->lock);
	late = e->writer->waiting;
	e->writer->waiting = j;
	pthread_cond_signal(&e->writer->changed);
	pthread_mutex_unlock(&e->writer->lock);
	if (!late)
		return;
	free_job(late);
	e->metrics.now.snapshots_dropped++;
	DL_SAY(e->osm, OSM_LOG_INFO,
	       "%s takes longer to write than a sweep: one snapshot is left out for a newer one",
	       e->options.dump_dir);
}

void dl_dump_dir_end(struct dl_engine *e)
{
	struct dl_writer *w = e->writer;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
	e->writer = NULL;
}

void dl_coordinates_write(struct osm_opensm *osm, const struct dl_sweep *sweep, const char *dir)
{
	char path[PATH_MAX];
	struct dl_file f;
	int err = snprintf(path, sizeof(path), "%s/dateline-torus.dump", dir) < PATH_MAX ?
			  dl_file_begin(&f, path) :
			  -ENAMETOOLONG;

	if (!err)
		err = dl_file_finish(&f, dl_torus_write_list(sweep->torus, f.to));
	if (!err)
		err = dl_file_place(&f);
	if (err)
		DL_SAY(osm, OSM_LOG_ERROR, "ERR DL31: cannot write dateline-torus.dump in %s: %s",
		       dir, strerror(-err));
}
