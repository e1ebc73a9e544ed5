/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Programs of messages: what the reader of GOAL (goal.c), the known algorithms
 * (collective.c) and the run (program.c) share.
 */
#ifndef DL_EMU_PROGRAM_H
#define DL_EMU_PROGRAM_H

#include "emu/run.h"

enum dl_emu_op_kind { DL_EMU_OP_SEND, DL_EMU_OP_RECV, DL_EMU_OP_CALC };

/*
 * An operation of a rank.  A message carries `number` to the rank that receives
 * it: in a GOAL file the operation there, else the tag.
 */
struct dl_emu_op {
	uint64_t size; /* bytes of the message; or ps */
	union {
		uint64_t at;   /* of a send: when its message was handed over */
		uint32_t left; /* among those to begin; NIL */
	};
	uint32_t rank, peer;
	uint32_t tag, number;
	uint32_t flow;	/* of a send: of the program's */
	uint32_t next;	/* in the flow; `right` among those to begin; NIL.  While read: its line */
	uint32_t edges; /* the first one; there are more up to the next one's */
	uint32_t waits; /* requirements that are not met */
	uint32_t got;	/* of a receive: bytes that have come; a packet without data is 1 */
	uint32_t phase;
	uint8_t kind, cpu;
	bool begun;
};

/* What requires an operation: that it is done, or only that it has begun. */
struct dl_emu_op_edge {
	uint32_t to : 31, begun : 1;
};

/* A queue pair: messages in their order, up to the last one handed over. */
struct dl_emu_program_flow {
	uint32_t rank;
	uint32_t head; /* its last bit has not left yet, or NIL */
	uint32_t next; /* to be sent, or NIL */
	uint32_t tail;
	uint32_t fresh; /* has its turn, but not a packet yet, or NIL */
};

/* A part of a message that came before its receive was known. */
struct dl_emu_program_early {
	uint32_t peer, tag, got;
};

struct dl_emu_program_rank {
	uint32_t first, n; /* operations */
	uint32_t left;	   /* of these: not done */
	uint32_t step;	   /* of a file, while read: the line where it begins */
	uint64_t done;	   /* when it had finished, or NEVER */
	uint64_t messages, bytes;
	struct dl_emu_program_early *early;
	uint32_t nearly, early_cap;
};

struct dl_emu_collective;

struct dl_emu_program {
	const struct dl_emu_collective *kind; /* NULL: a file; all operations are known */
	uint64_t size;
	uint32_t count, radix[3];
	uint32_t nranks;
	struct dl_emu_program_rank *ranks;
	struct dl_emu_op *ops;
	uint32_t nops;
	struct dl_emu_op_edge *edges;
	struct dl_emu_program_flow *flows;
	uint32_t nflows, ncpus;
	struct dl_emu_program_phase *phases; /* ranks of all shards write to them */
	uint32_t nphases;
	uint64_t *cpu_free; /* by rank and CPU: when */
	/* Of a run. */
	uint64_t overhead;
	uint32_t eager;	      /* bytes of a send that is done with its first packet */
	uint32_t first_flow;  /* of the emulation's */
	const uint32_t *port; /* by rank: port index */
	uint32_t *rank;	      /* by port index */
	const uint16_t *lid;  /* by rank */
};

/* An algorithm: see collective.c. */
struct dl_emu_collective {
	const char *name;
	/*
	 * Write the operations of a rank's step, all of which begin when the step
	 * before it is done.  Returns how many, at most `ops`; -1: there are no more.
	 */
	int (*step)(const struct dl_emu_program *p, uint32_t rank, uint32_t step,
		    struct dl_emu_op *out);
	uint8_t ops, sends; /* of a step, at most */
	uint8_t bus;	    /* bus bandwidth: so often (n - 1) / n of the other; 0: not defined */
	char extra;	    /* after the size: 'x' radices, 'n' a number, 0 */
	bool parts;	    /* its messages are of size / n */
	/* Phases: the first and the last one, if any, and those between; see collective.c. */
	const char *first, *between, *last;
};

/* Arrays for nranks, nflows and ncpus; and nothing has happened.  0 or -ENOMEM. */
int dl_emu_program_arrays(struct dl_emu_program *p);

/* program.c: for a run, with what the source of the emulation calls. */
int dl_emu_program_start(struct dl_emu_program *p, struct dl_emu_source *source,
			 const struct dl_fabric *f);
bool dl_emu_program_next(struct dl_emu_program *p, uint32_t flow, struct dl_emu_message *out);

#endif
