/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Congestion control as the devices of a running fabric hold it (IBA annex A10), written
 * as options of OpenSM's file.
 *
 * Problem.  Each device has settings of its own, an adapter's for each SL.  OpenSM's
 * options, and the emulator, have one value of each kind.
 *
 * Method.  The settings of a device are a row of numbers, and a kind of setting is a part
 * of it.  The value that most devices have is written; of the others, one is named.  An
 * adapter has one vote, for what most of those SLs have on which it reacts.
 *
 * Silence.  Many devices know nothing of this class, and some do not even say so.  The
 * first that are asked are spread over the fabric; if none of them answers, the others of
 * their type are not asked, and that is said.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "live/internal.h"

#define SAMPLE 32    /* devices of a type; without an answer from any the rest are not asked */
#define CCT_READ 128 /* entries of the table: the emulator uses no more */
#define CCT_BLOCK 64 /* entries in a CongestionControlTable */
#define CC_SLS 16
#define ALL_PORTS \
	"FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFE" /* but port 0 */
#define ROUNDS (1 + CCT_READ / CCT_BLOCK)

/* Settings of a switch, and of an adapter's port. */
enum { THRESHOLD, MARKING_RATE, VICTIMS };
enum { CCTI_TIMER, CCTI_INCREASE, CCTI_LIMIT, CCT, CC_VALUES = CCT + CCT_READ };

/* What has become of a device, and what of its settings gets lost. */
enum cc_state { CC_ANSWERED, CC_NONE, CC_REFUSED, CC_SILENT, CC_UNASKED };
enum { CC_MIXED = CC_UNASKED + 1, CC_LONG, CC_LOSSES };

struct cc_device {
	uint32_t port; /* an end port */
	uint8_t type;  /* enum cc_type */
	uint8_t state; /* enum cc_state */
	bool marked;   /* to be asked in this round, or reported */
	bool mixed;    /* SLs that have not all the same */
	uint16_t status;
	uint16_t value[CC_VALUES];
};

enum cc_type { CC_SWITCH, CC_ADAPTER, CC_TYPES };

static const char *const cc_types[CC_TYPES] = { "switches", "adapter ports" };

struct cc_survey {
	const struct dl_fabric *f;
	const struct dl_log *log;
	FILE *to;
	struct cc_device *devices;
	const struct cc_device **order; /* room for all */
	uint32_t n;
	uint32_t round; /* 0: settings are asked for; above, block `round` - 1 of tables */
	uint32_t all[CC_TYPES], silent[CC_TYPES], heard[CC_TYPES];
};

/* For people, and as a comment. */
static void __attribute__((format(printf, 3, 4)))
cc_remark(const struct cc_survey *c, enum dl_log_level level, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dl_log(c->log, level, "congestion control: %s", text);
	fprintf(c->to, "# %s\n", text);
}

/* ---- queries --------------------------------------------------------------- */

/* The first sweep over the devices takes one of each `step`, the next one its neighbours. */
static bool cc_next_query(void *context, uint32_t at[2], struct dl_live_query *q)
{
	const struct cc_survey *c = context;
	uint32_t step = 1 + c->n / (CC_TYPES * SAMPLE);

	for (; at[0] < step; at[0]++, at[1] = 0) {
		while (at[1] * step + at[0] < c->n) {
			uint32_t i = at[1]++ * step + at[0];
			const struct cc_device *d = &c->devices[i];

			if (!d->marked || (c->silent[d->type] >= SAMPLE && !c->heard[d->type]))
				continue;
			q->service = DL_LIVE_CCA;
			q->to.lid = c->f->ports[d->port].lid;
			q->to.qp = 1;
			q->to.qkey = IB_DEFAULT_QP1_QKEY;
			q->attr = d->type == CC_SWITCH ? IB_CC_ATTR_SWITCH_CONGESTION_SETTING :
				  !c->round	       ? IB_CC_ATTR_CA_CONGESTION_SETTING :
							 IB_CC_ATTR_CONGESTION_CONTROL_TABLE;
			q->mod = c->round ? c->round - 1 : 0;
			q->key[0] = i;
			return true;
		}
	}
	return false;
}

