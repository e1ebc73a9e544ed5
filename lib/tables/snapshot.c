/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A snapshot: a directory that holds a fabric and its routing, under OpenSM's
 * own names where OpenSM has one.
 *
 * Problem.  A dozen files are one thing: forwarding tables of one routing beside
 * SL-to-VL maps of another say nothing about either.
 *
 * Method.  A manifest lists the files with their sizes and checksums.  All files
 * are written without a name first; a failure until then leaves what was there.
 * Then they are put in place together; see exchange.c.  When a file is lost, cut
 * or exchanged later, it does not match the manifest, and readers refuse all.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dateline/base.h"
#include "tables/internal.h"

#define PSL_PAIRS_MAX 4000000 /* written by pair without being told */

/* ---- what belongs to it ------------------------------------------------ */

const char *const dl_tables_file_names[DL_TABLES_NFILES] = {
	[DL_TABLES_LFTS] = "opensm-lfts.dump",	 [DL_TABLES_FDBS] = "opensm.fdbs",
	[DL_TABLES_MCFDBS] = "opensm.mcfdbs",	 [DL_TABLES_SL2VL] = "opensm-sl2vl.dump",
	[DL_TABLES_SLVL] = "dateline-slvl.dump", [DL_TABLES_VLARB] = "dateline-vlarb.dump",
	[DL_TABLES_PSL] = "dateline-psl.dump",	 [DL_TABLES_SLS] = "dateline-sls.dump",
};

const char *const dl_snapshot_note_names[] = { "dateline-torus.dump", DL_SNAPSHOT_GAPS,
					       "dateline-opensm.conf", NULL };

int dl_snapshot_add_note(struct dl_snapshot *s, const char *name, char *text, size_t len)
{
	struct dl_snapshot_note *notes =
		dl_array_grow(s->notes, sizeof(*notes), s->nnotes, 1, &s->notes_cap);
	char *copy = strdup(name);

	if (notes)
		s->notes = notes;
	if (!notes || !copy || !text) {
		free(copy);
		free(text);
		return -ENOMEM;
	}
	notes[s->nnotes++] = (struct dl_snapshot_note){ copy, text, len };
	return 0;
}

const struct dl_snapshot_note *dl_snapshot_find_note(const struct dl_snapshot *s, const char *name)
{
	for (uint32_t i = 0; i < s->nnotes; i++)
		if (!strcmp(s->notes[i].name, name))
			return &s->notes[i];
	return NULL;
}

static uint64_t node_hash(const struct dl_fabric_node *n)
{
	const uint64_t key[2] = { n->guid, n->type };

	return dl_tables_sum_of(key, sizeof(key));
}

static uint64_t cable_hash(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *a = &f->ports[port], *b = &f->ports[a->peer];
	uint64_t one[2] = { f->nodes[a->node].guid, a->num };
	uint64_t other[2] = { f->nodes[b->node].guid, b->num };

	return dl_tables_sum_of(one, sizeof(one)) * dl_tables_sum_of(other, sizeof(other));
}

uint64_t dl_snapshot_fabric_id(const struct dl_fabric *f)
{
	uint64_t id = 0;

	for (uint32_t i = 0; i < f->nnodes; i++)
		id += node_hash(&f->nodes[i]);
	for (uint32_t p = 0; p < f->nports; p++)
		if (f->ports[p].peer != DL_NONE && f->ports[p].peer > p)
			id += cable_hash(f, p);
	return id;
}

void dl_snapshot_release(struct dl_snapshot *s)
{
	dl_tables_free(s->tables);
	dl_fabric_free(s->fabric);
	for (uint32_t i = 0; i < s->nnotes; i++) {
		free(s->notes[i].name);
		free(s->notes[i].text);
	}
	free(s->notes);
	memset(s, 0, sizeof(*s));
}

/* ---- one file ---------------------------------------------------------- */

#define NPARTS_MAX (3 + DL_TABLES_NFILES) /* besides the notes */

struct part {
	const char *name;
	struct dl_file file;
};

struct writer {
	const struct dl_snapshot *s;
	const char *dir;
	int fd; /* the directory */
	const struct dl_log *log;
	struct part *parts;
	uint32_t n;
	struct dl_snapshot_manifest manifest;
	double written, expected; /* bytes, for progress */
};

