/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Snapshots are one thing: what was written comes back, and what was mixed,
 * cut, lost or damaged since is refused by name, or changes nothing.
 */
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

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmocka.h>

#include "snapshot_fixture.h"

/* ---- small tables ------------------------------------------------------ */

static void same_forwarding(const struct dl_tables *a, const struct dl_tables *b, bool owned_only)
{
	const struct dl_fabric *f = a->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 1; lid <= a->top_lid; lid++)
			if (!owned_only || f->lid_port[lid] != DL_NONE)
				assert_int_equal(dl_tables_lft(a, s, lid),
						 dl_tables_lft(b, s, lid));
}

/* ---- directories ------------------------------------------------------- */

static struct dl_tables *small_tables(const struct dl_fabric *f)
{
	struct dl_tables *t;

	assert_int_equal(dl_tables_new(f, &t), 0);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 1; lid <= f->top_lid; lid++)
			t->lft[s * (size_t)t->stride + lid] = (s + lid) % 3;
	return t;
}

static int write_tables(struct dl_tables *t, const char *dir, unsigned int flags)
{
	const struct dl_snapshot s = { .tables = t };

	return dl_snapshot_export(&s, dir, flags, NULL);
}

static void reads_folders(void **state)
{
	char dir[] = "read-XXXXXX", net[256], path[256];
	struct dl_fabric *f = small_fabric(true);
	struct dl_tables *t = small_tables(f);
	struct dl_snapshot s;
	struct heard h;
	FILE *to;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(write_tables(t, dir, 0), 0);
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	same_forwarding(t, s.tables, true);
	assert_true(s.parts & DL_SNAPSHOT_HAS_LFTS && !(s.parts & DL_SNAPSHOT_IS_PARTIAL));
	assert_true(s.parts & DL_SNAPSHOT_HAS_MANIFEST && s.tables->checked);
	dl_snapshot_release(&s);

	/* OpenSM's own files suffice; either form of the tables does. */
	drop(dir, "dateline-manifest.txt");
	drop(dir, "dateline.net");
	drop(dir, "opensm-lfts.dump");
	drop(dir, "opensm-sl2vl.dump");
	drop(dir, "dateline-slvl.dump");
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	same_forwarding(t, s.tables, true);
	assert_false(s.parts & DL_SNAPSHOT_HAS_SL2VL);
	dl_snapshot_release(&s);

	/* Which does not tell VLs: maps to VL 9 mean that there is one. */
	in_folder(path, sizeof(path), dir, "dateline-slvl.dump");
	to = fopen(path, "w");
	fputs("0xA0 1 2 0x99 0x00 0x00 0x00 0x00 0x00 0x00 0x00\n", to);
	fclose(to);
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	assert_true(s.parts & DL_SNAPSHOT_HAS_SL2VL);
	assert_int_equal(s.fabric->ports[1].vls, 15);
	dl_snapshot_release(&s);

	/* Marked as partial: said, not refused. */
	in_folder(path, sizeof(path), dir, "dateline-partial.txt");
	to = fopen(path, "w");
	fclose(to);
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	assert_int_equal(h.warnings, 1);
	assert_true(s.parts & DL_SNAPSHOT_IS_PARTIAL);
	dl_snapshot_release(&s);

	/* Without a fabric, unless it is given. */
	drop(dir, "opensm-subnet.lst");
	assert_int_equal(read_directory(dir, NULL, &h, &s), -ENOENT);
	assert_int_equal(h.errors, 1);
	in_folder(net, sizeof(net), dir, "given.net");
	to = fopen(net, "w");
	assert_int_equal(dl_fabric_write_netlist(f, to), 0);
	fclose(to);
	assert_int_equal(read_directory(dir, net, &h, &s), 0);
	dl_snapshot_release(&s);

	/* Without forwarding tables there is nothing to judge. */
	drop(dir, "opensm.fdbs");
	assert_int_equal(read_directory(dir, net, &h, &s), -ENOENT);
	assert_int_equal(h.errors, 1);
	assert_int_equal(read_directory("no such directory", NULL, &h, &s), -ENOENT);
	assert_int_equal(h.errors, 1);

	unlink(net);
	remove_all(dir);
	dl_tables_free(t);
	dl_fabric_free(f);
}

static bool exists(const char *dir, const char *name)
{
	char path[256];

	in_folder(path, sizeof(path), dir, name);
	return !access(path, F_OK);
}