static void cc_take_switch(struct cc_device *d, const uint8_t *data)
{
	uint8_t ports[32];

	d->value[THRESHOLD] = dl_live_field(data, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F);
	d->value[MARKING_RATE] =
		dl_live_field(data, IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F);
	mad_get_array((void *)data, 0, IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F, ports);
	for (unsigned int i = 0; i < sizeof(ports); i++)
		d->value[VICTIMS] |= ports[i] != 0;
}

/* What most SLs have, of those that a BECN slows down. */
static void cc_take_adapter(struct cc_device *d, const uint8_t *data)
{
	unsigned int most = 0;

	for (unsigned int sl = 0; sl < CC_SLS; sl++) {
		const uint8_t *entry = data + 4 + 8 * sl;
		unsigned int increase =
			dl_live_field(entry, IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F);
		unsigned int same = 0;

		for (unsigned int i = 0; i < CC_SLS; i++)
			same += !memcmp(data + 4 + 8 * i, entry, 3); /* timer and increase */
		d->mixed |= same < CC_SLS;
		if (!increase || same <= most)
			continue;
		most = same;
		d->value[CCTI_TIMER] = dl_live_field(entry, IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F);
		d->value[CCTI_INCREASE] = increase;
	}
}

static void cc_take_table(struct cc_device *d, const uint8_t *data, uint32_t block)
{
	if (!block)
		d->value[CCTI_LIMIT] =
			dl_live_field(data, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F);
	for (unsigned int i = 0; i < CCT_BLOCK; i++)
		if (block * CCT_BLOCK + i <= d->value[CCTI_LIMIT])
			d->value[CCT + block * CCT_BLOCK + i] = data[4 + 2 * i] << 8 |
								data[5 + 2 * i];
}

static void cc_take_answer(void *context, const struct dl_live_query *q, int status)
{
	struct cc_survey *c = context;
	struct cc_device *d = &c->devices[q->key[0]];
	unsigned int invalid = status >> 2 & 7; /* IBA volume 1, 13.4.7 */

	d->status = status > 0 ? status : 0;
	c->silent[d->type] += status == DL_LIVE_SILENT;
	c->heard[d->type] += status != DL_LIVE_SILENT;
	if (status) {
		d->state = status == DL_LIVE_SILENT		     ? CC_SILENT :
			   !c->round && invalid >= 1 && invalid <= 3 ? CC_NONE :
								       CC_REFUSED;
		return;
	}
	d->state = CC_ANSWERED;
	if (d->type == CC_SWITCH)
		cc_take_switch(d, q->data);
	else if (!c->round)
		cc_take_adapter(d, q->data);
	else
		cc_take_table(d, q->data, c->round - 1);
}

/* The settings, and then the blocks of the adapters' tables. */
static int cc_ask_all(struct cc_survey *c, struct dl_live_mads *mads)
{
	const struct dl_live_queries list = { "congestion control", c, cc_next_query,
					      cc_take_answer };
	int err = 0;

	for (c->round = 0; !err && c->round < ROUNDS; c->round++) {
		for (uint32_t i = 0; i < c->n; i++) {
			struct cc_device *d = &c->devices[i];

			d->marked = !c->round ||
				    (d->type == CC_ADAPTER && d->state == CC_ANSWERED &&
				     d->value[CCTI_LIMIT] >= (c->round - 1) * CCT_BLOCK);
			if (d->marked)
				d->state = CC_UNASKED;
		}
		memset(c->silent, 0, sizeof(c->silent));
		memset(c->heard, 0, sizeof(c->heard));
		err = dl_live_mads_run(mads, &list);
	}
	return err;
}

/* ---- what came of it --------------------------------------------------------- */

/* Devices that are marked are counted, and one is named. */
static uint32_t cc_report(const struct cc_survey *c, enum cc_type type, enum dl_log_level level,
			  const char *what)
{
	const struct cc_device *first = NULL;
	char status[32] = "";
	uint32_t n = 0;

	for (const struct cc_device *d = c->devices; d < c->devices + c->n; d++) {
		if (d->type != type || !d->marked)
			continue;
		first = n++ ? first : d;
	}
	if (!n)
		return 0;
	if (first->status)
		snprintf(status, sizeof(status), " (status 0x%04x)", first->status);
	cc_remark(c, level, "%s: %u of %u %s, such as \"%s\"%s", what, n, c->all[type],
		  cc_types[type], dl_fabric_node_name(c->f, c->f->ports[first->port].node), status);
	return n;
}

