/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The emulator's events against a list that is searched from end to end. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "draw.h"
#include "emu/events.h"

#define MOST 6000
#define STEPS 20000
#define DELAYS 20
#define KIND 42 /* where it stands in struct event */

static uint64_t seed = 20261121;

struct event {
	uint64_t time, what; /* the kind on top */
	uint32_t log;
};

struct list {
	struct event event[MOST];
	uint32_t n;
};

static bool before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->what < b->what);
}

static bool take(struct list *l, uint64_t until, struct event *out)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < l->n; i++)
		if (before(&l->event[i], &l->event[first]))
			first = i;
	if (!l->n || l->event[first].time > until)
		return false;
	*out = l->event[first];
	l->event[first] = l->event[--l->n];
	return true;
}

/* Soon, at the same time as others, late, or after one of the usual delays. */
static uint64_t draw_time(struct draw *d, uint64_t now, uint64_t reach, const uint64_t *delay)
{
	switch (draw_below(d, 12)) {
	case 0:
		return now;
	case 1:
		return now + draw_below(d, 20);
	case 2:
		return now + (uint64_t)draw_below(d, 1000) * reach;
	case 3:
		return now / 1000 * 1000 + 1000;
	case 4:
		return now + draw_below(d, reach);
	default:
		return now + delay[draw_below(d, DELAYS)];
	}
}

/* What is alike stands in one log. */
static struct event draw_event(struct draw *d, uint64_t time, uint32_t most)
{
	uint64_t what = (uint64_t)draw_below(d, most) << 32 | draw_below(d, 3);
	uint64_t kind = draw_below(d, 11);

	return (struct event){ time, kind << KIND | what, what % 7 % DL_EMU_LOGS };
}

static void push(struct dl_emu_events *q, const struct event *ev)
{
	dl_emu_events_push(q, ev->time, ev->log, ev->what >> KIND,
			   ev->what % (UINT64_C(1) << KIND));
}

static void add_up(void *sum, uint64_t time, uint32_t log, unsigned int kind, uint64_t what)
{
	*(uint64_t *)sum += (((uint64_t)kind << KIND | what) + 1 + time) << log;
}

static void check_places(const struct dl_emu_events *q, const struct list *l)
{
	uint64_t sum = 0, found = 0;

	for (uint32_t i = 0; i < l->n; i++)
		sum += (l->event[i].what + 1 + l->event[i].time) << l->event[i].log;
	dl_emu_events_each(q, add_up, &found);
	assert_int_equal(found, sum);
	assert_int_equal(dl_emu_events_count(q), l->n);
}

/* The next one, if it is due at `until` or before. */
static bool pop(struct dl_emu_events *q, uint64_t until, struct event *out)
{
	uint64_t key;
	int found;

	while ((key = dl_emu_events_first(q)) >= dl_emu_events_end(q, until)) {
		found = dl_emu_events_open(q, until);
		assert_true(found >= 0);
		if (!found)
			return false;
	}
	out->time = dl_emu_events_time(q, key);
	out->log = dl_emu_events_what(q, key) % 7 % DL_EMU_LOGS;
	out->what = (uint64_t)dl_emu_events_kind(q, key) << KIND | dl_emu_events_what(q, key);
	assert_int_equal(*q->at[out->log], key);
	dl_emu_events_take(q, out->log);
	return true;
}

static void run(struct draw *d, struct list *l)
{
	uint64_t reach = 1 + draw_below(d, 900000);
	uint64_t delay[DELAYS];
	uint32_t most = 1 + draw_below(d, draw_below(d, 2) ? 60 : 600);
	uint64_t now = 0;
	struct dl_emu_events q;

	l->n = 0;
	for (unsigned int i = 0; i < DELAYS; i++)
		delay[i] = draw_below(d, reach);
	assert_int_equal(dl_emu_events_init(&q, 4 + draw_below(d, 15)), 0);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint64_t until = now + draw_below(d, 2 * reach);
		struct event a = { 0 }, b;
		bool any;

		/* At times, very many at once. */
		if (draw_one_in(d, 2000) && l->n + 3000 < MOST)
			for (uint32_t i = 0; i < 2000; i++) {
				b = draw_event(d, now + 77, 500);
				l->event[l->n++] = b;
				push(&q, &b);
			}
		while (l->n < most) {
			b = draw_event(d, draw_time(d, now, reach, delay), 1000);
			l->event[l->n++] = b;
			push(&q, &b);
			if (draw_below(d, 2))
				break;
		}
		any = take(l, until, &b);
		assert_int_equal(pop(&q, until, &a), any);
		if (any) {
			assert_true(a.time == b.time && a.what == b.what && a.log == b.log);
			now = a.time;
		} else {
			now = until; /* nothing comes before it any more */
		}
		if (draw_one_in(d, 1000))
			check_places(&q, l);
	}
	dl_emu_events_free(&q);
}

static void test_order(void **state)
{
	struct draw d = { .seed = seed };
	struct list *l = malloc(sizeof(*l));

	(void)state;
	assert_non_null(l);
	print_message("seed %llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 12; i++)
		run(&d, l);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
	};
	const char *given = getenv("DATELINE_SEED");

	if (given)
		seed = strtoull(given, NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
