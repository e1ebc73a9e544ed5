/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libdateline: torus routing for InfiniBand, its proof and its emulation.  One header
 * a room; base.h tells the conventions.
 */
#ifndef DATELINE_H
#define DATELINE_H

#include "dateline/base.h"
#include "dateline/fabric.h"
#include "dateline/torus.h"
#include "dateline/tables.h"
#include "dateline/live.h"
#include "dateline/route.h"
#include "dateline/verify.h"
#include "dateline/transition.h"
#include "dateline/link.h"
#include "dateline/emu.h"

#endif