/* Those of which something is not known.  Returns how many should have answered. */
static uint32_t cc_report_all(const struct cc_survey *c)
{
	static const char *const what[CC_LOSSES] = {
		[CC_NONE] = "not supported",
		[CC_REFUSED] = "refused",
		[CC_SILENT] = "no answer (not supported, or another CC_Key)",
		[CC_UNASKED] = "not asked, as no other has answered",
		[CC_MIXED] = "CCTI_Timer or CCTI_Increase not the same for all SLs",
		[CC_LONG] = "a table of more than 128 entries (the first 128 count)",
	};
	uint32_t unknown = 0;

	for (unsigned int loss = CC_NONE; loss < CC_LOSSES; loss++) {
		for (struct cc_device *d = c->devices; d < c->devices + c->n; d++) {
			d->marked = d->state == loss;
			if (d->state != CC_ANSWERED || d->type != CC_ADAPTER)
				continue;
			d->marked = loss == CC_MIXED ?
					    d->mixed && d->value[CCTI_INCREASE] :
					    loss == CC_LONG && d->value[CCTI_LIMIT] >= CCT_READ;
		}
		for (unsigned int type = 0; type < CC_TYPES; type++) {
			enum dl_log_level level = loss == CC_NONE ? DL_LOG_INFO : DL_LOG_WARNING;
			uint32_t n = cc_report(c, type, level, what[loss]);

			unknown += loss > CC_NONE && loss < CC_MIXED ? n : 0;
		}
	}
	return unknown;
}

/* ---- what most have ------------------------------------------------------------ */

struct cc_kind {
	uint8_t type, first, n; /* values */
	const char *differs;
};

static const struct cc_kind cc_kinds[] = {
	{ CC_SWITCH, THRESHOLD, 1, "another threshold than most" },
	{ CC_SWITCH, MARKING_RATE, 1, "another marking rate than most" },
	{ CC_SWITCH, VICTIMS, 1, "a victim mask, or none, unlike most" },
	{ CC_ADAPTER, CCTI_TIMER, 2, "another CCTI_Timer or CCTI_Increase than most" },
	{ CC_ADAPTER, CCTI_LIMIT, 1 + CCT_READ, "another table than most" },
};

static int cc_compare(const struct cc_device *a, const struct cc_device *b, const struct cc_kind *k)
{
	return memcmp(&a->value[k->first], &b->value[k->first], k->n * sizeof(*a->value));
}

/* By value; of the same, those that come first in the fabric. */
static int cc_sort_order(const void *a, const void *b, void *kind)
{
	const struct cc_device *x = *(const struct cc_device *const *)a,
			       *y = *(const struct cc_device *const *)b;
	int order = cc_compare(x, y, kind);

	return order ? order : (x > y) - (x < y);
}

/* What most have becomes that of `all`, and the others are reported. */
static void cc_elect(struct cc_survey *c, const struct cc_kind *k, struct cc_device *all)
{
	const struct cc_device *elected = NULL;
	uint32_t n = 0, most = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->devices[i].type == k->type && c->devices[i].state == CC_ANSWERED)
			c->order[n++] = &c->devices[i];
	if (!n)
		return;
	qsort_r(c->order, n, sizeof(*c->order), cc_sort_order, (void *)k);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !cc_compare(c->order[i], c->order[end], k);)
			end++;
		if (end - i < most || (end - i == most && c->order[i] > elected))
			continue;
		most = end - i;
		elected = c->order[i];
	}
	for (uint32_t i = 0; i < c->n; i++)
		c->devices[i].marked = c->devices[i].state == CC_ANSWERED &&
				       c->devices[i].type == k->type &&
				       cc_compare(&c->devices[i], elected, k);
	cc_report(c, k->type, DL_LOG_WARNING, k->differs);
	memcpy(&all->value[k->first], &elected->value[k->first], k->n * sizeof(*all->value));
	all->state = CC_ANSWERED;
}

