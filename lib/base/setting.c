/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Settings from text; see base.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"

/* Put a number into a member of any size. */
static void setting_store(const struct dl_setting *s, void *to, int64_t value)
{
	void *member = dl_setting_member(s, to);

	switch (s->size) {
	case 1:
		*(uint8_t *)member = value;
		break;
	case 2:
		*(uint16_t *)member = value;
		break;
	case 4:
		*(uint32_t *)member = value;
		break;
	default:
		*(int64_t *)member = value;
	}
}

/* The index of a word among those separated by blanks, or -1. */
static int64_t word_index(const char *words, const char *text)
{
	size_t len = strlen(text);
	int64_t i = 0;

	for (const char *word = words; *word; i++) {
		size_t n = strcspn(word, " ");

		if (n == len && !memcmp(word, text, n))
			return i;
		word += n + (word[n] == ' ');
	}
	return -1;
}

static bool parse_flag(const struct dl_setting *s, const char *text, int64_t *out)
{
	int64_t index = text ? word_index("no false yes true", text) : 2;

	*out = index < 2 ? 0 : s->max ? s->max : 1;
	return index >= 0;
}

static int store_text(const struct dl_setting *s, void *to, const char *text)
{
	char **member = dl_setting_member(s, to);
	char *copy;

	if (!*text)
		return -EINVAL;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(*member);
	*member = copy;
	return 0;
}

/* Whether the text is what is expected is left to the caller to report. */
static int setting_assign(const struct dl_setting *s, void *to, const char *text)
{
	int64_t value = 0;
	bool good;

	switch (s->type) {
	case DL_SETTING_FLAG:
		good = parse_flag(s, text, &value);
		break;
	case DL_SETTING_NUMBER:
		good = dl_number_parse(text, s->min, s->max, &value);
		break;
	case DL_SETTING_DECIMAL:
		good = dl_decimal_parse(text, s->min, s->max, &value);
		break;
	case DL_SETTING_WORD:
		value = word_index(s->words, text);
		good = value >= 0;
		break;
	case DL_SETTING_TEXT:
		return store_text(s, to, text);
	case DL_SETTING_BORROW:
		*(const char **)dl_setting_member(s, to) = text;
		return 0;
	default:
		return -EINVAL;
	}
	if (!good)
		return -EINVAL;
	setting_store(s, to, value);
	return 0;
}

int dl_setting_set(const struct dl_setting *s, void *to, const char *text, char *why, size_t size)
{
	int err;

	dl_setting_expected(s, why, size);
	if (!text && s->type != DL_SETTING_FLAG)
		return -EINVAL;
	if (s->call)
		return s->call(s, to, text, why, size);
	err = setting_assign(s, to, text);
	return err;
}

void dl_setting_expected(const struct dl_setting *s, char *text, size_t size)
{
	if (s->expected) {
		snprintf(text, size, "%s", s->expected);
		return;
	}
	switch (s->type) {
	case DL_SETTING_FLAG:
		snprintf(text, size, "yes or no");
		break;
	case DL_SETTING_NUMBER:
		snprintf(text, size,
			 s->min < 0 ? "a whole number from %lld to %lld" :
				      "a whole number from %llu to %llu",
			 (long long)s->min, (long long)s->max);
		break;
	case DL_SETTING_DECIMAL:
		snprintf(text, size, "a number from %g to %g", s->min / 1e6, s->max / 1e6);
		break;
	case DL_SETTING_WORD:
		snprintf(text, size, "one of: %s", s->words);
		break;
	default:
		snprintf(text, size, "a text");
	}
}

const struct dl_setting *dl_setting_find(const struct dl_setting *table, const char *name,
					 size_t len)
{
	for (const struct dl_setting *s = table; s->name; s++)
		if (strlen(s->name) == len && !memcmp(s->name, name, len))
			return s;
	return NULL;
}

void dl_setting_list(const struct dl_setting *table, char *list, size_t size)
{
	size_t len = 0;

	*list = '\0';
	for (const struct dl_setting *s = table; s->name && len < size; s++)
		len += snprintf(list + len, size - len, "%s%s", s == table ? "" : ", ", s->name);
}
