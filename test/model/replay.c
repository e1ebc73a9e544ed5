/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * usage: spin -T -DTRACE ... credit.pml | replay iba|pcie BUFFER CHUNK
 *
 * Ties the model to the program: does in lib/link what a trace of the model says, and compares all registers after every
 * event.
 *
 * Built twice.  Linked to the library, one unit of the model stands for 256
 * units, as its modulus 16 stands for 4096.  (Chunks cannot be scaled so: a
 * promise is one block a chunk.)  And with the library's sources compiled at
 * the model's own modulus, which does chunks too.
 *
 * Exit status: 0 all events agree, 1 they do not, 2 wrong usage or trace.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/link.h"

#define MODEL_MODULUS 16
#define SCALE (DL_LINK_CREDIT_MODULUS / MODEL_MODULUS)
#define PLACES 8 /* more than the model's wire and reports */

struct reports {
	uint8_t wire[PLACES][DL_LINK_FCP_BYTES];
	int n;
};

struct replay {
	struct dl_link_credit_terms terms;
	struct dl_link_credit_tx tx, idle_tx; /* idle: of the other direction */
	struct dl_link_credit_rx rx, idle_rx;
	bool pcie;
	struct reports syncs, credits;
	uint32_t wire[PLACES]; /* data packets */
	int nwire;
};

static int wrong(const char *what)
{
	fprintf(stderr, "replay: %s\n", what);
	return 2;
}

static int send(struct replay *r, int n)
{
	if (r->nwire == PLACES)
		return wrong("too much on the wire");
	if (!dl_link_credit_may_send(&r->tx, n * SCALE))
		return 1;
	dl_link_credit_spend(&r->tx, n * SCALE);
	r->wire[r->nwire++] = n * SCALE;
	return 0;
}

static int off_wire(struct replay *r, int n)
{
	if (!r->nwire || r->wire[0] != n * SCALE)
		return wrong("another packet is at the wire's head");
	memmove(r->wire, r->wire + 1, --r->nwire * sizeof(r->wire[0]));
	return 0;
}

static int arrive(struct replay *r, int n)
{
	int err = off_wire(r, n);

	return err ? err : !dl_link_credit_receive(&r->terms, &r->rx, n * SCALE);
}

static int offload(struct replay *r, int n)
{
	dl_link_credit_release(&r->terms, &r->rx, n * SCALE);
	return 0;
}

/* A report leaves, as the six bytes that go over the wire. */
static int report(struct replay *r, struct reports *to)
{
	struct dl_link_fcp fcp;

	if (to->n == PLACES)
		return wrong("too many reports");
	if (to == &r->syncs ?
		    dl_link_fcp_make(DL_LINK_ACTIVE, 0, &r->terms, &r->tx, &r->idle_rx, &fcp) :
		    dl_link_fcp_make(DL_LINK_ACTIVE, 0, &r->terms, &r->idle_tx, &r->rx, &fcp))
		return 1;
	dl_link_fcp_encode(&fcp, to->wire[to->n++]);
	return 0;
}

static int gone(struct reports *from, int i)
{
	if (i >= from->n)
		return wrong("there is no such report");
	memmove(from->wire[i], from->wire[i + 1], (--from->n - i) * sizeof(from->wire[0]));
	return 0;
}

static int report_arrives(struct replay *r, struct reports *from, int i)
{
	struct dl_link_fcp fcp;

	if (i >= from->n || dl_link_fcp_decode(from->wire[i], &fcp))
		return 1;
	if (from == &r->syncs ?
		    dl_link_fcp_take(DL_LINK_ACTIVE, &fcp, &r->terms, &r->idle_tx, &r->rx) :
		    dl_link_fcp_take(DL_LINK_ACTIVE, &fcp, &r->terms, &r->tx, &r->idle_rx))
		return 1;
	return gone(from, i);
}

