/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Numbers, settings of every type from text and from YAML, invariants. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dateline/base.h"

/* ---- numbers ----------------------------------------------------------- */

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int64_t min, max, value;
		bool good;
	} cases[] = {
		{ "0", 0, 9, 0, true },
		{ "9", 0, 9, 9, true },
		{ "10", 0, 9, 0, false },
		{ "0x1F", 0, 31, 31, true },
		{ "0X20", 0, 31, 0, false },
		{ "0x", 0, 31, 0, false },
		{ "007", 0, 31, 0, false },
		{ "00", 0, 31, 0, false },
		{ "-5", -5, 31, -5, true },
		{ "-6", -5, 31, 0, false },
		{ "-0", -5, 31, 0, true },
		{ "--5", -5, 31, 0, false },
		{ "+5", -5, 31, 0, false },
		{ " 5", -5, 31, 0, false },
		{ "5 ", -5, 31, 0, false },
		{ "5x", -5, 31, 0, false },
		{ "", -5, 31, 0, false },
		{ "-", -5, 31, 0, false },
		{ "9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX, true },
		{ "9223372036854775808", INT64_MIN, INT64_MAX, 0, false },
		{ "-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN, true },
		{ "-9223372036854775809", INT64_MIN, INT64_MAX, 0, false },
		{ "18446744073709551615", 0, DL_NUMBER_ANY, -1, true },
		{ "18446744073709551616", 0, DL_NUMBER_ANY, 0, false },
		{ "0xffffffffffffffff", 0, DL_NUMBER_ANY, -1, true },
		{ "-1", 0, DL_NUMBER_ANY, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value = 77;

		if (dl_number_parse(cases[i].text, cases[i].min, cases[i].max, &value) !=
		    cases[i].good)
			fail_msg("\"%s\"", cases[i].text);
		if (cases[i].good && value != cases[i].value)
			fail_msg("\"%s\": %" PRId64, cases[i].text, value);
	}
}

static void decimals(void **state)
{
	static const struct {
		const char *text;
		int64_t value; /* -1: none */
	} cases[] = {
		{ "0", 0 },	     { "1", 1000000 },	   { "0.5", 500000 },
		{ "0.000001", 1 },   { "0.0000001", 0 },   { "10", 10000000 },
		{ "10.000001", -1 }, { "1.", -1 },	   { ".5", 500000 },
		{ "1.2.3", -1 },     { "0.0000005", 1 },   { "0.12345678", 123457 },
		{ ".", -1 },	     { "0.1234567x", -1 }, { "-1", -1 },
		{ "1e3", -1 },	     { "", -1 },	   { "99999999999999999999", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value;
		bool good = dl_decimal_parse(cases[i].text, 0, 10000000, &value);

		if (good != (cases[i].value >= 0) || (good && value != cases[i].value))
			fail_msg("\"%s\"", cases[i].text);
	}
}

/* ---- settings ---------------------------------------------------------- */

struct target {
	bool flag;
	uint8_t byte;
	int16_t half;
	uint32_t word;
	int64_t number, decimal;
	unsigned int choice;
	char *text;
	const char *borrowed;
	int called;
};

static int read_pair(const struct dl_setting *s, void *to, const char *text, char *why, size_t size)
{
	struct target *t = to;

	assert_string_equal(s->name, "pair");
	if (sscanf(text, "%d:", &t->called) == 1)
		return 0;
	snprintf(why, size, "a pair");
	return -EINVAL;
}

static int read_list(struct dl_yaml *y, const struct dl_yaml_node *value,
		     const struct dl_setting *s, void *to)
{
	struct target *t = to;
	int64_t sum = 0, one;
	int err = 0;

	/* The first of these keys that is there, or the mapping itself. */
	if (dl_yaml_is_mapping(value))
		return dl_yaml_error(y, dl_yaml_key(y, value, "last middle"), "is here");
	if (!dl_yaml_is_list(value))
		return dl_yaml_error(y, value, "%s: expected a list", s->name);
	for (size_t i = 0; !err && i < dl_yaml_count(value); i++) {
		err = dl_yaml_number(y, dl_yaml_item(y, value, i), "an item", 1, 9, &one);
		sum += err ? 0 : one;
	}
	t->number = sum;
	return err;
}

#define MEMBER(member) DL_MEMBER(struct target, member)

static const struct dl_setting table[] = {
	{ "flag", DL_SETTING_FLAG, MEMBER(flag) },
	{ "level", DL_SETTING_FLAG, MEMBER(word), .max = 7 },
	{ "byte", DL_SETTING_NUMBER, MEMBER(byte), .max = 255 },
	{ "half", DL_SETTING_NUMBER, MEMBER(half), .min = -9, .max = 9 },
	{ "word", DL_SETTING_NUMBER, MEMBER(word), .max = UINT32_MAX },
	{ "number", DL_SETTING_NUMBER, MEMBER(number), .max = DL_NUMBER_ANY },
	{ "decimal", DL_SETTING_DECIMAL, MEMBER(decimal), .max = 1000000 },
	{ "choice", DL_SETTING_WORD, MEMBER(choice), .words = "a bc d" },
	{ "text", DL_SETTING_TEXT, MEMBER(text) },
	{ "borrowed", DL_SETTING_BORROW, MEMBER(borrowed) },
	{ "pair", .call = read_pair },
	{ "list", .read = read_list },
	{ 0 }
};

static int set(struct target *t, const char *name, const char *text, char *why)
{
	return dl_setting_set(dl_setting_find(table, name, strlen(name)), t, text, why, 128);
}

static void good_texts(void **state)
{
	struct target t = { .text = NULL };
	const char *own = "own";
	char why[128];

	(void)state;
	assert_int_equal(set(&t, "flag", NULL, why), 0);
	assert_true(t.flag);
	assert_int_equal(set(&t, "flag", "no", why), 0);
	assert_false(t.flag);
	assert_int_equal(set(&t, "level", "true", why), 0);
	assert_int_equal(t.word, 7);
	assert_int_equal(set(&t, "byte", "255", why), 0);
	assert_int_equal(t.byte, 255);
	assert_int_equal(set(&t, "half", "-9", why), 0);
	assert_int_equal(t.half, -9);
	assert_int_equal(set(&t, "word", "4294967295", why), 0);
	assert_int_equal(t.word, UINT32_MAX);
	assert_int_equal(set(&t, "number", "0xfffffffffffffff0", why), 0);
	assert_int_equal(t.number, -16);
	assert_int_equal(set(&t, "decimal", "0.25", why), 0);
	assert_int_equal(t.decimal, 250000);
	assert_int_equal(set(&t, "choice", "bc", why), 0);
	assert_int_equal(t.choice, 1);
	assert_int_equal(set(&t, "text", "one", why), 0);
	assert_int_equal(set(&t, "text", "two", why), 0);
	assert_string_equal(t.text, "two");
	assert_int_equal(set(&t, "borrowed", own, why), 0);
	assert_ptr_equal(t.borrowed, own);
	assert_int_equal(set(&t, "pair", "3:4", why), 0);
	assert_int_equal(t.called, 3);
	free(t.text);
}

static void bad_texts(void **state)
{
	static const struct {
		const char *name, *text, *expected;
	} cases[] = {
		{ "flag", "maybe", "yes or no" },
		{ "byte", "256", "a whole number from 0 to 255" },
		{ "byte", NULL, "a whole number from 0 to 255" },
		{ "half", "10", "a whole number from -9 to 9" },
		{ "number", "-1", "a whole number from 0 to 18446744073709551615" },
		{ "decimal", "1.5", "a number from 0 to 1" },
		{ "choice", "b", "one of: a bc d" },
		{ "choice", "", "one of: a bc d" },
		{ "text", "", "a text" },
		{ "pair", "x", "a pair" },
	};
	static const struct target none;
	struct target t = none;
	char why[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(set(&t, cases[i].name, cases[i].text, why), -EINVAL);
		assert_string_equal(why, cases[i].expected);
		assert_memory_equal(&t, &none, sizeof(t));
	}
	assert_null(dl_setting_find(table, "fla", 3));
	assert_null(dl_setting_find(table, "", 0));
}

/* ---- YAML -------------------------------------------------------------- */

static void note(void *context, enum dl_log_level level, const char *message)
{
	(void)level;
	snprintf(context, 512, "%s", message);
}

static int read_yaml(const char *text, struct target *t, char *message)
{
	const struct dl_log log = { .write = note, .context = message };
	FILE *from = fmemopen((void *)text, strlen(text), "r");
	int err;

	*message = '\0';
	assert_non_null(from);
	err = dl_yaml_read_stream(from, "f", &log, table, t);
	fclose(from);
	return err;
}

static void yaml_values(void **state)
{
	struct target t = { .text = NULL };
	char message[512];

	(void)state;
	assert_int_equal(read_yaml("flag: yes\nhalf: -3\nchoice: d\n"
				   "text: \"5\"\ndecimal: 0.5\nlist: [1, 9]\n"
				   "pair: '4:5'\n",
				   &t, message),
			 0);
	assert_string_equal(message, "");
	assert_true(t.flag);
	assert_int_equal(t.half, -3);
	assert_int_equal(t.choice, 2);
	assert_string_equal(t.text, "5");
	assert_int_equal(t.decimal, 500000);
	assert_int_equal(t.number, 10);
	assert_int_equal(t.called, 4);
	free(t.text);
}

static void yaml_errors(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "half: \"3\"\n", "f:1: half: 3: expected a whole number from -9 to 9" },
		{ "\nhalf: {}\n", "f:2: half: a mapping: expected a whole "
				  "number from -9 to 9" },
		{ "text: ''\n", "f:1: text: nothing: expected a text" },
		{ "list:\n- 0\n", "f:2: an item: 0: expected a whole number from 1 to 9" },
		{ "list: 0\n", "f:1: list: expected a list" },
		{ "list:\n  {first: 1,\n  middle: 2,\n  last: 3}\n", "f:4: is here" },
		{ "list:\n  {first: 1,\n  middle: 2,\n  lasting: 3}\n", "f:3: is here" },
		{ "list:\n  {first: 1,\n  mid: 2}\n", "f:2: is here" },
		{ "half: 1\nhalf: 2\n", "f:2: half: expected only once" },
		{ "[]\n", "f:1: a list: expected a mapping with keys of: flag, "
			  "level, byte, half, word, number, decimal, choice, "
			  "text, borrowed, pair, list" },
		{ "# nothing\n", "f:1: nothing: expected a scenario" },
	};
	char message[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target t = { .text = NULL };

		assert_int_equal(read_yaml(cases[i].text, &t, message), -EINVAL);
		assert_string_equal(message, cases[i].message);
	}
}

/* Small files that would take minutes, or gigabytes. */
static void yaml_costs(void **state)
{
	static char text[400001];
	struct target t = { .text = NULL };
	char message[512];
	size_t len = sprintf(text, "list: [&a 1");

	(void)state;
	while (len < sizeof(text) - 10)
		len += sprintf(text + len, ", *a");
	sprintf(text + len, "]\n");
	assert_int_equal(read_yaml(text, &t, message), -EINVAL);
	assert_string_equal(message, "f:1: an item: expected fewer values, with all aliases");
	for (const char *c = "[{"; *c; c++) {
		memset(text, *c, sizeof(text) - 1);
		assert_int_equal(read_yaml(text, &t, message), -EINVAL);
		assert_string_equal(message, "f: expected at most 100 lists and mappings within "
					     "each other");
	}
}

/* ---- invariants -------------------------------------------------------- */

static void invariants(void **state)
{
	char message[512] = "";
	const struct dl_log log = { .write = note, .context = message };

	(void)state;
	assert_false(dl_broken(&log, 1 + 1 == 2));
	assert_string_equal(message, "");
#ifndef DL_DEBUG
	assert_true(dl_broken(NULL, 1 + 1 == 3));
	assert_true(dl_broken(&log, 1 + 1 == 3));
	assert_non_null(strstr(message, "broken invariant: 1 + 1 == 3"));
	assert_non_null(strstr(message, "settings.c:"));
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),     cmocka_unit_test(decimals),
		cmocka_unit_test(good_texts),  cmocka_unit_test(bad_texts),
		cmocka_unit_test(yaml_values), cmocka_unit_test(yaml_errors),
		cmocka_unit_test(yaml_costs),  cmocka_unit_test(invariants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
