/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Results of `dateline emulate` for people, and for ibsim's console. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "emulate.h"
#include "verify.h"

#define BUSIEST 5
#define FEW 5

/* ---- tables ------------------------------------------------------------ */

static void print_levels(const struct emu_run *r, FILE *to)
{
	double seconds = r->measured_ps * 1e-12;

	fprintf(to, "%-6s %12s %12s %10s %10s %10s %10s\n", "level", "packets",
		"Gbit/s", "mean ns", "p50 ns", "p99 ns", "p99.9 ns");
	for (unsigned int i = 0; i < DL_EMU_LEVELS; i++) {
		const struct dl_emu_level *l = dl_emu_level(r->emu, i);
		struct emu_latency a;

		if (!l->packets)
			continue;
		emu_latency_of(&l->latency, &a);
		fprintf(to,
			"%-6u %12" PRIu64 " %12.3f %10.0f %10.0f %10.0f "
			"%10.0f\n",
			i, l->packets, r->level_bytes[i] * 8e-9 / seconds,
			a.mean, a.p50, a.p99, a.p999);
	}
}

static void print_drops(const struct dl_emu_totals *t, FILE *to)
{
	static const char *const words[] = {
		[DL_EMU_DROP_NO_ENTRY] = "no forwarding entry",
		[DL_EMU_DROP_DEAD_LINK] = "link down",
		[DL_EMU_DROP_HOQ_LIFE] = "waited too long",
		[DL_EMU_DROP_CORRUPT] = "damaged on the wire",
		[DL_EMU_DROP_SMP_FULL] = "no room on VL 15",
		[DL_EMU_DROP_NO_VL] = "the SL maps to no VL of the port",
		[DL_EMU_DROP_UNLISTED] = "VL in no arbitration table",
		[DL_EMU_DROP_WRONG_END] = "forwarded to the wrong end port",
	};

	for (unsigned int i = 0; i < DL_EMU_DROPS; i++)
		if (t->drops[i])
			fprintf(to, "dropped: %" PRIu64 ": %s\n", t->drops[i],
				words[i]);
}

/* The k ports with the most time on the wire, in falling order. */
static uint32_t find_busiest(const struct emu_run *r, uint32_t k, uint32_t *out)
{
	const struct dl_fabric *f = r->plan->fabric;
	uint32_t n = 0;

	for (uint32_t p = 0; p < f->nports; p++) {
		uint64_t busy;
		uint32_t at;

		if (f->ports[p].peer == DL_NONE)
			continue;
		busy = dl_emu_port(r->emu, p)->busy_ps;
		if (!busy)
			continue;
		for (at = n; at > 0; at--)
			if (dl_emu_port(r->emu, out[at - 1])->busy_ps >= busy)
				break;
		if (at == k)
			continue;
		n += n < k;
		for (uint32_t i = n - 1; i > at; i--)
			out[i] = out[i - 1];
		out[at] = p;
	}
	return n;
}

static void print_busiest(const struct emu_run *r, FILE *to)
{
	const struct dl_fabric *f = r->plan->fabric;
	const struct dl_emu_totals *t = dl_emu_totals(r->emu);
	double time = t->at > t->since ? t->at - t->since : 1;
	uint32_t top[BUSIEST];
	uint32_t n = find_busiest(r, BUSIEST, top);

	if (n)
		fprintf(to, "busiest ports:\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct dl_emu_port *p = dl_emu_port(r->emu, top[i]);

		fprintf(to,
			"  \"%s\" port %u: busy %.1f%%, waiting %.1f%% of "
			"the time\n",
			dl_fabric_node_name(f, f->ports[top[i]].node),
			f->ports[top[i]].num, 100 * p->busy_ps / time,
			100 * p->wait_ps / time);
	}
}

static void print_starved(const struct emu_run *r, FILE *to)
{
	struct dl_emu_starved found[FEW];
	uint32_t n = dl_emu_starved(r->emu, found, FEW);
	const struct dl_fabric *f = r->plan->fabric;

	for (uint32_t i = 0; i < n && i < FEW; i++)
		fprintf(to,
			"starving: \"%s\" port %u, VL %u, since %.0f "
			"ns%s\n",
			dl_fabric_node_name(f, f->ports[found[i].port].node),
			f->ports[found[i].port].num, found[i].vl,
			found[i].since / 1e3,
			found[i].unlisted ? ": in no arbitration table" : "");
	if (n > FEW)
		fprintf(to, "starving: and %u more\n", n - FEW);
}

static void print_deadlock(const struct emu_run *r,
			   const struct tool_coords *coords, FILE *to)
{
	struct dl_verify_result v = { .fabric = r->plan->fabric };
	struct verify_report report = { .verdict = &v, .coords = coords };
	const struct dl_cycle_step *cycle;

	v.ncycle = dl_emu_cycle(r->emu, &cycle);
	v.cycle = (struct dl_cycle_step *)cycle;
	if (!v.ncycle) {
		fprintf(to, "deadlock: none\n");
		return;
	}
	fprintf(to,
		"deadlock: yes, at %.0f ns; %u channels wait for each "
		"other\n",
		dl_emu_now(r->emu) / 1e3, v.ncycle);
	verify_print_cycle(&report, to);
}

