/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Congestion control: the key `congestion`, and what OpenSM sets in the fabric,
 * by its options file (cc_sw_cong_setting_threshold and so on; IBA annex A10).
 *
 * The emulator has one setting for all SLs and ports, so the file must have one, too.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/scenario.h"

#define MEMBER(member) DL_MEMBER(struct dl_emu_scenario, config.congestion.member)

#define TICK_PS 1024000 /* of CCTI_Timer */

/* ---- OpenSM's options ------------------------------------------------------ */

struct opensm_congestion {
	struct dl_emu_congestion *c;
	bool enabled;
	uint64_t threshold, timer, increase; /* UINT64_MAX: not given */
};

/* "SL number", for one SL of those that must all have the same. */
static int congestion_of_sl(struct dl_text *t, uint64_t max, uint64_t *out)
{
	uint64_t sl, value = 0;
	int err = dl_text_number(t, 10, 15, "an SL", &sl);

	if (!err)
		err = dl_text_number(t, 10, max, "a number", &value);
	if (!err && *out != UINT64_MAX && *out != value)
		return dl_text_error(t, "expected the same for all SLs: the emulator has one "
					"setting");
	*out = value;
	return err;
}

/* "shift:multiplier, ...": by index, the delay after a packet in times of the packet. */
static int congestion_table(struct dl_text *t, struct dl_emu_congestion *c)
{
	uint64_t shift, multiplier, times;
	uint32_t n = 0;
	int err = 0;

	if (dl_text_take_string(t, "(null)")) /* as OpenSM writes none */
		return 0;
	while (!err && n < DL_EMU_CCT_MAX && !dl_text_at_end(t)) {
		err = dl_text_number(t, 10, 3, "a shift", &shift);
		if (!err && !dl_text_take(t, ':'))
			err = dl_text_expected(t, "\":\" and a multiplier");
		if (!err)
			err = dl_text_number(t, 10, 16383, "a multiplier", &multiplier);
		if (err)
			return err;
		times = multiplier * 1000000 >> shift;
		c->table[n++] = times < UINT32_MAX ? times : UINT32_MAX;
		dl_text_take(t, ',');
	}
	if (n)
		c->limit = n - 1;
	return err;
}

/* Is one of the bits of a mask set? */
static bool congestion_has_bits(struct dl_text *t)
{
	dl_text_take_string(t, "0x");
	while (dl_text_take(t, '0'))
		;
	return !dl_text_at_end(t);
}

static int congestion_threshold(struct dl_text *t, struct opensm_congestion *o)
{
	dl_text_take_string(t, "0x");
	return dl_text_number(t, 16, 15, "a threshold", &o->threshold);
}

/* A line of the file; most are about something else. */
static int congestion_option(void *context, struct dl_text *t)
{
	struct opensm_congestion *o = context;
	uint64_t value = o->c->marking_rate;
	int err = 0;

	if (dl_text_take_string(t, "congestion_control "))
		o->enabled = dl_text_take_string(t, "TRUE");
	else if (dl_text_take_string(t, "cc_sw_cong_setting_threshold "))
		err = congestion_threshold(t, o);
	else if (dl_text_take_string(t, "cc_sw_cong_setting_victim_mask "))
		o->c->victims = congestion_has_bits(t);
	else if (dl_text_take_string(t, "cc_sw_cong_setting_marking_rate "))
		err = dl_text_number(t, 10, 65535, "a marking rate", &value);
	else if (dl_text_take_string(t, "cc_ca_cong_setting_ccti_timer "))
		err = congestion_of_sl(t, 65535, &o->timer);
	else if (dl_text_take_string(t, "cc_ca_cong_setting_ccti_increase "))
		err = congestion_of_sl(t, UINT8_MAX, &o->increase);
	else if (dl_text_take_string(t, "cc_cct "))
		err = congestion_table(t, o->c);
	o->c->marking_rate = value;
	return err;
}

/* Without `congestion_control TRUE`, or with a threshold of 0, nothing is marked. */
static int congestion_read_opensm(struct dl_emu_scenario *s, const char *path)
{
	struct dl_emu_congestion *c = &s->config.congestion;
	struct opensm_congestion o = { c, false, 0, UINT64_MAX, UINT64_MAX };
	int err = dl_text_each_of(path, s->log, congestion_option, &o);

	if (err)
		return err;
	c->threshold = o.enabled ? o.threshold : 0;
	if (o.timer && o.timer != UINT64_MAX)
		c->timer_ps = o.timer * TICK_PS;
	if (o.increase != UINT64_MAX)
		c->increase = o.increase;
	return 0;
}

static int congestion_read_conf(struct dl_yaml *y, const struct dl_yaml_node *value,
				const struct dl_setting *key, void *to)
{
	char *name;
	int err = dl_emu_scenario_text(y, value, key->name, &name);
	char *path = err ? NULL : dl_emu_scenario_file(to, name);

	if (!err)
		err = path ? congestion_read_opensm(to, path) : -ENOMEM;
	if (err && err != -ENOMEM && path)
		dl_yaml_error(y, value,
			      "%s: %.200s: expected OpenSM's options, beside the scenario",
			      key->name, name);
	free(name);
	return err;
}

/* ---- the key --------------------------------------------------------------- */

/* A list of multiples of a packet's time; what follows the last one is as long. */
static int congestion_read_table(struct dl_yaml *y, const struct dl_yaml_node *value,
				 const struct dl_setting *key, void *to)
{
	const struct dl_setting entry = { key->name, DL_SETTING_DECIMAL, .size = sizeof(uint32_t),
					  .max = 4000 * INT64_C(1000000) };
	uint32_t *table = ((struct dl_emu_scenario *)to)->config.congestion.table;
	size_t n = dl_yaml_count(value);
	int err = 0;

	if (!dl_yaml_is_list(value) || !n || n > DL_EMU_CCT_MAX)
		return dl_yaml_error(y, value, "%s: expected a list of 1 to %d numbers", key->name,
				     DL_EMU_CCT_MAX);
	for (size_t i = 0; !err && i < n; i++)
		err = dl_yaml_value(y, dl_yaml_item(y, value, i), &entry, &table[i]);
	for (size_t i = n; i < DL_EMU_CCT_MAX; i++)
		table[i] = table[n - 1];
	return err;
}

static const struct dl_setting congestion_keys[] = {
	{ "threshold", NUMBER, MEMBER(threshold), 1, 15 },
	{ "marking_rate", NUMBER, MEMBER(marking_rate), 0, 65535 },
	{ "victims", WORD, MEMBER(victims), .words = "false true" },
	{ "increase", NUMBER, MEMBER(increase), 1, DL_EMU_CCT_MAX - 1 },
	{ "limit", NUMBER, MEMBER(limit), 1, DL_EMU_CCT_MAX - 1 },
	{ "timer_ns", NS, MEMBER(timer_ps), 1, DL_EMU_SCENARIO_NS_MAX },
	{ "becn_ns", NS, MEMBER(becn_ps), 0, DL_EMU_SCENARIO_MILLION },
	{ "opensm_conf", .read = congestion_read_conf },
	{ "table", .read = congestion_read_table },
	{ NULL }
};

int dl_emu_scenario_read_congestion(struct dl_yaml *y, const struct dl_yaml_node *value,
				    const struct dl_setting *key, void *to)
{
	(void)key;
	((struct dl_emu_scenario *)to)->config.congestion.threshold = 12;
	return dl_yaml_mapping(y, value, congestion_keys, to);
}