static void make_file(const char *dir, const char *name)
{
	char path[256];
	FILE *to;

	in_folder(path, sizeof(path), dir, name);
	to = fopen(path, "w");
	assert_non_null(to);
	fclose(to);
}

static void replaces_whole(void **state)
{
	char dir[] = "read-XXXXXX", other[] = "read-XXXXXX", from[256], to[256];
	struct dl_fabric *f = small_fabric(true);
	struct dl_tables *t = small_tables(f), *u = small_tables(f);
	struct dl_snapshot s = {
		.tables = t,
		.about = { .written = 1795320000, .engine = "dateline", .mode = "proven" }
	};
	struct dl_snapshot back;
	struct heard h;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_non_null(mkdtemp(other));
	u->lft[1] = 2;
	assert_int_equal(dl_snapshot_add_note(&s, "dateline-partial.txt", strdup("gap\n"), 4), 0);
	assert_int_equal(dl_tables_new_psl(t, 1, 1), 0);
	t->psl_src[f->nodes[2].first_port + 1] = t->psl_dst[1] = t->psl[0] = 0;
	s.about.sls = DL_SNAPSHOT_SLS_ENGINE;

	/* What was told comes back. */
	assert_int_equal(dl_snapshot_export(&s, dir, 0, NULL), 0);
	assert_true(exists(dir, "dateline-psl.dump"));
	assert_int_equal(dl_snapshot_export(&s, dir, DL_SNAPSHOT_PSL_NEVER, NULL), 0);
	assert_false(exists(dir, "dateline-psl.dump"));
	assert_int_equal(read_directory(dir, NULL, &h, &back), 0);
	assert_int_equal(back.about.sls, DL_SNAPSHOT_SLS_NONE);
	dl_snapshot_release(&back);
	assert_int_equal(dl_snapshot_export(&s, dir, 0, NULL), 0);
	assert_int_equal(read_directory(dir, NULL, &h, &back), 0);
	assert_int_equal(back.about.written, 1795320000);
	assert_string_equal(back.about.engine, "dateline");
	assert_string_equal(back.about.mode, "proven");
	assert_int_equal(back.about.sls, DL_SNAPSHOT_SLS_ENGINE);
	assert_true(back.about.fabric == dl_snapshot_fabric_id(f));
	assert_true(back.about.fabric == dl_snapshot_fabric_id(back.fabric));
	assert_string_equal(dl_snapshot_find_note(&back, "dateline-partial.txt")->text, "gap\n");
	assert_true(back.parts & DL_SNAPSHOT_IS_PARTIAL);
	dl_snapshot_release(&back);

	/* Nothing of an earlier one stays. */
	assert_int_equal(write_tables(u, dir, 0), 0);
	assert_false(exists(dir, "dateline-partial.txt"));
	assert_false(exists(dir, "dateline-psl.dump"));

	/* One that is refused, here for a note: the earlier one is still there. */
	free(s.notes[0].name);
	free(s.notes[0].text);
	s.nnotes = 0;
	assert_int_equal(dl_snapshot_add_note(&s, "other.txt", strdup("gap\n"), 4), 0);
	assert_int_equal(dl_snapshot_export(&s, dir, 0, NULL), -EINVAL);
	assert_int_equal(read_directory(dir, NULL, &h, &back), 0);
	same_forwarding(u, back.tables, true);
	assert_int_equal(back.about.sls, DL_SNAPSHOT_SLS_NONE);
	dl_snapshot_release(&back);

	/* What is left of another one; what is lost; what is of another one. */
	make_file(dir, "dateline-psl.dump");
	assert_refused(dir, "dateline-psl.dump: this file is not of the snapshot");
	drop(dir, "dateline-psl.dump");
	drop(dir, "opensm.mcfdbs");
	assert_refused(dir, "opensm.mcfdbs: this file is missing");
	assert_int_equal(write_tables(u, dir, 0), 0);
	assert_int_equal(write_tables(t, other, 0), 0);
	in_folder(from, sizeof(from), other, "opensm-lfts.dump");
	in_folder(to, sizeof(to), dir, "opensm-lfts.dump");
	assert_int_equal(rename(from, to), 0);
	assert_refused(dir, "opensm-lfts.dump: this file is not that of the snapshot");

	/* Cut short after the manifest: a mixture. */
	assert_int_equal(write_tables(u, dir, 0), 0);
	assert_int_equal(write_tables(t, other, 0), 0);
	in_folder(from, sizeof(from), other, "dateline-manifest.txt");
	in_folder(to, sizeof(to), dir, "dateline-manifest.txt");
	assert_int_equal(rename(from, to), 0);
	assert_refused(dir, "opensm.fdbs: this file is not that of the snapshot");
	make_file(dir, "dateline-manifest.txt");
	assert_refused(dir, "this manifest is cut or damaged");
	assert_int_equal(write_tables(u, dir, 0), 0);
	assert_int_equal(read_directory(dir, NULL, &h, &back), 0);
	same_forwarding(u, back.tables, true);
	dl_snapshot_release(&back);

	remove_all(dir);
	remove_all(other);
	s.tables = NULL;
	dl_snapshot_release(&s);
	dl_tables_free(t);
	dl_tables_free(u);
	dl_fabric_free(f);
}

