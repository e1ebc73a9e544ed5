# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Completion of the dateline command for fish: subcommands and options with what
# they do, read from `dateline --help` each time; else file names.

# The subcommand that stands on the line, if there is one.
function __dateline_subcommand
	set -l words (commandline -opc)
	for word in $words[2..-1]
		if not string match -q -- '-*' $word
			echo $word
			return 0
		end
	end
	return 1
end

function __dateline_subcommands
	set -l words (commandline -opc)
	eval $words[1] --help 2>/dev/null |
		sed -nE '/^Subcommands:/,/^$/ s/^  ([a-z]+) +(.*)/\1\t\2/p'
end

function __dateline_options
	set -l words (commandline -opc)
	set -lx ARGP_HELP_FMT ''
	eval $words[1] (__dateline_subcommand) --help 2>/dev/null |
		sed -nE 's/^(  -., | {6}| {35})(--[a-zA-Z-]+)(=[^ ]*)? *(.*)/\2\t\4/p'
end

complete -c dateline -f -n 'not __dateline_subcommand' -a '(__dateline_subcommands)'
complete -c dateline -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__dateline_options)'
