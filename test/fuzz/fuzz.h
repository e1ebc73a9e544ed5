/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What every fuzz target defines; libFuzzer or replay.c calls it. */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What an input costs, if it costs more than one of others does. */
extern const unsigned int fuzz_cost __attribute__((weak));

/* A promise that the code under test must keep. */
#define FUZZ_CHECK(condition)             \
	do {                              \
		if (!(condition))         \
			__builtin_trap(); \
	} while (0)

#endif