/* A bit turns over on the way: the decoder must notice. */
static int report_corrupt(struct replay *r, struct reports *from, int i)
{
	struct dl_link_fcp fcp;

	(void)r;
	if (i >= from->n)
		return 1;
	from->wire[i][(i + from->n) % DL_LINK_FCP_BYTES] ^= 4;
	if (!dl_link_fcp_decode(from->wire[i], &fcp))
		return 1;
	return gone(from, i);
}

static int happen(struct replay *r, const char *name, int n)
{
	if (!strcmp(name, "START"))
		return 0;
	if (!strcmp(name, "SEND"))
		return send(r, n);
	if (!strcmp(name, "ARRIVE"))
		return arrive(r, n);
	if (!strcmp(name, "LOSE") || !strcmp(name, "CORRUPT"))
		return off_wire(r, n);
	if (!strcmp(name, "OFFLOAD"))
		return offload(r, n);
	if (!strcmp(name, "SYNC"))
		return report(r, &r->syncs);
	if (!strcmp(name, "CREDIT"))
		return report(r, &r->credits);
	if (!strcmp(name, "SYNC_ARRIVE"))
		return report_arrives(r, &r->syncs, n);
	if (!strcmp(name, "CREDIT_ARRIVE"))
		return report_arrives(r, &r->credits, n);
	if (!strcmp(name, "SYNC_LOSE"))
		return gone(&r->syncs, n);
	if (!strcmp(name, "CREDIT_LOSE"))
		return gone(&r->credits, n);
	if (!strcmp(name, "SYNC_CORRUPT"))
		return report_corrupt(r, &r->syncs, n);
	if (!strcmp(name, "CREDIT_CORRUPT"))
		return report_corrupt(r, &r->credits, n);
	return wrong(name);
}

/* The registers in the model's units. */
static void registers(const struct replay *r, unsigned int out[5])
{
	uint32_t credit = dl_link_credit_of(&r->terms, &r->rx);

	out[0] = r->tx.sent / SCALE;
	out[1] = (r->pcie ? dl_link_credit_balance(&r->tx) : r->tx.limit) / SCALE;
	out[2] = (r->pcie ? credit : r->rx.received) / SCALE;
	out[3] = r->rx.free / SCALE;
	out[4] = credit / SCALE;
}

static int one_line(struct replay *r, const char *line)
{
	unsigned int got[5], want[5];
	char name[32];
	int n, err;

	if (sscanf(line, "EV %31s %d %u %u %u %u %u", name, &n, &want[0], &want[1], &want[2],
		   &want[3], &want[4]) != 7)
		return wrong("damaged trace");
	err = happen(r, name, n);
	if (err)
		return err;
	registers(r, got);
	if (!memcmp(got, want, sizeof(got)))
		return 0;
	fprintf(stderr, "replay: the program has %u %u %u %u %u\n", got[0], got[1], got[2], got[3],
		got[4]);
	return 1;
}

int main(int argc, char **argv)
{
	struct replay r = { 0 };
	char line[128];
	int events = 0, err = 0;

	if (argc != 4)
		return wrong("expected: iba|pcie BUFFER CHUNK");
	r.pcie = !strcmp(argv[1], "pcie");
	if (dl_link_credit_terms_init(&r.terms, r.pcie ? DL_LINK_CREDIT_PCIE : DL_LINK_CREDIT_IBA,
				      atoi(argv[2]) * atoi(argv[3]) * SCALE, atoi(argv[3]), 1))
		return wrong("no such buffer");
	r.rx.free = r.idle_rx.free = r.terms.size;
	dl_link_credit_start(&r.terms, &r.tx, &r.rx);
	dl_link_credit_start(&r.terms, &r.idle_tx, &r.idle_rx);
	while (!err && fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "EV ", 3))
			continue;
		events++;
		err = one_line(&r, line);
		if (err)
			fprintf(stderr, "replay: event %d: %s", events, line);
	}
	printf("%d events\n", events);
	return err ? err : events < 100 ? wrong("hardly any trace") : 0;
}
