/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The compact file: damaged at random it is refused, or read as it was; and so is one
 * whose checksums are right and whose content is hostile.
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
#include <zstd.h>

#include <cmocka.h>

#include "dateline/transition.h"
#include "snapshot_fixture.h"

#define ONE "read.dls"
#define HEAD_BYTES 32

/* One accident to it; true: what is there now is the older one. */
static bool damage_file(struct draw *d, struct bytes b, struct bytes older)
{
	uint32_t at = draw_below(d, b.len);

	switch (draw_below(d, 6)) {
	case 0:
		b.len = at;
		break;
	case 1:
		b.at[at] ^= 1 << draw_below(d, 8);
		break;
	case 2:
		memmove(b.at + at, b.at + at + 1, b.len - at - 1);
		b.len--;
		break;
	case 3:
		b.at = realloc(b.at, b.len + 1);
		assert_non_null(b.at);
		b.at[b.len++] = draw32(d);
		break;
	case 4: /* one runs over into the other */
		memcpy(b.at + at, older.at, older.len < b.len - at ? older.len : b.len - at);
		break;
	default:
		save_bytes(ONE, older);
		free(b.at);
		return true;
	}
	save_bytes(ONE, b);
	free(b.at);
	return false;
}

static char *read_one(const char *path)
{
	struct dl_snapshot s;
	struct heard h;
	char *text;

	if (read_directory(path, NULL, &h, &s))
		fail_msg("%s", h.error);
	text = text_of(&s);
	dl_snapshot_release(&s);
	return text;
}

static void file_outlives_mutations(void **state)
{
	char dir[] = "read-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (uint32_t i = 0; i < MUTATIONS; i++) {
		struct draw d = { .seed = i };
		struct routed w, x;
		char *good, *other;
		struct bytes older;

		draw_routed(&d, &w);
		draw_routed(&d, &x);
		assert_int_equal(dl_snapshot_pack(&x.s, ONE, NULL), 0);
		older = load_bytes(ONE);
		other = read_one(ONE);
		assert_int_equal(dl_snapshot_pack(&w.s, ONE, NULL), 0);
		good = read_one(ONE);
		if (i % 30 == 0) { /* both forms say the same */
			char *text;

			assert_int_equal(
				dl_snapshot_export(&w.s, dir, DL_SNAPSHOT_PSL_ALWAYS, NULL), 0);
			text = read_one(dir);
			assert_string_equal(text, good);
			free(text);
		}
		refused_or_same(ONE, damage_file(&d, load_bytes(ONE), older) ? other : good);
		free(older.at);
		free(good);
		free(other);
		routed_free(&w);
		routed_free(&x);
	}
	unlink(ONE);
	remove_all(dir);
}

static uint64_t word_at(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

static void put_word(char *at, uint64_t word)
{
	word = htole64(word);
	memcpy(at, &word, sizeof(word));
}

/* A file with this content, whole and with the right checksum. */
static void save_content(struct bytes content, uint64_t announced)
{
	struct bytes b = { .len = HEAD_BYTES + ZSTD_compressBound(content.len) };
	struct bytes head = load_bytes(ONE);
	size_t n;

	b.at = malloc(b.len);
	assert_non_null(b.at);
	memcpy(b.at, head.at, HEAD_BYTES);
	free(head.at);
	put_word(b.at + 16, announced);
	put_word(b.at + 24, XXH3_64bits(content.at, content.len));
	n = ZSTD_compress(b.at + HEAD_BYTES, b.len - HEAD_BYTES, content.at, content.len, 1);
	assert_false(ZSTD_isError(n));
	b.len = HEAD_BYTES + n;
	save_bytes(ONE, b);
	free(b.at);
}

static struct bytes content_of(const char *path)
{
	struct bytes b = load_bytes(path), content;
	size_t n;

	content.len = word_at(b.at + 16);
	content.at = malloc(content.len + 1);
	assert_non_null(content.at);
	n = ZSTD_decompress(content.at, content.len, b.at + HEAD_BYTES, b.len - HEAD_BYTES);
	assert_int_equal(n, content.len);
	free(b.at);
	return content;
}

/* Any content under a right checksum: refused, or tables that hold together. */
static void refuses_or_holds(void)
{
	struct dl_verify_result *v;
	struct dl_snapshot s;
	struct heard h;
	int err = read_directory(ONE, NULL, &h, &s);

	if (err) {
		assert_int_equal(err, -EINVAL);
		assert_true(h.errors >= 1);
		return;
	}
	assert_int_equal(dl_tables_check(s.tables, NULL), 0);
	assert_int_equal(dl_verify(s.tables, NULL, NULL, &v), 0);
	dl_verify_result_free(v);
	free(text_of(&s));
	dl_snapshot_release(&s);
}

static void hostile_content(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		struct draw d = { .seed = i };
		struct bytes good, b;
		struct routed w;

		draw_routed(&d, &w);
		assert_int_equal(dl_snapshot_pack(&w.s, ONE, NULL), 0);
		good = content_of(ONE);
		for (unsigned int n = 0; n < 100; n++) {
			uint32_t at = draw_below(&d, good.len);

			b.len = good.len;
			b.at = malloc(b.len + 1);
			assert_non_null(b.at);
			memcpy(b.at, good.at, good.len);
			/* A byte, a length or a number, or what follows is gone. */
			if (draw_one_in(&d, 2))
				b.at[at] = draw32(&d);
			else if (draw_one_in(&d, 2))
				memset(b.at + at, draw_one_in(&d, 2) ? 0xFF : 0,
				       b.len - at < 8 ? b.len - at : 8);
			else
				b.len = at;
			save_content(b, b.len);
			refuses_or_holds();
			free(b.at);
		}
		free(good.at);
		routed_free(&w);
	}
	unlink(ONE);
}