static int make_path(char path[PATH_MAX], const char *dir, const char *name)
{
	int len = snprintf(path, PATH_MAX, "%s/%s", dir, name);

	return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int failed(const struct writer *w, const char *name, int err)
{
	dl_log(w->log, DL_LOG_ERROR, "%s/%s: cannot write it: %s", w->dir, name, strerror(-err));
	return err;
}

/* What a writer of the fabric's gives. */
static int put_fabric(struct dl_tables_out *o, const struct dl_fabric *f,
		      int (*write)(const struct dl_fabric *f, FILE *to))
{
	char *text = NULL;
	size_t len;
	FILE *to = dl_memory_open(&text, &len);
	int err = to ? write(f, to) : -ENOMEM;

	if (to && fclose(to))
		err = -ENOMEM;
	if (!err)
		dl_tables_out_text(o, text, len);
	free(text);
	return err;
}

static int put_part(struct writer *w, struct dl_tables_out *o, const char *name)
{
	const struct dl_snapshot_note *note = dl_snapshot_find_note(w->s, name);

	if (note)
		dl_tables_out_text(o, note->text, note->len);
	if (note)
		return 0;
	if (!strcmp(name, DL_SNAPSHOT_NET))
		return put_fabric(o, w->s->tables->fabric, dl_fabric_write_netlist);
	if (!strcmp(name, DL_SNAPSHOT_SUBNET))
		return put_fabric(o, w->s->tables->fabric, dl_fabric_write_subnet_list);
	if (!strcmp(name, DL_SNAPSHOT_MANIFEST))
		return dl_snapshot_put_manifest(o, &w->manifest);
	for (unsigned int i = 0; i < DL_TABLES_NFILES; i++)
		if (!strcmp(name, dl_tables_file_names[i]))
			return dl_tables_put(o, w->s->tables, i);
	return -EINVAL;
}

static int list_part(struct dl_snapshot_manifest *m, const char *name,
		     const struct dl_tables_out *o)
{
	struct dl_snapshot_file *files = dl_array_grow(m->files, sizeof(*files), m->n, 1, &m->cap);

	if (!files)
		return -ENOMEM;
	m->files = files;
	files += m->n++;
	files->bytes = o->bytes;
	files->checksum = o->checksum;
	snprintf(files->name, sizeof(files->name), "%s", name);
	return 0;
}

/* A file that is not in place yet. */
static int write_part(struct writer *w, const char *name)
{
	struct part *p = &w->parts[w->n];
	struct dl_tables_out o;
	char path[PATH_MAX];
	int err = make_path(path, w->dir, name);

	if (!err)
		err = dl_file_begin(&p->file, path);
	if (err)
		return failed(w, name, err);
	p->name = name;
	w->n++;
	err = dl_tables_out_begin(&o, p->file.to);
	o.log = w->log;
	o.before = w->written;
	o.expected = w->expected;
	if (!err)
		err = dl_tables_out_end(&o, put_part(w, &o, name));
	w->written += o.bytes;
	/* After a loss of power, the manifest tells what did not reach the disk. */
	p->file.hasty = strcmp(name, DL_SNAPSHOT_MANIFEST) != 0;
	err = dl_file_finish(&p->file, err);
	if (!err)
		err = list_part(&w->manifest, name, &o);
	return err ? failed(w, name, err) : 0;
}

/* ---- all --------------------------------------------------------------- */

static int replace(struct writer *w)
{
	uint32_t last = w->n - 1;
	int err = 0;

	for (uint32_t i = 0; !err && i <= last; i++) {
		char name[DL_SNAPSHOT_NAME_MAX];

		dl_snapshot_waiting_name(name, &w->manifest.files[i]);
		/* All names are made durable together. */
		w->parts[i].file.hasty = true;
		err = i < last ? dl_file_place_as(&w->parts[i].file, name) :
				 dl_file_place(&w->parts[i].file);
		if (err)
			failed(w, w->parts[i].name, err);
	}
	if (err) {
		dl_snapshot_remove_waiting(w->fd);
		return err;
	}
	err = dl_snapshot_complete(w->fd, &w->manifest);
	return err ? failed(w, "dateline-*", err) : 0;
}

static uint64_t psl_pairs(const struct dl_tables *t)
{
	uint64_t sources = 0, lids = 0;

	for (uint32_t p = 0; t->psl && p < t->fabric->nports; p++)
		sources += t->psl_src[p] != DL_NONE;
	for (uint32_t lid = 1; t->psl && lid <= t->top_lid; lid++)
		lids += t->psl_dst[lid] != DL_NONE;
	return sources * lids;
}

static bool by_class(const struct dl_tables *t, unsigned int flags)
{
	return flags & DL_SNAPSHOT_PSL_BY_CLASS ||
	       (!(flags & DL_SNAPSHOT_PSL_BY_PAIR) && psl_pairs(t) > PSL_PAIRS_MAX);
}

/*
 * What the files that may be large take, about: in each line of a dump of
 * forwarding tables a name of some 15 bytes.
 */
static double expected_bytes(const struct dl_tables *t, bool by_pair)
{
	double lines = (double)t->fabric->nswitches * t->top_lid;
	double maps = t->sl2vl_first[t->fabric->nswitches];

	return lines * (57 + 15 + 29) + maps * (59 + 64) + by_pair * 26.0 * psl_pairs(t);
}

static int write_parts(struct writer *w, unsigned int flags)
{
	const struct dl_tables *t = w->s->tables;
	unsigned int other = !t->psl		? DL_TABLES_NFILES :
			     by_class(t, flags) ? DL_TABLES_PSL :
						  DL_TABLES_SLS;
	int err;

	w->expected = expected_bytes(t, other == DL_TABLES_SLS);
	err = write_part(w, DL_SNAPSHOT_NET);
	if (!err)
		err = write_part(w, DL_SNAPSHOT_SUBNET);
	for (uint32_t i = 0; !err && i < w->s->nnotes; i++)
		err = write_part(w, w->s->notes[i].name);
	for (unsigned int i = 0; !err && i < DL_TABLES_NFILES; i++)
		if (i != other && (t->psl || (i != DL_TABLES_PSL && i != DL_TABLES_SLS)))
			err = write_part(w, dl_tables_file_names[i]);
	return err ? err : write_part(w, DL_SNAPSHOT_MANIFEST);
}

static int open_dir(struct writer *w)
{
	int err = 0;

	if (mkdir(w->dir, 0777) && errno != EEXIST) {
		err = -errno;
		dl_log(w->log, DL_LOG_ERROR, "%s: cannot create this directory: %s", w->dir,
		       strerror(-err));
		return err;
	}
	w->fd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->fd < 0 && errno == EACCES)
		w->fd = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = w->fd < 0 ? -errno : dl_snapshot_recover(w->fd);
	if (err)
		dl_log(w->log, DL_LOG_ERROR, "%s: cannot write to this directory: %s", w->dir,
		       strerror(-err));
	return err;
}

int dl_snapshot_write(const struct dl_snapshot *s, const char *dir, unsigned int flags,
		      const struct dl_log *log)
{
	struct writer w = { .s = s, .dir = dir, .fd = -1, .log = log, .manifest.about = s->about };
	int err = s->tables->checked ? 0 : dl_tables_check(s->tables, log);

	for (uint32_t i = 0; !err && i < s->nnotes; i++)
		err = dl_snapshot_is_own_name(s->notes[i].name) ? 0 : -EINVAL;
	if (!err)
		err = open_dir(&w);
	if (err)
		goto out;
	w.manifest.about.fabric = dl_snapshot_fabric_id(s->tables->fabric);
	w.parts = calloc(NPARTS_MAX + s->nnotes, sizeof(*w.parts));
	err = w.parts ? write_parts(&w, flags) : -ENOMEM;
	if (!err)
		err = replace(&w);
	for (uint32_t i = 0; i < w.n; i++)
		dl_file_drop(&w.parts[i].file);
	dl_progress(log, "writing tables", " MB", 1, 1);
out:
	if (w.fd >= 0)
		close(w.fd);
	free(w.parts);
	free(w.manifest.files);
	return err;
}
