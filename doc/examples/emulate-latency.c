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

#include <dateline.h>

static void print_message(void *context, enum dl_log_level level, const char *message)
{
	(void)context;
	if (level <= DL_LOG_WARNING)
		fprintf(stderr, "%s\n", message);
}

static const struct dl_log log_to_stderr = { .write = print_message, .context = NULL };

/* A scenario could also be a file: see dateline-scenario(5). */
static int read_scenario(unsigned int percent, const struct dl_tables *tables,
			 struct dl_emu_scenario **out)
{
	char text[256];
	FILE *stream;
	int n, err;

	n = snprintf(text, sizeof(text),
		     "warmup_ns: 50000\n"
		     "duration_ns: 250000\n"
		     "traffic: [{pattern: uniform, load: %u.%02u}]\n",
		     percent / 100, percent % 100);
	stream = fmemopen(text, n, "r");
	if (!stream)
		return -1;
	err = dl_emu_scenario_read_stream(stream, "scenario", tables, NULL, &log_to_stderr, out);
	fclose(stream);
	return err;
}

static void print_result(struct dl_emu *emu)
{
	const struct dl_emu_totals *t = dl_emu_totals(emu);
	struct dl_emu_latency l = dl_emu_latency_of(&dl_emu_level(emu, 0)->latency);

	printf("delivered: %" PRIu64 " packets, %" PRIu64 " dropped\n", t->delivered, t->dropped);
	printf("latency: mean %.2f us, half below %.2f us, 99 %% below %.2f "
	       "us\n",
	       l.mean / 1000, l.p50 / 1000, l.p99 / 1000);
}

int main(int argc, char **argv)
{
	struct dl_snapshot snapshot = { 0 };
	struct dl_emu_scenario *scenario = NULL;
	struct dl_emu_result result = { 0 };
	bool deadlock = false;
	int err;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s SNAPSHOT [PERCENT]\n", argv[0]);
		return 2;
	}
	err = dl_snapshot_read(argv[1], NULL, NULL, &log_to_stderr, &snapshot);
	if (!err)
		err = read_scenario(argc == 3 ? atoi(argv[2]) : 20, snapshot.tables, &scenario);
	if (!err)
		err = dl_emu_scenario_run(scenario, NULL, NULL, NULL, &result);
	if (!err) {
		deadlock = result.state == DL_EMU_DEADLOCK || result.state == DL_EMU_STUCK;
		if (deadlock)
			printf("deadlock\n");
		else
			print_result(result.emu);
	}
	dl_emu_result_free(&result);
	dl_emu_scenario_free(scenario);
	dl_snapshot_release(&snapshot);
	return err ? 2 : deadlock;
}
