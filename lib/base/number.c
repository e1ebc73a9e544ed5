/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The one parser of numbers; see base.h. */
#include <stddef.h>

#include "dateline/base.h"

#define MILLION 1000000

/* The value of a digit, or 255. */
static unsigned int number_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20; /* lower case */
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 255;
}

/* Dumps have hundreds of millions of numbers: no locale, no sign. */
const char *dl_number_scan(const char *at, unsigned int base, uint64_t *value)
{
	const char *start = at;
	bool prefix = at[0] == '0' && (at[1] | 0x20) == 'x' && number_digit(at[2]) < 16;
	unsigned int d;

	if (prefix && (base == 16 || !base)) {
		at += 2;
		base = 16;
	} else if (!base) {
		base = *at == '0' ? 8 : 10;
	}
	*value = 0;
	for (; (d = number_digit(*at)) < base; at++)
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, d, value))
			return start;
	return at;
}

bool dl_number_parse(const char *text, int64_t min, int64_t max, int64_t *out)
{
	bool negative = text[0] == '-';
	const char *digits = text + negative, *end;
	bool hex = digits[0] == '0' && (digits[1] | 0x20) == 'x';
	bool any = min >= 0 && max < 0;
	uint64_t size;

	if (number_digit(digits[0]) > 9 || (digits[0] == '0' && digits[1] && !hex))
		return false;
	end = dl_number_scan(digits, hex ? 16 : 10, &size);
	if (*end || (!any && size > (uint64_t)INT64_MAX + negative) || (any && negative))
		return false;
	*out = negative ? -size : size;
	return any ? size >= (uint64_t)min && size <= (uint64_t)max : *out >= min && *out <= max;
}

bool dl_decimal_parse(const char *text, int64_t min, int64_t max, int64_t *out)
{
	int64_t unit = MILLION, value = 0;
	bool point = false, up = false;

	if (number_digit(text[*text == '.']) > 9)
		return false;
	for (; *text; text++) {
		if (*text == '.' && !point && text[1]) {
			point = true;
			continue;
		}
		if (number_digit(*text) > 9)
			return false;
		if (point && unit == 1) { /* rounded: the first digit too many decides */
			up |= unit && number_digit(*text) >= 5;
			unit = 0;
		}
		if (!unit)
			continue;
		if (value > INT64_MAX / 10 / MILLION)
			return false;
		value = 10 * value + number_digit(*text);
		unit /= point ? 10 : 1;
	}
	if (__builtin_mul_overflow(value, unit ? unit : 1, out) ||
	    __builtin_add_overflow(*out, up, out))
		return false;
	return *out >= min && *out <= max;
}
