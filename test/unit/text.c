/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Text that a host has chosen, cleaned: by examples, and against iconv. */
#include <iconv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dateline/base.h"

static void examples(void **state)
{
	static const struct {
		const char *dirty, *clean;
	} cases[] = {
		{ "", "" },
		{ "node-1 HCA-1", "node-1 HCA-1" },
		{ "kn\xc3\xb6ten \xe8\x8a\x82\xe7\x82\xb9 \xf0\x9f\x98\x80",
		  "kn\xc3\xb6ten \xe8\x8a\x82\xe7\x82\xb9 \xf0\x9f\x98\x80" },
		/* C0, DEL; C1 as UTF-8 and as Latin 1; both clear the screen. */
		{ "a\033[2Jb\n\x7f"
		  "c",
		  "a [2Jb  c" },
		{ "a\xc2\x9b"
		  "2Jb",
		  "a 2Jb" },
		{ "a\x9b"
		  "2Jb",
		  "a?2Jb" },
		/* No UTF-8: cut short, too long a form, a surrogate, too large. */
		{ "caf\xe9", "caf?" },
		{ "a\xe8\x8a", "a??" },
		{ "\xc0\xaf", "??" },
		{ "\xe0\x80\xaf", "???" },
		{ "\xed\xa0\x80", "???" },
		{ "\xf4\x90\x80\x80", "????" },
		{ "\xff\xfe", "??" },
		/* Right to left, line separator, no width. */
		{ "a\xe2\x80\xae"
		  "b",
		  "a?b" },
		{ "a\xe2\x80\xa8"
		  "b",
		  "a?b" },
		{ "a\xe2\x80\x8b"
		  "b",
		  "a?b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[64];

		strcpy(text, cases[i].dirty);
		assert_int_equal(dl_text_clean(text), strlen(cases[i].clean));
		assert_string_equal(text, cases[i].clean);
	}
}

/* Whatever the bytes are: UTF-8, no control character, and clean as it is. */
static void random_bytes(void **state)
{
	struct dl_random r = { .seed = 5 };
	iconv_t decoder = iconv_open("UTF-32LE", "UTF-8");

	(void)state;
	assert_true(decoder != (iconv_t)-1);
	for (int round = 0; round < 100000; round++) {
		char text[65], again[65];
		uint32_t wide[65];
		size_t len = dl_random_below(&r, 65), left, room = sizeof(wide);
		char *from = text, *to = (char *)wide;

		/* Few different bytes, so that whole characters are among them. */
		for (size_t i = 0; i < len; i++)
			text[i] = dl_random_below(&r, 2) ? 1 + dl_random_below(&r, 255) :
				  dl_random_below(&r, 2) ? 0x80 + dl_random_below(&r, 64) :
							   0xC2 + dl_random_below(&r, 51);
		text[len] = '\0';
		left = dl_text_clean(text);
		assert_true(left <= len);
		assert_int_equal(left, strlen(text));
		strcpy(again, text);
		dl_text_clean(again);
		assert_string_equal(text, again);
		assert_int_equal(iconv(decoder, &from, &left, &to, &room), 0);
		for (uint32_t *c = wide; c < (uint32_t *)to; c++)
			assert_false(*c < ' ' || (*c >= 0x7F && *c < 0xA0));
	}
	iconv_close(decoder);
}

/* What is valid stays as it is, for every character there is. */
static void all_characters(void **state)
{
	iconv_t encoder = iconv_open("UTF-8", "UTF-32LE");
	unsigned int changed = 0;

	(void)state;
	assert_true(encoder != (iconv_t)-1);
	for (uint32_t c = 0xA0; c < 0x110000; c++) {
		char text[8] = "", before[8];
		char *from = (char *)&c, *to = text;
		size_t left = sizeof(c), room = sizeof(text);

		if (c >= 0xD800 && c < 0xE000)
			continue;
		assert_int_equal(iconv(encoder, &from, &left, &to, &room), 0);
		strcpy(before, text);
		dl_text_clean(text);
		if (strcmp(text, before)) {
			assert_string_equal(text, "?");
			changed++;
		}
	}
	/* Soft hyphen, Arabic mark, marks, separators, specials, tags. */
	assert_int_equal(changed, 1 + 1 + 5 + 7 + 16 + 1 + 16 + 4096);
	iconv_close(encoder);
}

static void heard(void *context, enum dl_log_level level, const char *message)
{
	(void)level;
	strcpy(context, message);
}

static void messages(void **state)
{
	char line[2000];
	struct dl_log log = { .write = heard, .context = line };

	(void)state;
	dl_log(&log, DL_LOG_ERROR, "%s: no such host", "\033]0;x\007\xc2\x9b");
	assert_string_equal(line, " ]0;x  : no such host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(all_characters),
		cmocka_unit_test(messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
