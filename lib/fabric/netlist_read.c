/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The netlist: what ibnetdiscover writes and ibsim reads.
 *
 * Grammar, line by line; anything in () may be left out, # begins a comment:
 *
 *   vendid=N   devid=N   sysimgguid=N
 *   switchguid=N((port GUID))   caguid=   hcaguid=   rtguid=
 *   switchguid+N                                    (ibsim)
 *   Switch|Ca|Hca|Rt  <ports>  "<id>"  (# "<description>" ... lid N lmc N)
 *   [port]((GUID))  "<id>"([port])((GUID))  (w=N s=N e=N)
 *                                 (# lid N lmc N "<description>" ... 4xQDR)
 *   include "<file>"   do <command>                 (ibsim; when allowed)
 *   Chassis ...                                     (ibnetdiscover -g)
 *
 * Comments carry what ibnetdiscover knows beyond the cabling: descriptions,
 * LIDs, width and speed.  Whatever else stands there is passed over; outside
 * of comments nothing is.
 *
 * GUIDs.  A node without a GUID line gets the one that ibsim would give it:
 * each type counts on from its last GUID line (at first from 0x200000 for
 * switches, 0x100000 for adapters, 0 for routers), a switch taking one GUID,
 * the others one more than they have ports.  The exception are ids in
 * ibnetdiscover's own form, S-, H- or R- and 16 digits, which are a GUID.
 *
 * ibsim's width and speed options are sets of bits, as in PortInfo.
 *
 * Reports of infiniband-diags are known by how they begin; ports_read.c reads them.
 *
 * Complexity.  Peers may be declared after they are named, so ids are looked
 * up at the end, in a sorted array: O(n log n) whatever the names are.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/internal.h"

#define MAX_INCLUDES 1024 /* in all */
#define CACHE_BYTE 0x2B	  /* the first of ibnetdiscover's cache, and of no netlist */

/* ---- files -------------------------------------------------------------- */

static int netlist_read_stream(struct dl_fabric_netlist *r, FILE *from, const char *name);

/* Neither a pipe that never speaks nor a device that never ends, nor a link. */
static FILE *open_plain(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	FILE *from = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st))
		goto out;
	errno = EINVAL;
	if (S_ISREG(st.st_mode))
		from = fdopen(fd, "r");
out:
	if (!from)
		close(fd);
	return from;
}

/*
 * Messages quote what cannot be read, so that an include shows the beginning of
 * whatever file the reader may read: only beside the netlist, and only when that
 * is asked for.
 */
int dl_fabric_netlist_include(struct dl_fabric_netlist *r)
{
	const char *name, *slash = strrchr(r->t->name, '/');
	size_t len, dir = slash ? slash + 1 - r->t->name : 0;
	FILE *from;
	char *path;
	int err;

	err = dl_text_quoted(r->t, "a file name in quotes", &name, &len);
	if (!err && !dl_text_at_end(r->t) && *r->t->at != '#')
		err = dl_text_expected(r->t, "# or the end of the line");
	if (err)
		return err;
	if (!r->may_include)
		return dl_text_error(r->t, "include: expected none, unless --include allows it");
	if (memchr(name, '/', len))
		return dl_text_error(r->t, "\"%.*s\": expected a file beside this one", (int)len,
				     name);
	if (r->depth == DL_FABRIC_NETLIST_DEPTH || r->includes == MAX_INCLUDES)
		return dl_text_error(r->t, "one include too many: expected %u at most, %u deep",
				     MAX_INCLUDES, DL_FABRIC_NETLIST_DEPTH);
	r->includes++;
	path = malloc(dir + len + 1);
	if (!path)
		return -ENOMEM;
	memcpy(path, r->t->name, dir);
	memcpy(path + dir, name, len);
	path[dir + len] = '\0';
	from = open_plain(path);
	if (from) {
		err = netlist_read_stream(r, from, path);
		fclose(from);
	} else {
		err = dl_text_error(r->t, "\"%s\": %s", path,
				    errno == EINVAL || errno == ELOOP ? "expected a plain file" :
									strerror(errno));
	}
	free(path);
	return err;
}

static bool is_open(struct dl_fabric_netlist *r, FILE *from)
{
	struct stat st = { 0 };

	r->open[r->depth].dev = 0;
	r->open[r->depth].ino = 0;
	if (fileno(from) < 0 || fstat(fileno(from), &st))
		return false;
	for (unsigned int i = 0; i < r->depth; i++) {
		if (r->open[i].dev == st.st_dev && r->open[i].ino == st.st_ino)
			return true;
	}
	r->open[r->depth].dev = st.st_dev;
	r->open[r->depth].ino = st.st_ino;
	return false;
}

/* Read one file; r->t is the file that includes it, or NULL. */
static int netlist_read_stream(struct dl_fabric_netlist *r, FILE *from, const char *name)
{
	struct dl_text text, *outer = r->t;
	uint32_t outer_file = r->file;
	int err;

	if (is_open(r, from))
		return dl_text_error(
			outer, "\"%s\": expected a file that does not include this one", name);
	err = dl_fabric_parsed_string(&r->d, name, strlen(name), &r->file);
	if (err)
		return err;
	dl_text_begin(&text, from, name, r->d.log);
	r->t = &text;
	r->depth++;
	r->node = DL_NONE;
	while ((err = dl_text_next(&text)) > 0) {
		if (!r->begun && dl_fabric_is_port_report(text.at)) {
			r->complete = true;
			err = dl_fabric_read_port_report(&text, &r->d, r->file);
			break;
		}
		err = dl_fabric_netlist_line(r);
		if (err)
			break;
	}
	r->node = DL_NONE;
	r->after_port = false;
	r->depth--;
	r->t = outer;
	r->file = outer_file;
	dl_text_end(&text);
	return err;
}

