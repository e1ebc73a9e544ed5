# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# command_of BUILD: the dateline command of a build tree, as `dateline`.  Not the
# script that libtool puts in its place, which takes ten times as long as a short
# command does; it is used where there is nothing else.
command_of() {
	dateline=$1/.libs/dateline
	[[ -x $dateline ]] || dateline=$1/dateline
	export LD_LIBRARY_PATH=$1/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