void emu_run_print(const struct emu_run *r, const struct tool_coords *coords,
		   FILE *to)
{
	const struct dl_emu_totals *t = dl_emu_totals(r->emu);

	fprintf(to,
		"packets: %" PRIu64 " injected, %" PRIu64 " delivered, %" PRIu64
		" dropped, %" PRIu64 " in flight after %.0f ns%s\n",
		t->injected, t->delivered, t->dropped, t->in_flight,
		dl_emu_now(r->emu) / 1e3,
		r->interrupted ? " (interrupted)" : "");
	fprintf(to,
		"throughput: %.2f%% of the adapters' capacity, for %.2f%% "
		"offered\n",
		100 * emu_run_throughput(r), 100 * emu_run_offered(r));
	print_levels(r, to);
	print_drops(t, to);
	print_busiest(r, to);
	print_starved(r, to);
	print_deadlock(r, coords, to);
	for (uint32_t i = 0; i < r->nwarnings; i++)
		fprintf(to, "warning: %s\n", r->warnings[i]);
}

void emu_sweep_print(const struct emu_point *points, uint32_t n, FILE *to)
{
	double saturation = emu_saturation(points, n);

	fprintf(to, "%-8s %9s %11s %10s %10s %10s %10s\n", "load", "offered",
		"throughput", "mean ns", "p50 ns", "p99 ns", "p99.9 ns");
	for (uint32_t i = 0; i < n; i++) {
		const struct emu_point *p = &points[i];

		if (!p->done)
			continue;
		fprintf(to,
			"%-8.6g %8.2f%% %10.2f%% %10.0f %10.0f %10.0f "
			"%10.0f%s\n",
			p->load * 1e-6, 100 * p->offered, 100 * p->throughput,
			p->mean_ns, p->p50_ns, p->p99_ns, p->p999_ns,
			p->deadlock ? "  deadlock" : "");
	}
	if (saturation < 0)
		fprintf(to, "saturation: not reached\n");
	else
		fprintf(to, "saturation: at a load of %.3f\n", saturation);
}

/* ---- ibsim ------------------------------------------------------------- */

/* A counter of PortCounters that is so many bits wide sticks at the top. */
static void set_narrow(const struct emu_run *r, uint32_t port,
		       const char *counter, unsigned int bits, uint64_t value,
		       FILE *to)
{
	const struct dl_fabric *f = r->plan->fabric;
	uint64_t top = (UINT64_C(1) << bits) - 1;

	fprintf(to, "PerformanceSet \"%s\"[%u] PortCounters.%s=%" PRIu64 "\n",
		dl_fabric_node_name(f, f->ports[port].node), f->ports[port].num,
		counter, value > top ? top : value);
}

static void set_counter(const struct emu_run *r, uint32_t port,
			const char *counter, uint64_t value, FILE *to)
{
	const struct dl_fabric *f = r->plan->fabric;

	set_narrow(r, port, counter, 32, value, to);
	fprintf(to,
		"PerformanceSet \"%s\"[%u] PortCountersExtended.%s=%" PRIu64
		"\n",
		dl_fabric_node_name(f, f->ports[port].node), f->ports[port].num,
		counter, value);
}

int emu_write_counters(const struct emu_run *r, FILE *to)
{
	const struct dl_fabric *f = r->plan->fabric;

	for (uint32_t i = 0; i < f->nports; i++) {
		uint32_t peer = f->ports[i].peer;
		const struct dl_emu_port *sent, *received;

		if (peer == DL_NONE)
			continue;
		sent = dl_emu_port(r->emu, i);
		received = dl_emu_port(r->emu, peer);
		/* IBA 16.1.3.5: data in words of 4 bytes. */
		set_counter(r, i, "PortXmitData", sent->bytes / 4, to);
		set_counter(r, i, "PortRcvData", received->bytes / 4, to);
		set_counter(r, i, "PortXmitPkts", sent->packets, to);
		set_counter(r, i, "PortRcvPkts", received->packets, to);
		set_narrow(r, i, "PortXmitWait", 32, sent->wait_ps / 1000, to);
		set_narrow(r, i, "PortXmitDiscards", 16, sent->xmit_discards,
			   to);
		set_narrow(r, i, "PortRcvErrors", 16, sent->rcv_errors, to);
		set_narrow(r, i, "PortRcvSwitchRelayErrors", 16,
			   sent->relay_errors, to);
		set_narrow(r, i, "VL15Dropped", 16, sent->vl15_dropped, to);
	}
	return ferror(to) ? -EIO : 0;
}