/* ---- peers -------------------------------------------------------------- */

static int compare_ids(const void *left, const void *right, void *parsed)
{
	const uint32_t *a = left, *b = right;
	const struct dl_fabric_parsed *d = parsed;
	int order = strcmp(d->strings + d->nodes[*a].id, d->strings + d->nodes[*b].id);

	return order ? order : *a < *b ? -1 : *a > *b;
}

/* The first node with this id. */
static uint32_t find_id(const struct dl_fabric_parsed *d, const uint32_t *by_id, const char *id)
{
	uint32_t at = dl_array_count_before(i, d->nnodes,
					    strcmp(d->strings + d->nodes[by_id[i]].id, id) < 0);

	return at < d->nnodes && !strcmp(d->strings + d->nodes[by_id[at]].id, id) ? by_id[at] :
										    DL_NONE;
}

/* ibnetdiscover's ids are GUIDs: two nodes may claim the same. */
static void check_ids(struct dl_fabric_parsed *d, const uint32_t *by_id)
{
	for (uint32_t i = 1; i < d->nnodes; i++) {
		const struct dl_fabric_parsed_node *a = &d->nodes[by_id[i - 1]];
		struct dl_fabric_parsed_node *b = &d->nodes[by_id[i]];

		if (strcmp(d->strings + a->id, d->strings + b->id))
			continue;
		if (b->nports)
			dl_fabric_parsed_left_out(d, b->place, "\"%.64s\" has the id of %s:%u",
						  d->strings + b->id, d->strings + a->place.file,
						  a->place.line);
		b->nports = 0;
	}
}

/* Replace the names of the links' far ends by nodes. */
static int find_peers(struct dl_fabric_parsed *d)
{
	uint32_t *by_id = calloc(d->nnodes + 1ul, sizeof(*by_id));
	int err = 0;

	if (!by_id)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->nnodes; i++)
		by_id[i] = i;
	qsort_r(by_id, d->nnodes, sizeof(*by_id), compare_ids, d);
	check_ids(d, by_id);
	for (uint32_t i = 0; i < d->nlinks && !err; i++) {
		struct dl_fabric_parsed_link *l = &d->links[i];
		const char *id = d->strings + l->peer;

		l->peer = find_id(d, by_id, id);
		if (l->peer == DL_NONE)
			err = dl_fabric_parsed_error(d, l->place,
						     "\"%.64s\": expected the id of a node", id);
		else if (d->nodes[l->peer].nports &&
			 (!l->peer_num || l->peer_num > d->nodes[l->peer].nports)) {
			dl_fabric_parsed_left_out(d, l->place,
						  "a cable to port %u of \"%.64s\", which has %u",
						  l->peer_num, id, d->nodes[l->peer].nports);
			l->peer = DL_NONE;
		}
	}
	free(by_id);
	return err;
}

static int netlist_read_any(FILE *from, const char *name, bool may_include,
			    const struct dl_log *log, struct dl_fabric **out)
{
	struct dl_fabric_netlist *r = calloc(1, sizeof(*r));
	int err, first;

	if (!r)
		return -ENOMEM;
	r->may_include = may_include;
	r->guid[DL_FABRIC_SWITCH] = r->guid_base[DL_FABRIC_SWITCH] = 0x200000;
	r->guid[DL_FABRIC_CA] = r->guid_base[DL_FABRIC_CA] = 0x100000;
	err = dl_fabric_parsed_begin(&r->d, log);
	first = getc(from);
	if (first != EOF)
		ungetc(first, from);
	if (!err && first == CACHE_BYTE) {
		dl_log(log, DL_LOG_ERROR,
		       "%s: this is a cache of ibnetdiscover: print it with ibnetdiscover "
		       "--load-cache %s > NET, and read NET",
		       name, name);
		err = -EINVAL;
	}
	if (!err)
		err = netlist_read_stream(r, from, name);
	if (!err && !r->complete)
		err = find_peers(&r->d);
	if (!err)
		err = dl_fabric_parsed_build(&r->d, out);
	if (err == -ENOMEM)
		dl_log(log, DL_LOG_ERROR, "%s: out of memory", name);
	dl_fabric_parsed_end(&r->d);
	free(r);
	return err;
}

int dl_fabric_read_netlist_stream(FILE *from, const char *name, const struct dl_log *log,
				  struct dl_fabric **out)
{
	return netlist_read_any(from, name, false, log, out);
}

int dl_fabric_read_netlist(const char *path, const struct dl_log *log, struct dl_fabric **out)
{
	return dl_fabric_read_file(path, dl_fabric_read_netlist_stream, log, out);
}

static int read_including(FILE *from, const char *name, const struct dl_log *log,
			  struct dl_fabric **out)
{
	return netlist_read_any(from, name, true, log, out);
}

int dl_fabric_read_netlist_including(const char *path, const struct dl_log *log,
				     struct dl_fabric **out)
{
	return dl_fabric_read_file(path, read_including, log, out);
}