/* Of devices of a type of which none answered there is nothing: the emulator has defaults. */
static void cc_write(const struct cc_survey *c, const struct cc_device all[CC_TYPES], bool set)
{
	const uint16_t *sw = all[CC_SWITCH].value, *ca = all[CC_ADAPTER].value;

	fprintf(c->to,
		"# Not read: single ports of switches, Packet_Size, credit starvation, CCTI_Min.\n"
		"congestion_control %s\n",
		set ? "TRUE" : "FALSE");
	if (all[CC_SWITCH].state == CC_ANSWERED)
		fprintf(c->to,
			"cc_sw_cong_setting_threshold 0x%02X\ncc_sw_cong_setting_victim_mask %s\n"
			"cc_sw_cong_setting_marking_rate %u\n",
			sw[THRESHOLD], sw[VICTIMS] ? "0x" ALL_PORTS : "0x0", sw[MARKING_RATE]);
	if (all[CC_ADAPTER].state != CC_ANSWERED)
		return;
	for (unsigned int sl = 0; sl < CC_SLS; sl++)
		fprintf(c->to,
			"cc_ca_cong_setting_ccti_timer %u %u\n"
			"cc_ca_cong_setting_ccti_increase %u %u\n",
			sl, ca[CCTI_TIMER], sl, ca[CCTI_INCREASE]);
	fprintf(c->to, "cc_cct ");
	for (unsigned int i = 0; i < CCT_READ && i <= ca[CCTI_LIMIT]; i++)
		fprintf(c->to, "%s%u:%u", i ? "," : "", ca[CCT + i] >> 14, ca[CCT + i] & 0x3FFF);
	fputc('\n', c->to);
}

/* Returns 0; 1: something is not known. */
static int cc_conclude(struct cc_survey *c)
{
	struct cc_device all[CC_TYPES] = { { .state = CC_UNASKED }, { .state = CC_UNASKED } };
	uint32_t set[CC_TYPES] = { 0 }, known = 0, unknown = cc_report_all(c);

	for (uint32_t i = 0; i < c->n; i++) {
		const struct cc_device *d = &c->devices[i];

		known += d->state <= CC_REFUSED;
		set[d->type] += d->state == CC_ANSWERED &&
				d->value[d->type == CC_SWITCH ? THRESHOLD : CCTI_INCREASE];
	}
	for (size_t i = 0; i < sizeof(cc_kinds) / sizeof(*cc_kinds); i++)
		cc_elect(c, &cc_kinds[i], &all[cc_kinds[i].type]);
	if (!known)
		cc_remark(c, DL_LOG_WARNING, "no device has answered: taken to be off");
	else
		cc_remark(c, DL_LOG_INFO, "%s in %u of %u switches and %u of %u adapter ports",
			  set[CC_SWITCH] || set[CC_ADAPTER] ? "on" : "off: on", set[CC_SWITCH],
			  c->all[CC_SWITCH], set[CC_ADAPTER], c->all[CC_ADAPTER]);
	cc_write(c, all, set[CC_SWITCH] || set[CC_ADAPTER]);
	return unknown > 0;
}

/* ---- all ------------------------------------------------------------------------- */

int dl_live_congestion(const struct dl_live_options *o, const struct dl_fabric *f,
		       const struct dl_log *log, FILE *to)
{
	struct cc_survey c = { .f = f, .log = log, .to = to };
	struct dl_live_mads *mads = NULL;
	int err = -ENOMEM;

	c.devices = calloc(f->nports + 1, sizeof(*c.devices));
	c.order = calloc(f->nports + 1, sizeof(*c.order));
	for (uint32_t p = 0; c.devices && p < f->nports; p++) {
		bool sw = dl_fabric_is_switch(f, f->ports[p].node);

		if (!f->ports[p].lid || !dl_fabric_is_end_port(f, p) ||
		    (!sw && f->ports[p].peer == DL_NONE))
			continue;
		c.devices[c.n].port = p;
		c.devices[c.n].type = sw ? CC_SWITCH : CC_ADAPTER;
		c.all[c.devices[c.n++].type]++;
	}
	if (c.devices && c.order)
		err = dl_live_mads_open(o, log, &mads);
	if (!err)
		err = cc_ask_all(&c, mads);
	dl_live_mads_close(mads);
	if (!err)
		err = cc_conclude(&c);
	free(c.devices);
	free(c.order);
	return err;
}
