/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "snapshot_fixture.h"

const char *const snapshot_names[NNAMES] = {
	"dateline.net",		 "opensm-subnet.lst",	 "opensm-lfts.dump",
	"opensm.fdbs",		 "opensm.mcfdbs",	 "opensm-sl2vl.dump",
	"dateline-vlarb.dump",	 "dateline-slvl.dump",	 "dateline-psl.dump",
	"dateline-torus.dump",	 "dateline-opensm.conf", "dateline-partial.txt",
	"dateline-manifest.txt",
};

void in_folder(char *path, size_t size, const char *dir, const char *name)
{
	assert_true(snprintf(path, size, "%s/%s", dir, name) < (int)size);
}

void drop(const char *dir, const char *name)
{
	char path[256];

	in_folder(path, sizeof(path), dir, name);
	unlink(path);
}

int read_directory(const char *dir, const char *net, struct heard *h, struct dl_snapshot *s)
{
	heard_init(h);
	memset(s, 0, sizeof(*s));
	return dl_snapshot_read(dir, net, NULL, &h->log, s);
}

void remove_all(const char *dir)
{
	for (size_t i = 0; i < NNAMES; i++)
		drop(dir, snapshot_names[i]);
	assert_int_equal(rmdir(dir), 0);
}

void assert_refused(const char *dir, const char *words)
{
	struct dl_snapshot s;
	struct heard h;

	assert_int_equal(read_directory(dir, NULL, &h, &s), -EINVAL);
	assert_int_equal(h.errors, 1);
	if (!strstr(h.error, words))
		fail_msg("\"%s\" lacks \"%s\"", h.error, words);
}

struct bytes load_bytes(const char *path)
{
	struct bytes b = { .at = NULL };
	FILE *from = fopen(path, "r"), *to = open_memstream(&b.at, &b.len);
	char buffer[4096];
	size_t n;

	assert_true(from && to);
	while ((n = fread(buffer, 1, sizeof(buffer), from)) > 0)
		fwrite(buffer, 1, n, to);
	fclose(from);
	fclose(to);
	return b;
}

void save_bytes(const char *path, struct bytes b)
{
	FILE *to = fopen(path, "w");

	assert_non_null(to);
	assert_int_equal(fwrite(b.at, 1, b.len, to), b.len);
	assert_int_equal(fclose(to), 0);
}

/* All that a snapshot says, as text. */
char *text_of(const struct dl_snapshot *s)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	assert_int_equal(dl_fabric_write_netlist(s->fabric, to), 0);
	for (unsigned int i = 0; i < DL_TABLES_NFILES; i++)
		assert_int_equal(dl_tables_write_file(s->tables, i, to), 0);
	for (uint32_t i = 0; i < s->nnotes; i++)
		fprintf(to, "%s\n%s", s->notes[i].name, s->notes[i].text);
	/* Without a manifest it says nothing of itself. */
	if (!(s->parts & DL_SNAPSHOT_HAS_MANIFEST))
		return assert_int_equal(fclose(to), 0), text;
	fprintf(to, "%s %s %d %lld\n", s->about.engine, s->about.mode, s->about.sls,
		(long long)s->about.written);
	assert_int_equal(fclose(to), 0);
	return text;
}

void draw_routed(struct draw *d, struct routed *r)
{
	struct dl_route_options options;

	memset(r, 0, sizeof(*r));
	for (unsigned int i = 0; i < DL_TORUS_DIMS; i++)
		r->g.grid.radix[i] = 2 + draw_below(d, 3);
	r->g.hosts = 1;
	r->g.parallel = 1;
	r->g.lmc = draw_below(d, 2);
	r->g.dead_switch[1 + draw_below(d, 7)] = draw_one_in(d, 2);
	grid_build(&r->g);
	for (uint32_t p = 0; p < r->g.fabric->nports; p++)
		if (dl_fabric_is_end_port(r->g.fabric, p) && r->g.fabric->ports[p].num)
			r->g.fabric->ports[p].guid = 0xABC0000 + p;
	grid_seed(&r->g, 0, true);
	dl_route_options_init(&options);
	assert_int_equal(dl_torus_discover(r->g.fabric, &r->g.config, NULL, &r->torus), 0);
	assert_int_equal(dl_route(r->torus, &r->g.config, &options, NULL, &r->result), 0);
	assert_int_equal(dl_route_tree_group_all(r->result.tree, r->result.tables), 0);
	r->s.tables = r->result.tables;
	r->s.about.written = draw32(d);
	assert_int_equal(dl_route_describe(r->torus, &r->g.config, &options, &r->s), 0);
}

void routed_free(struct routed *r)
{
	r->s.tables = NULL;
	dl_snapshot_release(&r->s);
	dl_route_result_release(&r->result);
	dl_torus_free(r->torus);
	grid_free(&r->g);
}

/* Refused, with one message; or all that is read is what it was. */
void refused_or_same(const char *path, const char *good)
{
	struct dl_snapshot s;
	struct heard h;
	int err = read_directory(path, NULL, &h, &s);

	if (err) {
		assert_int_equal(h.errors, 1);
		assert_true(err == -EINVAL || err == -ENOENT);
	} else {
		char *text = text_of(&s);
		bool same = s.parts & DL_SNAPSHOT_HAS_MANIFEST ? !strcmp(text, good) :
								 !strncmp(text, good, strlen(text));

		assert_true(same);
		free(text);
		dl_snapshot_release(&s);
	}
}