/* A few bytes that unfold, or say so, to gigabytes. */
static void bombs(void **state)
{
	static const uint64_t lengths[] = { 1ull << 27, 1ull << 30, 1ull << 40, UINT64_MAX };
	struct draw d = { .seed = 1 };
	struct bytes good, b;
	struct rusage usage;
	struct routed w;
	size_t tag;

	(void)state;
	draw_routed(&d, &w);
	assert_int_equal(dl_snapshot_pack(&w.s, ONE, NULL), 0);
	good = content_of(ONE);
	/* The length of each section, and the whole one. */
	for (tag = 0; tag < good.len; tag += 16 + word_at(good.at + tag + 8)) {
		for (unsigned int i = 0; i < 4; i++) {
			b.len = good.len;
			b.at = malloc(b.len);
			assert_non_null(b.at);
			memcpy(b.at, good.at, b.len);
			put_word(b.at + tag + 8, lengths[i]);
			save_content(b, b.len);
			assert_refused(ONE, "cut or damaged");
			save_content(b, lengths[i]);
			assert_refused(ONE, "cut or damaged");
			free(b.at);
		}
	}
	/* Notes without end, where each name is compared with all. */
	b.len = good.len - 16;
	b.at = malloc(good.len + 65 * 20);
	assert_non_null(b.at);
	memcpy(b.at, good.at, b.len);
	for (unsigned int i = 0; i < 65; i++, b.len += 20) {
		memcpy(b.at + b.len, "note\0\0\0", 8);
		put_word(b.at + b.len + 8, 4);
		snprintf(b.at + b.len + 16, 4, "n%02u", i);
	}
	memcpy(b.at + b.len, good.at + good.len - 16, 16);
	b.len += 16;
	save_content(b, b.len);
	assert_refused(ONE, "more than 64 notes");
	free(b.at);
	/* A netlist of 128 MB of zeros. */
	b.len = good.len + (1 << 27);
	b.at = calloc(1, b.len);
	assert_non_null(b.at);
	tag = 16 + word_at(good.at + 8);
	memcpy(b.at, good.at, tag + 16);
	put_word(b.at + tag + 8, 1 << 27);
	save_content(b, b.len);
	free(b.at);
	assert_refused(ONE, "a byte 0 in section netlist");
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	assert_true(usage.ru_maxrss < 600 * 1024); /* the test's own 128 MB come twice */
	free(good.at);
	routed_free(&w);
	unlink(ONE);
}

/* Tables in memory may remember it; a file that says so has been made by hand. */
static void sls_to_nobody(void **state)
{
	struct draw d = { .seed = 1 };
	struct routed w;

	(void)state;
	draw_routed(&d, &w);
	assert_non_null(w.s.tables->psl);
	w.s.tables->psl_dst[0] = 0;
	assert_int_equal(dl_snapshot_pack(&w.s, ONE, NULL), 0);
	assert_refused(ONE, "path SLs to LID 0, which nobody has");
	routed_free(&w);
	unlink(ONE);
}

/* Tables that end before the fabric's highest LID, or behind all LIDs. */
static void refuses_tops(uint16_t top)
{
	const uint32_t wrong[] = { 0, top - 1, DL_FABRIC_MAX_LID + 1, UINT32_MAX };
	struct bytes b = content_of(ONE);
	uint64_t switches;
	size_t tag = 0;

	while (strcmp(b.at + tag, "lfts"))
		tag += 16 + word_at(b.at + tag + 8);
	switches = (uint32_t)word_at(b.at + tag + 24);
	for (unsigned int i = 0; i < 4; i++) {
		put_word(b.at + tag + 24, switches | (uint64_t)wrong[i] << 32);
		save_content(b, b.len);
		assert_refused(ONE, "the tables are those of another fabric");
	}
	free(b.at);
}

/* In a fabric that lost the node with the highest LID the tables keep their size. */
static void higher_lids_than_the_fabric(void **state)
{
	struct draw d = { .seed = 1 };
	struct dl_tables *tables;
	struct dl_snapshot s;
	struct routed w;
	struct heard h;
	uint16_t top;

	(void)state;
	draw_routed(&d, &w);
	top = w.g.fabric->top_lid + 100;
	assert_int_equal(dl_fabric_widen(w.g.fabric, top), 0);
	assert_int_equal(dl_transition_hold(w.s.tables, w.g.fabric, &tables), 0);
	w.s.tables = tables;
	assert_int_equal(dl_snapshot_pack(&w.s, ONE, NULL), 0);
	assert_int_equal(read_directory(ONE, NULL, &h, &s), 0);
	assert_int_equal(s.fabric->top_lid, top);
	assert_int_equal(s.fabric->lid_port[top], DL_NONE);
	assert_int_equal(s.tables->top_lid, top);
	assert_int_equal(s.tables->stride, tables->stride);
	assert_memory_equal(s.tables->lft, tables->lft,
			    s.fabric->nswitches * (size_t)s.tables->stride);
	refuses_tops(top - 100);
	dl_snapshot_release(&s);
	dl_tables_free(tables);
	routed_free(&w);
	unlink(ONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_outlives_mutations),
		cmocka_unit_test(hostile_content),
		cmocka_unit_test(bombs),
		cmocka_unit_test(sls_to_nobody),
		cmocka_unit_test(higher_lids_than_the_fabric),
	};

	return cmocka_run_group_tests_name("snapshot_file", tests, NULL, NULL);
}
