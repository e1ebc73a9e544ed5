#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: throwaway.bash FOLDER... -- COMMAND...
#
# COMMAND as root in a copy of this machine that vanishes with it: what it
# installs, writes or leaves running is gone afterwards, and was never there
# for anybody else.  The copy is an overlay in memory, in namespaces of its own
# for mounts, processes and the network; only each FOLDER is the real one.
#
# COMMAND starts in the first FOLDER and finds THROWAWAY=yes.  Where this cannot be done (it takes root or
# sudo, and a kernel that mounts overlays), COMMAND runs as it is, without, and
# is to leave out what would change the machine.  THROWAWAY=yes from outside
# says that the whole machine may be thrown away.
set -euo pipefail

folders=()
while [[ $1 != -- ]]; do
	folders+=("$(cd "$1" && pwd)")
	shift
done
shift

# inside ROOT COMMAND...: in the new namespaces, as root.
inside() {
	local root=$1 folder

	shift
	mount -t tmpfs -o mode=755 dateline "$root"
	mkdir "$root"/{new,work,root}
	mount -t overlay -o "lowerdir=/,upperdir=$root/new,workdir=$root/work" \
		dateline "$root/root"
	root=$root/root
	# Folders that are file systems of their own are not in the copy.
	[[ -e $root/usr/bin/env && -e $root/var/lib/dpkg/status ]]
	mount -t proc proc "$root/proc"
	mount -t tmpfs -o mode=1777 dateline "$root/tmp"
	for folder in /dev /sys "${folders[@]}"; do
		mkdir -p "$root$folder"
		mount --rbind "$folder" "$root$folder"
	done
	exec env THROWAWAY=yes TMPDIR=/tmp chroot "$root" \
		env -C "${folders[0]}" "$@"
}

as_root=()
((EUID == 0)) || as_root=(sudo -n)
namespaces=(unshare --mount --pid --net --fork --kill-child)

if [[ ${1:-} == inside ]]; then
	"$@"
elif [[ ${THROWAWAY:-} == yes ]]; then
	exec "$@"
fi

root=$(mktemp -d)
trap 'rmdir "$root"' EXIT
again=("${as_root[@]}" "${namespaces[@]}" bash "$0" "${folders[@]}" --
	inside "$root")
if "${again[@]}" true 2>"$root.err"; then
	rm "$root.err"
	"${again[@]}" "$@"
else
	echo "no throwaway copy of this machine: $(tail -n 1 "$root.err")" >&2
	rm "$root.err"
	"$@"
fi
