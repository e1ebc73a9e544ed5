/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Campaigns on one machine: built without MPI. */
#include "campaign.h"

const struct campaign_machines campaign_machines = { NULL, NULL };
