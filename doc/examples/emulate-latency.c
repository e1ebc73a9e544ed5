/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Emulate a routed fabric and print how long packets take.
 *
 *	cc emulate-latency.c $(pkg-config --cflags --libs libdateline)
 *	dateline route fabric.net -o snapshot
 *	./a.out snapshot [PERCENT]
 *
 * Every adapter sends messages of 2048 bytes to random others, so many percent
 * of its link's time (20).  After a warm-up of 50 us, 200 us are measured.  The
 * exit status is 0, 1 when the fabric deadlocks, 2 for bad usage or input.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dateline.h>

#define MESSAGE 2048	      /* bytes */
#define MICROSECOND 1000000.0 /* in picoseconds */
#define WARM_UP UINT64_C(50000000)
#define MEASURED UINT64_C(200000000)

struct run {
	const struct dl_tables *tables;
	struct dl_emu_config config;
	uint32_t nadapters;
	uint32_t *adapter; /* port index, by adapter; of each flow's source */
	uint64_t *rate;	   /* bytes a second of its link */
	struct dl_emu_traffic *traffic;
};

static void print_message(void *context, enum dl_log_level level,
			  const char *message)
{
	(void)context;
	if (level <= DL_LOG_WARNING)
		fprintf(stderr, "%s\n", message);
}

static const struct dl_log log_to_stderr = { print_message, NULL };

/* The emulator asks for a flow's next message. */
static bool next_message(void *context, uint32_t flow, uint64_t now,
			 struct dl_emu_message *out)
{
	const struct run *r = context;
	const struct dl_fabric *f = r->tables->fabric;
	struct dl_emu_trace_message m;

	if (!dl_emu_traffic_next(r->traffic, flow, now, &m))
		return false;
	*out = (struct dl_emu_message){
		.at = m.at,
		.bytes = m.bytes,
		.dlid = f->ports[r->adapter[m.dst]].lid,
		.level = m.level,
		.sl = DL_TABLES_NO_SL, /* the path's */
	};
	return true;
}

/* The ports of channel adapters that have a LID, and the rates of their links. */
static int find_adapters(struct run *r)
{
	const struct dl_fabric *f = r->tables->fabric;
	struct dl_emu_rate rate;
	uint32_t p;
	int err;

	r->adapter = malloc((f->nports + 1) * sizeof(*r->adapter));
	r->rate = malloc((f->nports + 1) * sizeof(*r->rate));
	if (!r->adapter || !r->rate)
		return -1;
	for (p = 0; p < f->nports; p++) {
		if (f->nodes[f->ports[p].node].type != DL_FABRIC_CA ||
		    !f->ports[p].lid || f->ports[p].peer == DL_NONE)
			continue;
		err = dl_emu_link_rate(f, &r->config, p, &rate);
		if (err)
			return err;
		r->rate[r->nadapters] = dl_emu_rate_bytes(rate);
		r->adapter[r->nadapters++] = p;
	}
	return 0;
}

static int make_traffic(struct run *r, unsigned int percent)
{
	static const struct dl_emu_size size = { MESSAGE, 1 };
	static struct dl_emu_traffic_entry entry = {
		.pattern = DL_EMU_PATTERN_UNIFORM,
		.sizes = &size,
		.nsizes = 1,
		.stop = DL_EMU_NEVER,
	};
	struct dl_emu_traffic_spec spec = { .seed = 1,
					    .nadapters = r->nadapters,
					    .rate = r->rate,
					    .entries = &entry,
					    .nentries = 1 };

	entry.load = DL_EMU_LOAD_ONE / 100 * percent;
	return dl_emu_traffic_new(&spec, &log_to_stderr, &r->traffic);
}

static void print_result(struct dl_emu *emu)
{
	const struct dl_emu_histogram *h = &dl_emu_level(emu, 0)->latency;
	const struct dl_emu_totals *t = dl_emu_totals(emu);

	printf("delivered: %" PRIu64 " packets, %" PRIu64 " dropped\n",
	       t->delivered, t->dropped);
	printf("latency: mean %.2f us, half below %.2f us, 99 %% below %.2f "
	       "us\n",
	       dl_emu_histogram_mean(h) / MICROSECOND,
	       dl_emu_histogram_quantile(h, 500000) / MICROSECOND,
	       dl_emu_histogram_quantile(h, 990000) / MICROSECOND);
}

static int emulate(struct run *r)
{
	uint32_t flows = dl_emu_traffic_flows(r->traffic), i;
	uint32_t *port = malloc((flows + 1) * sizeof(*port));
	struct dl_emu_source source = { .context = r,
					.nflows = flows,
					.port = port,
					.next = next_message };
	struct dl_emu *emu = NULL;
	int err = port ? 0 : -1;

	for (i = 0; !err && i < flows; i++)
		port[i] = r->adapter[dl_emu_traffic_source(r->traffic, i)];
	if (!err)
		err = dl_emu_new(r->tables, &r->config, &source, &log_to_stderr,
				 &emu);
	if (!err)
		err = dl_emu_run(emu, WARM_UP);
	if (err == DL_EMU_RUNNING) {
		dl_emu_reset_stats(emu);
		err = dl_emu_run(emu, WARM_UP + MEASURED);
	}
	if (err == DL_EMU_RUNNING)
		print_result(emu);
	else if (err == DL_EMU_DEADLOCK || err == DL_EMU_STUCK)
		printf("deadlock\n");
	dl_emu_free(emu);
	free(port);
	return err;
}

int main(int argc, char **argv)
{
	struct dl_snapshot snapshot = { 0 };
	struct run r = { 0 };
	int err;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s SNAPSHOT [PERCENT]\n", argv[0]);
		return 2;
	}
	dl_emu_config_init(&r.config);
	r.config.stop_on_deadlock = true;
	err = dl_snapshot_read(argv[1], NULL, NULL, &log_to_stderr, &snapshot);
	r.tables = snapshot.tables;
	if (!err)
		err = find_adapters(&r);
	if (!err)
		err = make_traffic(&r, argc == 3 ? atoi(argv[2]) : 20);
	if (!err)
		err = emulate(&r);
	dl_emu_traffic_free(r.traffic);
	free(r.adapter);
	free(r.rate);
	dl_snapshot_release(&snapshot);
	return err < 0 ? 2 : err != DL_EMU_RUNNING;
}
