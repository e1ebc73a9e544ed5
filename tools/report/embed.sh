#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: embed.sh HTML CSS JS...
#
# Print the files as C: what `dateline report` puts into each page.
set -e

bytes() {
	printf 'static const unsigned char %s[] = {\n' "$1"
	shift
	cat "$@" | od -An -v -tu1 | sed 's/  *\([0-9]\)/\1/;s/  */,/g;s/$/,/'
	printf '};\n'
}

html=$1
css=$2
shift 2
printf '/* Made by tools/report/embed.sh. */\n#include "tools/report/report.h"\n\n'
bytes html "$html"
bytes css "$css"
bytes js "$@"
for name in html css js; do
	printf 'const struct report_source report_%s = { %s, sizeof(%s) };\n' \
		$name $name $name
done
