/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef DL_VLARB_H
#define DL_VLARB_H

#include "route/route.h"

/*
 * VL arbitration for one port, between switches or at an end port, whose
 * tables hold `high_cap` and `low_cap` entries (0..64).  A high table too
 * small for all VLs stays empty.
 */
void dl_sound_vlarb(const struct dl_route_options *o,
		    const struct dl_vl_budget *vls, bool between,
		    unsigned int high_cap, unsigned int low_cap,
		    struct dl_vlarb *out);

#endif
