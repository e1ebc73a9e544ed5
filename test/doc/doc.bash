# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# What a text tells its reader to type, as steps for follow.bash.
#
# Markdown: a block that begins with ```sh is commands, to be pasted as a
# whole; a block ```text after it is what they print.  Blocks of other kinds
# are for reading.
#
# Manual pages: among the examples, a line that begins with "$ " (anybody) or
# "# " (root) is a command, with the lines after it while they end in a
# backslash; the lines after those, up to an empty one, are what it prints.
#
# --help, and comments in example files: lines that begin with "dateline" or
# "ibsim", two blanks further in than the text.
#
# Loaded after lib.bash.

# markdown FILE STEPS
markdown() {
	mkdir -p "$2"
	awk -v steps="$2" -v name="${1##*/}" '
		/^```/ && to {
			close(to)
			to = ""
			next
		}
		/^```sh$/ {
			base = sprintf("%s/%03d", steps, ++n)
			to = base ".sh"
			print name ":" NR + 1 >(base ".at")
			next
		}
		/^```text$/ {
			if (!base) {
				print name ":" NR ": prints, but what does?"
				exit 1
			}
			to = base ".want"
			base = ""
			next
		}
		/^```/ { to = "/dev/null"; next }
		to { print >to }' "$1" >&2
}

# manual FILE STEPS: the page's examples, as a reader sees them.
manual() {
	mkdir -p "$2"
	awk -v name="${1##*/}" '
		/^\.Sh/ { on = $2 == "EXAMPLES" }
		on && first && !/^[$#] / {
			print name ":" NR ": a display without a command"
			bad = 1
		}
		{ first = /^\.Bd/ }
		END { exit bad }' "$1" >&2 || return
	mandoc -T ascii "$1" | sed 's/.\x08//g' | awk -v steps="$2" \
		-v name="${1##*/}" '
		/^[A-Z]/ { on = $1 == "EXAMPLES" }
		/^$/ || !on { base = "" }
		# Behind a command of a user, what begins with # is what it prints.
		on && !more && match($0, /^ +[$#] /) && !(base && user && $1 == "#") {
			user = $1 == "$"
			base = sprintf("%s/%03d", steps, ++n)
			print name ":" NR >(base ".at")
			indent = RLENGTH - 2
			$0 = substr($0, indent + 3)
			print >(base ".sh")
			more = /\\$/
			next
		}
		base {
			print substr($0, indent + 1) \
				>(base (more ? ".sh" : ".want"))
			more = more && /\\$/
		}'
}

# indented NAME STEPS < TEXT: what stands two blanks further in than its text.
indented() {
	mkdir -p "$2"
	awk -v steps="$2" -v name="$1" '
		/^(# )?  (dateline|ibsim) / && !more {
			base = sprintf("%s/%03d", steps, ++n)
			print name ":" NR >(base ".at")
			more = 1
		}
		more {
			sub(/^# */, "")
			print >(base ".sh")
			more = /\\$/
		}'
}

# leave_out STEPS TEXT < "TEXT: COMMAND -- REASON" lines: of those of this text,
# the steps that begin so.  Each line must be of use.
leave_out() {
	local step line found

	while read -r line; do
		line=${line#"$2: "}
		found=
		for step in "$1"/*.sh; do
			[[ $(head -n 1 "$step") == "${line% -- *}"* ]] || continue
			rm "${step%.sh}".*
			found=1
		done
		[[ $found ]] || {
			say "$2 has no such command: $line"
			return 1
		}
	done < <(grep -F "$2: ")
}

# follow STEPS FOLDER: all of them, beginning there.  Whatever becomes of this
# shell, nothing goes on.
follow() {
	PATH=$T/bin:$PATH setpriv --pdeathsig TERM timeout -k 5 120 \
		setpriv --pdeathsig KILL \
		bash "$DL_TOP/test/doc/follow.bash" "$1" "$2" 3>&-
}
