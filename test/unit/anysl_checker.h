/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* See anysl_checker.c. */
#ifndef TEST_ANYSL_CHECKER_H
#define TEST_ANYSL_CHECKER_H

#include "dateline/tables.h"

/* Is there a credit loop, also if igraph is asked?  Every packet must arrive. */
bool has_credit_loop(const struct dl_tables *t, bool ask_igraph);

/* Is this an end port with a LID? */
bool checker_is_end(const struct dl_fabric *f, uint32_t port);

#endif