/* ---- what an export may replace ---------------------------------------- */

/* Neither is replaced, and nothing is lost. */
static void export_refused(const struct dl_tables *t, const char *dir, const char *words)
{
	const struct dl_snapshot s = { .tables = (struct dl_tables *)t };
	char part[256];
	struct heard h;

	heard_init(&h);
	assert_int_equal(dl_snapshot_export(&s, dir, 0, &h.log), -EEXIST);
	assert_int_equal(h.errors, 1);
	if (!strstr(h.error, words))
		fail_msg("\"%s\" lacks \"%s\"", h.error, words);
	assert_true(snprintf(part, sizeof(part), "%s.part", dir) < (int)sizeof(part));
	assert_int_equal(access(part, F_OK), -1);
}

static void replaces_exports_only(void **state)
{
	char dir[] = "read-XXXXXX", path[256], slashes[256];
	struct dl_fabric *f = small_fabric(true);
	struct dl_tables *t = small_tables(f);
	struct dl_snapshot s;
	struct heard h;
	struct stat st;
	int fd;

	(void)state;
	/* An empty directory is, with what its owner allows; so is an export of root's. */
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0710), 0);
	assert_int_equal(write_tables(t, dir, 0), 0);
	snprintf(slashes, sizeof(slashes), "./%s//", dir);
	assert_int_equal(write_tables(t, slashes, 0), 0);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0710);

	/* An export with a file that somebody has put into it, and OpenSM's directory. */
	make_file(dir, "notes.txt");
	export_refused(t, dir, "holds notes.txt, which is no file of an export");
	drop(dir, "notes.txt");
	drop(dir, "dateline-manifest.txt");
	export_refused(t, dir, "is not empty, and no export");
	assert_true(exists(dir, "opensm-lfts.dump"));

	/* A file, and a link to a directory. */
	in_folder(path, sizeof(path), dir, "opensm.fdbs");
	export_refused(t, path, "is no directory");
	assert_true(exists(dir, "opensm.fdbs"));
	assert_int_equal(symlink(dir, "read-link"), 0);
	export_refused(t, "read-link", "is no directory");
	assert_int_equal(unlink("read-link"), 0);
	assert_int_equal(write_tables(t, ".", 0), -EEXIST);
	assert_int_equal(write_tables(t, "/", 0), -EEXIST);
	assert_int_equal(write_tables(t, "no such/directory", 0), -ENOENT);

	/* What somebody keeps beside it, and what a second writer writes there. */
	make_file(dir, "dateline-manifest.txt");
	snprintf(path, sizeof(path), "%s.part", dir);
	assert_int_equal(mkdir(path, 0777), 0);
	make_file(path, "notes.txt");
	assert_int_equal(write_tables(t, dir, 0), -EEXIST);
	assert_true(exists(path, "notes.txt"));
	drop(path, "notes.txt");
	fd = open(path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(write_tables(t, dir, 0), -EBUSY);
	close(fd);
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(write_tables(t, dir, 0), -EBUSY);
	close(fd);
	assert_int_equal(write_tables(t, dir, 0), 0);
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	same_forwarding(t, s.tables, true);
	dl_snapshot_release(&s);
	remove_all(dir);
	dl_tables_free(t);
	dl_fabric_free(f);
}

/* What the routing engine leaves in a directory counts, whatever else is in it. */
static void reads_the_engines(void **state)
{
	char dir[] = "read-XXXXXX", path[256];
	struct dl_fabric *f = small_fabric(true);
	struct dl_tables *t = small_tables(f), *u = small_tables(f);
	const struct dl_snapshot written = { .tables = u };
	struct dl_snapshot s;
	struct heard h;

	(void)state;
	u->lft[1] = 2;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(write_tables(t, dir, 0), 0);
	in_folder(path, sizeof(path), dir, "dateline.dls");
	assert_int_equal(dl_snapshot_pack(&written, path, NULL), 0);
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	same_forwarding(u, s.tables, true);
	dl_snapshot_release(&s);
	/* No directory of dumps is read in place of a damaged one. */
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(read_directory(dir, NULL, &h, &s), -EINVAL);
	assert_int_equal(unlink(path), 0);
	remove_all(dir);
	dl_tables_free(t);
	dl_tables_free(u);
	dl_fabric_free(f);
}

/* ---- mutations --------------------------------------------------------- */

/* One accident to a file; `older` is the same file of an earlier snapshot. */
static void damage(struct draw *d, const char *path, const char *older)
{
	struct bytes b = load_bytes(path);
	uint32_t at = b.len ? draw_below(d, b.len) : 0;

	switch (draw_below(d, 6)) {
	case 0:
		unlink(path);
		break;
	case 1:
		b.len = at;
		save_bytes(path, b);
		break;
	case 2:
		if (b.len)
			b.at[at] ^= 1 << draw_below(d, 8);
		save_bytes(path, b);
		break;
	case 3: /* a piece of it is lost */
		if (b.len)
			memmove(b.at + at, b.at + at + 1, b.len - at - 1);
		b.len -= !!b.len;
		save_bytes(path, b);
		break;
	default:
		free(b.at);
		b = load_bytes(older);
		save_bytes(path, b);
	}
	free(b.at);
}

static void outlives_mutations(void **state)
{
	char dir[] = "read-XXXXXX", other[] = "read-XXXXXX", path[256], older[256];

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(rmdir(dir), 0);
	assert_non_null(mkdtemp(other));
	for (uint32_t i = 0; i < MUTATIONS; i++) {
		struct draw d = { .seed = i };
		unsigned int flags = draw_below(&d, 3);
		struct routed w, x;
		struct dl_snapshot s;
		struct heard h;
		unsigned int damaged = 0;
		char *good;

		draw_routed(&d, &w);
		draw_routed(&d, &x);
		assert_int_equal(dl_snapshot_export(&x.s, other, flags, NULL), 0);
		assert_int_equal(dl_snapshot_export(&w.s, dir, flags, NULL), 0);
		if (read_directory(dir, NULL, &h, &s))
			fail_msg("%s", h.error);
		good = text_of(&s);
		dl_snapshot_release(&s);
		for (unsigned int n = draw_below(&d, 2) + 1; n; n--) {
			const char *name = snapshot_names[draw_below(&d, NNAMES)];

			if (!exists(dir, name) || !exists(other, name) ||
			    (damaged && !strcmp(name, "dateline-manifest.txt")))
				continue;
			in_folder(path, sizeof(path), dir, name);
			in_folder(older, sizeof(older), other, name);
			damage(&d, path, older);
			/* Without it nobody can tell a mixture. */
			if (!exists(dir, "dateline-manifest.txt"))
				break;
			damaged++;
		}
		refused_or_same(dir, good);
		remove_all(dir);
		free(good);
		routed_free(&w);
		routed_free(&x);
	}
	remove_all(other);
}

static void of_another_fabric(void **state)
{
	char dir[] = "other-XXXXXX", path[256], sum[32], *digit, *end;
	struct dl_fabric *f = small_fabric(true);
	struct dl_tables *t = small_tables(f);
	struct dl_snapshot s;
	struct bytes b;
	struct heard h;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(write_tables(t, dir, 0), 0);
	in_folder(path, sizeof(path), dir, "dateline-manifest.txt");
	b = load_bytes(path);
	digit = strstr(b.at, "fabric 0x") + strlen("fabric 0x");
	*digit = *digit == '1' ? '2' : '1';
	end = strstr(digit, "end 0x");
	snprintf(sum, sizeof(sum), "%016" PRIx64, (uint64_t)XXH3_64bits(b.at, end - b.at));
	memcpy(end + strlen("end 0x"), sum, 16);
	save_bytes(path, b);
	assert_int_equal(read_directory(dir, NULL, &h, &s), -EINVAL);
	assert_non_null(strstr(h.error, "another fabric than its netlist"));
	dl_snapshot_release(&s);
	free(b.at);
	remove_all(dir);
	dl_tables_free(t);
	dl_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_another_fabric), cmocka_unit_test(reads_folders),
		cmocka_unit_test(replaces_whole),    cmocka_unit_test(replaces_exports_only),
		cmocka_unit_test(reads_the_engines), cmocka_unit_test(outlives_mutations),
	};

	return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
